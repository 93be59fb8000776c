"""Networks in which points attend to points, as nets.py has others.  Maps are sequences of points, as their sources have them."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def attention(q, k, v, heads, bias=None):
    """Of sequences (batch, points, channels): each point gets a mean of V; BIAS is added to the products."""
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(-3, -2) for x in (q, k, v))
    if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2
        return F.scaled_dot_product_attention(q, k, v, bias).transpose(-3, -2).flatten(-2)
    products = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    return (F.softmax(products if bias is None else products + bias, -1) @ v).transpose(-3, -2).flatten(-2)


def sequence(x):
    return x.flatten(2).transpose(1, 2)


def image(x, like):
    return x.transpose(1, 2).unflatten(2, like.shape[2:])


class Modules(nn.Module):
    """Modules by their names, for names that no attribute of a class gives."""

    def __init__(self, **children):
        super().__init__()
        for name, child in children.items():
            setattr(self, name, child)


# ---- SegFormer ----


class SegformerAttention(nn.Module):
    def __init__(self, c, heads, reduction):
        super().__init__()
        self.heads, self.reduction = heads, reduction
        inner = {name: nn.Linear(c, c) for name in ("query", "key", "value")}
        if reduction > 1:
            inner["sr"], inner["layer_norm"] = nn.Conv2d(c, c, reduction, reduction), nn.LayerNorm(c)
        setattr(self, "self", Modules(**inner))
        self.output = Modules(dense=nn.Linear(c, c))

    def forward(self, x, like):
        inner, few = getattr(self, "self"), x
        if self.reduction > 1:
            few = inner.layer_norm(sequence(inner.sr(image(x, like))))
        return self.output.dense(attention(inner.query(x), inner.key(few), inner.value(few), self.heads))


class MixFFN(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)
        self.dwconv = Modules(dwconv=nn.Conv2d(4 * c, 4 * c, 3, padding=1, groups=4 * c))

    def forward(self, x, like):
        return self.dense2(F.gelu(sequence(self.dwconv.dwconv(image(self.dense1(x), like)))))


class SegformerLayer(nn.Module):
    def __init__(self, c, heads, reduction):
        super().__init__()
        self.layer_norm_1, self.layer_norm_2 = nn.LayerNorm(c), nn.LayerNorm(c)
        self.attention, self.mlp = SegformerAttention(c, heads, reduction), MixFFN(c)

    def forward(self, x, like):
        x = x + self.attention(self.layer_norm_1(x), like)
        return x + self.mlp(self.layer_norm_2(x), like)


class Segformer(nn.Module):
    def __init__(self, classes=19, dims=(32, 64, 160, 256), depths=(2, 2, 2, 2), heads=(1, 2, 5, 8), reduce=(8, 4, 2, 1), embed=256,
                 drop=0.1):
        super().__init__()
        inputs = [3] + list(dims)
        patches = [Modules(proj=nn.Conv2d(inputs[i], c, 7 if i == 0 else 3, 4 if i == 0 else 2, 3 if i == 0 else 1), layer_norm=nn.LayerNorm(c))
                   for i, c in enumerate(dims)]
        blocks = [nn.ModuleList([SegformerLayer(c, heads[i], reduce[i]) for _ in range(depths[i])]) for i, c in enumerate(dims)]
        self.segformer = Modules(encoder=Modules(patch_embeddings=nn.ModuleList(patches), block=nn.ModuleList(blocks),
                                                 layer_norm=nn.ModuleList([nn.LayerNorm(c) for c in dims])))
        self.decode_head = Modules(linear_c=nn.ModuleList([Modules(proj=nn.Linear(c, embed)) for c in dims]),
                                   linear_fuse=nn.Conv2d(embed * len(dims), embed, 1, bias=False), batch_norm=nn.BatchNorm2d(embed),
                                   classifier=nn.Conv2d(embed, classes, 1))
        self.drop = nn.Dropout(drop)

    def forward(self, photo):
        x, found, encoder, head = photo, [], self.segformer.encoder, self.decode_head
        for patches, block, norm in zip(encoder.patch_embeddings, encoder.block, encoder.layer_norm):
            like = patches.proj(x)
            x = patches.layer_norm(sequence(like))
            for layer in block:
                x = layer(x, like)
            x = image(norm(x), like)
            found.append(x)
        size = found[0].shape[2:]
        same = [F.interpolate(image(linear.proj(sequence(x)), x), size=size, mode="bilinear") for linear, x in zip(head.linear_c, found)]
        x = F.relu(head.batch_norm(head.linear_fuse(torch.cat(same[::-1], 1))))
        return F.interpolate(head.classifier(self.drop(x)), size=photo.shape[2:], mode="bilinear")


# ---- UNETR ----


class Conv(nn.Module):
    """MONAI's: a convolution behind a name."""

    def __init__(self, inputs, outputs, kernel, up=False, bias=False):
        super().__init__()
        self.conv = nn.ConvTranspose3d(inputs, outputs, 2, 2, bias=bias) if up else nn.Conv3d(inputs, outputs, kernel, padding=kernel // 2, bias=bias)

    def forward(self, x):
        return self.conv(x)


class UnetrUnit(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1, self.conv2 = Conv(inputs, outputs, 3), Conv(outputs, outputs, 3)
        self.conv3 = Conv(inputs, outputs, 1) if inputs != outputs else None

    def forward(self, x):
        h = F.leaky_relu(F.instance_norm(self.conv1(x)), 0.01)
        skip = x if self.conv3 is None else F.instance_norm(self.conv3(x))
        return F.leaky_relu(F.instance_norm(self.conv2(h)) + skip, 0.01)


class UnetrRaise(nn.Module):
    def __init__(self, inputs, outputs, times):
        super().__init__()
        self.transp_conv_init = Conv(inputs, outputs, 2, up=True)
        self.blocks = nn.ModuleList([nn.Sequential(Conv(outputs, outputs, 2, up=True), UnetrUnit(outputs, outputs)) for _ in range(times)])

    def forward(self, x):
        x = self.transp_conv_init(x)
        for block in self.blocks:
            x = block(x)
        return x


class UnetrJoin(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.transp_conv, self.conv_block = Conv(inputs, outputs, 2, up=True), UnetrUnit(2 * outputs, outputs)

    def forward(self, x, skip):
        return self.conv_block(torch.cat([self.transp_conv(x), skip], 1))


class UnetrLayer(nn.Module):
    def __init__(self, c, mlp, heads):
        super().__init__()
        self.heads = heads
        self.mlp = Modules(linear1=nn.Linear(c, mlp), linear2=nn.Linear(mlp, c))
        self.norm1, self.norm2, self.norm_cross_attn = nn.LayerNorm(c), nn.LayerNorm(c), nn.LayerNorm(c)
        self.norm_cross_attn.requires_grad_(False)  # nobody calls it
        self.attn = Modules(out_proj=nn.Linear(c, c), qkv=nn.Linear(c, 3 * c, bias=False))

    def forward(self, x):
        x = x + self.attn.out_proj(attention(*self.attn.qkv(self.norm1(x)).chunk(3, -1), self.heads))
        return x + self.mlp.linear2(F.gelu(self.mlp.linear1(self.norm2(x))))


class Unetr(nn.Module):
    def __init__(self, channels=1, classes=14, hidden=768, mlp=3072, heads=12, layers=12, patch=16, features=16, size=96):
        super().__init__()
        self.layers, f = layers, features
        embedding = Modules(patch_embeddings=nn.Conv3d(channels, hidden, patch, patch))
        embedding.position_embeddings = nn.Parameter(torch.zeros(1, (size // patch)**3, hidden))
        self.vit = Modules(patch_embedding=embedding, blocks=nn.ModuleList([UnetrLayer(hidden, mlp, heads) for _ in range(layers)]),
                           norm=nn.LayerNorm(hidden))
        self.encoder1 = Modules(layer=UnetrUnit(channels, f))
        self.encoder2, self.encoder3, self.encoder4 = (UnetrRaise(hidden, f << i, 3 - i) for i in (1, 2, 3))
        self.decoder5 = UnetrJoin(hidden, 8 * f)
        self.decoder4, self.decoder3, self.decoder2 = (UnetrJoin(2 * c, c) for c in (4 * f, 2 * f, f))
        self.out = Modules(conv=Conv(f, classes, 1, bias=True))

    def forward(self, scan):
        like, found = self.vit.patch_embedding.patch_embeddings(scan), []
        x = sequence(like) + self.vit.patch_embedding.position_embeddings
        for block in self.vit.blocks:
            x = block(x)
            found.append(image(x, like))
        x = self.decoder5(image(self.vit.norm(x), like), self.encoder4(found[3 * self.layers // 4]))
        x = self.decoder4(x, self.encoder3(found[self.layers // 2]))
        x = self.decoder3(x, self.encoder2(found[self.layers // 4]))
        return self.out.conv(self.decoder2(x, self.encoder1.layer(scan)))


# ---- SwinIR ----


def windows(x, size):
    """(batch, rows, columns, channels) as (windows, points of one, channels)."""
    b, h, w, c = x.shape
    return x.view(b, h // size, size, w // size, size, c).transpose(2, 3).reshape(-1, size * size, c)


def whole(x, size, like):
    b, h, w, _ = like
    return x.view(b, h // size, w // size, size, size, -1).transpose(2, 3).reshape(b, h, w, -1)


def seams(h, w, size, shift):
    """What is added to products of points of a window that lie on different sides of the map's former ends."""
    sides = torch.zeros(1, h, w, 1)
    for rows, row in ((slice(0, -size), 0), (slice(-size, -shift), 1), (slice(-shift, None), 2)):
        for columns, column in ((slice(0, -size), 0), (slice(-size, -shift), 1), (slice(-shift, None), 2)):
            sides[:, rows, columns] = 3 * row + column
    sides = windows(sides, size)[..., 0]
    return torch.where(sides[:, None] == sides[:, :, None], 0.0, -math.inf)


class SwinAttention(nn.Module):
    def __init__(self, c, heads, window):
        super().__init__()
        self.heads, self.window = heads, window
        self.relative_position_bias_table = nn.Parameter(torch.zeros((2 * window - 1)**2, heads))
        self.qkv, self.proj = nn.Linear(c, 3 * c), nn.Linear(c, c)
        place = torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")).flatten(1)
        apart = place[:, :, None] - place[:, None] + window - 1
        self.index = apart[0] * (2 * window - 1) + apart[1]

    def forward(self, x, mask):
        bias = self.relative_position_bias_table[self.index].permute(2, 0, 1)
        if mask is not None:
            bias = bias + mask.to(x.dtype).repeat(x.shape[0] // mask.shape[0], 1, 1)[:, None]
        return self.proj(attention(*self.qkv(x).chunk(3, -1), self.heads, bias))


class SwinLayer(nn.Module):
    def __init__(self, c, heads, window, shift):
        super().__init__()
        self.window, self.shift = window, shift
        self.norm1, self.norm2, self.attn = nn.LayerNorm(c), nn.LayerNorm(c), SwinAttention(c, heads, window)
        self.mlp = Modules(fc1=nn.Linear(c, 2 * c), fc2=nn.Linear(2 * c, c))

    def forward(self, x):
        shift, mask = self.shift, seams(*x.shape[1:3], self.window, self.shift) if self.shift else None
        h = self.attn(windows(torch.roll(self.norm1(x), (-shift, -shift), (1, 2)), self.window), mask)
        x = x + torch.roll(whole(h, self.window, x.shape), (shift, shift), (1, 2))
        return x + self.mlp.fc2(F.gelu(self.mlp.fc1(self.norm2(x))))


class SwinIR(nn.Module):
    def __init__(self, width=180, depths=(6,) * 6, heads=6, window=8):
        super().__init__()
        self.conv_first, self.norm = nn.Conv2d(3, width, 3, padding=1), nn.LayerNorm(width)
        self.patch_embed = Modules(norm=nn.LayerNorm(width))
        self.layers = nn.ModuleList([Modules(
            residual_group=Modules(blocks=nn.ModuleList([SwinLayer(width, heads, window, window // 2 * (j % 2)) for j in range(depth)])),
            conv=nn.Conv2d(width, width, 3, padding=1)) for depth in depths])
        self.conv_after_body, self.conv_last = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, noisy):
        mean = torch.tensor([0.4488, 0.4371, 0.4040], dtype=noisy.dtype).view(3, 1, 1)
        first = self.conv_first(noisy - mean)
        x = self.patch_embed.norm(first.permute(0, 2, 3, 1))
        for layer in self.layers:
            h = x
            for block in layer.residual_group.blocks:
                h = block(h)
            x = x + layer.conv(h.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
        return noisy + self.conv_last(first + self.conv_after_body(self.norm(x).permute(0, 3, 1, 2)))


# ---- diffusers' UNet2DModel ----


class Resnet(nn.Module):
    def __init__(self, inputs, c, time, groups, eps):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(groups, inputs, eps), nn.Conv2d(inputs, c, 3, padding=1)
        self.time_emb_proj = nn.Linear(time, c)
        self.norm2, self.conv2 = nn.GroupNorm(groups, c, eps), nn.Conv2d(c, c, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(inputs, c, 1) if inputs != c else None

    def forward(self, x, time):
        h = self.conv1(F.silu(self.norm1(x))) + self.time_emb_proj(F.silu(time))[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        return h + (x if self.conv_shortcut is None else self.conv_shortcut(x))


class Attend(nn.Module):
    def __init__(self, c, head_width, groups, eps):
        super().__init__()
        self.heads = c // head_width if head_width else 1
        self.group_norm = nn.GroupNorm(groups, c, eps)
        self.to_q, self.to_k, self.to_v, self.to_out = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, c), nn.ModuleList([nn.Linear(c, c)])

    def forward(self, x):
        h = sequence(self.group_norm(x))
        return x + image(self.to_out[0](attention(self.to_q(h), self.to_k(h), self.to_v(h), self.heads)), x)


class UNet2D(nn.Module):
    def __init__(self, widths=(128, 256, 256, 256), attends=(False, True, False, False), layers=2, groups=32, size=32, head_width=0, ddpm=True):
        super().__init__()
        self.ddpm, self.width, levels = ddpm, widths[0], len(widths)
        eps, time = 1e-6 if ddpm else 1e-5, 4 * widths[0]
        self.conv_in = nn.Conv2d(3, widths[0], 3, padding=1)
        self.time_embedding = Modules(linear_1=nn.Linear(widths[0], time), linear_2=nn.Linear(time, time))
        skips, inputs = [widths[0]], widths[0]

        def level(c, inputs, attends, sampler):
            here = Modules(resnets=nn.ModuleList([Resnet(n, c, time, groups, eps) for n in inputs]))
            here.attentions = nn.ModuleList([Attend(c, head_width, groups, eps) for _ in inputs]) if attends else None
            here.sampler = "%ssamplers" % sampler
            if sampler:
                stride, padding = (2, 0 if ddpm else 1) if sampler == "down" else (1, 1)
                setattr(here, here.sampler, nn.ModuleList([Modules(conv=nn.Conv2d(c, c, 3, stride, padding))]))
            return here

        down = []
        for i, c in enumerate(widths):
            down.append(level(c, [inputs] + [c] * (layers - 1), attends[i], "down" if i + 1 < levels else ""))
            skips += [c] * (layers + (i + 1 < levels))
            inputs = c
        self.down_blocks = nn.ModuleList(down)
        self.mid_block = level(inputs, [inputs, inputs], False, "")
        self.mid_block.attentions = nn.ModuleList([Attend(inputs, head_width, groups, eps)])
        up = []
        for i in reversed(range(levels)):
            c = widths[i]
            up.append(level(c, [n + skips.pop() for n in [inputs] + [c] * layers], attends[i], "up" if i > 0 else ""))
            inputs = c
        self.up_blocks = nn.ModuleList(up)
        self.conv_norm_out, self.conv_out = nn.GroupNorm(groups, inputs, eps), nn.Conv2d(inputs, 3, 3, padding=1)

    def sinusoid(self, t):
        half = self.width // 2
        angle = t.flatten()[:, None] * torch.exp(-math.log(10000) * torch.arange(half, dtype=t.dtype) / (half - 1 if self.ddpm else half))
        return torch.cat([angle.sin(), angle.cos()] if self.ddpm else [angle.cos(), angle.sin()], 1)

    def forward(self, picture, t):
        time = self.time_embedding.linear_2(F.silu(self.time_embedding.linear_1(self.sinusoid(t))))

        def step(here, x, j):
            x = here.resnets[j](x, time)
            return here.attentions[j](x) if here.attentions is not None else x

        x = self.conv_in(picture)
        skips = [x]
        for here in self.down_blocks:
            for j in range(len(here.resnets)):
                x = step(here, x, j)
                skips.append(x)
            if here.sampler == "downsamplers":
                x = here.downsamplers[0].conv(F.pad(x, (0, 1, 0, 1)) if self.ddpm else x)
                skips.append(x)
        middle = self.mid_block
        x = middle.resnets[1](middle.attentions[0](middle.resnets[0](x, time)), time)
        for here in self.up_blocks:
            for j in range(len(here.resnets)):
                x = torch.cat([x, skips.pop()], 1)
                x = step(here, x, j)
            if here.sampler == "upsamplers":
                x = here.upsamplers[0].conv(F.interpolate(x, scale_factor=2))
        return self.conv_out(F.silu(self.conv_norm_out(x)))


# ---- BERT ----


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, out = heads, lambda c: Modules(dense=nn.Linear(c, width), LayerNorm=nn.LayerNorm(width, 1e-12))
        self.attention = Modules(output=out(width))
        setattr(self.attention, "self", Modules(**{name: nn.Linear(width, width) for name in ("query", "key", "value")}))
        self.intermediate, self.output = Modules(dense=nn.Linear(width, 4 * width)), out(4 * width)

    def forward(self, x):
        inner = getattr(self.attention, "self")
        y = self.attention.output.dense(attention(inner.query(x), inner.key(x), inner.value(x), self.heads))
        x = self.attention.output.LayerNorm(x + y)
        return self.output.LayerNorm(x + self.output.dense(F.gelu(self.intermediate.dense(x))))


class Bert(nn.Module):
    """Without dropout.  The table of words tells words, too, so it is a parameter once."""

    def __init__(self, words=30522, width=768, heads=12, layers=12, length=512, mask=103, first=999, drop=0):
        super().__init__()
        self.bert = Modules(
            embeddings=Modules(word_embeddings=nn.Embedding(words, width), position_embeddings=nn.Embedding(length, width),
                               token_type_embeddings=nn.Embedding(2, width), LayerNorm=nn.LayerNorm(width, 1e-12)),
            encoder=Modules(layer=nn.ModuleList([BertLayer(width, heads) for _ in range(layers)])))
        self.cls = Modules(predictions=Modules(transform=Modules(dense=nn.Linear(width, width), LayerNorm=nn.LayerNorm(width, 1e-12))))
        self.cls.predictions.bias = nn.Parameter(torch.zeros(words))

    def forward(self, text):
        told, given = self.cls.predictions, self.bert.embeddings
        x = given.word_embeddings(text[:, 0].long()) + given.position_embeddings.weight + given.token_type_embeddings.weight[0]
        x = given.LayerNorm(x)
        for layer in self.bert.encoder.layer:
            x = layer(x)
        x = told.transform.LayerNorm(F.gelu(told.transform.dense(x)))
        return F.linear(x, given.word_embeddings.weight, told.bias).transpose(1, 2)


# ---- the Unet of denoising-diffusion-pytorch ----


class Lengths(nn.Module):
    """RMSNorm by way of F.normalize, with a weight that has the axes of a map."""

    def __init__(self, c):
        super().__init__()
        self.g = nn.Parameter(torch.ones(1, c, 1, 1))

    def forward(self, x):
        return F.normalize(x, dim=1) * self.g * x.shape[1] ** 0.5


class FilmBlock(nn.Module):
    def __init__(self, inputs, c, time):
        super().__init__()
        self.mlp = nn.ModuleDict({"1": nn.Linear(time, 2 * c)})
        self.block1, self.block2 = (Modules(proj=nn.Conv2d(n, c, 3, padding=1), norm=Lengths(c)) for n in (inputs, c))
        self.res_conv = nn.Conv2d(inputs, c, 1) if inputs != c else nn.Identity()

    def forward(self, x, time):
        by, add = self.mlp["1"](F.silu(time))[..., None, None].chunk(2, 1)
        h = F.silu(self.block1.norm(self.block1.proj(x)) * (by + 1) + add)
        return F.silu(self.block2.norm(self.block2.proj(h))) + self.res_conv(x)


class Remembering(nn.Module):
    """Attention whose keys and values have learnt points in front; linear or not."""

    def __init__(self, c, heads, width, memory, linear):
        super().__init__()
        self.heads, self.linear, hidden = heads, linear, heads * width
        self.norm, self.to_qkv = Lengths(c), nn.Conv2d(c, 3 * hidden, 1, bias=False)
        self.mem_kv = nn.Parameter(torch.zeros(2, heads, *((width, memory) if linear else (memory, width))))
        out = nn.Conv2d(hidden, c, 1)
        self.to_out = nn.Sequential(out, Lengths(c)) if linear else out

    def forward(self, x):
        q, k, v = (part.flatten(2).unflatten(1, (self.heads, -1)) for part in self.to_qkv(self.norm(x)).chunk(3, 1))
        learnt = self.mem_kv if self.linear else self.mem_kv.transpose(2, 3)
        k, v = (torch.cat([known.expand(len(x), -1, -1, -1), part], 3) for known, part in zip(learnt, (k, v)))
        if self.linear:
            h = v @ k.softmax(3).transpose(2, 3) @ (q.softmax(2) * q.shape[2] ** -0.5)
        else:
            h = v @ (q.transpose(2, 3) @ k * q.shape[2] ** -0.5).softmax(3).transpose(2, 3)
        return x + self.to_out(h.flatten(1, 2).unflatten(2, x.shape[2:]))


class LucidrainsUnet(nn.Module):
    def __init__(self, dim=64, mults=(1, 2, 4, 8), heads=4, width=32, memory=4):
        super().__init__()
        self.dim, time, widths = dim, 4 * dim, [dim, *(dim * m for m in mults)]
        self.init_conv, last = nn.Conv2d(3, dim, 7, padding=3), len(mults) - 1
        self.time_mlp = nn.ModuleDict({"1": nn.Linear(dim, time), "3": nn.Linear(time, time)})
        attend = lambda c, linear=False: Remembering(c, heads, width, memory, linear)
        second = lambda conv: nn.Sequential(nn.Identity(), conv)
        self.downs = nn.ModuleList([nn.ModuleList([
            FilmBlock(c, c, time), FilmBlock(c, c, time), attend(c, i < last),
            second(nn.Conv2d(4 * c, more, 1)) if i < last else nn.Conv2d(c, more, 3, padding=1)])
            for i, (c, more) in enumerate(zip(widths, widths[1:]))])
        c = widths[-1]
        self.mid_block1, self.mid_attn, self.mid_block2 = FilmBlock(c, c, time), attend(c), FilmBlock(c, c, time)
        self.ups = nn.ModuleList([nn.ModuleList([
            FilmBlock(c + less, c, time), FilmBlock(c + less, c, time), attend(c, i < last),
            second(nn.Conv2d(c, less, 3, padding=1)) if i > 0 else nn.Conv2d(c, less, 3, padding=1)])
            for i, (less, c) in reversed(list(enumerate(zip(widths, widths[1:]))))])
        self.final_res_block, self.final_conv = FilmBlock(2 * dim, dim, time), nn.Conv2d(dim, 3, 1)

    def forward(self, picture, t):
        half = self.dim // 2
        angle = t.flatten()[:, None] * torch.exp(-math.log(10000) * torch.arange(half, dtype=t.dtype) / (half - 1))
        time = self.time_mlp["3"](F.gelu(self.time_mlp["1"](torch.cat([angle.sin(), angle.cos()], 1))))
        x = first = self.init_conv(picture)
        skips = []
        for one, two, attend, shrink in self.downs:
            skips.append(one(x, time))
            skips.append(attend(two(skips[-1], time)))
            x = shrink(F.pixel_unshuffle(skips[-1], 2) if isinstance(shrink, nn.Sequential) else skips[-1])
        x = self.mid_block2(self.mid_attn(self.mid_block1(x, time)), time)
        for one, two, attend, grow in self.ups:
            x = two(torch.cat([one(torch.cat([x, skips.pop()], 1), time), skips.pop()], 1), time)
            x = attend(x)
            x = grow(F.interpolate(x, scale_factor=2) if isinstance(grow, nn.Sequential) else x)
        return self.final_conv(self.final_res_block(torch.cat([x, first], 1), time))


NETS = {"bert": Bert, "segformer": Segformer, "unetr": Unetr, "swinir": SwinIR, "ddpm": UNet2D, "lucidrains_unet": LucidrainsUnet}

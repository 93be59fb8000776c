"""Small modules of PyTorch, one idea each, that from_pytorch_test.py converts: what the language says in other words, and
what is refused, with a part of the message."""

import collections

import torch
import torch.nn.functional as F
from torch import nn


class Formed(nn.Module):
    """Layers, and a function of (layers, x, ...)."""

    def __init__(self, forward, **layers):
        super().__init__()
        self.function = forward
        for name, layer in layers.items():
            if isinstance(layer, nn.Parameter):
                self.register_parameter(name, layer)
            elif isinstance(layer, torch.Tensor):
                self.register_buffer(name, layer)
            else:
                setattr(self, name, layer)

    def forward(self, *inputs):
        return self.function(self, *inputs)


def conv(before=3, after=4, kernel=3, **more):
    return nn.Conv2d(before, after, kernel, padding=more.pop("padding", kernel // 2), **more)


def volume(before=2, after=4, kernel=3, **more):
    return nn.Conv3d(before, after, kernel, padding=more.pop("padding", kernel // 2), **more)


def of(function, **layers):
    """FUNCTION of a convolution of the input."""
    return lambda: Formed(lambda s, x: function(s, s.c(x)), c=layers.pop("c", None) or conv(), **layers)


class Twin(nn.Module):
    """The encoder is reached by two paths, as in nnU-Net."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(conv(), nn.ReLU(), conv(4, 4))
        self.decoder = nn.Module()
        self.decoder.encoder = self.encoder
        self.decoder.last = conv(4, 2)

    def forward(self, x):
        return self.decoder.last(self.encoder(x))


class LayerNorm(nn.Module):
    """A class whose name is an operator's."""

    def __init__(self, channels):
        super().__init__()
        self.a, self.b = conv(channels, channels), nn.BatchNorm2d(channels)

    def forward(self, x):
        return F.relu(self.b(self.a(x)))


class ChannelsLast(nn.Module):
    """A block of ConvNeXt: layer_norm and linear with channels at the end, a factor for each channel."""

    def __init__(self, channels=4):
        super().__init__()
        self.depth = conv(channels, channels, 7, groups=channels)
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.one, self.two = nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)
        self.gamma = nn.Parameter(1e-6 * torch.ones(channels))

    def forward(self, x):
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        y = self.gamma * self.two(F.gelu(self.one(y)))
        return x + y.permute(0, 3, 1, 2)


class Squeezed(nn.Module):
    """Squeeze and excitation by linear layers, and a map of one channel as a gate."""

    def __init__(self):
        super().__init__()
        self.enter, self.map = conv(), conv(4, 1, 1)
        self.gate = nn.Sequential(nn.Linear(4, 2), nn.ReLU(), nn.Linear(2, 4), nn.Hardsigmoid())

    def forward(self, x):
        x = self.enter(x)
        b, c, _, _ = x.shape
        y = x * self.gate(x.mean((2, 3)).view(b, c)).view(b, c, 1, 1)
        return y + x * torch.sigmoid(self.map(x)).expand_as(x)


class Shuffled(nn.Module):
    """Views that move letters: pixel_shuffle by hand, tokens and back."""

    def __init__(self):
        super().__init__()
        self.enter, self.mix = conv(3, 8), nn.Linear(8, 8)

    def forward(self, x):
        x = self.enter(x)
        n, c, h, w = x.shape
        tokens = self.mix(x.flatten(2).transpose(1, 2))
        x = tokens.transpose(1, 2).reshape(n, c, h, w)
        return x.view(n, c // 4, 2, 2, h, w).permute(0, 1, 4, 2, 5, 3).reshape(n, c // 4, 2 * h, 2 * w)


def with_heads(s, x):
    """Queries, keys and values packed as (3, heads, channels), as in vision transformers."""
    tokens = s.norm(x.flatten(2).transpose(1, 2))
    n, count, channels = tokens.shape
    q, k, v = s.qkv(tokens).reshape(n, count, 3, 2, channels // 2).permute(2, 0, 3, 1, 4).unbind(0)
    shares = ((q @ k.transpose(-2, -1)) * (channels // 2) ** -0.5).softmax(dim=-1)
    return s.out((shares @ v).transpose(1, 2).reshape(n, count, channels)).transpose(1, 2).reshape(x.shape)


def by_letters(s, x):
    """As guided-diffusion: heads as samples, and a factor of both queries and keys."""
    n, _, height, width = x.shape
    q, k, v = s.qkv(x).reshape(n, 12, -1).chunk(3, dim=1)
    apart = lambda part: part.reshape(n * 2, 2, height * width) * 0.8
    shares = torch.softmax(torch.einsum("bct,bcs->bts", apart(q), apart(k)).float(), dim=-1).type(x.dtype)
    return torch.einsum("bts,bcs->bct", shares, apart(v)).reshape(n, -1, height, width)


def by_batches(s, x):
    """As DDPM and SAGAN, whose values come first; keys of fewer points."""
    n, c, height, width = x.shape
    few = F.max_pool2d(x, 2)
    shares = torch.bmm(x.view(n, c, -1).permute(0, 2, 1), few.view(n, c, -1)).div(3).softmax(2)
    return torch.bmm(s.qkv(few).view(n, 12, -1), shares.permute(0, 2, 1)).view(n, 12, height, width) / 2


def diffused(s, x):
    """As diffusers did: a product added to nothing."""
    n, c, height, width = x.shape
    x = x.view(n, c, -1).transpose(1, 2)
    nothing = torch.empty(n, x.shape[1], x.shape[1])
    shares = torch.baddbmm(nothing, x, x.transpose(-1, -2), beta=0, alpha=0.7).softmax(-1)
    return torch.bmm(shares, x).transpose(1, 2).reshape(n, c, height, width)


class Windows(nn.Module):
    """Attention of Swin: windows of a rolled map, a table of relative positions, a mask."""

    def __init__(self, channels=4, heads=2, window=(4, 2), shift=(0, 0), points=(8, 8)):
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.norm, self.qkv, self.out = nn.LayerNorm(channels), nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.table = nn.Parameter(torch.randn((2 * window[0] - 1) * (2 * window[1] - 1), heads))
        places = torch.stack(torch.meshgrid(*[torch.arange(size) for size in window], indexing="ij")).flatten(1)
        apart = (places[:, :, None] - places[:, None]).permute(1, 2, 0) + torch.tensor(window) - 1
        self.register_buffer("index", apart[..., 0] * (2 * window[1] - 1) + apart[..., 1])
        sides = torch.zeros(1, *points, 1)
        for at, (size, by) in enumerate(zip(window, shift)):
            sides.transpose(1, 1 + at)[:, -size:] += 3 ** at
            sides.transpose(1, 1 + at)[:, points[at] - by:] += 3 ** at
        sides = self.parted(sides).flatten(1)
        self.register_buffer("mask", (sides[:, None] != sides[:, :, None]) * -100.0 if any(shift) else None)

    def parted(self, x):
        n, height, width, c = x.shape
        x = x.view(n, height // self.window[0], self.window[0], width // self.window[1], self.window[1], c)
        return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, self.window[0] * self.window[1], c)

    def mapped(self, y):
        return self.qkv(y)

    def shares(self, q, k):
        table = self.table[self.index.view(-1)].view(*self.index.shape, -1).permute(2, 0, 1)
        products = q @ k.transpose(2, 3) * 0.7 + table[None]
        if self.mask is not None:
            parts = len(self.mask)
            products = (products.view(-1, parts, *products.shape[1:]) + self.mask[None, :, None]).view(products.shape)
        return products.softmax(-1)

    def forward(self, x):
        n, c, height, width = x.shape
        y = self.parted(torch.roll(self.norm(x.permute(0, 2, 3, 1)), [-by for by in self.shift], (1, 2)))
        q, k, v = self.mapped(y).view(*y.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = self.out((self.shares(q, k) @ v).transpose(1, 2).reshape(y.shape))
        y = y.view(n, height // self.window[0], width // self.window[1], *self.window, c).permute(0, 1, 3, 2, 4, 5)
        return x + torch.roll(y.reshape(n, height, width, c), self.shift, (1, 2)).permute(0, 3, 1, 2)


class CosineWindows(Windows):
    """Attention of Swin v2: queries and keys of length 1, a factor for each head, relative positions that layers make of places,
    and a bias of which the part for the keys is zero."""

    def __init__(self, channels=4, heads=2, window=(4, 2), shift=(0, 0)):
        super().__init__(channels, heads, window, shift)
        del self.table
        self.logits = nn.Parameter(torch.rand(heads, 1, 1))
        self.table = nn.Sequential(nn.Linear(2, 5), nn.ReLU(inplace=True), nn.Linear(5, heads, bias=False))
        apart = [torch.linspace(-1, 1, 2 * size - 1) for size in window]
        self.register_buffer("places", torch.stack(torch.meshgrid(*apart, indexing="ij"), -1)[None])

    def mapped(self, y):
        bias, c = self.qkv.bias.clone(), y.shape[-1]
        bias[c:2 * c].zero_()
        return F.linear(y, self.qkv.weight, bias)

    def shares(self, q, k):
        table = self.table(self.places).view(-1, self.heads)[self.index.view(-1)].view(*self.index.shape, -1).permute(2, 0, 1)
        products = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(2, 3) * self.logits.clamp(max=0.7).exp()
        products = products + 4 * torch.sigmoid(table.contiguous()[None])
        if self.mask is not None:
            parts = len(self.mask)
            products = (products.view(-1, parts, *products.shape[1:]) + self.mask[None, :, None]).view(products.shape)
        return products.softmax(-1)


def other_windows():
    """The table is read in another order than Swin's."""
    network = Windows()
    network.index = network.index.flip(0)
    return network


def other_mask():
    """Windows of a map that is rolled; the mask hides what no roll brings together."""
    network = Windows(shift=(2, 1))
    network.mask = network.mask.flip(2)
    return network


def biased_by(bias):
    """Attention of all points, which have one head, with a summand of each pair."""
    def attended(s, x):
        t = x.flatten(2)
        return (torch.softmax(t.transpose(1, 2) @ t + bias(s, x), -1) @ t.transpose(1, 2)).transpose(1, 2).view(x.shape)
    return attended


def of_pairs(s, x):
    """Two heads with a factor each, a place in a table for each pair, as LeViT has it, and a mask."""
    t = x.view(1, 2, 2, 64).transpose(2, 3)
    products = t @ t.transpose(2, 3) * s.factor.view(2, 1, 1)
    shares = (products + s.table[:, s.index] + s.mask).softmax(-1)
    return (shares @ t).transpose(2, 3).reshape(x.shape)


def parts_of_many_groups(s, x):
    """Keys and values of 80 heads, a part of each head's channels."""
    keys, values = s.d(x).view(1, 80, 3, 8, 8).split([1, 2], 2)
    return keys.flatten(1, 2).tanh(), values.flatten(1, 2)


def merged(s, x):
    """Every other point is a channel, in three orders."""
    n, c, height, width = x.shape
    last = x.permute(0, 2, 3, 1)
    by_slices = torch.cat([last[:, i::2, j::2] for j in (0, 1) for i in (0, 1)], -1)
    by_views = last.reshape(n, height // 2, 2, width // 2, 2, c).permute(0, 1, 3, 4, 2, 5).flatten(3)
    whole = x.view(n, c, height // 2, 2, width // 2, 2).permute(0, 1, 3, 5, 2, 4).reshape(n, 4 * c, height // 2, width // 2)
    return s.f(by_slices * by_views).permute(0, 3, 1, 2) + s.d(whole) + x[:, :, ::3, 1::2].mean()


class Cropped(nn.Module):
    """U-Net of 2015: no padding, skips are cut."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = conv(3, 4, padding=0), conv(4, 4, padding=0), conv(8, 2, 1)

    def forward(self, x):
        skip = self.a(x)
        x = self.b(skip)
        dh, dw = (skip.shape[2] - x.shape[2]) // 2, (skip.shape[3] - x.shape[3]) // 2
        return self.c(torch.cat([x, skip[:, :, dh:dh + x.shape[2], dw:dw + x.shape[3]]], 1))


class Fitted(nn.Module):
    """Sizes that pooling does not divide: zeros around the smaller one."""

    def __init__(self):
        super().__init__()
        self.a, self.up, self.b = conv(), nn.ConvTranspose2d(4, 4, 2, 2), conv(8, 2)

    def forward(self, x):
        x = self.a(x)
        y = self.up(F.max_pool2d(x, 2))
        dy, dx = x.shape[2] - y.shape[2], x.shape[3] - y.shape[3]
        y = F.pad(y, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.b(torch.cat([x, y], 1))


class Unpooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = conv(), conv(4, 2)

    def forward(self, x):
        y, where = F.max_pool2d(self.a(x), 2, return_indices=True)
        return self.b(F.max_unpool2d(torch.tanh(y), where, 2))


def repeats():
    return nn.Sequential(conv(3, 6), nn.ReLU(), *[part for _ in range(15) for part in (
        conv(6, 6, bias=False), nn.BatchNorm2d(6), nn.ReLU(inplace=True))], conv(6, 3))


def change_in_place(s, x):
    y = s.c(x)
    z = y.view(1, 4, -1)
    z.mul_(2)
    y += 1
    return F.relu_(y) - x[:, :1]


def change_over(s, x):
    """What is seen of a tensor before it changes is seen anew."""
    y = x.permute(0, 2, 3, 1)
    x.mul_(2)
    z = y.permute(0, 3, 1, 2).clone()
    x.add_(1)
    return z + y.permute(0, 3, 1, 2)


def standardised(s, x):
    """Weight standardisation: a convolution of weights that other operators compute, in place as well."""
    k = s.c.weight
    apart = torch.relu_(k - k.mean((1, 2, 3), keepdim=True) + 0.1)
    return F.conv2d(x, apart / (apart.std((1, 2, 3), keepdim=True) + 1e-5), s.c.bias, padding=1)


def edges(s, x):
    """A filter that is written in the code."""
    sobel = torch.tensor([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]]).expand(4, 1, 3, 3)
    return F.conv2d(x, sobel, padding=1, groups=4)


def timed(s, x, t):
    """Sines and cosines of a number, as diffusers, lucidrains' networks and guided-diffusion compute them."""
    angles = t.flatten()[:, None].float() * torch.exp(-0.7 * torch.arange(5, dtype=torch.float32))[None]
    waves = torch.cat([angles.sin(), angles.cos()], dim=-1).to(x.dtype)
    return s.c(x) * (1 + s.a(waves)[:, :, None, None]) + s.b(F.silu(waves))[..., None, None]


def tokens_with_places(s, x):
    """Positions of tokens, as in vision transformers."""
    return (x.flatten(2).transpose(1, 2) * s.t + s.p).transpose(1, 2).view(x.shape)


def of_a_row(s, x):
    """Convolutions of kernel 1 on tokens, as in the attention of diffusion networks."""
    n, c, *points = x.shape
    q, k, v = s.qkv(s.norm(x.reshape(n, c, -1))).chunk(3, dim=1)
    shares = torch.softmax(torch.einsum("bct,bcs->bts", q, k), dim=-1)
    y = s.out(torch.einsum("bts,bcs->bct", shares, v))
    return (x + y.reshape(n, c, *points)) * s.turned(x.transpose(2, 3)).transpose(2, 3)


def along_each_axis(s, x):
    """Means of rows and of columns side by side, as in coordinate attention."""
    n, c, height, width = x.shape
    rows, columns = x.mean(3, keepdim=True), x.mean(2, keepdim=True).permute(0, 1, 3, 2)
    y = F.hardswish(s.b(s.d(torch.cat([rows, columns], 2))))
    rows, columns = y.split([height, width], 2)
    return x * s.r(rows).sigmoid() * s.w(columns.permute(0, 1, 3, 2)).sigmoid()


def with_class_token(s, x):
    """Learnt tokens in front of those of the map, as in vision transformers."""
    n, c, *points = x.shape
    tokens = torch.cat([s.cls.expand(n, -1, -1), s.more, x.flatten(2).transpose(1, 2)], dim=1) + s.places
    tokens = torch.softmax(tokens @ tokens.transpose(1, 2), -1) @ tokens
    return tokens[:, 3:].transpose(1, 2).reshape(x.shape) * tokens[:, 0].view(n, c, *[1] * len(points)) + x


def of_two_scales(s, x):
    """Tokens of two maps in one row, and each map back."""
    small = F.max_pool2d(x, 2)
    tokens = torch.cat([part.flatten(2).permute(0, 2, 1) for part in (x, small)], 1)
    tokens = s.f(tokens).tanh()
    first, second = tokens[:, :64], tokens[:, 64:]
    second = second.permute(0, 2, 1).view(1, 5, 4, 4)
    return first.reshape(1, 8, 8, 5).permute(0, 3, 1, 2) + F.interpolate(second, scale_factor=2)


def one_key_for_heads(s, x):
    """Queries of several heads, keys and values of one."""
    q = s.q(x).view(1, 3, 4, -1).transpose(2, 3)
    k, v = (F.max_pool2d(x, 2).flatten(2).transpose(1, 2).unsqueeze(1) * factor for factor in (1, 2))
    return (torch.softmax(q @ k.transpose(2, 3), -1) @ v).transpose(1, 2).reshape(1, 64, 12).transpose(1, 2).view(1, 12, 8, 8)


def packed_by_heads(s, x):
    """Each head has its queries, keys and values behind one another, and more values than keys."""
    tokens = s.qkv(x.flatten(2).transpose(1, 2)).view(1, 64, 3, 8)
    q, k, v = tokens.split([2, 2, 4], dim=3)
    q, k, v = (part.permute(0, 2, 1, 3) for part in (q, k, v))
    y = (torch.softmax(q @ k.transpose(2, 3), -1) @ v).transpose(1, 2).reshape(1, 64, 12)
    return y.transpose(1, 2).view(1, 12, 8, 8) + s.qkv(x.flatten(2).transpose(1, 2)).view(1, 64, 2, 3, 4)[:, :, :, 1].sum(2).mean()


def of_heads(tokens, heads):
    """Parts of tokens as samples, heads, channels of a head, points."""
    n, count, channels = tokens.shape
    return tokens.reshape(n, count, 3, heads, channels // 3 // heads).permute(2, 0, 3, 4, 1).unbind(0)


def cross_covariance(s, x):
    """As XCiT: queries and keys of length 1, a temperature for each head."""
    q, k, v = of_heads(s.qkv(s.norm(x.flatten(2).transpose(1, 2))), 2)
    shares = (F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1) * s.temperature).softmax(dim=-1)
    tokens = (shares @ v).permute(0, 3, 1, 2).reshape(x.shape[0], -1, x.shape[1])
    return x + s.out(tokens).transpose(1, 2).reshape(x.shape)


class TransposedAttention(nn.Module):
    """As Restormer: convolutions make queries, keys and values, whose maps are the rows of each head."""

    def __init__(self, channels=4, heads=2):
        super().__init__()
        self.heads = heads
        self.temperature = nn.Parameter(torch.ones(heads, 1, 1))
        self.qkv = nn.Conv2d(channels, 3 * channels, 1, bias=False)
        self.depth = nn.Conv2d(3 * channels, 3 * channels, 3, padding=1, groups=3 * channels, bias=False)
        self.out = nn.Conv2d(channels, channels, 1, bias=False)

    def forward(self, x):
        n, c, height, width = x.shape
        q, k, v = (part.view(n, self.heads, c // self.heads, height * width) for part in self.depth(self.qkv(x)).chunk(3, 1))
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        shares = (q @ k.transpose(-2, -1) * self.temperature).softmax(-1)
        return x + self.out((shares @ v).view(n, c, height, width))


def of_channel_groups(s, x):
    """As DaViT: no norm, a factor of the queries, channels behind the points before and afterwards."""
    tokens = x.flatten(2).transpose(1, 2)
    q, k, v = (part.transpose(-1, -2) for part in of_heads(s.qkv(tokens), 2))
    shares = ((q * q.shape[2] ** -0.5).transpose(-1, -2) @ k).softmax(-1)
    y = (shares @ v.transpose(-1, -2)).transpose(-1, -2)
    return s.out(y.transpose(1, 2).reshape(tokens.shape)).transpose(1, 2).reshape(x.shape)


def linear_attention(s, x):
    """As lucidrains' diffusion networks: queries are shares of the channels of a head, keys are shares of the points."""
    q, k, v = (part.view(x.shape[0], 2, -1, x.shape[2] * x.shape[3]) for part in s.qkv(x).chunk(3, 1))
    context = torch.einsum("bhdn,bhen->bhde", k.softmax(-1), v)
    y = torch.einsum("bhde,bhdn->bhen", context, q.softmax(-2) * 0.4)
    return s.out(y.reshape(x.shape[0], -1, *x.shape[2:]))


def relu_attention(s, x):
    """As EfficientViT: a column of ones tells by which sum the weighted values are divided."""
    q, k, v = s.qkv(x).reshape(x.shape[0], -1, 12, x.shape[2] * x.shape[3]).transpose(-1, -2).chunk(3, -1)
    y = F.relu(q) @ (F.relu(k).transpose(-1, -2) @ F.pad(v, (0, 1), value=1.0))
    y = y[..., :-1] / (y[..., -1:] + 1e-2)
    return s.out(y.transpose(-1, -2).reshape(x.shape[0], -1, *x.shape[2:]))


def by_channel_letters(s, x):
    """More keys than queries, queries alone divided by their norms, and shares that come second."""
    q, k, v = (part.flatten(2) for part in s.qkv(x).split([4, 6, 6], 1))
    shares = torch.einsum("bcn,bdn->bdc", F.normalize(q, dim=2), k / -3).softmax(1)
    return torch.einsum("bdn,bdc->bnc", v, shares).transpose(1, 2).view(x.shape) / s.t


class SignalUNet(nn.Module):
    """Layers of one dimension, and every second point as Wave-U-Net takes it."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv1d(1, 8, 15, padding=7), nn.InstanceNorm1d(8, affine=True)
        self.down, self.batch = nn.Conv1d(8, 16, 5, stride=2, padding=2), nn.BatchNorm1d(16)
        self.gate = nn.Conv1d(16, 32, 3, padding="same", dilation=2)
        self.up, self.layer, self.last = nn.ConvTranspose1d(16, 8, 4, stride=2, padding=1), nn.LayerNorm(8), nn.Conv1d(17, 1, 1)

    def forward(self, x):
        first = F.leaky_relu(self.norm(self.first(x)))
        gated = F.glu(self.gate(F.relu(self.batch(self.down(first)))), 1)
        small = F.max_pool1d(gated, 2) + F.avg_pool1d(gated, 2) + gated[:, :, ::2]
        large = F.interpolate(small, scale_factor=2, mode="linear", align_corners=True) + F.interpolate(small, scale_factor=2)
        up = self.up(large + gated * torch.sigmoid(F.adaptive_avg_pool1d(gated, 1)))
        shifted = F.pad(self.layer(up.transpose(1, 2)).transpose(1, 2), (2, 1), mode="reflect")[:, :, 1:-2]
        return torch.tanh(self.last(torch.cat([shifted, first, x], 1)))


def one_operator(q, k, v):
    """Attention by PyTorch's one operator, which PyTorch has since its version 2."""
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v)
    return torch.softmax(q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5, -1) @ v


def of_all_channels(s, x):
    """By one operator, and of one head."""
    rows = x.flatten(2)
    first = one_operator(rows, rows.tanh(), rows * 2)
    return (first + torch.softmax(rows @ rows.transpose(1, 2) / s.t, -1) @ rows).view(x.shape)


def of_rows(x, changed):
    """Attention of channels whose products are changed."""
    rows = x.flatten(2)
    return (changed(rows @ rows.transpose(1, 2)).softmax(-1) @ rows).view(x.shape)


def channels_in_windows(s, x):
    n, c, height, width = x.shape
    parts = x.view(n, c, height // 2, 2, width // 2, 2).permute(0, 2, 4, 1, 3, 5).reshape(-1, c, 4)
    parts = torch.softmax(parts @ parts.transpose(1, 2), -1) @ parts
    return parts.view(n, height // 2, width // 2, c, 2, 2).permute(0, 3, 1, 4, 2, 5).reshape(x.shape)


def moved_outputs(s, x):
    """Maps with channels behind points, and a row of tokens."""
    row = torch.cat([x.flatten(2), x.mean((2, 3))[:, :, None]], 2)
    last = torch.stack([x, -x], 1).flatten(1, 2).permute(0, 2, 3, 1)
    return {"map": x.tanh(), "last": [last, F.pad(x, (1, 1)).permute(0, 3, 1, 2)], "rows": x.mean(3).transpose(1, 2),
            "row": row.transpose(1, 2)}


def moved_volumes(x):
    """Tokens of a volume, channels at the end, and axes that are joined in another order."""
    return x.flatten(2).transpose(1, 2), x.permute(0, 2, 3, 4, 1), x.permute(0, 4, 2, 3, 1).flatten(1, 2)


def own_norms(s, x):
    """Norms that are written out."""
    y = (x - x.mean(1, True)) / (x.var(1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    return torch.addcmul(x, y, x.std((2, 3), keepdim=True), value=0.5) + F.normalize(x, dim=1) * x.norm(p=1, dim=3, keepdim=True)


def attributed():
    network = Formed(lambda s, x: s.c(x) * s.mean, c=conv())
    network.mean = torch.rand(1, 4, 1, 1)
    return network


def in_place_on_part(s, x):
    """A part that was taken before sees the changes."""
    x = s.c(x)
    a, b = x.chunk(2, 1)
    a.mul_(2.0)
    x[:, 1:3] = b.tanh()
    y = x + b[:, :1]
    x[:, :1] = 0
    b[:, 1] += 3
    return torch.cat([x, y, a], 1)


def batch_statistics(s, x):
    return F.batch_norm(s.c(x), s.b.running_mean, s.b.running_var, s.b.weight, s.b.bias, True)


def condition(s, x):
    x = s.c(x)
    return x * 2 if x.mean() > 0 else x


def looking_at_numbers():
    """Python looks at a buffer, as torch.export does not allow."""
    return Formed(lambda s, x: s.c(x) * 2 if s.m.sum() > 1 else s.c(x), c=conv(), m=torch.ones(4))


Pair = collections.namedtuple("Pair", "mask edge")
def shuffled_channels(s, x):
    """ShuffleNet's, and halves of them."""
    y = s.a(x)
    first, second = y.view(len(y), 2, 4, *y.shape[2:]).transpose(1, 2).reshape(y.shape).chunk(2, 1)
    return torch.cat([first, s.b(second)], 1)


def mixed_tokens(s, x):
    """MLP-Mixer's: a linear layer over points."""
    y = s.a(x)
    return y + s.d(F.gelu(s.b(y.flatten(2)))).view(y.shape)


def attention_of_a_grid(s, x):
    """MobileViT's: points that lie alike in patches of 2 x 2 see each other, by two heads."""
    y = s.a(x)
    n, c, h, w = y.shape
    rows = y.reshape(n, c, h // 2, 2, w // 2, 2).permute(0, 3, 5, 2, 4, 1).reshape(n * 4, h * w // 4, c)
    q, k, v = s.qkv(rows).reshape(n * 4, h * w // 4, 3, 2, c // 2).permute(2, 0, 3, 1, 4)
    seen = torch.softmax(q @ k.transpose(2, 3) / 2, 3) @ v
    return y + seen.transpose(1, 2).reshape(n, 2, 2, h // 2, w // 2, c).permute(0, 5, 3, 1, 4, 2).reshape(y.shape)


def attention_along_rows(s, x):
    """Points of a row see each other, and points of a column."""
    y = s.a(x)
    n, c, h, w = y.shape
    across = torch.softmax(s.q(y).permute(0, 2, 3, 1).reshape(n * h, w, 4) @ s.k(y).permute(0, 2, 1, 3).reshape(n * h, 4, w), 2)
    down = torch.softmax(s.q(y).permute(0, 3, 2, 1).reshape(n * w, h, 4) @ s.k(y).permute(0, 3, 1, 2).reshape(n * w, 4, h), 2)
    values = y.permute(0, 2, 3, 1)
    return (across @ values.reshape(n * h, w, c)).view(n, h, w, c).permute(0, 3, 1, 2) + (
        down @ values.transpose(1, 2).reshape(n * w, h, c)).view(n, w, h, c).permute(0, 3, 2, 1)


def turned_axes(s, x):
    """Rows as columns, channels of a group by their length, and a factor that they share."""
    y = s.a(x)
    y = y + s.b(y.transpose(2, 3)).transpose(2, 3)
    groups = y.reshape(len(y), 2, 4, *y.shape[2:])
    lengths = (groups * groups).sum(2, keepdim=True).sqrt()
    return torch.cat([(groups / lengths).reshape(y.shape), lengths.expand_as(groups).reshape(y.shape)], 1)


IMAGE = (3, 8, 8)
ODD = (3, 7, 9)
VOLUME = (2, 4, 8, 8)

# The ways in which a file was once another network: name, what makes the module, size; converted rightly.
ONCE_WRONG = [
    ("same_even", lambda: nn.Conv2d(3, 4, 2, padding="same"), IMAGE),
    ("same_four", lambda: nn.Conv2d(3, 4, 4, padding="same", dilation=(1, 3)), (3, 16, 16)),
    ("scale_factor", of(lambda s, x: F.interpolate(x, scale_factor=0.5, mode="bilinear", align_corners=False)), (3, 7, 7)),
    ("scale_factor_15", of(lambda s, x: F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=False)), (3, 7, 7)),
    ("attribute", attributed, IMAGE),
    ("in_place_on_part", lambda: Formed(in_place_on_part, c=conv()), IMAGE),
]
RIGHT = ONCE_WRONG + [
    ("recomputed", of(lambda s, x: F.interpolate(x, scale_factor=1.5, mode="bilinear", recompute_scale_factor=True)), (3, 7, 7)),
    ("in_place", lambda: Formed(change_in_place, c=conv()), IMAGE),
    ("dropout_in_place", of(lambda s, x: s.d(x), d=nn.Dropout2d(0.2, inplace=True)), IMAGE),
    ("own_kernel", lambda: Formed(lambda s, x: F.conv2d(x, s.kernel, s.shift, padding=1), kernel=nn.Parameter(
        torch.rand(4, 3, 3, 3)), shift=nn.Parameter(torch.rand(4))), IMAGE),
    ("copied_kernel", lambda: Formed(lambda s, x: F.conv2d(x, s.kernel.clone(), padding=1), kernel=nn.Parameter(
        torch.rand(4, 3, 3, 3))), IMAGE),
    ("none_output", lambda: Formed(lambda s, x: (s.c(x), None), c=conv()), IMAGE),
    ("operator_name", lambda: nn.Sequential(LayerNorm(3), LayerNorm(3)), IMAGE),
    ("dash", lambda: Formed(lambda s, x: s.m["my-key"](x), m=nn.ModuleDict({"my-key": conv()})), IMAGE),
    ("unequal_sum", of(lambda s, x: x + F.adaptive_avg_pool2d(x, 1)), IMAGE),
    ("two_inputs", lambda: Formed(lambda s, x, y: s.c(torch.cat([x, F.interpolate(y, x.shape[2:])], 1)), c=conv(4)),
     [(3, 8, 8), (1, 4, 4)]),
    ("two_paths", Twin, IMAGE),
    ("dictionary", lambda: Formed(lambda s, x: {"out": s.c(x), "aux": [s.d(x), None]}, c=conv(), d=conv()), IMAGE),
    ("named_tuple", lambda: Formed(lambda s, x: Pair(s.c(x), torch.sigmoid(s.d(x))), c=conv(), d=conv(3, 1)), IMAGE),
    ("twice", lambda: Formed(lambda s, x: s.c(F.relu(s.b(s.c(x)))) + s.b(x), c=conv(3, 3), b=nn.BatchNorm2d(3)), IMAGE),
    ("one_prelu", lambda: Formed(lambda s, x: s.p(s.d(s.p(s.c(x)))), c=conv(), d=conv(4, 4), p=nn.PReLU()), IMAGE),
    ("repeats", repeats, IMAGE),
    ("channels_last", lambda: nn.Sequential(conv(), ChannelsLast(), ChannelsLast()), IMAGE),
    ("squeezed", Squeezed, IMAGE),
    ("shuffled", Shuffled, (3, 4, 6)),
    ("cropped", Cropped, ODD),
    ("fitted", Fitted, ODD),
    ("unpooled", Unpooled, IMAGE),
    ("volume", lambda: Formed(lambda s, x: s.u(F.max_pool3d(s.n(s.c(x)), 2)), c=volume(), n=nn.InstanceNorm3d(4, affine=True),
                              u=nn.ConvTranspose3d(4, 2, 2, 2)), VOLUME),
    ("volume_sizes", lambda: Formed(lambda s, x: F.interpolate(F.avg_pool3d(s.c(x), (1, 2, 2)), scale_factor=(1, 2, 2),
                                                               mode="trilinear"), c=volume(kernel=1)), VOLUME),
    ("volume_gate", lambda: Formed(lambda s, x: x * torch.sigmoid(s.c(F.adaptive_avg_pool3d(x, 1))), c=volume(2, 2, 1)), VOLUME),
    ("relu6", of(lambda s, x: F.relu6(3 * x + 3)), IMAGE),
    ("hard", of(lambda s, x: F.hardswish(3 * x) - F.hardsigmoid(4 * x) + F.hardtanh(x, -0.3, 0.5)), IMAGE),
    ("clamped", of(lambda s, x: x.clamp(-0.2, 0.4) + x.clamp(min=0.1) - x.clamp(max=-0.1)), IMAGE),
    ("elus", of(lambda s, x: F.selu(x) + F.elu(x, 0.3) + F.celu(x)), IMAGE),
    ("gelu_tanh", of(lambda s, x: F.gelu(3 * x, approximate="tanh")), IMAGE),
    ("maxima", of(lambda s, x: torch.maximum(x, -0.5 * x) - torch.minimum(x, x * x) + x.abs() + x ** 3), IMAGE),
    ("functions", of(lambda s, x: F.softplus(x, 2) - F.mish(x) + torch.exp(-x.square()) + torch.log(1 + x.abs()) + torch.sin(x)
                     * torch.cos(x) + torch.sqrt(x.abs() + 1) + x.abs() ** 0.5), IMAGE),
    ("quotients", of(lambda s, x: x / (1 + x.abs()) + 1 / (2 + torch.sigmoid(x)) + x.mean((2, 3), True) / (1 + x.square())), IMAGE),
    ("unequal_pairs", of(lambda s, x: x - x.mean(2, True) + x.mean(3, True) * x.mean(1, True) + torch.maximum(x, x.mean(
        (1, 2), True)) - x.mean((2, 3), True) + x.mean(2, True) * x.mean(3, True)), IMAGE),
    ("swish", of(lambda s, x: x * torch.sigmoid(1.702 * x)), IMAGE),
    ("constant_map", of(lambda s, x: (x + s.b) * s.b, b=torch.rand(8, 8)), IMAGE),
    ("two_constant_maps", of(lambda s, x: x * torch.arange(256).view(4, 8, 8) + torch.linspace(0, 1, 8)[:, None]), IMAGE),
    ("computed_summand", of(lambda s, x: x + torch.sin(s.b), b=nn.Parameter(torch.rand(4, 8, 8))), IMAGE),
    ("summand_of_a_layer", of(lambda s, x: x + s.e(torch.linspace(0, 1, 128).view(1, 2, 8, 8)), e=nn.Conv2d(2, 4, 1)), IMAGE),
    ("folded_zeros", lambda: Formed(lambda s, x: s.c(F.pad(x, (1, 2, 0, 1))), c=conv(padding=0)), IMAGE),
    ("strided_same", lambda: Formed(lambda s, x: s.c(F.pad(x, (0, 1, 0, 1))), c=conv(stride=2, padding=0)), IMAGE),
    ("average", of(lambda s, x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False) + F.avg_pool2d(x, 3, 2, 1)), IMAGE),
    ("average_up", of(lambda s, x: F.avg_pool2d(x, 2, 2, ceil_mode=True) + F.avg_pool2d(x, 2, divisor_override=3)), IMAGE),
    ("unequal_parts", of(lambda s, x: torch.cat([p.tanh() for p in x.split([1, 3], 1)], 1) + x[:, 1:2]), IMAGE),
    ("parts", of(lambda s, x: torch.stack([p.sigmoid() for p in x.unbind(1)], 1) + x[:, 2:3] * x[:, -1].unsqueeze(1)), IMAGE),
    ("stacked", of(lambda s, x: torch.stack([x, x.tanh(), F.relu(x)], 0).sum(0) + torch.stack([x, -x], 2).mean(2)), IMAGE),
    ("stack_of_points", of(lambda s, x: torch.stack([F.relu(torch.stack([x, 2 * x], 1) + 0.1).mean((3, 4)).sum(1), x.amax((2, 3))],
                                                    0).sum(0)[:, :, None, None] * torch.softmax(torch.stack([x, -x], 0)[1], 1)), IMAGE),
    ("stack_moved", of(lambda s, x: torch.stack([x, x.tanh()], 0).permute(0, 1, 3, 4, 2)[1].permute(0, 3, 1, 2)), IMAGE),
    ("sums", of(lambda s, x: x.sum(1, keepdim=True) + x.mean(1).unsqueeze(1) + x.amax(1, True) - x.max(1, keepdim=True)[0]),
     IMAGE),
    ("parts_of_views", of(lambda s, x: x.view(1, 2, 2, 8, 8).sum(1) + x.view(1, 2, 2, 8, 8).amax(1)), IMAGE),
    ("over_points", of(lambda s, x: x * x.mean((2, 3), True) + x.amax((2, 3), keepdim=True) - F.adaptive_max_pool2d(x, 1)),
     IMAGE),
    ("parts_of_points", of(lambda s, x: F.interpolate(F.adaptive_avg_pool2d(x, 3), (16, 16)) + F.adaptive_avg_pool2d(x, 16)),
     IMAGE),
    ("overlapping_parts", of(lambda s, x: F.adaptive_avg_pool2d(x[:, :, :4, :5], (6, 3)) + F.adaptive_avg_pool2d(x, (3, 2))[:, :, :1, :1]),
     IMAGE),
    ("rows", of(lambda s, x: x * x.mean(3, keepdim=True) + x.mean(2, keepdim=True)), (3, 4, 8)),
    ("mapped", of(lambda s, x: x + x[:, :1] - x[:, 1:2].expand(-1, 4, -1, -1) + x[:, :2].repeat(1, 2, 1, 1)), IMAGE),
    ("repeated", of(lambda s, x: (x[:, :1].expand(-1, 4, -1, -1)[:, 1:].permute(0, 2, 3, 1) * 2).permute(0, 3, 1, 2) + x.repeat(
        1, 2, 1, 1).sum(1, keepdim=True) + F.adaptive_avg_pool2d(x, 1).expand_as(x)[:, :3]), IMAGE),
    ("flattened", of(lambda s, x: s.f(x.flatten(1)), f=nn.Linear(4 * 4 * 4, 5)), (3, 4, 4)),
    ("no_channels", of(lambda s, x: torch.cat([x, x.new_zeros(1, 0, 8, 8)], 1)), IMAGE),
    ("group_of_all", of(lambda s, x: F.group_norm(x, 4)), IMAGE),
    ("nearest_odd", of(lambda s, x: F.interpolate(F.max_pool2d(x, 2), size=x.shape[2:], mode="nearest") + x), ODD),
    ("weight_factor", of(lambda s, x: x * s.g.view(1, -1, 1, 1), g=nn.Parameter(torch.rand(4))), IMAGE),
    ("summand", of(lambda s, x: (x + s.b) / s.b - x * s.c2, b=nn.Parameter(torch.rand(4, 1, 1) + 1), c2=nn.Parameter(torch.rand(1))),
     IMAGE),
    ("positions", of(lambda s, x: F.relu(x + s.p) * s.r + s.m, p=nn.Parameter(torch.rand(1, 4, 8, 8)), r=nn.Parameter(
        torch.zeros(8)), m=nn.Parameter(torch.rand(8, 1))), IMAGE),
    ("tokens_with_positions", of(lambda s, x: (x.flatten(2).transpose(1, 2) + s.b).transpose(1, 2).view(1, 4, 8, 8) * s.w,
                                 b=nn.Parameter(torch.rand(4)), w=torch.tensor([0.5, 1.0, 2.0, 0.25]).view(-1, 1, 1)), IMAGE),
    ("places", of(tokens_with_places, p=nn.Parameter(torch.rand(1, 64, 4)), t=nn.Parameter(torch.rand(64, 1))), IMAGE),
    ("windows", lambda: nn.Sequential(conv(), Windows(), Windows(shift=(2, 1)), Windows(shift=(0, 1)), Windows(window=(8, 8))), IMAGE),
    ("other_windows", lambda: nn.Sequential(conv(), other_windows()), IMAGE),
    ("attention_with_bias", of(biased_by(lambda s, x: s.b), b=nn.Parameter(torch.rand(64, 64))), IMAGE),
    ("attention_with_mask", of(biased_by(lambda s, x: s.b), b=torch.rand(64, 64)), IMAGE),
    ("attention_with_computed_bias", of(biased_by(lambda s, x: torch.sigmoid(s.b)[s.i]), b=nn.Parameter(torch.rand(9)), i=torch.randint(9, (64, 64))),
     IMAGE),
    ("attention_of_pairs", of(of_pairs, factor=nn.Parameter(torch.rand(2) + 1), table=nn.Parameter(torch.randn(2, 9)),
                              index=torch.randint(9, (64, 64)), mask=torch.randint(2, (64, 64)) * -9.0), IMAGE),
    ("parts_of_many_groups", of(parts_of_many_groups, d=nn.Conv2d(4, 240, 1)), IMAGE),
    ("merged", of(merged, f=nn.Linear(16, 5), d=nn.Conv2d(16, 5, 1)), IMAGE),
    ("zeros_at_the_end", of(lambda s, x: F.pad(x.permute(0, 2, 3, 1), (0, 0, 0, 2, 0, 1)).tanh()[:, :8, 1:9].permute(0, 3, 1, 2)), IMAGE),
    ("along_each_axis", of(along_each_axis, d=nn.Conv2d(4, 2, 1), b=nn.BatchNorm2d(2), r=nn.Conv2d(2, 4, 1), w=nn.Conv2d(2, 4, 1)), IMAGE),
    ("least", of(lambda s, x: (x - x.amin((2, 3), True)) / (x.amax((2, 3), True) - x.amin((2, 3), True) + 1) + x.min(1, True)[0]), IMAGE),
    ("gated", of(lambda s, x: F.glu(x, 1) + F.glu(x.permute(0, 2, 3, 1), 3).permute(0, 3, 1, 2)), IMAGE),
    ("spreads", of(lambda s, x: (x - torch.var_mean(x, (2, 3), keepdim=True)[1]) * torch.std_mean(x, 1, unbiased=False, keepdim=True)[0]),
     IMAGE),
    ("row", of(of_a_row, norm=nn.GroupNorm(2, 4), qkv=nn.Conv1d(4, 12, 1), out=nn.Conv1d(4, 4, 1, groups=2),
               turned=nn.Conv2d(4, 4, 1, bias=False)), IMAGE),
    ("class_token", of(with_class_token, cls=nn.Parameter(torch.rand(1, 1, 4)), more=nn.Parameter(torch.rand(1, 2, 4)),
                       places=nn.Parameter(torch.rand(1, 67, 4))), IMAGE),
    ("two_scales", of(of_two_scales, f=nn.Linear(4, 5)), IMAGE),
    ("packed_by_heads", of(packed_by_heads, qkv=nn.Linear(4, 24)), IMAGE),
    ("one_key", of(one_key_for_heads, q=nn.Conv2d(4, 12, 1)), IMAGE),
    ("unpooled_ceil", of(lambda s, x: F.max_unpool2d(*F.max_pool2d(x, 2, ceil_mode=True, return_indices=True), 2)), IMAGE),
    ("own_norms", of(own_norms), IMAGE),
    ("bare_norms", of(lambda s, x: F.layer_norm(x.permute(0, 2, 3, 1), [4], s.w).permute(0, 3, 1, 2) + F.group_norm(x, 1) * s.n(x),
                      n=nn.LayerNorm([4, 8, 8]), w=nn.Parameter(torch.rand(4))), IMAGE),
    ("shares", of(lambda s, x: x.view(1, 2, 2, 8, 8).softmax(1).flatten(1, 2) + torch.stack([x, x.tanh()]).softmax(0)[1] + x.softmax(2)
                  * F.log_softmax(x, 3) + F.logsigmoid(x) * torch.rsqrt(x.square() + 1)), IMAGE),
    ("standardised", lambda: Formed(standardised, c=conv()), IMAGE),
    ("edges", of(edges), IMAGE),
    ("computed", lambda: Formed(lambda s, x: F.conv2d(x, s.k * 2, s.b, padding=1), k=nn.Parameter(torch.rand(4, 3, 3, 3)),
                                b=nn.Parameter(torch.rand(4))), IMAGE),
    ("computed_linear", of(lambda s, x: F.linear(x.permute(0, 2, 3, 1), s.f.weight / s.f.weight.norm()).permute(0, 3, 1, 2),
                           f=nn.Linear(4, 5)), IMAGE),
    ("computed_constant", of(lambda s, x: (x - s.m.view(1, -1, 1, 1) * 2) * s.m.sum(), m=torch.rand(4)), IMAGE),
    ("constant_condition", looking_at_numbers, IMAGE),
    ("normalised", lambda: Formed(lambda s, x: s.c((x - s.mean) / s.std), c=conv(), mean=torch.rand(1, 3, 1, 1),
                                  std=torch.rand(3, 1, 1) + 0.5), IMAGE),
    ("reflect", lambda: nn.Sequential(conv(padding_mode="reflect"), nn.ReflectionPad2d((1, 0, 2, 1)), conv(4, 4, padding_mode="circular"),
                                      nn.ConstantPad2d(1, 0.5), conv(4, 2, padding=0)), IMAGE),
    ("reflect_volume", lambda: nn.Sequential(volume(padding_mode="replicate"), nn.ReflectionPad3d(1), volume(4, 2, padding=0)), VOLUME),
    ("zeros_alone", of(lambda s, x: F.pad(x, (1, 1, 1, 1)).sigmoid() - F.pad(x.tanh(), (1, 1, 0, 2))), IMAGE),
    ("cut_alone", of(lambda s, x: torch.exp(x[:, :, 1:4, 2:]) + F.pad(x, (-1, 3, 2, -1))[:, :, 3:6, 1:7].sigmoid()), IMAGE),
    ("rolled", of(lambda s, x: x.roll((1, -3), (2, 3)) + torch.flip(x, [2, 3]) * x.permute(0, 2, 3, 1).roll(2, 1).permute(0, 3, 1, 2)),
     IMAGE),
    ("blur", lambda: Formed(lambda s, x: s.c(F.conv2d(x, s.f, padding=1, groups=3)) + F.conv2d(x, s.g, s.b), c=conv(3, 3),
                            f=torch.rand(3, 1, 3, 3), g=torch.rand(3, 3, 1, 1), b=torch.rand(3)), IMAGE),
    ("side_by_side", of(lambda s, x: torch.cat([x[:, :, :3], torch.cat([x, x[..., 2:3]], 3)[:, :, 3:, :8], x.tanh()], 2)), IMAGE),
    ("number_buffer", of(lambda s, x: x * s.g, g=torch.tensor(0.5)), IMAGE),
    ("unused_layer", lambda: Formed(lambda s, x: s.c(x), c=conv(), unused=conv()), IMAGE),
    ("zeros_as_channels", of(lambda s, x: F.pad(x, (0, 0, 0, 0, 2, 7, 0, 0)) + F.pad(x, (1, 1, 1, 1, 4, 5))[:, :, 1:-1, 1:-1]), IMAGE),
    ("tokens", of(lambda s, x: s.p(s.b(x.flatten(2))).view(1, 4, 8, 8) + s.v(x.mean((2, 3)))[:, :, None, None],
                  b=nn.BatchNorm1d(4), v=nn.BatchNorm1d(4), p=nn.PReLU(4)), IMAGE),
    ("cosine_windows", lambda: nn.Sequential(conv(), CosineWindows(), CosineWindows(shift=(2, 1))), IMAGE),
    ("linear_attention", of(linear_attention, qkv=nn.Conv2d(4, 24, 1, bias=False), out=nn.Conv2d(8, 4, 1)), IMAGE),
    ("channels_without_shares", of(lambda s, x: (lambda t: t @ t.transpose(1, 2) @ t)(x.flatten(2)).view(x.shape)), IMAGE),
    ("relu_attention", of(relu_attention, qkv=nn.Conv2d(4, 36, 1, bias=False), out=nn.Conv2d(12, 4, 1)), IMAGE),
    ("lengths", of(lambda s, x: F.normalize(x, dim=1) * s.g + F.normalize(x.view(1, 2, 2, 8, 8), dim=2, eps=0.5).flatten(1, 2)
                   + x.flatten(2).softmax(2).view(x.shape) + x.view(1, 2, 2, 8, 8).softmax(2).flatten(1, 2), g=nn.Parameter(torch.rand(1, 4, 1, 1))), IMAGE),
    ("attention_of_tokens", of(with_heads, norm=nn.LayerNorm(4), qkv=nn.Linear(4, 12), out=nn.Linear(4, 4)), IMAGE),
    ("attention_by_letters", of(by_letters, qkv=nn.Conv2d(4, 12, 1)), IMAGE),
    ("attention_by_batches", of(by_batches, qkv=nn.Conv2d(4, 12, 1)), (3, 8, 6)),
    ("attention_added", of(diffused), (3, 5, 6)),
    ("attention_of_volume", lambda: Formed(lambda s, x: (lambda t: (torch.softmax(t.transpose(1, 2) @ t, -1) @ t.transpose(1, 2)).transpose(
        1, 2).view_as(s.c(x)))(s.c(x).flatten(2)), c=volume()), (2, 3, 4, 5)),
    ("cross_covariance", of(cross_covariance, norm=nn.LayerNorm(4), qkv=nn.Linear(4, 12), out=nn.Linear(4, 4),
                            temperature=nn.Parameter(torch.rand(2, 1, 1) + 1)), (3, 8, 6)),
    ("transposed_attention", lambda: nn.Sequential(conv(), TransposedAttention(), TransposedAttention()), (3, 8, 6)),
    ("channel_groups", of(of_channel_groups, qkv=nn.Linear(4, 12), out=nn.Linear(4, 4)), (3, 8, 6)),
    ("channels_by_letters", of(by_channel_letters, qkv=nn.Conv2d(4, 16, 1), t=nn.Parameter(torch.rand(1) + 1)), (3, 8, 6)),
    ("all_channels", of(of_all_channels, t=nn.Parameter(torch.rand(1) + 1)), (3, 8, 6)),
    ("signal", SignalUNet, (1, 32)),
    ("signal_layers", lambda: nn.Sequential(
        nn.Conv1d(2, 4, 3, padding=1), nn.PReLU(4), nn.ReflectionPad1d(2), nn.Conv1d(4, 4, 5), nn.GroupNorm(2, 4), nn.ReplicationPad1d(1),
        nn.Conv1d(4, 4, 3, groups=4), nn.AdaptiveMaxPool1d(16), nn.Upsample(scale_factor=2, mode="linear"), nn.Dropout(0.2),
        nn.Conv1d(4, 2, 3, padding=1, padding_mode="circular")), (2, 32)),
    ("signal_tokens", lambda: Formed(lambda s, x: s.o(with_heads(s, s.c(x))), c=nn.Conv1d(2, 4, 3, padding=1), norm=nn.LayerNorm(4),
                                     qkv=nn.Linear(4, 12), out=nn.Linear(4, 4), o=nn.Conv1d(4, 2, 1)), (2, 32)),
    ("moved_output", of(lambda s, x: x.permute(0, 2, 3, 1)), IMAGE),
    ("turned_output", of(lambda s, x: x.tanh().transpose(2, 3)), (3, 8, 6)),
    ("tokens_out", of(lambda s, x: s.n(x.flatten(2).transpose(1, 2)), n=nn.LayerNorm(4)), (3, 8, 6)),
    ("moved_outputs", of(moved_outputs), (3, 8, 6)),
    ("moved_outputs_of_volume", lambda: Formed(lambda s, x: moved_volumes(s.c(x)), c=volume()), (2, 3, 4, 5)),
    ("timed", lambda: Formed(timed, c=conv(), a=nn.Linear(10, 4), b=nn.Linear(10, 4)), [IMAGE, (1, 1, 1)]),
    ("classes_told", lambda: Formed(lambda s, x, t: s.c(x) + s.e(t.flatten().long())[:, :, None, None], c=conv(), e=nn.Embedding(7, 4)),
     [IMAGE, (1, 1, 1)]),
    ("words_of_points", lambda: Formed(lambda s, x, t: s.c(x) + s.e(t[:, 0].long()).permute(0, 3, 1, 2), c=conv(), e=nn.Embedding(7, 4)),
     [IMAGE, (1, 8, 8)]),
    ("constant_as_its_neighbour", of(lambda s, x: x - s.mean.type_as(x), mean=torch.rand(1, 4, 1, 1)), IMAGE),
    ("zeros_constant", of(lambda s, x: x + torch.zeros_like(x) + 2 * x.new_ones(4, 1, 1)), IMAGE),
    ("written_over", of(change_over), IMAGE),
    ("kernel_of_linear", of(lambda s, x: F.conv2d(x, s.f.weight[:, :, None, None]), f=nn.Linear(4, 5, bias=False)), IMAGE),
    ("words", lambda: Formed(lambda s, x: s.input(F.relu(s.conv(x))) + s.photo(s.relu(x)), conv=conv(), input=conv(4, 4),
                             photo=conv(4, 4), relu=conv()), IMAGE),
]
if hasattr(nn, "RMSNorm"):  # PyTorch 2.4
    RIGHT.append(("rms", of(lambda s, x: s.n(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2), n=nn.RMSNorm(4)), IMAGE))
RIGHT += [  # parts of axes in the places of others
    ("channels_in_a_row", of(lambda s, x: x * torch.sigmoid(s.k(x.mean((2, 3))[:, None])).transpose(1, 2)[..., None],
                             k=nn.Conv1d(1, 1, 3, padding=1)), IMAGE),
    ("shuffled_channels", of(shuffled_channels, a=nn.Conv2d(4, 8, 3, padding=1), b=nn.Conv2d(4, 4, 1)), IMAGE),
    ("mixed_tokens", of(mixed_tokens, a=nn.Conv2d(4, 8, 2, stride=2), b=nn.Linear(16, 6), d=nn.Linear(6, 16)), IMAGE),
    ("attention_of_a_grid", of(attention_of_a_grid, a=nn.Conv2d(4, 8, 3, padding=1), qkv=nn.Linear(8, 24)), IMAGE),
    ("attention_along_rows", of(attention_along_rows, a=nn.Conv2d(4, 8, 3, padding=1), q=nn.Conv2d(8, 4, 1), k=nn.Conv2d(8, 4, 1)), IMAGE),
    ("turned_axes", of(turned_axes, a=nn.Conv2d(4, 8, 3, padding=1), b=nn.Conv2d(8, 8, 3, padding=1)), IMAGE),
    ("softmax_of_parts", of(lambda s, x: s.a(x).reshape(len(x), 2, 4, 8, 8).softmax(2).reshape(len(x), 8, 8, 8), a=nn.Conv2d(4, 8, 3, padding=1)), IMAGE),
]
# Name, what makes it, size, what the error says.
REFUSED = [
    ("batch_statistics", lambda: Formed(batch_statistics, c=conv(), b=nn.BatchNorm2d(4)), IMAGE, "statistics of the batch"),
    ("into_zeros", of(lambda s, x: x + x.new_zeros(x.shape).copy_(x)), IMAGE, "writes into a tensor of constants"),
    ("in_place_on_rows", of(lambda s, x: (x[:, :, 2:4].mul_(2), x)[1]), IMAGE, "changes a part of a tensor in place"),
    ("always_dropout", of(lambda s, x: F.dropout(x, 0.5)), IMAGE, "drops elements in evaluation, too"),
    ("blur", lambda: Formed(lambda s, x: F.conv_transpose2d(x, s.f, groups=1), f=torch.rand(3, 1, 3, 3)), IMAGE, "fixed filter"),
    ("computed", lambda: Formed(lambda s, x: F.conv_transpose2d(x, s.k * 2), k=nn.Parameter(torch.rand(3, 4, 3, 3))), IMAGE,
     "its weight is computed of `k`"),
    ("weight_condition", of(lambda s, x: x * 2 if s.c.bias.sum() > 0 else x), IMAGE, "Python code asks for a value of a tensor"),
    ("condition", lambda: Formed(condition, c=conv()), IMAGE, "Python code asks for a value of a tensor"),
    ("flipped_channels", of(lambda s, x: torch.flip(x, [1])), IMAGE, "an axis that is not depth, height or width"),
    ("sorted", of(lambda s, x: torch.sort(x, 1)[0]), IMAGE, "unetc has no operator for it (aten.sort"),
    ("summand", of(lambda s, x: (x.view(1, 2, 2, 8, 8) + s.b).flatten(1, 2), b=nn.Parameter(torch.rand(2, 8, 8))), IMAGE,
     "`b`, a weight of the network, whose axes are not channels, height and width"),
    ("attention_of_channels", of(lambda s, x: x.flatten(2) @ x.flatten(2).transpose(1, 2)), IMAGE, "no attention over points"),
    ("channels_with_bias", of(lambda s, x: of_rows(x, lambda shares: shares + s.b), b=nn.Parameter(torch.rand(4, 4))), IMAGE,
     "products of queries and keys"),
    ("channels_by_pairs", of(lambda s, x: of_rows(x, lambda shares: shares * s.b), b=nn.Parameter(torch.rand(4, 1))), IMAGE,
     "a factor other than a number for each head"),
    ("channels_twice", of(lambda s, x: of_rows(x, lambda shares: shares * s.b * s.b), b=nn.Parameter(torch.rand(1))), IMAGE,
     "two factors for each head"),
    ("channels_in_windows", of(channels_in_windows), IMAGE, "no attention over points"),
    ("bias_of_an_input", of(biased_by(lambda s, x: x.mean())), IMAGE, "a mask or a bias that depends on an input"),
    ("other_mask", lambda: nn.Sequential(conv(), other_mask()), IMAGE, "differs from window to window in another way than Swin's"),
    ("attention_alone", of(lambda s, x: torch.softmax(x.flatten(2).transpose(1, 2) @ x.flatten(2), -1)), IMAGE, "is a weight, or a constant"),
    ("unequal_maxima", of(lambda s, x: F.adaptive_max_pool2d(x, 3)), IMAGE, "no equal parts"),
    ("averages_all", of(lambda s, x: s.b(x), b=nn.BatchNorm2d(4, momentum=None)), IMAGE, "momentum = None"),
    ("heads_out", of(lambda s, x: x.view(1, 2, 2, 8, 8).permute(0, 1, 3, 4, 2)), IMAGE, "output: axes that are no axes"),
    ("shuffled_out", of(lambda s, x: x.view(1, 2, 2, 8, 8).transpose(1, 2)), IMAGE, "no axes of a map in another order"),
    ("windows_out", of(lambda s, x: (x, x.view(1, 4, 2, 4, 8).permute(0, 2, 3, 4, 1))), IMAGE, "output 2: axes that are"),
    ("no_batch_out", of(lambda s, x: x[0].permute(1, 2, 0)), IMAGE, "no axes of a map in another order"),
    ("rows_as_batch_out", of(lambda s, x: x.permute(2, 1, 0, 3)), IMAGE, "no axes of a map in another order"),
    ("whole_numbers_of_features", of(lambda s, x: s.e(x[:, 0].long()).permute(0, 3, 1, 2), e=nn.Embedding(7, 4)), IMAGE, "that is no input"),
    ("row_that_stays", lambda: Formed(lambda s, x, t: s.c(x) + s.e(t.flatten().long())[:, :, None, None], c=conv(),
                                      e=nn.Embedding(7, 4, padding_idx=0)), [IMAGE, (1, 1, 1)], "padding_idx"),
    ("whole_numbers", of(lambda s, x: x.argmax(1)), IMAGE, "unetc has no operator for it (aten.argmax)"),
    ("other_arguments", lambda: Formed(lambda s, x: F.conv2d(F.conv2d(x, s.k, padding=1), s.k, padding=2, dilation=2),
                                       k=nn.Parameter(torch.rand(3, 3, 3, 3))), IMAGE, "called several times"),
]

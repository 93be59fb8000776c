"""The networks as their public implementations build them, with the names of their state dicts; for record.py."""

import torch
from torch import nn
from torch.nn import functional as F

import nets_3d
import nets_attention
import nets_by_hand

# ---- milesial/Pytorch-UNet ----


class MilesialDouble(nn.Module):
    def __init__(self, inputs, outputs, mid=None):
        super().__init__()
        mid = mid or outputs
        self.double_conv = nn.Sequential(
            nn.Conv2d(inputs, mid, 3, padding=1, bias=False), nn.BatchNorm2d(mid), nn.ReLU(),
            nn.Conv2d(mid, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())

    def forward(self, x):
        return self.double_conv(x)


class MilesialDown(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), MilesialDouble(inputs, outputs))

    def forward(self, x):
        return self.maxpool_conv(x)


class MilesialUp(nn.Module):
    def __init__(self, inputs, outputs, bilinear):
        super().__init__()
        if bilinear:
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.conv = MilesialDouble(inputs, outputs, inputs // 2)
        else:
            self.up = nn.ConvTranspose2d(inputs, inputs // 2, 2, stride=2)
            self.conv = MilesialDouble(inputs, outputs)

    def forward(self, x, skip):
        x = self.up(x)
        high, wide = skip.shape[2] - x.shape[2], skip.shape[3] - x.shape[3]
        x = F.pad(x, (wide // 2, wide - wide // 2, high // 2, high - high // 2))
        return self.conv(torch.cat([skip, x], 1))


class Outc(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x):
        return self.conv(x)


class Milesial(nn.Module):
    def __init__(self, width=64, depth=4, classes=2, bilinear=False):
        super().__init__()
        self.depth = depth
        narrow = 2 if bilinear else 1
        self.inc = MilesialDouble(3, width)
        for i in range(1, depth + 1):
            setattr(self, "down%d" % i, MilesialDown(width * 2**(i - 1), width * 2**i // (narrow if i == depth else 1)))
        for i in range(1, depth + 1):
            c = width * 2**(depth - i)
            setattr(self, "up%d" % i, MilesialUp(2 * c, c if i == depth else c // narrow, bilinear))
        self.outc = Outc(width, classes)

    def forward(self, x):
        x, skips = self.inc(x), []
        for i in range(1, self.depth + 1):
            skips.append(x)
            x = getattr(self, "down%d" % i)(x)
        for i in range(1, self.depth + 1):
            x = getattr(self, "up%d" % i)(x, skips.pop())
        return self.outc(x)


# ---- the U-Net of 2015; it has no public code in PyTorch, and its names are those of the example ----


class UNet2015(nn.Module):
    def __init__(self, width=64, classes=2, size=572, drop=0.5):
        super().__init__()

        def double(inputs, outputs):
            return nn.Sequential(nn.Conv2d(inputs, outputs, 3), nn.ReLU(), nn.Conv2d(outputs, outputs, 3), nn.ReLU())

        self.down = nn.ModuleList([double(1 if i == 0 else width * 2**(i - 1), width * 2**i) for i in range(4)])
        self.bottom = double(width * 8, width * 16)
        self.up = nn.ModuleList([nn.ConvTranspose2d(width * 2**(i + 1), width * 2**i, 2, stride=2) for i in (3, 2, 1, 0)])
        self.dec = nn.ModuleList([double(width * 2**(i + 1), width * 2**i) for i in range(4)])
        self.logits = nn.Conv2d(width, classes, 1)
        self.dropout = nn.Dropout(drop)

    def forward(self, x):
        skips = []
        for i, down in enumerate(self.down):
            x = down(x)
            x = self.dropout(x) if i == 3 else x
            skips.append(x)
            x = F.max_pool2d(x, 2)
        x = self.dropout(self.bottom(x))
        for i, up in zip((3, 2, 1, 0), self.up):
            x, skip = up(x), skips[i]
            top, left = (skip.shape[2] - x.shape[2]) // 2, (skip.shape[3] - x.shape[3]) // 2
            x = self.dec[i](torch.cat([x, skip[:, :, top:top + x.shape[2], left:left + x.shape[3]]], 1))
        return self.logits(x)


# ---- LeeJunHyun/Image_Segmentation ----


class AttentionConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
                                  nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())

    def forward(self, x):
        return self.conv(x)


class AttentionUp(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.up = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(inputs, outputs, 3, padding=1),
                                nn.BatchNorm2d(outputs), nn.ReLU())

    def forward(self, x):
        return self.up(x)


class AttentionGate(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.W_g = nn.Sequential(nn.Conv2d(inputs, outputs, 1), nn.BatchNorm2d(outputs))
        self.W_x = nn.Sequential(nn.Conv2d(inputs, outputs, 1), nn.BatchNorm2d(outputs))
        self.psi = nn.Sequential(nn.Conv2d(outputs, 1, 1), nn.BatchNorm2d(1), nn.Sigmoid())

    def forward(self, g, x):
        return x * self.psi(F.relu(self.W_g(g) + self.W_x(x)))


class AttentionUNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        for i in range(1, 6):
            setattr(self, "Conv%d" % i, AttentionConv(3 if i == 1 else width * 2**(i - 2), width * 2**(i - 1)))
        for i in (5, 4, 3, 2):
            c = width * 2**(i - 2)
            setattr(self, "Up%d" % i, AttentionUp(2 * c, c))
            setattr(self, "Att%d" % i, AttentionGate(c, c // 2))
            setattr(self, "Up_conv%d" % i, AttentionConv(2 * c, c))
        self.Conv_1x1 = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        x, skips = self.Conv1(x), []
        for i in range(2, 6):
            skips.append(x)
            x = getattr(self, "Conv%d" % i)(F.max_pool2d(x, 2))
        for i in (5, 4, 3, 2):
            up = getattr(self, "Up%d" % i)(x)
            skip = getattr(self, "Att%d" % i)(up, skips.pop())
            x = getattr(self, "Up_conv%d" % i)(torch.cat([skip, up], 1))
        return self.Conv_1x1(x)


# ---- rishikksh20/ResUnet ----


class ResidualConv(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv_block = nn.Sequential(
            nn.BatchNorm2d(inputs), nn.ReLU(), nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1),
            nn.BatchNorm2d(outputs), nn.ReLU(), nn.Conv2d(outputs, outputs, 3, padding=1))
        self.conv_skip = nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return self.conv_block(x) + self.conv_skip(x)


class ResUNetUp(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.upsample = nn.ConvTranspose2d(channels, channels, 2, stride=2)

    def forward(self, x):
        return self.upsample(x)


class ResUNet(nn.Module):
    def __init__(self, filters=(64, 128, 256, 512)):
        super().__init__()
        f = filters
        self.input_layer = nn.Sequential(nn.Conv2d(3, f[0], 3, padding=1), nn.BatchNorm2d(f[0]), nn.ReLU(),
                                         nn.Conv2d(f[0], f[0], 3, padding=1))
        self.input_skip = nn.Sequential(nn.Conv2d(3, f[0], 3, padding=1))
        self.residual_conv_1 = ResidualConv(f[0], f[1], 2)
        self.residual_conv_2 = ResidualConv(f[1], f[2], 2)
        self.bridge = ResidualConv(f[2], f[3], 2)
        self.upsample_1 = ResUNetUp(f[3])
        self.up_residual_conv1 = ResidualConv(f[3] + f[2], f[2], 1)
        self.upsample_2 = ResUNetUp(f[2])
        self.up_residual_conv2 = ResidualConv(f[2] + f[1], f[1], 1)
        self.upsample_3 = ResUNetUp(f[1])
        self.up_residual_conv3 = ResidualConv(f[1] + f[0], f[0], 1)
        self.output_layer = nn.Sequential(nn.Conv2d(f[0], 1, 1))

    def forward(self, x):
        x1 = self.input_layer(x) + self.input_skip(x)
        x2 = self.residual_conv_1(x1)
        x3 = self.residual_conv_2(x2)
        x = self.upsample_1(self.bridge(x3))
        x = self.upsample_2(self.up_residual_conv1(torch.cat([x, x3], 1)))
        x = self.upsample_3(self.up_residual_conv2(torch.cat([x, x2], 1)))
        return self.output_layer(self.up_residual_conv3(torch.cat([x, x1], 1)))


# ---- 4uiiurz1/pytorch-nested-unet ----


class VGGBlock(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))


class NestedUNet(nn.Module):
    def __init__(self, f=(32, 64, 128, 256, 512), deep=False):
        super().__init__()
        self.deep, self.levels = deep, len(f)
        for j in range(self.levels):
            for i in range(self.levels - j):
                inputs = j * f[i] + f[i + 1] if j > 0 else 3 if i == 0 else f[i - 1]
                setattr(self, "conv%d_%d" % (i, j), VGGBlock(inputs, f[i]))
        for j in range(1, self.levels) if deep else ("",):
            setattr(self, "final%s" % j, nn.Conv2d(f[0], 1, 1))

    def forward(self, photo):
        x = [[] for _ in range(self.levels)]
        for j in range(self.levels):
            for i in range(self.levels - j):
                if j > 0:
                    below = F.interpolate(x[i + 1][j - 1], scale_factor=2, mode="bilinear", align_corners=True)
                    seen = torch.cat(x[i] + [below], 1)
                else:
                    seen = photo if i == 0 else F.max_pool2d(x[i - 1][0], 2)
                x[i].append(getattr(self, "conv%d_%d" % (i, j))(seen))
        if not self.deep:
            return [self.final(x[0][-1])]
        return [getattr(self, "final%d" % j)(x[0][j]) for j in range(1, self.levels)]


# ---- cszn/DnCNN, cszn/DPIR ----


class DnCNN(nn.Module):
    def __init__(self, width=64, layers=17, colors=1):
        super().__init__()
        chain = [nn.Conv2d(colors, width, 3, padding=1), nn.ReLU()]
        for _ in range(layers - 2):
            chain += [nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width, eps=1e-4, momentum=0.95),
                      nn.ReLU()]
        self.dncnn = nn.Sequential(*chain, nn.Conv2d(width, colors, 3, padding=1, bias=False))

    def forward(self, x):
        return x - self.dncnn(x)


class DRUNetBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.res = nn.Sequential(nn.Conv2d(c, c, 3, padding=1, bias=False), nn.ReLU(),
                                 nn.Conv2d(c, c, 3, padding=1, bias=False))

    def forward(self, x):
        return x + self.res(x)


class DRUNet(nn.Module):
    def __init__(self, widths=(64, 128, 256, 512), blocks=4, sigma=25):
        super().__init__()
        w, self.sigma = widths, sigma

        def several(c):
            return [DRUNetBlock(c) for _ in range(blocks)]

        self.m_head = nn.Conv2d(4, w[0], 3, padding=1, bias=False)
        self.m_down1 = nn.Sequential(*several(w[0]), nn.Conv2d(w[0], w[1], 2, stride=2, bias=False))
        self.m_down2 = nn.Sequential(*several(w[1]), nn.Conv2d(w[1], w[2], 2, stride=2, bias=False))
        self.m_down3 = nn.Sequential(*several(w[2]), nn.Conv2d(w[2], w[3], 2, stride=2, bias=False))
        self.m_body = nn.Sequential(*several(w[3]))
        self.m_up3 = nn.Sequential(nn.ConvTranspose2d(w[3], w[2], 2, stride=2, bias=False), *several(w[2]))
        self.m_up2 = nn.Sequential(nn.ConvTranspose2d(w[2], w[1], 2, stride=2, bias=False), *several(w[1]))
        self.m_up1 = nn.Sequential(nn.ConvTranspose2d(w[1], w[0], 2, stride=2, bias=False), *several(w[0]))
        self.m_tail = nn.Conv2d(w[0], 3, 3, padding=1, bias=False)

    def forward(self, x):
        x1 = self.m_head(torch.cat([x, torch.full_like(x[:, :1], self.sigma / 255)], 1))
        x2 = self.m_down1(x1)
        x3 = self.m_down2(x2)
        x4 = self.m_down3(x3)
        x = self.m_body(x4)
        x = self.m_up3(x + x4)
        x = self.m_up2(x + x3)
        x = self.m_up1(x + x2)
        return self.m_tail(x + x1)


# ---- segmentation_models_pytorch with torchvision's resnet34 ----


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None if stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        h = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(h + (x if self.downsample is None else self.downsample(x)))


class Encoder(nn.Module):
    def __init__(self, width, blocks):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        inputs = width
        for i, count in enumerate(blocks):
            layer = []
            for j in range(count):
                layer.append(BasicBlock(inputs, width * 2**i, 2 if i > 0 and j == 0 else 1))
                inputs = width * 2**i
            setattr(self, "layer%d" % (i + 1), nn.Sequential(*layer))

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        maps = [x]
        x = F.max_pool2d(x, 3, stride=2, padding=1)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
            maps.append(x)
        return maps


class DecoderBlock(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv1 = nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())
        self.conv2 = nn.Sequential(nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())

    def forward(self, x, skip):
        x = F.interpolate(x, scale_factor=2)
        return self.conv2(self.conv1(x if skip is None else torch.cat([x, skip], 1)))


class Decoder(nn.Module):
    def __init__(self, width, decoder):
        super().__init__()
        skips, inputs = [4 * width, 2 * width, width, width, 0], [8 * width] + list(decoder)
        self.blocks = nn.ModuleList([DecoderBlock(inputs[i] + skips[i], decoder[i]) for i in range(5)])

    def forward(self, maps):
        x = maps.pop()
        for block in self.blocks:
            x = block(x, maps.pop() if maps else None)
        return x


class Resnet34UNet(nn.Module):
    def __init__(self, width=64, blocks=(3, 4, 6, 3), decoder=(256, 128, 64, 32, 16)):
        super().__init__()
        self.encoder = Encoder(width, blocks)
        self.decoder = Decoder(width, decoder)
        self.segmentation_head = nn.Sequential(nn.Conv2d(decoder[-1], 1, 3, padding=1))

    def forward(self, x):
        mean, deviation = (torch.tensor(v, dtype=x.dtype)[:, None, None]
                           for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
        return self.segmentation_head(self.decoder(self.encoder((x - mean) / deviation)))


# ---- PaddleSeg: PP-LiteSeg ----


class ConvBNRelu(nn.Module):
    def __init__(self, inputs, outputs, kernel=3, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False)
        self.bn = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class CatBottleneck(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        half = outputs // 2
        self.conv_list = nn.ModuleList([ConvBNRelu(inputs, half, 1), ConvBNRelu(half, half // 2),
                                        ConvBNRelu(half // 2, half // 4), ConvBNRelu(half // 4, half // 4)])
        self.avd_layer = None if stride == 1 else nn.Sequential(
            nn.Conv2d(half, half, 3, stride=2, padding=1, groups=half, bias=False), nn.BatchNorm2d(half))

    def forward(self, x):
        first = h = self.conv_list[0](x)
        if self.avd_layer is not None:
            h = self.avd_layer(h)
            first = F.avg_pool2d(first, 3, stride=2, padding=1, count_include_pad=False)
        parts = [first]
        for conv in self.conv_list[1:]:
            h = conv(h)
            parts.append(h)
        return torch.cat(parts, 1)


class STDC(nn.Module):
    def __init__(self, base, layers):
        super().__init__()
        chain, inputs = [ConvBNRelu(3, base // 2, 3, 2), ConvBNRelu(base // 2, base, 3, 2)], base
        self.ends = []
        for s in range(3):
            for k in range(layers[s]):
                chain.append(CatBottleneck(inputs, base * 4 * 2**s, 2 if k == 0 else 1))
                inputs = base * 4 * 2**s
            self.ends.append(len(chain) - 1)
        self.features = nn.Sequential(*chain)

    def forward(self, x):
        stages = []
        for i, layer in enumerate(self.features):
            x = layer(x)
            if i in self.ends:
                stages.append(x)
        return stages


class PaddleConvBN(nn.Module):
    def __init__(self, inputs, outputs, kernel, bias=True, relu=True):
        super().__init__()
        self._conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=bias)
        self._batch_norm = nn.BatchNorm2d(outputs)
        self.relu = relu

    def forward(self, x):
        x = self._batch_norm(self._conv(x))
        return F.relu(x) if self.relu else x


def bilinear(x, size, align_corners=False):
    return F.interpolate(x, size=size, mode="bilinear", align_corners=align_corners)


class PPContext(nn.Module):
    def __init__(self, inputs, c):
        super().__init__()
        self.stages = nn.ModuleList([nn.Sequential(nn.AdaptiveAvgPool2d(b), PaddleConvBN(inputs, c, 1)) for b in (1, 2, 4)])
        self.conv_out = PaddleConvBN(c, c, 3)

    def forward(self, x):
        return self.conv_out(sum(bilinear(stage(x), x.shape[2:]) for stage in self.stages))


class UAFM(nn.Module):
    def __init__(self, low, high, outputs):
        super().__init__()
        self.conv_x = PaddleConvBN(low, high, 3, bias=False)
        self.conv_xy_atten = nn.Sequential(PaddleConvBN(4, 2, 3, bias=False), PaddleConvBN(2, 1, 3, bias=False, relu=False))
        self.conv_out = PaddleConvBN(high, outputs, 3, bias=False)

    def forward(self, low, high):
        x = self.conv_x(low)
        y = bilinear(high, x.shape[2:])
        seen = [f(v) for v in (x, y) for f in (lambda v: v.mean(1, keepdim=True), lambda v: v.max(1, keepdim=True).values)]
        a = torch.sigmoid(self.conv_xy_atten(torch.cat(seen, 1)))
        return self.conv_out(x * a + y * (1 - a))


class PPHead(nn.Module):
    def __init__(self, base, arm):
        super().__init__()
        self.cm = PPContext(16 * base, 2 * base)
        high = arm[1:] + [2 * base]
        self.arm_list = nn.ModuleList([UAFM(base * 4 * 2**i, high[i], arm[i]) for i in range(3)])


class SegHead(nn.Module):
    def __init__(self, inputs, mid, classes):
        super().__init__()
        self.conv = PaddleConvBN(inputs, mid, 3, bias=False)
        self.conv_out = nn.Conv2d(mid, classes, 1, bias=False)

    def forward(self, x):
        return self.conv_out(self.conv(x))


class PPLiteSeg(nn.Module):
    def __init__(self, classes=19, base=64, layers=(2, 2, 2), arm=(32, 64, 128), mid=(32, 64, 64)):
        super().__init__()
        self.backbone = STDC(base, layers)
        self.ppseg_head = PPHead(base, list(arm))
        self.seg_heads = nn.ModuleList([SegHead(arm[i], mid[i], classes) for i in range(3)])

    def forward(self, photo):
        features = self.backbone((photo - 0.5) / 0.5)
        h, answers = self.ppseg_head.cm(features[2]), []
        for i in (2, 1, 0):
            h = self.ppseg_head.arm_list[i](features[i], h)
            answers.append(bilinear(self.seg_heads[i](h), photo.shape[2:]))
        return answers


# ---- Tramac/Fast-SCNN-pytorch ----


def normed(inputs, outputs, kernel=3, stride=1, padding=0, groups=1):
    return [nn.Conv2d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]


class FastConv(nn.Module):
    def __init__(self, *chain):
        super().__init__()
        self.conv = nn.Sequential(*chain)

    def forward(self, x):
        return self.conv(x)


def fast_cbr(inputs, outputs, kernel, stride=1):
    return FastConv(*normed(inputs, outputs, kernel, stride))


def fast_dw(c, stride=1):
    return FastConv(*normed(c, c, 3, stride, 1, c))


def fast_ds(inputs, outputs, stride=1):
    return FastConv(*normed(inputs, inputs, 3, stride, 1, inputs), *normed(inputs, outputs, 1))


class LinearBottleneck(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.shortcut = stride == 1 and inputs == outputs
        self.block = nn.Sequential(fast_cbr(inputs, 6 * inputs, 1), fast_dw(6 * inputs, stride),
                                   nn.Conv2d(6 * inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return x + self.block(x) if self.shortcut else self.block(x)


class LearningToDownsample(nn.Module):
    def __init__(self, stem):
        super().__init__()
        self.conv = fast_cbr(3, stem[0], 3, 2)
        self.dsconv1 = fast_ds(stem[0], stem[1], 2)
        self.dsconv2 = fast_ds(stem[1], stem[2], 2)

    def forward(self, x):
        return self.dsconv2(self.dsconv1(self.conv(x)))


class PyramidPooling(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        for i in range(1, 5):
            setattr(self, "conv%d" % i, fast_cbr(inputs, inputs // 4, 1))
        self.out = fast_cbr(2 * inputs, outputs, 1)

    def forward(self, x):
        parts = [x]
        for conv, size in ((self.conv1, 1), (self.conv2, 2), (self.conv3, 3), (self.conv4, 6)):
            parts.append(bilinear(conv(F.adaptive_avg_pool2d(x, size)), x.shape[2:], True))
        return self.out(torch.cat(parts, 1))


class GlobalFeatureExtractor(nn.Module):
    def __init__(self, inputs, widths, repeats):
        super().__init__()
        for i in range(3):
            chain = []
            for j in range(repeats[i]):
                chain.append(LinearBottleneck(inputs, widths[i], 2 if i < 2 and j == 0 else 1))
                inputs = widths[i]
            setattr(self, "bottleneck%d" % (i + 1), nn.Sequential(*chain))
        self.ppm = PyramidPooling(inputs, inputs)

    def forward(self, x):
        return self.ppm(self.bottleneck3(self.bottleneck2(self.bottleneck1(x))))


class FeatureFusion(nn.Module):
    def __init__(self, high, low, c):
        super().__init__()
        self.dwconv = fast_dw(low)
        self.conv_lower_res = nn.Sequential(nn.Conv2d(low, c, 1), nn.BatchNorm2d(c))
        self.conv_higher_res = nn.Sequential(nn.Conv2d(high, c, 1), nn.BatchNorm2d(c))

    def forward(self, high, low):
        low = F.interpolate(low, scale_factor=4, mode="bilinear", align_corners=True)
        return F.relu(self.conv_higher_res(high) + self.conv_lower_res(self.dwconv(low)))


class Classifier(nn.Module):
    def __init__(self, c, classes, drop):
        super().__init__()
        self.dsconv1 = fast_ds(c, c)
        self.dsconv2 = fast_ds(c, c)
        self.conv = nn.Sequential(nn.Dropout(drop), nn.Conv2d(c, classes, 1))

    def forward(self, x):
        return self.conv(self.dsconv2(self.dsconv1(x)))


class FastSCNN(nn.Module):
    def __init__(self, classes=19, stem=(32, 48, 64), widths=(64, 96, 128), repeats=(3, 3, 3), drop=0.1):
        super().__init__()
        self.learning_to_downsample = LearningToDownsample(stem)
        self.global_feature_extractor = GlobalFeatureExtractor(stem[2], widths, repeats)
        self.feature_fusion = FeatureFusion(stem[2], widths[2], widths[2])
        self.classifier = Classifier(widths[2], classes, drop)

    def forward(self, photo):
        high = self.learning_to_downsample(photo)
        x = self.classifier(self.feature_fusion(high, self.global_feature_extractor(high)))
        return bilinear(x, photo.shape[2:], True)


# ---- megvii-research/NAFNet ----


class LayerNorm2d(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        variance = (x - mean).square().mean(1, keepdim=True)
        y = (x - mean) / (variance + 1e-6).sqrt()
        return self.weight[None, :, None, None] * y + self.bias[None, :, None, None]


def gated(x):
    a, b = x.chunk(2, 1)
    return a * b


class NAFBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm1 = LayerNorm2d(c)
        self.conv1 = nn.Conv2d(c, 2 * c, 1)
        self.conv2 = nn.Conv2d(2 * c, 2 * c, 3, padding=1, groups=2 * c)
        self.sca = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(c, c, 1))
        self.conv3 = nn.Conv2d(c, c, 1)
        self.beta = nn.Parameter(torch.zeros(1, c, 1, 1))
        self.norm2 = LayerNorm2d(c)
        self.conv4 = nn.Conv2d(c, 2 * c, 1)
        self.conv5 = nn.Conv2d(c, c, 1)
        self.gamma = nn.Parameter(torch.zeros(1, c, 1, 1))

    def forward(self, x):
        h = gated(self.conv2(self.conv1(self.norm1(x))))
        y = x + self.conv3(h * self.sca(h)) * self.beta
        return y + self.conv5(gated(self.conv4(self.norm2(y)))) * self.gamma


class NAFNet(nn.Module):
    def __init__(self, width=32, enc=(2, 2, 4, 8), middle=12, dec=(2, 2, 2, 2)):
        super().__init__()
        c = width
        self.intro = nn.Conv2d(3, c, 3, padding=1)
        self.encoders, self.downs = nn.ModuleList(), nn.ModuleList()
        for count in enc:
            self.encoders.append(nn.Sequential(*[NAFBlock(c) for _ in range(count)]))
            self.downs.append(nn.Conv2d(c, 2 * c, 2, stride=2))
            c *= 2
        self.middle_blks = nn.Sequential(*[NAFBlock(c) for _ in range(middle)])
        self.ups, self.decoders = nn.ModuleList(), nn.ModuleList()
        for count in dec:
            self.ups.append(nn.Sequential(nn.Conv2d(c, 2 * c, 1, bias=False), nn.PixelShuffle(2)))
            c //= 2
            self.decoders.append(nn.Sequential(*[NAFBlock(c) for _ in range(count)]))
        self.ending = nn.Conv2d(c, 3, 3, padding=1)

    def forward(self, photo):
        x, skips = self.intro(photo), []
        for blocks, down in zip(self.encoders, self.downs):
            x = blocks(x)
            skips.append(x)
            x = down(x)
        x = self.middle_blks(x)
        for up, blocks in zip(self.ups, self.decoders):
            x = blocks(up(x) + skips.pop())
        return photo + self.ending(x)


# ---- swz30/Restormer ----


class ChannelNorm(nn.Module):
    """Its weights have a name more in front."""

    def __init__(self, channels):
        super().__init__()
        self.body = nn.Module()
        self.body.weight, self.body.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        mean = x.mean(1, keepdim=True)
        y = (x - mean) / ((x - mean).square().mean(1, keepdim=True) + 1e-5).sqrt()
        return y * self.body.weight[:, None, None] + self.body.bias[:, None, None]


def plain_conv(inputs, outputs, kernel, groups=1):
    return nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, groups=groups, bias=False)


class MDTA(nn.Module):
    def __init__(self, c, heads):
        super().__init__()
        self.temperature = nn.Parameter(torch.ones(heads, 1, 1))
        self.qkv = plain_conv(c, 3 * c, 1)
        self.qkv_dwconv = plain_conv(3 * c, 3 * c, 3, 3 * c)
        self.project_out = plain_conv(c, c, 1)

    def forward(self, x):
        heads = len(self.temperature)
        q, k, v = (part.flatten(2).unflatten(1, (heads, -1)) for part in self.qkv_dwconv(self.qkv(x)).chunk(3, 1))
        products = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(2, 3) * self.temperature
        return self.project_out((products.softmax(3) @ v).flatten(1, 2).unflatten(2, x.shape[2:]))


class GDFN(nn.Module):
    def __init__(self, c):
        super().__init__()
        hidden = int(c * 2.66)
        self.project_in = plain_conv(c, 2 * hidden, 1)
        self.dwconv = plain_conv(2 * hidden, 2 * hidden, 3, 2 * hidden)
        self.project_out = plain_conv(hidden, c, 1)

    def forward(self, x):
        gate, value = self.dwconv(self.project_in(x)).chunk(2, 1)
        return self.project_out(F.gelu(gate) * value)


class RestormerBlock(nn.Module):
    def __init__(self, c, heads):
        super().__init__()
        self.norm1, self.attn, self.norm2, self.ffn = ChannelNorm(c), MDTA(c, heads), ChannelNorm(c), GDFN(c)

    def forward(self, x):
        y = x + self.attn(self.norm1(x))
        return y + self.ffn(self.norm2(y))


class Resized(nn.Module):
    def __init__(self, inputs, outputs, shuffle):
        super().__init__()
        self.body = nn.Sequential(plain_conv(inputs, outputs, 3), shuffle)

    def forward(self, x):
        return self.body(x)


class Restormer(nn.Module):
    def __init__(self, dim=48, blocks=(4, 6, 6, 8), heads=(1, 2, 4, 8), refine=4):
        super().__init__()
        level = lambda c, k, count: nn.Sequential(*[RestormerBlock(c, heads[k]) for _ in range(count)])
        down = lambda c: Resized(c, c // 2, nn.PixelUnshuffle(2))
        up = lambda c: Resized(c, 2 * c, nn.PixelShuffle(2))
        self.patch_embed = nn.Module()
        self.patch_embed.proj = plain_conv(3, dim, 3)
        self.encoder_level1 = level(dim, 0, blocks[0])
        self.down1_2, self.encoder_level2 = down(dim), level(2 * dim, 1, blocks[1])
        self.down2_3, self.encoder_level3 = down(2 * dim), level(4 * dim, 2, blocks[2])
        self.down3_4, self.latent = down(4 * dim), level(8 * dim, 3, blocks[3])
        self.up4_3, self.reduce_chan_level3 = up(8 * dim), plain_conv(8 * dim, 4 * dim, 1)
        self.decoder_level3 = level(4 * dim, 2, blocks[2])
        self.up3_2, self.reduce_chan_level2 = up(4 * dim), plain_conv(4 * dim, 2 * dim, 1)
        self.decoder_level2 = level(2 * dim, 1, blocks[1])
        self.up2_1, self.decoder_level1 = up(2 * dim), level(2 * dim, 0, blocks[0])
        self.refinement = level(2 * dim, 0, refine)
        self.output = plain_conv(2 * dim, 3, 3)

    def forward(self, photo):
        first = self.encoder_level1(self.patch_embed.proj(photo))
        second = self.encoder_level2(self.down1_2(first))
        third = self.encoder_level3(self.down2_3(second))
        x = self.latent(self.down3_4(third))
        x = self.decoder_level3(self.reduce_chan_level3(torch.cat([self.up4_3(x), third], 1)))
        x = self.decoder_level2(self.reduce_chan_level2(torch.cat([self.up3_2(x), second], 1)))
        x = self.refinement(self.decoder_level1(torch.cat([self.up2_1(x), first], 1)))
        return photo + self.output(x)


# ---- haoxiangsnr/Wave-U-Net-for-Speech-Enhancement ----


class WaveLayer(nn.Module):
    def __init__(self, inputs, outputs, kernel):
        super().__init__()
        self.main = nn.Sequential(nn.Conv1d(inputs, outputs, kernel, padding=kernel // 2), nn.BatchNorm1d(outputs), nn.LeakyReLU(0.1))

    def forward(self, x):
        return self.main(x)


class WaveUNet(nn.Module):
    def __init__(self, layers=12, base=24):
        super().__init__()
        widths = [base * (i + 1) for i in range(layers)]
        self.encoder = nn.ModuleList([WaveLayer(a, b, 15) for a, b in zip([1] + widths, widths)])
        self.middle = WaveLayer(widths[-1], widths[-1], 15).main
        self.decoder = nn.ModuleList([WaveLayer(a + b, b, 5) for a, b in zip([widths[-1]] + widths[:0:-1], widths[::-1])])
        self.out = nn.Sequential(nn.Conv1d(1 + base, 1, 1), nn.Tanh())

    def forward(self, mixture):
        x, skips = mixture, []
        for layer in self.encoder:
            skips.append(layer(x))
            x = skips[-1][:, :, ::2]
        x = self.middle(x)
        for layer in self.decoder:
            larger = F.interpolate(x, scale_factor=2, mode="linear", align_corners=True)
            x = layer(torch.cat([larger, skips.pop()], 1))
        return self.out(torch.cat([x, mixture], 1))


# ---- davidtvs/PyTorch-ENet ----


def enet_unit(inputs, outputs, kernel, act=nn.PReLU, **settings):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, bias=False, **settings), nn.BatchNorm2d(outputs), act())


class ENetInitial(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.main_branch = nn.Conv2d(3, width - 3, 3, stride=2, padding=1, bias=False)
        self.batch_norm = nn.BatchNorm2d(width)
        self.out_activation = nn.PReLU()

    def forward(self, x):
        both = torch.cat([self.main_branch(x), F.max_pool2d(x, 3, stride=2, padding=1)], 1)
        return self.out_activation(self.batch_norm(both))


class ENetRegular(nn.Module):
    def __init__(self, c, drop, dilation=1, asymmetric=False, act=nn.PReLU):
        super().__init__()
        inner = c // 4
        self.ext_conv1 = enet_unit(c, inner, 1, act)
        self.ext_conv2 = nn.Sequential(*enet_unit(inner, inner, (5, 1), act, padding=(2, 0)),
                                       *enet_unit(inner, inner, (1, 5), act, padding=(0, 2))) if asymmetric else \
            enet_unit(inner, inner, 3, act, padding=dilation, dilation=dilation)
        self.ext_conv3 = enet_unit(inner, c, 1, act)
        self.ext_regul = nn.Dropout2d(drop)
        self.out_activation = act()

    def forward(self, x):
        return self.out_activation(x + self.ext_regul(self.ext_conv3(self.ext_conv2(self.ext_conv1(x)))))


class ENetDown(nn.Module):
    def __init__(self, inputs, outputs, drop):
        super().__init__()
        inner = inputs // 4
        self.ext_conv1 = enet_unit(inputs, inner, 2, stride=2)
        self.ext_conv2 = enet_unit(inner, inner, 3, padding=1)
        self.ext_conv3 = enet_unit(inner, outputs, 1)
        self.ext_regul = nn.Dropout2d(drop)
        self.out_activation = nn.PReLU()

    def forward(self, x):
        main, indices = F.max_pool2d(x, 2, return_indices=True)
        ext = self.ext_regul(self.ext_conv3(self.ext_conv2(self.ext_conv1(x))))
        padding = torch.zeros_like(ext[:, :ext.shape[1] - main.shape[1]])
        return self.out_activation(torch.cat([main, padding], 1) + ext), indices


class ENetUp(nn.Module):
    def __init__(self, inputs, outputs, drop):
        super().__init__()
        inner = inputs // 4
        self.main_conv1 = nn.Sequential(nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.ext_conv1 = enet_unit(inputs, inner, 1, nn.ReLU)
        self.ext_tconv1 = nn.ConvTranspose2d(inner, inner, 2, stride=2, bias=False)
        self.ext_tconv1_bnorm = nn.BatchNorm2d(inner)
        self.ext_conv2 = nn.Sequential(nn.Conv2d(inner, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.ext_regul = nn.Dropout2d(drop)

    def forward(self, x, indices, size):
        main = F.max_unpool2d(self.main_conv1(x), indices, 2, output_size=size)
        ext = self.ext_conv2(F.relu(self.ext_tconv1_bnorm(self.ext_tconv1(self.ext_conv1(x)))))
        return F.relu(main + self.ext_regul(ext))


class ENet(nn.Module):
    STAGE = (("regular", {}), ("dilated", {"dilation": 2}), ("asymmetric", {"asymmetric": True}), ("dilated", {"dilation": 4}),
             ("regular", {}), ("dilated", {"dilation": 8}), ("asymmetric", {"asymmetric": True}), ("dilated", {"dilation": 16}))

    def __init__(self, classes=19, width=16, drops=(0.01, 0.1)):
        super().__init__()
        w, (first, drop) = width, drops
        self.initial_block = ENetInitial(w)
        self.downsample1_0 = ENetDown(w, 4 * w, first)
        self.encoder = []
        for i in range(1, 5):
            setattr(self, "regular1_%d" % i, ENetRegular(4 * w, first))
        self.downsample2_0 = ENetDown(4 * w, 8 * w, drop)
        for stage in (2, 3):
            for k, (kind, settings) in enumerate(self.STAGE):
                self.encoder.append("%s%d_%d" % (kind, stage, k + (stage == 2)))
                setattr(self, self.encoder[-1], ENetRegular(8 * w, drop, **settings))
        self.upsample4_0 = ENetUp(8 * w, 4 * w, drop)
        self.regular4_1 = ENetRegular(4 * w, drop, act=nn.ReLU)
        self.regular4_2 = ENetRegular(4 * w, drop, act=nn.ReLU)
        self.upsample5_0 = ENetUp(4 * w, w, drop)
        self.regular5_1 = ENetRegular(w, drop, act=nn.ReLU)
        self.transposed_conv = nn.ConvTranspose2d(w, classes, 3, stride=2, padding=1, bias=False)

    def forward(self, photo):
        half = self.initial_block(photo)
        x, half_indices = self.downsample1_0(half)
        for i in range(1, 5):
            x = getattr(self, "regular1_%d" % i)(x)
        quarter = x.shape
        x, indices = self.downsample2_0(x)
        for name in self.encoder:
            x = getattr(self, name)(x)
        x = self.regular4_2(self.regular4_1(self.upsample4_0(x, indices, quarter)))
        x = self.regular5_1(self.upsample5_0(x, half_indices, half.shape))
        return self.transposed_conv(x, output_size=photo.shape[2:])


NETS = {"milesial": Milesial, "unet_2015": UNet2015, "attention_unet": AttentionUNet, "resunet": ResUNet,
        "unet_plus_plus": NestedUNet, "dncnn": DnCNN, "drunet": DRUNet, "resnet34_unet": Resnet34UNet,
        "pp_liteseg": PPLiteSeg, "fast_scnn": FastSCNN,
        "nafnet": NAFNet, "restormer": Restormer, "wave_unet": WaveUNet, "enet": ENet, **nets_3d.NETS, **nets_attention.NETS, **nets_by_hand.NETS}

"""Networks of volumes, as nets.py has those of images."""

import torch
from torch import nn
from torch.nn import functional as F

# ---- nnU-Net ----


def padding(kernel):
    return tuple((k - 1) // 2 for k in kernel) if isinstance(kernel, (list, tuple)) else (kernel - 1) // 2


class Unit(nn.Module):
    def __init__(self, inputs, outputs, kernel=3, stride=1, bias=True, slope=0.01):
        super().__init__()
        self.conv = nn.Conv3d(inputs, outputs, kernel, stride=stride, padding=padding(kernel), bias=bias)
        self.norm = nn.InstanceNorm3d(outputs, affine=True)
        self.slope = slope

    def forward(self, x):
        x = self.norm(self.conv(x))
        return x if self.slope is None else F.leaky_relu(x, self.slope, inplace=True)


class Convs(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride=1, count=2):
        super().__init__()
        self.convs = nn.Sequential(*[Unit(inputs if i == 0 else outputs, outputs, kernel, stride if i == 0 else 1)
                                     for i in range(count)])

    def forward(self, x):
        return self.convs(x)


class PlainEncoder(nn.Module):
    def __init__(self, channels, features, kernels, strides):
        super().__init__()
        inputs = [channels] + list(features)
        self.stages = nn.Sequential(*[nn.Sequential(Convs(inputs[s], features[s], kernels[s], strides[s]))
                                      for s in range(len(features))])

    def forward(self, x):
        found = []
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        return found


class Residual(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride):
        super().__init__()
        self.conv1 = Unit(inputs, outputs, kernel, stride)
        self.conv2 = Unit(outputs, outputs, kernel, slope=None)
        skip = [nn.AvgPool3d(stride)] if stride != 1 else []
        if inputs != outputs:
            skip.append(Unit(inputs, outputs, 1, bias=False, slope=None))
        self.skip = nn.Sequential(*skip)

    def forward(self, x):
        return F.leaky_relu(self.conv2(self.conv1(x)) + self.skip(x))


class ResidualEncoder(nn.Module):
    def __init__(self, channels, features, blocks, kernels, strides):
        super().__init__()
        self.stem = Convs(channels, features[0], kernels[0], count=1)
        stages, inputs = [], features[0]
        for s, c in enumerate(features):
            row = []
            for b in range(blocks[s]):
                row.append(Residual(inputs, c, kernels[s], strides[s] if b == 0 else 1))
                inputs = c
            stage = nn.Module()
            stage.blocks = nn.Sequential(*row)
            stages.append(stage)
        self.stages = nn.ModuleList(stages)

    def forward(self, x):
        x, found = self.stem(x), []
        for stage in self.stages:
            x = stage.blocks(x)
            found.append(x)
        return found


class NNUNetDecoder(nn.Module):
    def __init__(self, classes, features, kernels, strides, count):
        super().__init__()
        below, above = list(reversed(features))[:-1], list(reversed(features))[1:]
        self.transpconvs = nn.ModuleList([nn.ConvTranspose3d(i, o, s, stride=s)
                                          for i, o, s in zip(below, above, list(reversed(strides)))])
        self.stages = nn.ModuleList([Convs(2 * c, c, k, count=count) for c, k in zip(above, list(reversed(kernels))[1:])])
        self.seg_layers = nn.ModuleList([nn.Conv3d(c, classes, 1) for c in above])

    def forward(self, found):
        x, answers = found[-1], []
        for up, stage, head, skip in zip(self.transpconvs, self.stages, self.seg_layers, reversed(found[:-1])):
            x = stage(torch.cat([up(x), skip], 1))
            answers.append(head(x))
        return answers


class NNUNet(nn.Module):
    """Answers, the coarsest first; of a head without a loss the gradient is zero."""

    def __init__(self, channels=1, classes=3, features=(32, 64, 128, 256, 320, 320), kernels=(3,) * 6, strides=(1, 2, 2, 2, 2, 2),
                 blocks=None):
        super().__init__()
        if blocks is None:
            self.encoder = PlainEncoder(channels, features, kernels, strides)
        else:
            self.encoder = ResidualEncoder(channels, features, blocks, kernels, strides)
        self.decoder = NNUNetDecoder(classes, features, kernels, strides, 2 if blocks is None else 1)

    def forward(self, x):
        return self.decoder(self.encoder(x))


class ResEnc(NNUNet):
    def __init__(self, blocks=(1, 3, 4, 6, 6, 6), **more):
        super().__init__(blocks=blocks, **more)


# ---- Project-MONAI/MONAI: BasicUNet ----


class MonaiUnit(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv3d(inputs, outputs, 3, padding=1)
        self.adn = nn.Sequential()
        self.adn.add_module("N", nn.InstanceNorm3d(outputs, affine=True))

    def forward(self, x):
        return F.leaky_relu(self.adn(self.conv(x)), 0.1, inplace=True)


class MonaiTwo(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv_0, self.conv_1 = MonaiUnit(inputs, outputs), MonaiUnit(outputs, outputs)

    def forward(self, x):
        return self.conv_1(self.conv_0(x))


class MonaiDown(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.convs = MonaiTwo(inputs, outputs)

    def forward(self, x):
        return self.convs(F.max_pool3d(x, 2))


class MonaiUp(nn.Module):
    def __init__(self, inputs, skip, outputs, halves=True):
        super().__init__()
        up = inputs // 2 if halves else inputs
        self.upsample = nn.Module()
        self.upsample.deconv = nn.ConvTranspose3d(inputs, up, 2, stride=2)
        self.convs = MonaiTwo(skip + up, outputs)

    def forward(self, x, skip):
        return self.convs(torch.cat([skip, self.upsample.deconv(x)], 1))


class BasicUNet(nn.Module):
    def __init__(self, channels=1, classes=2, features=(32, 32, 64, 128, 256, 32)):
        super().__init__()
        f = features
        self.conv_0 = MonaiTwo(channels, f[0])
        for i in range(1, 5):
            setattr(self, "down_%d" % i, MonaiDown(f[i - 1], f[i]))
        for i in (4, 3, 2):
            setattr(self, "upcat_%d" % i, MonaiUp(f[i], f[i - 1], f[i - 1]))
        self.upcat_1 = MonaiUp(f[1], f[0], f[5], halves=False)
        self.final_conv = nn.Conv3d(f[5], classes, 1)

    def forward(self, x):
        found = [self.conv_0(x)]
        for i in range(1, 5):
            found.append(getattr(self, "down_%d" % i)(found[-1]))
        x = found.pop()
        for i in (4, 3, 2, 1):
            x = getattr(self, "upcat_%d" % i)(x, found.pop())
        return self.final_conv(x)


# ---- the 3D U-Net of 2016; it has no public code in PyTorch, and its names are those of the example ----


class TwoConv(nn.Module):
    def __init__(self, inputs, first, second):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv3d(inputs, first, 3, padding=1), nn.BatchNorm3d(first)
        self.conv2, self.norm2 = nn.Conv3d(first, second, 3, padding=1), nn.BatchNorm3d(second)

    def forward(self, x):
        return F.relu(self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x))))))


class UNet3D(nn.Module):
    def __init__(self, channels=3, classes=3, width=32, depth=3):
        super().__init__()
        w = [width * 2**i for i in range(depth + 2)]
        self.down = nn.ModuleList([TwoConv(channels if i == 0 else w[i], w[i], w[i + 1]) for i in range(depth)])
        self.bottom = TwoConv(w[depth], w[depth], w[depth + 1])
        self.up = nn.ModuleList([nn.ConvTranspose3d(w[i + 2], w[i + 2], 2, stride=2) for i in range(depth)])
        self.dec = nn.ModuleList([TwoConv(w[i + 2] + w[i + 1], w[i + 1], w[i + 1]) for i in range(depth)])
        self.logits = nn.Conv3d(w[1], classes, 1)

    def forward(self, x):
        found = []
        for down in self.down:
            x = down(x)
            found.append(x)
            x = F.max_pool3d(x, 2)
        x = self.bottom(x)
        for i in reversed(range(len(found))):
            x = self.dec[i](torch.cat([self.up[i](x), found[i]], 1))
        return self.logits(x)


# ---- mlcommons/training: UNet3D ----


def kits_conv(inputs, outputs, stride=1):
    return nn.Sequential(nn.Conv3d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
                         nn.InstanceNorm3d(outputs, affine=True), nn.ReLU())


class KitsTwo(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1, self.conv2 = kits_conv(inputs, outputs, stride), kits_conv(outputs, outputs)

    def forward(self, x):
        return self.conv2(self.conv1(x))


class KitsUp(KitsTwo):
    def __init__(self, inputs, outputs):
        super().__init__(2 * outputs, outputs)
        self.upsample_conv = nn.Sequential(nn.ConvTranspose3d(inputs, outputs, 2, stride=2))

    def forward(self, x, skip):
        return super().forward(torch.cat([self.upsample_conv(x), skip], 1))


class MLPerfUNet3D(nn.Module):
    def __init__(self, channels=1, classes=3, filters=(32, 64, 128, 256, 320, 320)):
        super().__init__()
        f = list(filters)
        self.input_block = KitsTwo(channels, f[0])
        self.downsample = nn.ModuleList([KitsTwo(a, b, 2) for a, b in zip(f[:-2], f[1:-1])])
        self.bottleneck = KitsTwo(f[-2], f[-1], 2)
        self.upsample = nn.ModuleList([KitsUp(a, b) for a, b in zip(f[:0:-1], f[-2::-1])])
        self.output = nn.Module()
        self.output.conv = nn.Sequential(nn.Conv3d(f[0], classes, 1))

    def forward(self, x):
        found = [self.input_block(x)]
        for down in self.downsample:
            found.append(down(found[-1]))
        x = self.bottleneck(found[-1])
        for up in self.upsample:
            x = up(x, found.pop())
        return self.output.conv(x)


NETS = {"nnunet": NNUNet, "nnunet_resenc": ResEnc, "basic_unet": BasicUNet, "unet_3d": UNet3D, "mlperf_unet3d": MLPerfUNet3D}

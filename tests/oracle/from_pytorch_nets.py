"""Networks of PyTorch that from_pytorch_test.py converts: small ones of every operator that the script knows, as people write
them - sequences, lists of modules, functions, activations that are shared, sizes that are looked at."""

import torch
import torch.nn.functional as F
from torch import nn


class Twice(nn.Module):
    """Two convolutions, each with its norm."""

    def __init__(self, before, after, middle=None):
        super().__init__()
        middle = middle or after
        self.both = nn.Sequential(
            nn.Conv2d(before, middle, 3, padding=1, bias=False), nn.BatchNorm2d(middle), nn.ReLU(inplace=True),
            nn.Conv2d(middle, after, 3, padding="same", bias=False), nn.BatchNorm2d(after, eps=1e-3), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.both(x)


class Up(nn.Module):
    def __init__(self, before, after, bilinear):
        super().__init__()
        self.up = (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True) if bilinear
                   else nn.ConvTranspose2d(before, before // 2, 2, stride=2))
        self.conv = Twice(before + after if bilinear else before, after)

    def forward(self, x, skip):
        x = self.up(x)
        missing = [skip.shape[2] - x.shape[2], skip.shape[3] - x.shape[3]]
        x = F.pad(x, [missing[1] // 2, missing[1] - missing[1] // 2, missing[0] // 2, missing[0] - missing[0] // 2])
        return self.conv(torch.cat([skip, x], dim=1))


class UNet(nn.Module):
    def __init__(self, bilinear=False, width=4):
        super().__init__()
        self.enter = Twice(3, width)
        self.down = nn.ModuleList(nn.Sequential(nn.MaxPool2d(2), Twice(width * 2**i, width * 2**(i + 1))) for i in range(3))
        self.up = nn.ModuleList(Up(width * 2**(i + 1), width * 2**i, bilinear) for i in reversed(range(3)))
        self.leave = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        skips = [self.enter(x)]
        for down in self.down:
            skips.append(down(skips[-1]))
        x = skips.pop()
        for up in self.up:
            x = up(x, skips.pop())
        return self.leave(x)


class Residual(nn.Module):
    def __init__(self, before, after, stride=1):
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.shorter = (nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
                        if stride > 1 or before != after else None)

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.shorter is None else self.shorter(x)))


class Encoder(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(*[Residual(width, width) for _ in range(3)])
        self.layer2 = nn.Sequential(Residual(width, 2 * width, 2), *[Residual(2 * width, 2 * width) for _ in range(3)])
        self.bottom = nn.Conv2d(2 * width, 3, 3, padding=2, dilation=2)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = self.layer2(self.layer1(self.pool(x)))
        return F.interpolate(self.bottom(x), scale_factor=8, mode="bilinear", align_corners=False)


class Operators(nn.Module):
    """One of each."""

    def __init__(self):
        super().__init__()
        self.groups = nn.Conv2d(4, 8, [3, 1], padding=[1, 0], groups=2)
        self.group = nn.GroupNorm(4, 8)
        self.instance = nn.InstanceNorm2d(8, affine=True)
        self.plain = nn.InstanceNorm2d(8)
        self.four = nn.Conv2d(8, 8, 4, 2, 1)
        self.back = nn.ConvTranspose2d(8, 4, 4, 2, 1)
        self.wide = nn.ConvTranspose2d(4, 4, 3, 2, 1, output_padding=1, groups=2)
        self.gate = nn.Conv2d(4, 4, 1)
        self.last = nn.Conv2d(4, 12, 1)
        self.slope, self.slopes = nn.PReLU(), nn.PReLU(4, 0.1)
        self.drop = nn.Dropout2d(0.2)
        self.drop_points = nn.Dropout(0.1)

    def forward(self, x):
        x = F.leaky_relu(self.group(self.groups(F.pixel_unshuffle(-x, 2))), 0.1)
        y = F.silu(self.instance(self.four(self.drop(x))))
        y = torch.tanh(self.plain(y)) + F.gelu(y) - F.elu(y) * 0.5
        y = self.drop_points(self.back(y))
        a, b = torch.chunk(y, 2, dim=1)
        y = torch.cat([a * torch.sigmoid(b), 2 - (a - b / 3)], dim=1)
        y = self.slope(y) - self.slopes(y)
        y = y * torch.sigmoid(self.gate(F.adaptive_avg_pool2d(y, 1)))
        y = y * torch.mean(y, dim=1, keepdim=True) + torch.amax(y, dim=1, keepdim=True) * y
        y = F.avg_pool2d(self.wide(y), 2)
        y = torch.softmax(self.last(y), dim=1)
        return F.interpolate(F.pixel_shuffle(y, 2), scale_factor=1.5, mode="nearest")


def basic_unet():
    from monai.networks.nets import BasicUNet
    return BasicUNet(spatial_dims=2, in_channels=1, out_channels=2, features=(8, 8, 16, 32, 64, 8))


def resnet34():
    import segmentation_models_pytorch
    return segmentation_models_pytorch.Unet("resnet34", encoder_weights=None, classes=1)


class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Conv2d(3, 3, 1), Sorted())

    def forward(self, x):
        return self.inner(x)


class Sorted(nn.Module):
    def forward(self, x):
        return torch.sort(x, 2)[0]


# Name, what makes it, size of its input.
NETS = [
    ("unet", UNet, (3, 16, 24)),
    ("unet_bilinear", lambda: UNet(True), (3, 16, 24)),
    ("encoder", Encoder, (3, 32, 48)),
    ("operators", Operators, (1, 16, 24)),
    ("monai_basic_unet", basic_unet, (1, 32, 48)),
    ("smp_resnet34", resnet34, (3, 32, 64)),
]
# What cannot be said, and what the error says.
REFUSED = [
    ("odd", Odd, (3, 16, 16), "`inner.1`, a Sorted: unetc has no operator for it (aten.sort"),
]

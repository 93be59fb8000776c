"""Three networks whose files were written by hand, as their public implementations build them; for record.py."""

import torch
from torch import nn
from torch.nn import functional as F

# ---- junyanz/pytorch-CycleGAN-and-pix2pix, UnetGenerator with batch norms ----


class Pix2pixLevel(nn.Module):
    def __init__(self, outer, inner, inputs=None, inside=None):
        super().__init__()
        down = nn.Conv2d(outer if inputs is None else inputs, inner, 4, 2, 1, bias=False)
        self.outermost = inputs is not None
        if self.outermost:
            layers = [down, inside, nn.ReLU(True), nn.ConvTranspose2d(2 * inner, outer, 4, 2, 1), nn.Tanh()]
        elif inside is None:
            layers = [nn.LeakyReLU(0.2, True), down, nn.ReLU(True), nn.ConvTranspose2d(inner, outer, 4, 2, 1, bias=False),
                      nn.BatchNorm2d(outer)]
        else:
            layers = [nn.LeakyReLU(0.2, True), down, nn.BatchNorm2d(inner), inside, nn.ReLU(True),
                      nn.ConvTranspose2d(2 * inner, outer, 4, 2, 1, bias=False), nn.BatchNorm2d(outer)]
        self.model = nn.Sequential(*layers)

    def forward(self, x):
        return self.model(x) if self.outermost else torch.cat([x, self.model(x)], 1)


class Pix2pix(nn.Module):
    def __init__(self, widths=(64, 128, 256, 512, 512, 512, 512, 512)):
        super().__init__()
        level = None
        for outer, inner in reversed(list(zip(widths, widths[1:]))):
            level = Pix2pixLevel(outer, inner, inside=level)
        self.model = Pix2pixLevel(3, widths[0], inputs=3, inside=level)

    def forward(self, x):
        return self.model(x)


# ---- xuebinqin/U-2-Net ----


class Rebnconv(nn.Module):
    def __init__(self, inputs, outputs, dilation=1):
        super().__init__()
        self.conv_s1 = nn.Conv2d(inputs, outputs, 3, padding=dilation, dilation=dilation)
        self.bn_s1 = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return F.relu(self.bn_s1(self.conv_s1(x)))


class Rsu(nn.Module):
    def __init__(self, levels, inputs, mid, outputs, flat):
        super().__init__()
        self.levels, self.flat = levels, flat
        self.rebnconvin = Rebnconv(inputs, outputs)
        for i in range(1, levels + 1):
            dilation = 2 ** (i - 1) if flat else 2 if i == levels else 1
            setattr(self, "rebnconv%d" % i, Rebnconv(outputs if i == 1 else mid, mid, dilation))
        for i in range(1, levels):
            setattr(self, "rebnconv%dd" % i, Rebnconv(2 * mid, outputs if i == 1 else mid, 2 ** (i - 1) if flat else 1))

    def forward(self, x):
        x = self.rebnconvin(x)
        made = [self.rebnconv1(x)]
        for i in range(2, self.levels + 1):
            small = made[-1] if self.flat or i == self.levels else F.max_pool2d(made[-1], 2, ceil_mode=True)
            made.append(getattr(self, "rebnconv%d" % i)(small))
        h = made.pop()
        for i in reversed(range(1, self.levels)):
            skip = made.pop()
            if not self.flat:
                h = F.interpolate(h, size=skip.shape[2:], mode="bilinear", align_corners=False)
            h = getattr(self, "rebnconv%dd" % i)(torch.cat([h, skip], 1))
        return h + x


class U2Net(nn.Module):
    def __init__(self, middle=(32, 32, 64, 128, 256, 256), widths=(64, 128, 256, 512, 512, 512), back=(16, 32, 64, 128, 256)):
        super().__init__()
        inputs = (3, *widths)
        for i in range(1, 7):
            setattr(self, "stage%d" % i, Rsu(max(8 - i, 4), inputs[i - 1], middle[i - 1], widths[i - 1], i > 4))
        self.side6 = nn.Conv2d(widths[5], 1, 3, padding=1)
        below = widths[5]
        for i in reversed(range(1, 6)):
            outputs = widths[max(i - 2, 0)]
            setattr(self, "stage%dd" % i, Rsu(max(8 - i, 4), below + widths[i - 1], back[i - 1], outputs, i > 4))
            setattr(self, "side%d" % i, nn.Conv2d(outputs, 1, 3, padding=1))
            below = outputs
        self.outconv = nn.Conv2d(6, 1, 1)

    def forward(self, x):
        made = []
        for i in range(1, 7):
            x = getattr(self, "stage%d" % i)(x if i == 1 else F.max_pool2d(x, 2, ceil_mode=True))
            made.append(x)
        h = made.pop()
        sides = [self.side6(h)]
        for i in reversed(range(1, 6)):
            skip = made.pop()
            h = torch.cat([F.interpolate(h, size=skip.shape[2:], mode="bilinear", align_corners=False), skip], 1)
            h = getattr(self, "stage%dd" % i)(h)
            sides.insert(0, getattr(self, "side%d" % i)(h))
        sides = [F.interpolate(side, size=sides[0].shape[2:], mode="bilinear", align_corners=False) for side in sides]
        return [*sides, self.outconv(torch.cat(sides, 1))]


# ---- facebookresearch/fastMRI ----


class FastMriBlock(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        half = lambda n: [nn.Conv2d(n, outputs, 3, padding=1, bias=False), nn.InstanceNorm2d(outputs), nn.LeakyReLU(0.2), nn.Dropout2d(0)]
        self.layers = nn.Sequential(*half(inputs), *half(outputs))

    def forward(self, x):
        return self.layers(x)


class FastMriUp(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.layers = nn.Sequential(nn.ConvTranspose2d(inputs, outputs, 2, stride=2, bias=False), nn.InstanceNorm2d(outputs),
                                    nn.LeakyReLU(0.2))

    def forward(self, x):
        return self.layers(x)


class FastMri(nn.Module):
    def __init__(self, channels=32, depth=4):
        super().__init__()
        widths = [channels * 2**i for i in range(depth)]
        self.down_sample_layers = nn.ModuleList(FastMriBlock(n, c) for n, c in zip([1, *widths], widths))
        self.conv = FastMriBlock(widths[-1], 2 * widths[-1])
        self.up_transpose_conv = nn.ModuleList(FastMriUp(2 * c, c) for c in reversed(widths))
        self.up_conv = nn.ModuleList(FastMriBlock(2 * c, c) for c in reversed(widths))
        self.up_conv[-1] = nn.Sequential(self.up_conv[-1], nn.Conv2d(channels, 1, 1))

    def forward(self, x):
        skips = []
        for layer in self.down_sample_layers:
            x = layer(x)
            skips.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.conv(x)
        for up, conv in zip(self.up_transpose_conv, self.up_conv):
            x = conv(torch.cat([up(x), skips.pop()], 1))
        return x


NETS = {"pix2pix": Pix2pix, "u2net": U2Net, "fastmri": FastMri}

#!/usr/bin/python3
"""Records what PyTorch computes: tests/oracle/vectors/.

    apt-get install python3-torch && tests/oracle/record.py [CASE...]

For every case: the weights as torch.manual_seed draws them, random inputs and targets (float32); then, in
float64 from the same numbers, the output in evaluation, the loss and gradients of the first step, the losses of ten
steps and the weights after them.  Metadata holds PyTorch's own float32 losses and, per gradient, the
relative error of its float32 against float64: the largest over several ways PyTorch has of computing the
same (oneDNN or not, one thread or two, channels last), since one run of one way may be right by luck.
For the nets at full size: a checksum of each initial tensor.
"""

import array
import json
import math
import sys
from fractions import Fraction

import torch
from torch import nn
from torch.nn import functional as F

import cases
import safetensors

# ---- the nets, independent of the .unet files -------------------------------------------------------


def double_conv(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.enc1 = double_conv(3, base)
        self.enc2 = double_conv(base, 2 * base)
        self.enc3 = double_conv(2 * base, 4 * base)
        self.bottleneck = double_conv(4 * base, 8 * base)
        self.up3 = nn.ConvTranspose2d(8 * base, 4 * base, 2, stride=2)
        self.dec3 = double_conv(8 * base, 4 * base)
        self.up2 = nn.ConvTranspose2d(4 * base, 2 * base, 2, stride=2)
        self.dec2 = double_conv(4 * base, 2 * base)
        self.up1 = nn.ConvTranspose2d(2 * base, base, 2, stride=2)
        self.dec1 = double_conv(2 * base, base)
        self.final = nn.Conv2d(base, 3, 1)

    def forward(self, x):
        e1 = self.enc1(x)
        e2 = self.enc2(F.max_pool2d(e1, 2))
        e3 = self.enc3(F.max_pool2d(e2, 2))
        b = self.bottleneck(F.max_pool2d(e3, 2))
        d3 = self.dec3(torch.cat([self.up3(b), e3], 1))
        d2 = self.dec2(torch.cat([self.up2(d3), e2], 1))
        d1 = self.dec1(torch.cat([self.up1(d2), e1], 1))
        return self.final(d1)


class Simple(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, x):
        return self.net(x)


class ThreeConvolutions(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 22, 3, padding=1), nn.ReLU(), nn.Conv2d(22, 21, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(21, 3, 3, padding=1))

    def forward(self, x):
        return self.net(x)


class TwoConvolutions(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.ReLU(), nn.Conv2d(5, 3, 3, padding=1))

    def forward(self, x):
        return self.net(x)


class Classes(nn.Module):
    def __init__(self, classes, losses, parts=1):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(5, classes if classes > 2 else 1, 3, padding=1))

    def forward(self, x):
        return self.net(x)


class Volumes(nn.Module):
    """Windows and strides per axis."""

    def __init__(self, classes):
        super().__init__()
        self.flat = nn.Sequential(nn.Conv3d(3, 6, (1, 3, 3), padding=(0, 1, 1)), nn.LeakyReLU())
        self.deep = nn.Sequential(nn.Conv3d(6, 8, (3, 3, 1), stride=(1, 2, 2), padding=(1, 1, 0), bias=False),
                                  nn.InstanceNorm3d(8, affine=True), nn.LeakyReLU())
        self.skip = nn.Conv3d(6, 8, 1, bias=False)
        self.low = nn.Conv3d(8, 5, 3, stride=(2, 1, 1), padding=1)
        self.few = nn.Conv3d(5, classes, 1)
        self.back = nn.ConvTranspose3d(5, 8, (2, 1, 1), stride=(2, 1, 1))
        self.up = nn.ConvTranspose3d(16, 6, (1, 2, 2), stride=(1, 2, 2))
        self.logits = nn.Conv3d(12, classes, 3, padding=1)

    def forward(self, photo):
        flat = self.flat(photo)
        side = self.deep(flat) + self.skip(F.avg_pool3d(flat, (1, 2, 2)))
        low = self.low(side)
        back = torch.cat([self.back(low), side], 1)
        logits = self.logits(torch.cat([self.up(back), flat], 1))
        return (logits, self.few(low)) if self.training else logits


class Heads(nn.Module):
    """In training there is a second answer, which only the loss sees."""

    def __init__(self, classes):
        super().__init__()
        self.x = nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.ReLU())
        self.logits = nn.Sequential(nn.Conv2d(5, classes, 3, padding=1))
        self.low = nn.Sequential(nn.Conv2d(5, 6, 3, padding=1), nn.ReLU())
        self.side = nn.Sequential(nn.Conv2d(6, classes, 1))

    def forward(self, photo):
        x = self.x(photo)
        return (self.logits(x), self.side(self.low(x))) if self.training else self.logits(x)


class Variants(nn.Module):
    def __init__(self):
        super().__init__()
        self.valid = nn.Conv2d(3, 18, 3)
        self.strided = nn.Conv2d(18, 20, 3, stride=2, padding=1, bias=False)
        self.dilated = nn.Conv2d(20, 20, 3, dilation=2, padding=2)
        self.lopsided = nn.Conv2d(20, 20, (2, 3))
        self.again = nn.Conv2d(20, 20, 3, padding=1)
        self.up = nn.ConvTranspose2d(20, 7, 2, stride=2)
        self.wide = nn.Conv2d(25, 6, 5, padding=2)
        self.answer = nn.Conv2d(6, 3, 1)

    def forward(self, x):
        first = F.relu(self.valid(x))
        strided = self.strided(first)
        sum1 = strided + self.dilated(F.relu(strided))
        lopsided = self.lopsided(F.pad(sum1, (1, 1, 0, 1)))
        twice = self.again(F.relu(self.again(F.relu(lopsided))))
        up = self.up(twice + sum1)
        return self.answer(F.relu(self.wide(torch.cat([up, first], 1))))


class Activations(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 18, 3, padding=1)
        self.middle = nn.ModuleDict({"0": nn.Conv2d(18, 20, 3, padding=1)})
        self.gate = nn.Conv2d(20, 18, 3, padding=1)
        self.up = nn.ConvTranspose2d(18, 5, 2, stride=2, output_padding=(1, 0))
        self.answer = nn.Conv2d(23, 3, 1)

    def forward(self, x):
        first = F.leaky_relu(self.first(x), 0.2)
        middle = F.leaky_relu(self.middle["0"](F.avg_pool2d(first, 2)))
        gate = torch.sigmoid(self.gate(F.avg_pool2d(middle, 3, stride=1, padding=1)))
        return torch.sigmoid(self.answer(torch.cat([self.up(gate), first], 1)))


def normal_double_conv(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
                         nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
                         nn.BatchNorm2d(outputs, eps=1e-3, momentum=0.3), nn.ReLU())


class RunningStatistics(nn.BatchNorm2d):
    def train(self, mode=True):
        return super().train(False)


def keep_statistics(net):
    """Training normalises by running statistics, too, as a module does in evaluation mode."""
    for norm in net.modules():
        if isinstance(norm, nn.BatchNorm2d):
            norm.__class__ = RunningStatistics
            norm.eval()


class BatchNorm(nn.Module):
    def __init__(self, parts=1, average=0, statistics='"batch"'):
        super().__init__()
        self.enc = normal_double_conv(3, 5)
        self.deep = normal_double_conv(5, 18)
        self.again = nn.BatchNorm2d(18)
        self.conv = nn.Conv2d(18, 18, 3, padding=1, bias=False)
        self.up = nn.Sequential(nn.ConvTranspose2d(18, 6, 2, stride=2, bias=False), nn.BatchNorm2d(6))
        self.both = nn.BatchNorm2d(11)
        self.answer = nn.Conv2d(11, 3, 1)
        if statistics == '"running"':
            keep_statistics(self)

    def forward(self, x):
        enc = self.enc(x)
        deep = self.deep(F.max_pool2d(enc, 2))
        twice = F.relu(self.again(self.conv(F.relu(self.again(deep)))))
        both = self.both(torch.cat([F.relu(self.up(twice)), enc], 1))
        return self.answer(F.leaky_relu(both))


def matched(x, like, how):
    """In the middle; of an odd number of rows one more lies at the end."""
    more = [m - n for m, n in zip(like.shape[2:], x.shape[2:])]
    if how == "crop":
        top, left = [-m // 2 for m in more]
        return x[:, :, top:top + like.shape[2], left:left + like.shape[3]]
    pad = (more[1] // 2, more[1] - more[1] // 2, more[0] // 2, more[0] - more[0] // 2)
    return F.pad(x, pad, mode="constant" if how == "pad" else how)


class Resizing(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.twice = nn.Conv2d(6, 5, 3, padding=1)
        self.smooth = nn.Conv2d(6, 5, 3, padding=1)
        self.padded = nn.Conv2d(5, 5, 2)
        self.x = nn.Conv2d(26, 17, 3, padding=1)
        self.answer = nn.Conv2d(17, 3, 3, padding=1)

    def forward(self, photo):
        first, size = F.relu(self.first(photo)), photo.shape[2:]
        twice = self.twice(F.interpolate(first, scale_factor=2))
        exact = F.interpolate(twice, scale_factor=(1.5, 0.5), mode="nearest-exact")
        smooth = self.smooth(F.interpolate(first, scale_factor=2, mode="bilinear"))
        corners = F.interpolate(smooth, size=size, mode="bilinear", align_corners=True)
        like = F.interpolate(exact, size=size, mode="bilinear")
        padded = matched(self.padded(corners), photo, "pad")
        x = self.x(torch.cat([first, like, corners, padded, matched(twice, photo, "crop")], 1))
        twice_as_large = F.interpolate(x, scale_factor=2)
        larger = matched(F.interpolate(x, scale_factor=(4 / 3, 1.5), mode="bilinear"), twice_as_large, "replicate")
        return matched(self.answer(larger), photo, "crop")


class Operators(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.conv = nn.Conv2d(8, 12, 3, padding=1)
        self.pooled = nn.Conv2d(6, 6, 1)
        self.seen = nn.Conv2d(2, 1, 3, padding=1)
        self.shares = nn.Conv2d(12, 6, 3, padding=1)
        self.deep = nn.Conv2d(24, 20, 3, padding=1)
        self.back = nn.Conv2d(8, 20, 1)
        self.answer = nn.Conv2d(5, 3, 3, padding=1)

    def forward(self, photo):
        first = torch.tanh(self.first(photo))
        a, b = self.conv(first).chunk(2, dim=1)
        gated = F.gelu(a) * b
        scaled = gated * torch.sigmoid(self.pooled(F.adaptive_avg_pool2d(gated, 1))) - 0.5 * F.elu(b)
        across = torch.cat([scaled.mean(1, keepdim=True), scaled.max(1, keepdim=True).values], 1)
        seen = scaled * torch.sigmoid(self.seen(across))
        parts = F.interpolate(F.adaptive_avg_pool2d(seen, (5, 3)), size=photo.shape[2:])
        shares = F.softmax(self.shares(torch.cat([seen, parts], 1)), 1)
        deep = self.deep(F.pixel_unshuffle(-shares, 2))
        wide = F.max_pool2d(first, 3, stride=2, padding=1, dilation=2, ceil_mode=True)
        back = F.pixel_shuffle(deep + self.back(wide), 2)
        return self.answer(1 - back / 3)


class Functions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.enter = nn.Linear(8, 12)
        self.wide = nn.Linear(12, 8, bias=False)
        self.answer = nn.Conv2d(40, 3, 3, padding=1)

    def forward(self, photo):
        first = self.first(photo)
        enter = F.selu(self.enter(first.permute(0, 2, 3, 1)))
        wide = 4 * self.wide(enter).permute(0, 3, 1, 2)
        # not F.hardsigmoid: in float64, too, its gradient is a sixth as a float has it
        hard = F.relu6(wide + 3) * (F.relu6(wide + 3) / 6) - F.hardswish(wide)
        bounds = wide.clamp(-1, 1.5) + first.clamp(min=-0.2) - first.clamp(max=0.3)
        soft = (F.softplus(wide, 2, 1.5) + F.softplus(first) - F.mish(wide) + F.gelu(wide, approximate="tanh") + F.elu(first, 0.3))
        waves = torch.sin(wide) * torch.cos(first) + torch.exp(-wide.abs()) + torch.log(first.square() + 0.5)
        roots = torch.sqrt(wide.square() + 0.1) + 2 / (1.5 + torch.sin(first))
        return self.answer(torch.cat([hard, bounds, soft, waves, roots], 1))


class Arithmetic(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.column = nn.Conv2d(8, 1, 1)
        self.answer = nn.Conv2d(32, 3, 3, padding=1)

    def forward(self, photo):
        first = self.first(photo)
        point, map, row = first.mean((2, 3), keepdim=True), first.mean(1, keepdim=True), first.mean(2, keepdim=True)
        column = self.column(first.mean(3, keepdim=True))
        number = point.mean(1, keepdim=True)
        sums = first + point - map + (row + column) - (number - first)
        factors = first * point + map * first + row * column + number * first
        shares = first / (2 + map.square()) + point / (2 + first.square()) + row / (1.5 + column.abs()) + 1 / (3 + number * first)
        most = torch.maximum(first, map) - torch.minimum(point, first) + torch.maximum(row, column)
        return self.answer(torch.cat([sums, factors, shares, most], 1))


class Given(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.place = nn.Parameter(torch.full((8, 10, 9), 0.1))
        self.register_buffer("row", torch.full((1, 1, 9), 0.2))
        self.beta = nn.Parameter(torch.zeros(8))
        self.answer = nn.Conv2d(8, 3, 3, padding=1)
        self.factor = nn.Parameter(torch.ones(1))
        self.shift = nn.Parameter(torch.zeros(3))

    def forward(self, photo):
        mean, spread = (photo.new_tensor(numbers).view(-1, 1, 1) for numbers in ([0.5, 0.4, 0.3], [0.25, 0.5, 0.3]))
        enter = torch.tanh(self.first((photo - mean) / spread) + self.place) * self.row + self.beta.view(-1, 1, 1)
        return self.answer(enter) * self.factor - self.shift.view(-1, 1, 1)


def timestep_embedding(t, channels, max_period=10000, shift=0, cosines_first=False):
    """Of guided-diffusion (shift 0, cosines first), of DDPM (shift 1)."""
    half = channels // 2
    angles = t * torch.exp(-math.log(max_period) * torch.arange(half, dtype=t.dtype) / (half - shift))
    waves = [angles.cos(), angles.sin()] if cosines_first else [angles.sin(), angles.cos()]
    return torch.cat(waves, 1)[:, :, None, None]


class Time(nn.Module):
    def __init__(self):
        super().__init__()
        point = lambda inputs, outputs: nn.Linear(inputs, outputs)
        self.enter, self.more, self.embed = point(16, 24), point(8, 24), point(24, 16)
        self.words, self.first, self.norm = nn.Embedding(13, 8), nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8)
        self.answer = nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, photo):
        words = self.words((12 * photo.mean(1) + 0.5).long()).permute(0, 3, 1, 2)
        time = 100 * photo.mean((2, 3)).mean(1, keepdim=True)
        apply = lambda layer, x: layer(x.flatten(1))[:, :, None, None]
        enter = apply(self.enter, timestep_embedding(time, 16, cosines_first=True))
        more = apply(self.more, timestep_embedding(time, 8, 50, shift=1))
        shift, factor = apply(self.embed, F.silu(enter + more)).chunk(2, 1)
        return self.answer(F.silu(self.norm(self.first(photo) + words) * (1 + factor) + shift))


def attention(q, k, v, heads=1, scale=None, causal=False, bias=0):
    """Of points of maps, as scaled_dot_product_attention, which not every version of PyTorch has.  BIAS: of pairs of points."""
    by_head = lambda x: x.flatten(2).unflatten(1, (heads, -1))
    products = by_head(q).transpose(2, 3) @ by_head(k) * (scale or (q.shape[1] // heads) ** -0.5) + bias
    if causal:
        products = products.masked_fill(torch.ones(products.shape[2:], dtype=torch.bool).triu(1), -math.inf)
    return (by_head(v) @ products.softmax(3).transpose(2, 3)).flatten(1, 2).unflatten(2, q.shape[2:])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.qkv = nn.Linear(6, 18)
        self.few = nn.Conv2d(6, 6, 2, stride=2)
        self.wide = nn.Conv2d(6, 10, 1)
        self.answer = nn.Conv2d(22, 3, 3, padding=1)

    def forward(self, photo):
        first = torch.tanh(self.first(photo))
        q, k, v = (4 * self.qkv(first.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)).chunk(3, 1)
        few = self.few(first)
        parts = [attention(q, k, v, 3), attention(first, first, v, causal=True), attention(q, few, self.wide(few), 2, 0.7)]
        return self.answer(torch.cat(parts, 1))


def channel_attention(q, k, v, heads, factor, normalize=True):
    """Each channel of a head asks the channels of another tensor: XCA of XCiT, and its peers."""
    by_head = lambda x: x.flatten(2).unflatten(1, (heads, -1))
    length = (lambda x: nn.functional.normalize(x, dim=-1)) if normalize else (lambda x: x)
    products = length(by_head(q)) @ length(by_head(k)).transpose(2, 3) * factor
    return (products.softmax(3) @ by_head(v)).flatten(1, 2).unflatten(2, q.shape[2:])


class ChannelAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.qkv = nn.Linear(6, 18)
        self.wide = nn.Conv2d(6, 10, 1)
        self.temperature = nn.Parameter(torch.ones(3))
        self.answer = nn.Conv2d(18, 3, 3, padding=1)

    def forward(self, photo):
        first = torch.tanh(self.first(photo))
        q, k, v = (4 * self.qkv(first.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)).chunk(3, 1)
        wide = self.wide(first)
        parts = [channel_attention(q, k, v, 3, self.temperature.view(3, 1, 1)), channel_attention(q, k, v, 2, 0.2, False),
                 channel_attention(q, wide, torch.sin(wide), 2, 3)]
        return self.answer(torch.cat(parts, 1))


class LinearAttention(nn.Module):
    """Feature maps and their products, never a table of points: shares of channels and of points, with learnt points beside
    the others, as diffusion networks have it; and relu, divided by the sum of the weights, as EfficientViT has it."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 12, 3, padding=1)
        self.q, self.k, self.v = nn.Conv2d(12, 12, 1), nn.Conv2d(12, 12, 1), nn.Conv2d(12, 8, 1)
        self.memory = nn.Parameter(torch.randn(20, 1, 3))
        self.answer = nn.Conv2d(16, 3, 3, padding=1)

    @staticmethod
    def attend(q, k, v, heads):
        q, k, v = (x.flatten(2).unflatten(1, (heads, -1)) for x in (q, k, v))
        return torch.einsum("bhcn,bhdn,bhcm->bhdm", k, v, q).flatten(1, 2)

    def forward(self, photo):
        first = torch.tanh(self.first(photo))
        q, k, v = 2 * self.q(first), 2 * self.k(first), self.v(first)
        more = self.memory.flatten(1).expand(len(photo), -1, -1)
        keys, values = torch.cat([k.flatten(2), more[:, :12]], 2), torch.cat([v.flatten(2), more[:, 12:]], 2)
        by_shares = self.attend(q.unflatten(1, (4, 3)).softmax(2).flatten(1, 2) * 0.5, keys.softmax(2), values, 4)
        q, k = F.relu(q), F.relu(k)
        by_relu = self.attend(q, k, v, 1) / (self.attend(q, k, torch.ones_like(v[:, :1]), 1) + 1e-3)
        return self.answer(torch.cat([by_shares, by_relu], 1).unflatten(2, photo.shape[2:]))


def in_windows(x, window):
    """(sample and window, point, channel)"""
    axes = len(window)
    apart = [part for extent, size in zip(x.shape[2:], window) for part in (extent // size, size)]
    order = [0, *range(2, 2 + 2 * axes, 2), *range(3, 3 + 2 * axes, 2), 1]
    return x.reshape(*x.shape[:2], *apart).permute(order).reshape(-1, math.prod(window), x.shape[1])


def on_map(x, window, shape):
    axes = len(window)
    x = x.view(shape[0], *(extent // size for extent, size in zip(shape[2:], window)), *window, -1)
    order = [0, 1 + 2 * axes, *(axis for k in range(axes) for axis in (1 + k, 1 + axes + k))]
    return x.permute(order).reshape(shape[0], -1, *shape[2:])


def sides(shape, window, shift):
    """Swin adds this to products, for each window: -100 where the ends of the map lie between two points."""
    part = torch.zeros(1, 1, *shape[2:])
    for axis in range(len(window)):
        cuts = [slice(0, -window[axis]), slice(-window[axis], -shift[axis]), slice(-shift[axis], None)] if shift[axis] else []
        for number, cut in enumerate(cuts):
            part[(slice(None),) * (2 + axis) + (cut,)] += number * 3 ** axis
    part = in_windows(part, window).squeeze(2)
    return (part.unsqueeze(1) != part.unsqueeze(2)) * -100.0


def window_attention(q, k, v, heads, window, shift=None, table=None, scale=None, bias=0):
    """As Swin computes it, the table too: rolled, in windows, masked by addition, and rolled back.  BIAS: of pairs of points."""
    axes, shift = list(range(2, 2 + len(window))), shift or [0] * len(window)
    rolled = [in_windows(torch.roll(x, [-s for s in shift], axes), window) for x in (q, k, v)]
    q, k, values = (x.unflatten(2, (heads, -1)).transpose(1, 2) for x in rolled)
    products = q @ k.transpose(2, 3) * (scale or q.shape[3] ** -0.5) + bias
    if table is not None:
        at, row = torch.stack(torch.meshgrid(*map(torch.arange, window), indexing="ij")).flatten(1), 0
        for apart, size in zip(at[:, :, None] - at[:, None, :], window):
            row = row * (2 * size - 1) + apart + size - 1
        products = products + table[row].permute(2, 0, 1)
    mask = sides(v.shape, window, shift).to(products.dtype)
    products = products.unflatten(0, (-1, len(mask))) + mask.unsqueeze(1)
    mean = products.flatten(0, 1).softmax(3) @ values
    return torch.roll(on_map(mean.transpose(1, 2).flatten(2), window, v.shape), shift, axes)


class Attend(nn.Module):
    def __init__(self, channels, heads, shift, window=(4, 3)):
        super().__init__()
        self.heads, self.shift, self.window = heads, shift, window
        self.qkv, self.proj = nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.relative_position_bias_table = nn.Parameter(torch.randn(math.prod(2 * size - 1 for size in window), heads) / 2)

    def forward(self, x):
        q, k, v = self.qkv(x.movedim(1, -1)).movedim(-1, 1).chunk(3, 1)
        mean = window_attention(q, k, v, self.heads, self.window, self.shift, self.relative_position_bias_table)
        return self.proj(mean.movedim(1, -1)).movedim(-1, 1)


class Windows(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.attn, self.rolled, self.whole = Attend(6, 3, (0, 0)), Attend(6, 2, (2, 1)), Attend(6, 1, (1, 1))
        self.qk = nn.Linear(6, 12)
        self.answer = nn.Conv2d(12, 3, 3, padding=1)

    def forward(self, photo):
        first = torch.tanh(self.first(photo))
        attn = first + self.attn(2 * first)
        rolled = attn + self.rolled(2 * attn)
        whole = rolled + self.whole(rolled)
        q, k = self.qk(whole.permute(0, 2, 3, 1)).permute(0, 3, 1, 2).chunk(2, 1)
        parts = [window_attention(q, k, whole, 1, (8, 12), scale=2), window_attention(k, q, whole, 2, (2, 6), (1, 3))]
        return self.answer(torch.cat(parts, 1))


class Rearranged(nn.Module):
    """ShuffleNet's groups, ECA's convolution along the channels, the mixer of an MLP-Mixer, MobileViT's attention over a grid."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.second = nn.Conv2d(8, 8, 3, padding=1, groups=4)
        self.along = nn.Conv2d(1, 1, (1, 3), padding=(0, 1), bias=False)
        self.inner, self.outer, self.qkv = nn.Linear(48, 12), nn.Linear(12, 48), nn.Linear(8, 24)
        self.answer = nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, photo):
        n = photo.shape[0]
        first = self.first(photo)
        second = self.second(first.reshape(n, 4, 2, *first.shape[2:]).transpose(1, 2).reshape(first.shape))
        along = self.along(second.mean((2, 3)).reshape(n, 1, 1, 8)).reshape(n, 8, 1, 1)
        gated = second * torch.sigmoid(along)
        mixed = gated + self.outer(F.silu(self.inner(gated.flatten(2)))).reshape(gated.shape)
        grid = mixed.reshape(n, 8, 4, 2, 3, 2).permute(0, 3, 5, 2, 4, 1).reshape(n * 4, 12, 8)
        q, k, v = self.qkv(grid).reshape(n * 4, 12, 3, 2, 4).permute(2, 0, 3, 1, 4)
        seen = (torch.softmax(q @ k.transpose(2, 3) / 2, 3) @ v).transpose(1, 2).reshape(n, 2, 2, 4, 3, 8)
        back = seen.permute(0, 5, 3, 1, 4, 2).reshape(mixed.shape)
        return self.answer(torch.cat([mixed, back], 1))


class Biases(nn.Module):
    """A mask that nobody learns, and places in a table: as BEiT and LeViT have it."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.qkv = nn.Linear(6, 18)
        self.few = nn.Conv2d(6, 6, 2, stride=2)
        self.wide = nn.Conv2d(6, 10, 1)
        self.pairs, self.own = nn.Parameter(torch.randn(3, 24, 24)), nn.Parameter(torch.randn(2, 24, 6))
        self.register_buffer("masked", torch.randint(2, (1, 24, 24)) * -5.0 + torch.randn(1, 24, 24))
        self.register_buffer("places", torch.zeros(1, 6, 6))  # the recorder draws from it
        self.table = nn.Embedding(7, 2)
        self.answer = nn.Conv2d(28, 3, 3, padding=1)

    def forward(self, photo):
        first = torch.tanh(self.first(photo))
        q, k, v = (4 * self.qkv(first.movedim(1, -1)).movedim(-1, 1)).chunk(3, 1)
        few, table = self.few(first), self.table((4 * self.places[0]).round().long()).movedim(-1, 0)
        parts = [attention(q, k, v, 3, bias=self.pairs), attention(first, first, v, causal=True, bias=self.masked),
                 attention(q, few, self.wide(few), 2, 0.7, bias=self.own),
                 window_attention(k, q, v, 2, (3, 2), (1, 1), bias=table)]
        return self.answer(torch.cat(parts, 1))


class Lengths(nn.Module):
    """Groups of channels by their lengths, as Swin v2 has queries and keys; RMSNorm; softmax as linear attention takes it."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 18, 3, padding=1)
        self.norm = RMSNorm(18)
        self.rms = RMSNorm(18, 1e-3)
        self.answer = nn.Conv2d(96, 3, 3, padding=1)

    def forward(self, photo):
        first = torch.tanh(self.first(photo))
        groups = first.unflatten(1, (3, 6))
        parts = [F.normalize(first, dim=1), F.normalize(groups, dim=2).flatten(1, 2), F.normalize(groups, dim=2, eps=1.0).flatten(1, 2),
                 self.rms(self.norm(first)), (4 * groups).softmax(2).flatten(1, 2), (4 * first[:, :6]).flatten(2).softmax(2).view_as(first[:, :6])]
        return self.answer(torch.cat(parts, 1))


class RMSNorm(nn.Module):
    """torch.nn.RMSNorm over channels, which not every version of PyTorch has."""

    def __init__(self, channels, eps=1.1920929e-7):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(channels)), eps

    def forward(self, x):
        return x / (x.square().mean(1, keepdim=True) + self.eps).sqrt() * self.weight.view(-1, 1, 1)


class VolumeWindows(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv3d(3, 6, 3, padding=1)
        self.attn, self.rolled = Attend(6, 3, (0, 0, 0), (2, 3, 2)), Attend(6, 2, (1, 2, 1), (2, 3, 2))
        self.answer = nn.Conv3d(6, 3, 3, padding=1)

    def forward(self, photo):
        first = torch.tanh(self.first(photo))
        attn = first + self.attn(2 * first)
        return self.answer(attn + self.rolled(2 * attn))


def fixed(layer):
    """Its weights as buffers, which nobody learns."""
    for name, weight in list(layer.named_parameters()):
        delattr(layer, name)
        layer.register_buffer(name, weight.detach())
    return layer


class Borders(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, padding=1)
        self.zeros = nn.Conv2d(4, 4, (2, 3))
        self.numbers = nn.Conv2d(4, 4, 3)
        self.mirror = nn.Conv2d(4, 4, 4)
        self.edge = nn.Conv2d(4, 4, 3)
        self.around = nn.Conv2d(4, 4, (6, 3))
        self.blurred, self.mixed = fixed(nn.Conv2d(4, 4, 3, groups=4, bias=False)), fixed(nn.Conv2d(4, 5, (1, 3), padding=(0, 1)))
        self.answer = nn.Conv2d(41, 3, 3, padding=1)

    def forward(self, photo):
        first = self.first(photo)
        rolled = first.roll((3, -2), (2, 3)) * first.flip(3) + first.roll((4, 4), (2, 3)).flip(2)
        middle = F.pad(torch.tanh(first)[:, :, 2:8, 1:6], (1, 3, 2, 2), mode="reflect")
        numbers, edge = self.numbers(F.pad(first, (1, 1, 1, 1), value=0.5)), self.edge(F.pad(first, (1, 1, 1, 1), mode="replicate"))
        parts = [self.zeros(F.pad(first, (0, 2, 1, 0))), numbers,
                 self.mirror(F.pad(first, (1, 2, 2, 1), mode="reflect")), edge,
                 self.around(F.pad(first, (1, 1, 3, 2), mode="circular")), rolled, middle,
                 self.blurred(F.pad(first, (1, 1, 1, 1), mode="reflect")), F.relu(self.mixed(middle)),
                 torch.cat([first[:, :, :, 3:7], torch.cat([numbers, edge], 2)[:, :, 4:14, :5]], 3)]
        return self.answer(torch.cat(parts, 1))


class Signals(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(3, 6, 15, padding=7)
        self.down = nn.Sequential(nn.Conv1d(6, 16, 4, stride=2, padding=1), nn.GroupNorm(4, 16), nn.PReLU())
        self.parts = nn.Conv1d(16, 16, 3, padding=3, dilation=3)
        self.each = nn.Sequential(nn.Conv1d(8, 8, 7, padding=3, groups=8, bias=False), nn.InstanceNorm1d(8, affine=True))
        self.shares = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8)
        self.heads = nn.Conv1d(8, 24, 1)
        self.up = nn.ConvTranspose1d(14, 6, 4, stride=2, padding=1)
        self.wide = nn.Conv1d(6, 5, 3, padding=1)
        self.few = nn.ConvTranspose1d(6, 4, 3, stride=2, padding=1, output_padding=1, groups=2)
        self.answer = nn.Conv1d(21, 3, 5)

    def forward(self, sound):
        first = F.leaky_relu(self.first(sound))
        beside = torch.tanh(first.roll(3, 2)) + first.flip(2) * F.pad(first, (3, 2), mode="reflect")[:, :, 2:42]
        gated = F.glu(self.parts(self.down(beside)), 1)
        small = F.max_pool1d(F.gelu(self.each(gated)), 2)
        means = F.avg_pool1d(first, 4)
        shares = torch.sigmoid(self.shares(F.adaptive_avg_pool1d(small, 1)[:, :, 0]))[:, :, None]
        q, k, v = self.heads(self.norm((small * shares).transpose(1, 2)).transpose(1, 2)).chunk(3, 1)
        up = F.silu(self.up(torch.cat([small + attention(q, k, v, heads=2), means], 1)))
        wide = self.wide(F.interpolate(up, scale_factor=2, mode="linear"))
        near = F.interpolate(means, size=sound.shape[2:])
        return self.answer(F.pad(torch.cat([wide, near, self.few(up), beside], 1), (3, 1)))


class Words(nn.Module):
    """A table of words that is read, and that tells the next word."""

    def __init__(self, words):
        super().__init__()
        self.table = nn.Embedding(words, 12)
        self.place = nn.Parameter(0.02 * torch.randn(40, 12))
        self.first = nn.Conv1d(3, 12, 3, padding=1)
        self.norm = nn.LayerNorm(12)
        self.qkv = nn.Linear(12, 36)
        self.logits = nn.ParameterDict({"bias": nn.Parameter(torch.rand(words) - 0.5)})
        self.few = nn.Linear(24, 7, bias=False)

    def forward(self, sound):
        read = self.table((22 * sound.mean(1) + 0.5).long()) + self.place
        first = read.transpose(1, 2) + self.first(sound)
        q, k, v = self.qkv(self.norm(first.transpose(1, 2))).transpose(1, 2).chunk(3, 1)
        after = torch.tanh(first + attention(q, k, v, 3, causal=True))
        logits = F.linear(after.transpose(1, 2), self.table.weight, self.logits["bias"]).transpose(1, 2)
        return (logits, self.few(torch.cat([after, q], 1).transpose(1, 2)).transpose(1, 2)) if self.training else logits


class Groups(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Conv2d(3, 18, 3, padding=1, bias=False)
        self.first = nn.InstanceNorm2d(18, affine=True)
        self.each = nn.Conv2d(18, 18, 3, stride=2, padding=1, groups=18)
        self.point = nn.Conv2d(18, 12, 1, bias=False)
        self.norm = nn.GroupNorm(3, 12)
        self.some = nn.Conv2d(12, 10, (3, 2), groups=2, bias=False)
        self.tall = nn.Conv2d(10, 10, (5, 1), padding=(2, 0))
        self.wide = nn.Conv2d(10, 6, (1, 5), padding=(0, 4), dilation=(1, 2), groups=2)
        self.deep = nn.Conv2d(18, 9, 4, stride=2, padding=1, bias=False)
        self.up3 = nn.ConvTranspose2d(9, 9, 3, stride=2, padding=1, output_padding=1, groups=9)
        self.up4 = nn.ConvTranspose2d(9, 6, 4, stride=2, padding=1, groups=3)
        self.last = nn.GroupNorm(2, 6)
        self.answer = nn.Conv2d(24, 3, 1)

    def forward(self, x):
        first = F.relu(self.first(self.start(x)))
        norm = F.relu(self.norm(self.point(self.each(first))))
        some = F.relu(self.some(F.pad(norm, (0, 1, 1, 1))))
        wide = F.relu(self.wide(F.relu(self.tall(some) + some)))
        low = F.relu(F.instance_norm(self.deep(torch.cat([wide, norm], 1))))
        last = self.last(F.relu(self.up4(F.relu(self.up3(low)))))
        return self.answer(torch.cat([last, first], 1))


class LayerNorm(nn.Module):
    """Over the channels of a point."""

    def __init__(self, channels, eps=1e-5):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels)), eps

    def forward(self, x):
        return F.layer_norm(x.permute(0, 2, 3, 1), x.shape[1:2], self.weight, self.bias, self.eps).permute(0, 3, 1, 2)


class Scales(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 18, 3, padding=1), nn.PReLU())
        self.normal = LayerNorm(18, 1e-6)
        self.middle = nn.Sequential(nn.Conv2d(18, 18, 3, padding=1), nn.PReLU(18, 0.1))
        self.join = nn.Conv2d(36, 5, 3, padding=1)
        self.few = LayerNorm(5)
        self.beta = nn.ParameterList([nn.Parameter(torch.full((5,), 0.5))])
        self.other = nn.Conv2d(3, 5, 1)
        self.answer = nn.Conv2d(5, 3, 3, padding=1)

    def forward(self, photo):
        first = self.first(photo)
        normal = self.normal(first)
        pooled, indices = F.max_pool2d(normal, 2, return_indices=True)
        back = F.max_unpool2d(self.middle(pooled), indices, 2, output_size=normal.shape)
        few = self.few(self.join(torch.cat([back, first], 1)))
        return self.answer(few * self.beta[0][:, None, None] + self.other(photo))


NETS = {"unet": UNet, "simple": Simple, "two_convolutions": TwoConvolutions, "three_convolutions": ThreeConvolutions, "variants": Variants,
        "activations": Activations, "resizing": Resizing, "classes": Classes, "batch_norm": BatchNorm,
        "groups": Groups, "operators": Operators, "functions": Functions, "arithmetic": Arithmetic, "given": Given, "time": Time, "attention": Attention, "channel_attention": ChannelAttention, "linear_attention": LinearAttention, "windows": Windows, "volume_windows": VolumeWindows, "biases": Biases, "lengths": Lengths, "rearranged": Rearranged, "borders": Borders, "signals": Signals, "words": Words, "heads": Heads, "scales": Scales, "volumes": Volumes}

# ---- losses over classes; in a target of labels 255 counts nowhere ----------------------------------


def weighted_cross_entropy(logits, labels):
    return F.cross_entropy(logits, labels, weight=torch.tensor([1, 0.25, 2, 0.5], dtype=logits.dtype), ignore_index=255,
                           label_smoothing=0.1)


def cross_entropy_without_1(logits, labels):
    return F.cross_entropy(logits, labels.masked_fill(labels == 1, 255), ignore_index=255)


def bce(logits, labels, **settings):
    counts = labels != 255
    return F.binary_cross_entropy_with_logits(logits[:, 0][counts], labels[counts].to(logits.dtype), **settings)


def weighted_bce(logits, labels):
    return bce(logits, labels, pos_weight=torch.tensor(2.5, dtype=logits.dtype))


def cross_entropy(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=255)


def dice(shares, labels, classes, smooth=1e-6):
    """1 less the mean over CLASSES of twice what is common over what is in one or the other, of the whole batch."""
    counts = (labels != 255).to(shares.dtype)
    values = []
    for k, share in zip(classes, shares):
        truth = (labels == k).to(shares.dtype) * counts
        values.append((2 * (share * truth).sum() + smooth) / ((share * counts).sum() + truth.sum() + smooth))
    return 1 - sum(values) / len(values)


def dice_without_background(logits, labels):
    return dice(F.softmax(logits, 1).transpose(0, 1)[1:], labels, (1, 2, 3), 1e-5)


def dice_without_2(logits, labels):
    return dice(F.softmax(logits, 1).transpose(0, 1), labels.masked_fill(labels == 2, 255), (0, 1, 2, 3))


def binary_dice(logits, labels):
    return dice(torch.sigmoid(logits).transpose(0, 1), labels, (1,), 1)


def focal(logits, labels, gamma=2, alpha=None):
    """The mean over the points that count of alpha_y (1 - p_y)^gamma (-log p_y), as softmax gives p."""
    counts = labels != 255
    logs = F.log_softmax(logits, 1).gather(1, (labels * counts)[:, None])[:, 0][counts]
    weight = 1 if alpha is None else torch.tensor(alpha, dtype=logits.dtype)[labels[counts]]
    return (weight * (1 - logs.exp()) ** gamma * -logs).mean()


def weighted_focal(logits, labels):
    return focal(logits, labels.masked_fill(labels == 2, 255), 1.5, [1, 0.25, 2, 0.5])


def binary_focal(logits, labels, gamma=0.5, alpha=-1):
    """torchvision's sigmoid_focal_loss, with its mean over the points that count."""
    counts = labels != 255
    x, t = logits[:, 0][counts], labels[counts].to(logits.dtype)
    p = torch.sigmoid(x)
    right = p * t + (1 - p) * (1 - t)
    loss = F.binary_cross_entropy_with_logits(x, t, reduction="none") * (1 - right) ** gamma
    return ((alpha * t + (1 - alpha) * (1 - t) if alpha >= 0 else 1) * loss).mean()


def alpha_focal(logits, labels):
    return binary_focal(logits, labels, 2, 0.25)


def points(x):
    """The axes of an image or a volume."""
    return tuple(range(2, x.dim()))


def shares_and_truth(logits, labels):
    """Softmax and, of each class, 1 where it is the label; both 0 where a point does not count."""
    counts = labels != 255
    truth = F.one_hot(labels * counts, logits.shape[1]).movedim(-1, 1) * counts[:, None]
    return F.softmax(logits, 1) * counts[:, None], truth.to(logits.dtype)


def milesial_dice(logits, labels, epsilon=1e-6):
    """Of all classes and samples together."""
    shares, truth = shares_and_truth(logits, labels)
    inter, sets = 2 * (shares * truth).sum(), shares.sum() + truth.sum()
    return 1 - (inter + epsilon) / (torch.where(sets == 0, inter, sets) + epsilon)


def monai_dice(logits, labels, squared=True, batch=False, smooth_nr=1e-5, smooth_dr=1e-5):
    shares, truth = shares_and_truth(logits, labels)
    axes = (0, 2, 3) if batch else (2, 3)
    power = 2 if squared else 1
    under = (truth ** power).sum(axes) + (shares ** power).sum(axes)
    return (1 - (2 * (shares * truth).sum(axes) + smooth_nr) / (under + smooth_dr)).mean()


def squared_dice(logits, labels):
    return monai_dice(logits, labels, batch=True, smooth_nr=0)


def nnunet_dice(logits, labels, smooth=1e-5):
    """SoftDiceLoss without background, of each sample; nnU-Net itself leaves out the 1."""
    shares, truth = (x[:, 1:] for x in shares_and_truth(logits, labels))
    axes = points(logits)
    under = (truth.sum(axes) + shares.sum(axes) + smooth).clamp(min=1e-8)
    return 1 - ((2 * (shares * truth).sum(axes) + smooth) / under).mean()


def tversky(shares, truth, alpha, beta, axes, smooth, epsilon):
    both = (shares * truth).sum(axes)
    false_positive, false_negative = (shares * (1 - truth)).sum(axes), ((1 - shares) * truth).sum(axes)
    return (1 - (both + smooth) / (both + alpha * false_positive + beta * false_negative + epsilon)).mean()


def tversky_of_samples(logits, labels):
    return tversky(*shares_and_truth(logits, labels), 0.3, 0.7, points(logits), 1, 1)


def tversky_without_background(logits, labels):
    shares, truth = shares_and_truth(logits, labels)
    return tversky(shares[:, 1:], truth[:, 1:], 0.8, 0.5, (0, 2, 3), 1e-6, 1e-6)


def joint_tversky(logits, labels):
    return tversky(*shares_and_truth(logits, labels), 0.3, 0.7, (1, 2, 3), 0, 0.1)


def charbonnier(answer, truth, epsilon=1e-3):
    return (((answer - truth) ** 2 + epsilon ** 2) ** 0.5).mean()


def smooth_l1_and_sharper(answer, truth):
    return F.smooth_l1_loss(answer, truth) + 0.5 * F.smooth_l1_loss(answer, truth, beta=0.25)


def psnr_loss(answer, truth):
    """NAFNet's."""
    return 10 / math.log(10) * torch.log((answer - truth).square().mean(dim=(1, 2, 3)) + 1e-8).mean()


def ssim_loss(answer, truth, data_range=1):
    """Wang et al. 2004: windows that lie in the image, of 11 x 11 points weighted by a Gaussian."""
    line = torch.exp(-(torch.arange(11, dtype=torch.float64) - 5) ** 2 / (2 * 1.5 ** 2)).to(answer.dtype)
    window = (torch.outer(line, line) / line.sum() ** 2).expand(answer.shape[1], 1, 11, 11)
    x, y, xx, yy, xy = (F.conv2d(image, window, groups=answer.shape[1])
                        for image in (answer, truth, answer * answer, truth * truth, answer * truth))
    bright, varied = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    alike = (2 * x * y + bright) * (2 * (xy - x * y) + varied)
    return 1 - (alike / ((x * x + y * y + bright) * (xx - x * x + yy - y * y + varied))).mean()


def wide_ssim_loss(answer, truth):
    return ssim_loss(answer, truth, 2)


def mapped(loss, weight):
    """WEIGHT of the points over their number, or over their weights by class, whatever the map says."""
    return (weight * loss).sum()


def mapped_cross_entropy(logits, labels, photo):
    loss = F.cross_entropy(logits, labels, ignore_index=255, reduction="none")
    return mapped(loss, 1 + 10 * photo.mean(1)) / (labels != 255).sum()


def mapped_weighted(logits, labels, photo):
    weight = torch.tensor([1, 0.25, 2, 0.5], dtype=logits.dtype)
    loss = F.cross_entropy(logits, labels, weight=weight, ignore_index=255, label_smoothing=0.1, reduction="none")
    return mapped(loss, photo.amax(1)) / weight[labels[labels != 255]].sum()


def mapped_bce(logits, labels, photo):
    counts = labels != 255
    loss = F.binary_cross_entropy_with_logits(logits[:, 0], (labels * counts).to(logits.dtype), reduction="none",
                                              pos_weight=torch.tensor(2.5, dtype=logits.dtype))
    return mapped(loss * counts, 1 + 10 * photo.mean(1)) / counts.sum()


OF_PHOTO = {"mapped_cross_entropy": mapped_cross_entropy, "mapped_weighted": mapped_weighted, "mapped_bce": mapped_bce}


def ohem(logits, labels, threshold, least):
    """As PaddleSeg: points that do not count have a probability above 1, that of the point numbered LEAST is a limit."""
    counts = labels != 255
    logs = F.log_softmax(logits, 1).gather(1, (labels * counts)[:, None])[:, 0]
    p = logs.detach().exp() + ~counts
    if least < counts.sum():
        limit = max(threshold, p.flatten().sort().values[least - 1].item())
        counts = counts & (p < limit)
    counts = counts.to(logits.dtype)
    return (-logs * counts).mean() / (counts.mean() + 1e-5)


def ohem_by_number(logits, labels):
    return ohem(logits, labels, 0.2, 100)


def ohem_by_threshold(logits, labels):
    return ohem(logits, labels, 0.3, 25)


def ohem_without_2(logits, labels):
    return ohem(logits, labels.masked_fill(labels == 2, 255), 0.7, 16)


def ohem_of_all(logits, labels):
    return ohem(logits, labels, 0.7, 252)


def binary_ohem(logits, labels):
    return ohem(torch.cat([torch.zeros_like(logits), logits], 1), labels, 0.5, 16)


def lovasz_steps(truth):
    """By how much the Jaccard loss grows with each of the points, in the order of their errors."""
    jaccard = 1 - (truth.sum() - truth.cumsum(0)) / (truth.sum() + (1 - truth).cumsum(0))
    return torch.cat([jaccard[:1], jaccard[1:] - jaccard[:-1]])


def lovasz_softmax(logits, labels):
    """Of the whole batch, the mean over the classes that are there."""
    counts, losses = labels != 255, []
    for k, share in enumerate(F.softmax(logits, 1).transpose(0, 1)):
        truth = (labels[counts] == k).to(logits.dtype)
        errors, order = (truth - share[counts]).abs().sort(descending=True)
        if truth.sum() > 0:
            losses.append(torch.dot(errors, lovasz_steps(truth[order])))
    return sum(losses) / len(losses)


def lovasz_without_2(logits, labels):
    return lovasz_softmax(logits, labels.masked_fill(labels == 2, 255))


def lovasz_hinge(logits, labels):
    counts = labels != 255
    truth = labels[counts].to(logits.dtype)
    errors, order = (1 - logits[:, 0][counts] * (2 * truth - 1)).sort(descending=True)
    return torch.dot(F.relu(errors), lovasz_steps(truth[order]))


def two_heads(answers, labels):
    logits, side = answers
    both = cross_entropy(logits, labels) + 0.4 * cross_entropy(side, labels)
    return both + (0.5 * cross_entropy(logits, labels) + dice(F.softmax(side, 1).transpose(0, 1), labels, (0, 1, 2, 3))) / 2


def resized(labels, like, mode):
    return F.interpolate(labels[:, None].double(), size=like.shape[2:], mode=mode)[:, 0].long()


def words(answers, numbers):
    """Numbers that are no class count nowhere."""
    told = lambda logits: F.cross_entropy(logits, torch.where(numbers < logits.shape[1], numbers, -1)[:, 0].clamp(min=-1), ignore_index=-1)
    return told(answers[0]) + 0.5 * told(answers[1])


def two_resolutions(answers, labels):
    """All losses over classes, and, as nnU-Net supervises a decoder, some at half the size."""
    logits, few = answers
    exact, nearest = resized(labels, few, "nearest-exact"), resized(labels, few, "nearest")
    loss = 0.5 * weighted_cross_entropy(few, exact) + 0.25 * weighted_focal(few, nearest) + 0.5 * nnunet_dice(few, exact)
    return loss + 0.5 * weighted_cross_entropy(logits, labels) + sum(
        each(logits, labels) for each in (nnunet_dice, milesial_dice, tversky_of_samples, weighted_focal, ohem_by_number, lovasz_softmax))


LOSSES = {**OF_PHOTO, "words": words, "two_resolutions": two_resolutions, "smooth_l1_and_sharper": smooth_l1_and_sharper, "psnr_loss": psnr_loss, "ssim": ssim_loss, "wide_ssim": wide_ssim_loss,
          "lovasz_softmax": lovasz_softmax, "lovasz_without_2": lovasz_without_2, "lovasz_hinge": lovasz_hinge, "ohem_by_number": ohem_by_number, "ohem_by_threshold": ohem_by_threshold,
          "ohem_without_2": ohem_without_2, "ohem_of_all": ohem_of_all, "binary_ohem": binary_ohem, "milesial_dice": milesial_dice, "monai_dice": monai_dice, "squared_dice": squared_dice, "nnunet_dice": nnunet_dice,
          "tversky_of_samples": tversky_of_samples, "tversky_without_background": tversky_without_background,
          "joint_tversky": joint_tversky, "two_heads": two_heads, "focal": focal, "weighted_focal": weighted_focal, "binary_focal": binary_focal,
          "alpha_focal": alpha_focal, "charbonnier": charbonnier, "mse": F.mse_loss, "l1": F.l1_loss, "cross_entropy": cross_entropy, "binary_dice": binary_dice,
          "dice_without_background": dice_without_background, "dice_without_2": dice_without_2,
          "weighted_cross_entropy": weighted_cross_entropy,
          "cross_entropy_without_1": cross_entropy_without_1, "bce": bce, "weighted_bce": weighted_bce}
OPTIMIZERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD,
              "rmsprop": torch.optim.RMSprop}

# ---- the optimiser's state in 8 bits ----------------------------------------------------------------


def code_book(signed):
    """The dynamic map of Dettmers and others, "8-bit Optimizers via Block-wise Quantization" (2022), in exact numbers: each decade below
    1 is cut into twice as many parts as the one below it, and a code is the middle of a part."""
    shares = {Fraction(0), Fraction(1)}
    for exponent in range(7):
        parts = 2**exponent * (1 if signed else 2)
        edges = [Fraction(1, 10) + Fraction(9, 10) * k / parts for k in range(parts + 1)]
        middles = [(low + high) / 2 / 10**(6 - exponent) for low, high in zip(edges, edges[1:])]
        shares |= {sign * middle for middle in middles for sign in ((1, -1) if signed else (1,))}
    assert len(shares) == 256
    return torch.tensor([float(share) for share in sorted(shares)], dtype=torch.float64)


def in_8_bits(state, signed):
    """STATE as it comes back from codes: blocks of 256, by their largest absolute values."""
    shares = code_book(signed)
    borders = (shares[1:] + shares[:-1]) / 2
    shares, borders = shares.to(state.dtype), borders.to(state.dtype)
    blocks = F.pad(state.flatten(), (0, -state.numel() % 256)).reshape(-1, 256)
    largest = blocks.abs().amax(1, keepdim=True)
    codes = torch.bucketize(torch.where(largest > 0, blocks / largest, 0), borders)  # half way between two: the lower
    return (shares[codes] * largest).flatten()[:state.numel()].reshape(state.shape)


def round_states(optimizer, net):
    for p in net.parameters():
        states = optimizer.state[p]
        for name, value in states.items():
            if p.dim() > 1 and p.numel() >= 4096 and name != "step":
                value.copy_(in_8_bits(value, "sq" not in name))
        if "exp_avg" in states and p.dim() > 1 and p.numel() >= 4096:  # what is true of exact moments, by Cauchy and Schwarz
            b1, b2 = optimizer.param_groups[0]["betas"]
            least = (1 - b1**2 / b2) * (1 - b2) / (1 - b1)**2
            states["exp_avg_sq"].copy_(torch.maximum(states["exp_avg_sq"], least * states["exp_avg"] * states["exp_avg"]))


# ---- one case ---------------------------------------------------------------------------------------


def make_net(case):
    torch.manual_seed(case["seed"])
    net = NETS[case["net"]](**case["defines"])
    for name, value in net.named_buffers():  # as if it had been trained: prediction reads them
        if value.is_floating_point():
            value.uniform_(0.5, 1.5)
    return net


def state_of(net):
    """What the checkpoint of a model holds: the count of batches is PyTorch's own."""
    return {key: value.clone() for key, value in net.state_dict().items() if not key.endswith("num_batches_tracked")}


def loss_of(case, answer, target, photo):
    return sum(weight * LOSSES[name](answer, target, *([photo] if name in OF_PHOTO else [])) for name, weight in case["losses"])


def psnr(answer, target):
    """Mean over the samples, each clamped to 0..1."""
    squares = (answer.clamp(0, 1) - target.clamp(0, 1)).square().flatten(1).mean(1)
    return (-10 * squares.log10()).mean()


def met_pairs(answer, target, classes):
    """Of the matrix of how often a true class met a predicted one, a number that harness.c makes of it."""
    counts = target != 255
    pair = target[counts] * classes + answer.argmax(1)[counts]
    return ((pair + 1).sum() / len(target)).double().reshape(1)


def make_optimizer(case, net):
    name, settings = case["optimizer"]
    vectors = [p for p in net.parameters() if p.dim() <= 1]
    others = [p for p in net.parameters() if p.dim() > 1]
    if case.get("spares_vectors"):
        return OPTIMIZERS[name]([{"params": others}, {"params": vectors, "weight_decay": 0}], **settings)
    return OPTIMIZERS[name](net.parameters(), **settings)


def backward(case, net, photo, target):
    """Adds the gradients of a step, batch by batch; returns its loss and the answers."""
    loss, answers, parts = 0, [], case.get("accumulate", 1)
    for x, y in zip(photo.chunk(parts), target.chunk(parts)):
        answers.append(net(x))
        part = loss_of(case, answers[-1], y, x) * (len(x) / len(photo))
        part.backward()
        loss += part.item()
    return loss, answers


def train(case, net, photo, target):
    """Returns losses, and the PSNR and gradients of the first step."""
    optimizer = make_optimizer(case, net)
    averaged, trained = state_of(net), dict(net.named_parameters())
    losses, first = [], None
    for _ in range(cases.STEPS):
        optimizer.zero_grad()
        loss, answers = backward(case, net, photo, target)
        if first is None:
            gradients = {key: value.grad.clone() for key, value in net.named_parameters()}
            decibels = psnr(torch.cat(answers).detach(), target) if target.is_floating_point() else torch.zeros(())
            first = (decibels, gradients)
        if "clip_norm" in case:
            nn.utils.clip_grad_norm_(net.parameters(), case["clip_norm"])
        if "clip_value" in case:
            nn.utils.clip_grad_value_(net.parameters(), case["clip_value"])
        optimizer.step()
        if "state" in case:
            round_states(optimizer, net)
        losses.append(loss)
        for key, value in state_of(net).items():  # running statistics are means already
            averaged[key].lerp_(value, 1 - case.get("ema", 0) if key in trained else 1)
    return losses, first, averaged


def relative_error(value, exact):
    return ((value.double() - exact).norm() / exact.norm()).item()


def float_errors(case, state, photo, target, exact):
    """The largest relative error of PyTorch's float32 per gradient, over its ways of computing it."""
    worst, last = {}, {3: torch.contiguous_format, 4: torch.channels_last, 5: torch.channels_last_3d}[photo.dim()]
    for onednn in (False, True):
        for threads in (1, 2):
            for layout in (torch.contiguous_format, last):
                torch.set_num_threads(threads)
                net = make_net(case)
                net.load_state_dict(state, strict=False)
                net = net.to(memory_format=layout)
                with torch.backends.mkldnn.flags(enabled=onednn):
                    backward(case, net, photo.contiguous(memory_format=layout), target)
                for name, value in net.named_parameters():
                    worst[name] = max(worst.get(name, 0), relative_error(value.grad, exact[name]))
    torch.set_num_threads(1)
    return worst


def tensor(value):
    code = "f" if value.dtype == torch.float32 else "d"
    return safetensors.Tensor(value.shape, array.array(code, value.contiguous().flatten().tolist()))


def record(case):
    net = make_net(case)
    state = state_of(net)
    generator = torch.Generator().manual_seed(1000 + case["seed"])
    photo = torch.rand(case["valid"], 3, *case["size"], generator=generator)
    if "classes" in case["defines"]:
        classes = case["defines"]["classes"]
        target = torch.randint(classes + 1, (case["valid"], *case["size"]), generator=generator)
        target[target == classes] = 255
    elif "words" in case["defines"]:
        target = torch.randint(-5, case["defines"]["words"], (case["valid"], 1, *case["size"]), generator=generator)
    else:
        target = torch.rand(net.eval()(photo).shape, generator=generator)
    net.train()

    exact = make_net(case)
    exact.load_state_dict(state, strict=False)
    exact = exact.double()
    answer = exact.eval()(photo.double()).detach()
    exact.train()
    losses, (decibels, gradients), after = train(case, exact, photo.double(),
                                                    target.double() if target.is_floating_point() else target)
    errors = float_errors(case, state, photo, target, gradients)
    float_losses, _, _ = train(case, net, photo, target)

    tensors = {"input": tensor(photo), "target": tensor(target.float()), "output": tensor(answer),
               "losses": tensor(torch.tensor(losses, dtype=torch.float64)),
               "psnr": tensor(decibels.reshape(1))}
    if len(case["size"]) == 3 and "classes" in case["defines"]:
        tensors["miou"] = tensor(met_pairs(answer, target, case["defines"]["classes"]))
    if case["net"] == "two_convolutions" and min(case["size"]) >= 11:
        tensors["ssim"] = tensor(1 - ssim_loss(answer, target.double()).reshape(1))
    for name, value in state.items():
        tensors["initial/" + name] = tensor(value)
        if name in gradients:
            tensors["gradient/" + name] = tensor(gradients[name])
        tensors["after/" + name] = tensor(after[name])
    metadata = {"torch": torch.__version__, "float_losses": json.dumps(float_losses),
                "float_gradient_errors": json.dumps(errors)}
    safetensors.write(case["vectors"], tensors, metadata)
    print("%-20s loss %.6f to %.6f, float32 gradients off by %.1e to %.1e" %
          (case["name"], losses[0], losses[-1], min(errors.values()), max(errors.values())))


def record_checksums():
    sums = {}
    for name, net, arguments in cases.FULL_SIZE:
        for seed in cases.SEEDS:
            torch.manual_seed(seed)
            state = NETS[net](**arguments).state_dict()
            sums.setdefault(name, {})[str(seed)] = {
                key: cases.fnv1a(value.numpy().tobytes()) for key, value in state.items()}
        print("%-20s %d parameters" % (name, sum(value.numel() for value in state.values())))
    with open(cases.CHECKSUMS, "w") as file:
        json.dump(sums, file, indent=1)
        file.write("\n")


if __name__ == "__main__":  # all, or the cases that are named
    torch.set_num_threads(1)
    for each in cases.CASES:
        if len(sys.argv) == 1 or each["name"] in sys.argv[1:]:
            record(each)
    if len(sys.argv) == 1:
        record_checksums()

#!/usr/bin/env python3
"""The recipe of brains.sh in PyTorch, on the scans that it made: brains_torch.py [STEPS [SEED [THREADS]]].  Needs torch and
numpy, and build/quality/brains as brains.sh leaves it.  STEPS is 2000 without another number."""
import glob
import gzip
import os
import random
import struct
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional

WORK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "quality", "brains")
CLASSES, PATCH, BATCH, FEATURES = 6, 40, 2, (8, 16, 32, 64)


def volume(path):
    with gzip.open(path, "rb") as file:
        data = file.read()
    w, h, d = struct.unpack("<3h", data[42:48])
    kind = {2: numpy.uint8, 4: numpy.int16}[struct.unpack("<h", data[70:72])[0]]
    begin = int(struct.unpack("<f", data[108:112])[0])
    return numpy.frombuffer(data, kind, w * h * d, begin).reshape(d, h, w)


def scan(path):
    """Mean 0 and deviation 1 over the box of what is not 0."""
    voxels = volume(path).astype(numpy.float32)
    box = tuple(slice(where.min(), where.max() + 1) for where in numpy.nonzero(voxels))
    return (voxels - voxels[box].mean(dtype=numpy.float64)) / voxels[box].std(dtype=numpy.float64)


def unit(inputs, outputs, stride=1):
    conv = nn.Conv3d(inputs, outputs, 3, stride, 1)
    nn.init.kaiming_normal_(conv.weight, 0.01)
    nn.init.zeros_(conv.bias)
    return nn.Sequential(conv, nn.InstanceNorm3d(outputs, affine=True), nn.LeakyReLU(0.01))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        before = (1,) + FEATURES
        self.down = nn.ModuleList(nn.Sequential(unit(before[s], f, min(s + 1, 2)), unit(f, f)) for s, f in enumerate(FEATURES))
        self.up = nn.ModuleList(nn.ConvTranspose3d(FEATURES[s + 1], FEATURES[s], 2, 2) for s in range(3))
        self.join = nn.ModuleList(nn.Sequential(unit(2 * f, f), unit(f, f)) for f in FEATURES[:3])
        self.head = nn.Conv3d(FEATURES[0], CLASSES, 1)
        for up in self.up:
            nn.init.kaiming_normal_(up.weight, 0.01)
            nn.init.zeros_(up.bias)

    def forward(self, x):
        skips = []
        for stage in self.down:
            x = stage(x)
            skips.append(x)
        for s in (2, 1, 0):
            x = self.join[s](torch.cat([self.up[s](x), skips[s]], 1))
        return self.head(x)


def window(image, labels, rng, foreground):
    """A cube of PATCH voxels, which may be mirrored along its width; 0 and no class beside the scan."""
    if foreground:
        values = [c for c in numpy.unique(labels) if c > 0]
        places = numpy.argwhere(labels == rng.choice(values))
        start = [max(int(at) - PATCH // 2, 0) for at in places[rng.randrange(len(places))]]
    else:
        start = [rng.randint(0, n - PATCH) for n in image.shape]
    box = tuple(slice(at, at + PATCH) for at in start)
    behind = [(0, PATCH - n) for n in image[box].shape]
    x, y = numpy.pad(image[box], behind), numpy.pad(labels[box].astype(numpy.int64), behind, constant_values=255)
    return (x[:, :, ::-1].copy(), y[:, :, ::-1].copy()) if rng.random() < 0.5 else (x, y)


def loss_of(logits, truth):
    """Cross entropy, and Dice of each sample and class above 0."""
    counts = (truth != 255)[:, None]
    hot = functional.one_hot(truth.clamp(max=CLASSES), CLASSES + 1)
    hot = hot[..., :CLASSES].movedim(-1, 1).float() * counts
    p = logits.softmax(1) * counts
    both, all_p, all_hot = ((t[:, 1:]).sum((2, 3, 4)) for t in (p * hot, p, hot))
    dice = (2 * both + 1e-5) / (all_p + all_hot + 1e-5).clamp(min=1e-8)
    return functional.cross_entropy(logits, truth, ignore_index=255) + 1 - dice.mean()


def predict(net, image):
    """Windows that share half, weighted by a Gaussian, each also mirrored along its width."""
    centre = numpy.arange(PATCH) - PATCH // 2
    line = torch.from_numpy(numpy.exp(-(centre / (PATCH / 8)) ** 2 / 2)).float()
    weight = line[:, None, None] * line[:, None] * line
    sums, total = torch.zeros((CLASSES,) + image.shape), torch.zeros(image.shape)
    starts = []
    for n in image.shape:
        count = -(-(n - PATCH) * 2 // PATCH) + 1
        starts.append([round(i * (n - PATCH) / max(count - 1, 1)) for i in range(count)])
    with torch.inference_mode():
        for box in ((slice(z, z + PATCH), slice(y, y + PATCH), slice(x, x + PATCH))
                    for z in starts[0] for y in starts[1] for x in starts[2]):
            x = torch.from_numpy(image[box])[None, None].float()
            found = (net(x) + net(x.flip(4)).flip(4))[0] / 2
            sums[(slice(None),) + box] += weight * found
            total[box] += weight
    return (sums / total).argmax(0).numpy()


def main():
    steps, seed, threads = (int(n) for n in (sys.argv[1:] + [2000, 0, 2][len(sys.argv) - 1:])[:3])
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    rng = random.Random(seed)
    names = sorted(glob.glob(os.path.join(WORK, "training", "imagesTr", "*_0000.nii.gz")))
    data = [(scan(n), volume(n.replace("imagesTr", "labelsTr").replace("_0000", ""))) for n in names]
    net, order = Net(), []
    optimizer = torch.optim.SGD(net.parameters(), 0.02, 0.95, weight_decay=3e-5, nesterov=True)
    for step in range(steps):
        if len(order) < BATCH:
            order = rng.sample(range(len(data)), len(data))
        # Of two samples the last has its window around a voxel of a class: 2 - round(2 * 0.33).
        pairs = [window(*data[order.pop()], rng, i >= round(BATCH * 0.33)) for i in range(BATCH)]
        x, y = (torch.from_numpy(numpy.stack(part)) for part in zip(*pairs))
        for group in optimizer.param_groups:
            group["lr"] = 0.02 * (1 - step / steps) ** 0.9
        optimizer.zero_grad()
        loss = loss_of(net(x[:, None].float()), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 12)
        optimizer.step()
        if step % 100 == 99:
            print("step %d: loss %.4f" % (step + 1, loss.item()), file=sys.stderr, flush=True)
    found = predict(net, scan(os.path.join(WORK, "left", "imagesTr", "scan_0000.nii.gz")))
    truth = volume(os.path.join(WORK, "left", "labelsTr", "scan.nii.gz"))
    dice = [2 * ((found == c) & (truth == c)).sum() / ((found == c).sum() + (truth == c).sum()) for c in range(1, CLASSES)]
    for c, value in enumerate(dice, 1):
        print("class %d Dice %.4f" % (c, value))
    print("mean Dice %.4f" % (sum(dice) / len(dice)))


if __name__ == "__main__":
    main()

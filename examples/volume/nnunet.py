#!/usr/bin/env python3
"""nnunet.py FOLDER [-o FILE.unet] [--patch=DxHxW] [--batch=N] [--mem=SIZE [--unetc=UNETC]]

Writes nnU-Net's network as a .unet file for a data set in its raw layout: dataset.json, imagesTr/CASE_0000.nii.gz (and
_0001, ... for further channels), labelsTr/CASE.nii.gz.  Channels, classes and the label that counts nowhere are those of
dataset.json; regions, labels that are lists of numbers, are each a target of two classes and have a channel of the head, in the
order of dataset.json; what is predicted is one map, by `regions_class_order`.  Kernels and strides follow nnU-Net's rules from the size of the window and the median spacing, which the
headers of the first channel tell.  The window has the shape of the median volume, 256^3 voxels at most; with --mem it is
made smaller, along the axis that is longest beside the median, until `unetc` plans a training step within that memory.
Volumes are predicted by windows that overlap, and each in all mirrored forms; no volume is higher or wider than the largest here.  Sizes are those of the boxes of what is not 0, to which volumes are cut; where these are
less than three quarters of the volumes, what is normalised is the voxels that are not 0.

Where spacings differ by more than a hundredth, voxels are resampled to the median, and the sizes are those after that."""
import argparse
import gzip
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile

TEMPLATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nnunet.unet")
LEAST_EDGE = 4  # of the coarsest stage
MOST_VOXELS = 256**3
MOST_FEATURES = 320
MOST_ASPECT = 3

DATA = """data {
    scan  = volumes("imagesTr/*_0000%(ending)s")
%(truths)s    crop  foreground = 0.33, pad = "mean"
    rotate %(angle)d, p = 0.2%(about)s
    scale 1/1.4, 1/0.7, p = 0.2%(along)s
    noise 0.1, p = 0.1
    blur 0.5, 1, p = 0.2
    distort brightness = 0.25, contrast = 0.25, p = 0.15
    low_resolution 0.5, 1, p = 0.25%(along)s
    gamma 0.7, 1.5, p = 0.1, invert = true
    gamma 0.7, 1.5, p = 0.3
    flip
    trim  true
    normalize "%(normalize)s"
%(spacing)s    folds 5
}

train {"""
PREDICT = """
predict {
    windows %d, %d, mirror = ["d", "h", "w"]
    pad     "mean"
%s}
"""


def header(path):
    """Size and spacing of a NIfTI file, depth first."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read(348)
    if len(data) < 348 or data[344:347] != b"n+1":
        raise SystemExit("%s: no NIfTI-1 file" % path)
    order = "<" if struct.unpack("<i", data[:4])[0] == 348 else ">"
    size = struct.unpack(order + "3h", data[42:48])
    spacing = struct.unpack(order + "3f", data[80:92])
    return size[::-1], tuple(abs(s) or 1.0 for s in spacing[::-1])


def volume_of(case):
    return case[0][0] * case[0][1] * case[0][2]


def box(images, name, ending):
    """The size of the box of what is not 0 in some channel, depth first."""
    ends = []
    channel = 0
    while os.path.exists(path := os.path.join(images, name.replace("_0000" + ending, "_%04d" % channel + ending))):
        ends.append(ends_of(path))
        channel += 1
    begin, end = ([pick(e[k][a] for e in ends) for a in range(3)] for k, pick in ((0, min), (1, max)))
    return [e - b for b, e in zip(begin, end)] if end[0] > 0 else header(os.path.join(images, name))[0]


def ends_of(path):
    """Where the box of what is not 0 begins and ends."""
    (depth, height, width), _ = header(path)
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        first = file.read(348)
        order = "<" if struct.unpack("<i", first[:4])[0] == 348 else ">"
        row = width * struct.unpack(order + "h", first[72:74])[0] // 8
        file.read(int(struct.unpack(order + "f", first[108:112])[0]) - 348)
        begin, end = [depth, height, row], [0, 0, 0]
        for z in range(depth):
            plane = file.read(height * row)
            if plane.count(0) == len(plane):
                continue
            first, last = len(plane) - len(plane.lstrip(b"\0")), len(plane.rstrip(b"\0"))
            lines = [plane[y * row:(y + 1) * row] for y in range(first // row, (last - 1) // row + 1)]
            left = min(row - len(line.lstrip(b"\0")) for line in lines)
            right = max(len(line.rstrip(b"\0")) for line in lines)
            for axis, (low, high) in enumerate(((z, z + 1), (first // row, (last - 1) // row + 1), (left, right))):
                begin[axis], end[axis] = min(begin[axis], low), max(end[axis], high)
    size = row // width
    return [begin[0], begin[1], begin[2] // size], [end[0], end[1], -(-end[2] // size)]


def topology(spacing, patch):
    """Kernel and stride of each stage, and the patch padded to a multiple of all strides (get_pool_and_conv_props)."""
    spacing, size, kernel = list(spacing), list(patch), [1, 1, 1]
    strides, kernels, pools = [[1, 1, 1]], [], [0, 0, 0]
    while True:
        axes = [a for a in range(3) if size[a] >= 2 * LEAST_EDGE]
        least = min((spacing[a] for a in axes), default=0)
        axes = [a for a in axes if spacing[a] < 2 * least]
        if len(axes) == 1 and size[axes[0]] < 3 * LEAST_EDGE:
            axes = []
        if not axes:
            break
        kernel = [3 if k == 3 or spacing[a] < 2 * min(spacing) else 1 for a, k in enumerate(kernel)]
        kernels.append(kernel)
        strides.append([2 if a in axes else 1 for a in range(3)])
        for a in axes:
            spacing[a] *= 2
            size[a] = -(-size[a] // 2)
            pools[a] += 1
    multiple = [2**p for p in pools]
    return kernels + [[3, 3, 3]], strides, [-(-n // m) * m for n, m in zip(patch, multiple)]


def first_patch(spacing, median):
    """The shape of a cube of MOST_VOXELS in millimetres, within the median volume."""
    product = spacing[0] * spacing[1] * spacing[2]
    edge = (MOST_VOXELS * product) ** (1 / 3)
    return topology(spacing, [min(round(edge / s), int(m)) for s, m in zip(spacing, median)])[2]


def smaller(spacing, median, patch):
    """One step less along the axis that is longest beside the median."""
    axis = max(range(3), key=lambda a: (patch[a] / median[a], a))
    _, strides, _ = topology(spacing, patch)
    less = list(patch)
    for _ in range(2):  # of a patch that is smaller, a stage may be gone, and its multiple with it
        multiple = 2 ** sum(s[axis] == 2 for s in strides)
        less[axis] = patch[axis] - multiple
        _, strides, _ = topology(spacing, less)
    return topology(spacing, less)[2] if less[axis] > 0 else None


def labels_of(labels):
    """How many classes, and the number that counts nowhere or None."""
    numbers = set()
    for name, value in labels.items():
        if name != "ignore":
            numbers.update(value if isinstance(value, list) else [value])
    if numbers != set(range(len(numbers))):
        raise SystemExit("dataset.json: labels are not the numbers from 0 on: %s" % sorted(numbers))
    return len(numbers), labels.get("ignore")


REGION_LOSSES = """        parts = chunk(heads[d], classes)
        for r in range(classes) {
            y = resize(truths[r], like = parts[r], mode = "nearest_exact")
            loss weight / classes * bce_with_logits(parts[r], y)
            loss weight / classes * dice_loss(parts[r], y, smooth = 1e-5, batch = false)
        }
    }
    found = chunk(sigmoid(mask), classes)
    for r in range(classes) {
        metric dice(found[r], truths[r])
    }
"""


def regions_of(labels, classes):
    """Of each region the numbers that belong to it and those that do not; none: labels are numbers."""
    wanted = [value for name, value in labels.items() if name != "ignore" and value != 0]
    if not any(isinstance(value, list) for value in wanted):
        return []
    regions = [value if isinstance(value, list) else [value] for value in wanted]
    return [(sorted(set(range(classes)) - set(inside)), inside) for inside in regions]


def with_regions(text, regions, ignore):
    """The file with a target for each region in place of the one of all classes."""
    names = ["region_%d" % (r + 1) for r in range(len(regions))]
    text = replace(text, r"^let classes .*$", "let classes  = %d              # regions" % len(regions))
    labels = "labels(2)" if ignore is None else "labels(2, ignore = %d)" % ignore
    text = replace(text, r"^target truth.*$", "\n".join("target %s : %s" % (name, labels) for name in names))
    text = replace(text, r"argmax\(logits\)", "logits            # a region where it is above 0")
    text = replace(text, r"^        y = resize(.|\n)*?(?=    optimizer)", REGION_LOSSES)
    return replace(text, r"^train \{", "train {\n    truths = [%s]" % ", ".join(names))


def replace(text, pattern, by):
    found, count = re.subn(pattern, lambda _: by, text, flags=re.M)
    if count != 1:
        raise SystemExit("%s: `%s` stands there %d times" % (TEMPLATE, pattern, count))
    return found


def write(description, spacing, resample, masked, patch, batch):
    """The text of the .unet file."""
    kernels, strides, patch = topology(spacing, patch)
    names = [n.lower() for n in (description.get("channel_names") or description["modality"]).values()]
    classes, ignore = labels_of(description["labels"])
    with open(TEMPLATE, encoding="utf-8") as file:
        text = file.read()
    text = replace(text, r"^# nnU-Net's PlainConvUNet(.|\n)*?\n(?=let channels)",
                   "# nnU-Net's PlainConvUNet for windows of %d x %d x %d voxels of %g x %g x %g mm.\n" % (*patch, *spacing))
    features = [min(32 * 2**s, MOST_FEATURES) for s in range(len(kernels))]
    text = replace(text, r"^let channels = .*$", "let channels = %d" % len(names))
    text = replace(text, r"^let classes .*$", "let classes  = %d" % classes)
    text = replace(text, r"^let features = .*$", "let features = %s" % features)
    text = replace(text, r"^let kernels .*$", "let kernels  = %s           # of each stage" % kernels)
    text = replace(text, r"^let strides .*$", "let strides  = %s           # of each stage's first convolution" % strides)
    text = replace(text, r"volume\(channels, 128, 128, 128\)", "volume(channels, %d, %d, %d)" % tuple(patch))
    regions, truths = regions_of(description["labels"], classes), '    truth = labels("labelsTr/*%s")\n'
    if regions:
        text = with_regions(text, regions, ignore)
    elif ignore is not None:
        text = replace(text, r"labels\(classes\)", "labels(classes, ignore = %d)" % ignore)
    text = replace(text, r"^    batch     2$", "    batch     %d" % batch)
    ending = description.get("file_ending", ".nii.gz")
    if ending not in (".nii.gz", ".nii"):
        raise SystemExit("dataset.json: files end in %s, and only .nii and .nii.gz are read" % ending)
    truths = truths % ending
    if regions:
        truths = "".join('    region_%d = labels("labelsTr/*%s", values = %s)\n' % (r + 1, ending, list(values)) for r, values in enumerate(regions))
    normalize = "ct" if all(name == "ct" for name in names) else "zscore_masked" if masked else "zscore"
    axis = min(range(3), key=lambda a: patch[a])  # turned in the other two alone where windows are flat
    flat = max(patch) > MOST_ASPECT * patch[axis]
    return replace(text, r"^train \{", DATA % {"ending": ending, "truths": truths, "normalize": normalize, "angle": 180 if flat else 30,
                                                "about": ', axes = "%s"' % "dhw"[axis] if flat else "",
                                                "along": ', axes = ["%s", "%s"]' % tuple(a for a in "dhw" if a != "dhw"[axis]) if flat else "",
                                                "spacing": "    spacing %g, %g, %g, order = 3\n" % tuple(spacing) if resample else ""})


def fits(unetc, memory, text):
    """Whether unetc plans a training step of this file within MEMORY."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "nnunet.unet")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        result = subprocess.run([unetc, "mem", "--programs=train", "--mem=" + memory, path], capture_output=True, text=True)
    if result.returncode not in (0, 3):
        raise SystemExit(result.stderr)
    return result.returncode == 0


def measure(folder, ending):
    """The median size and spacing of the first channels, the largest height and width, whether spacings differ, and whether
    less than three quarters of the median volume are left.  Sizes are those of what is not 0."""
    images = os.path.join(folder, "imagesTr")
    files = sorted(n for n in os.listdir(images) if n.endswith("_0000" + ending) and not n.startswith("."))
    if not files:
        raise SystemExit("%s: no file ends in _0000%s" % (images, ending))
    whole = [header(os.path.join(images, name)) for name in files]
    found = [(box(images, name, ending), spacing) for name, (_, spacing) in zip(files, whole)]
    left = statistics.median(volume_of(f) for f in found) / statistics.median(volume_of(f) for f in whole)
    spacing = [statistics.median(f[1][a] for f in found) for a in range(3)]
    differ = any(abs(f[1][a] - spacing[a]) > 0.01 * spacing[a] for f in found for a in range(3))
    sizes = [[max(1, round(s / t * n)) if differ else n for n, s, t in zip(*f, spacing)] for f in found]
    return [statistics.median(s[a] for s in sizes) for a in range(3)], spacing, [max(s[a] for s in sizes) for a in (1, 2)], differ, left < 0.75


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder")
    parser.add_argument("-o", dest="out")
    parser.add_argument("--patch")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--mem")
    parser.add_argument("--unetc", default="unetc")
    given = parser.parse_args()
    with open(os.path.join(given.folder, "dataset.json"), encoding="utf-8") as file:
        description = json.load(file)
    median, spacing, largest, resample, masked = measure(given.folder, description.get("file_ending", ".nii.gz"))
    patch = [int(n) for n in given.patch.split("x")] if given.patch else first_patch(spacing, median)
    text = write(description, spacing, resample, masked, patch, given.batch)
    while given.mem and not fits(given.unetc, given.mem, text):
        patch = smaller(spacing, median, patch)
        if patch is None:
            raise SystemExit("no window fits %s" % given.mem)
        text = write(description, spacing, resample, masked, patch, given.batch)
    regions = regions_of(description["labels"], labels_of(description["labels"])[0])
    order = description.get("regions_class_order", [])
    if regions and len(order) != len(regions):
        raise SystemExit("dataset.json: there are %d regions, and regions_class_order has %d classes" % (len(regions), len(order)))
    text += PREDICT % (*largest, "    regions %s, above = 0\n" % order if regions else "")
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()

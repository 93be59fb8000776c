#!/usr/bin/env python3
"""Layers of one kind share functions, however many there are.

    functions.py --unetc=UNETC

A U-Net is emitted with two and with four levels, whose extents and channels all differ, with each of the normalisations.
No kernel has more functions with more levels, but those that keep their sizes as constants; and every set of sizes that is
handed over is used. Standard library only."""

import argparse
import collections
import glob
import os
import random
import re
import subprocess
import tempfile

WIDTH = 48  # points over which tiles of every processor end: none are left over of a multiple

NET = """
input  x     : image(3, %d, %d)
target clean : image(16)
block level(x, c) {
    return x -> conv(c, 3) -> %s -> relu -> conv(c, 1) -> relu
}
"""

DATA = """
data {
    x     = images("x/*.png")
    clean = images("clean/*.png")
}
train {
    loss      mse(y, clean)
    optimizer adam(lr = 1e-3)
    batch     %d
    steps     4
}
"""


def net(levels, norm, batch):
    """Channels in pairs of blocks, so that kernels take them two at a time at each level."""
    points = WIDTH << (levels - 1)
    text = NET % (points, points, norm) + "d0 = level(x, 32)\n"
    for k in range(1, levels):
        text += f"d{k} = level(max_pool(d{k - 1}), {32 << k})\n"
    text += f"u{levels - 1} = d{levels - 1}\n"
    for k in range(levels - 1, 0, -1):
        text += f"u{k - 1} = level(upconv(u{k}, {16 << k}) + d{k - 1}, {16 << k})\n"
    return text + "output y = conv(u0, 16, 1)\n" + DATA % batch


def functions(unetc, folder, text, options):
    """Of each template: how many functions there are. Every set of sizes is handed over somewhere."""
    with open(os.path.join(folder, "levels.unet"), "w") as file:
        file.write(text)
    sources = os.path.join(folder, "sources")
    subprocess.run([unetc, *options, "-S", sources, os.path.join(folder, "levels.unet")], check=True)
    count, defined, used = collections.Counter(), set(), set()
    for path in glob.glob(os.path.join(sources, "*.[ch]")):
        with open(path) as file:
            source = file.read()
        count.update(re.findall(r"^#define KERNEL\(part\) levels_(\w+)_\d+##part", source, re.M))
        defined.update(re.findall(r"^(?:static const \w+|#define) (levels_\w+_sizes_\d+) ", source, re.M))
        used.update(re.findall(r"&(levels_\w+_sizes_\d+),", source))
        os.remove(path)
    if defined != used:
        raise SystemExit(f"FAILED {options}: sizes that nothing is handed, or that are not there: {sorted(defined ^ used)}")
    return count


def keeps_constants(root):
    """The templates whose sizes are all constants."""
    kept = set()
    for path in glob.glob(os.path.join(root, "templates", "cpu", "*.c")):
        with open(path) as file:
            if "#define AT_RUN_TIME" not in file.read():
                kept.add(os.path.basename(path)[:-2])
    return kept


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--seed", type=int, default=1)
    unetc = os.path.abspath(parser.parse_args().unetc)
    draw = random.Random(parser.parse_args().seed)
    kept = keeps_constants(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    failed = 0
    for norm in ("batch_norm", "instance_norm", "group_norm(8)"):
        batch, method = draw.randint(1, 9), draw.choice(("direct", "winograd"))
        options = [f"--conv={method}", "--no-recompute", "--micro-batches=off"]
        with tempfile.TemporaryDirectory() as folder:
            few, many = (functions(unetc, folder, net(levels, norm, batch), options) for levels in (2, 4))
        shared = [name for name in many if name not in kept]
        if not shared or not any(many[name] > few[name] for name in kept):
            raise SystemExit("FAILED: nothing was counted")
        for name in shared:
            if many[name] > few[name]:
                failed += print(f"FAILED {norm} {options}: {name} has {few[name]} functions, {many[name]} with "
                                "four levels") is None
        print(f"{norm} --conv={method}: {sum(many[name] for name in shared)} functions that are handed sizes, "
              f"{sum(few[name] for name in shared)} with two levels")
    raise SystemExit(failed > 0)


main()

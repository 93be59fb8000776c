#!/usr/bin/env python3
"""example_bands.py - the examples for pictures take the same ten steps by any plan, bit for bit.

    example_bands.py --unetc=build/unetc --runtime=build/lib/libunet_runtime.a [NAME...]

Each example, with few channels and small pictures, is predicted, trains ten steps on a batch of random numbers, and is
evaluated after the first: as a whole, with everything kept; in 3 bands of rows; and within the least memory and half of
what it takes in one go, as the compiler chooses.  Outputs, losses, metrics, gradients and weights are the same with one thread and with
three.  The examples without a norm go by the fast kernels, too, directly and by Winograd's method.  All plans pass
check_plan.py, those in bands have a loop over bands in training.  Standard library only."""

import argparse
import array
import os
import random
import shlex
import sys
import tempfile

import random_nets
from random_nets import Failure, ROOT, execute, plan_of

STEPS, BATCH, BANDS, THREADS = 10, 3, 3, 3
# What makes them small; the second word of a folder's example is the first's file, but for the denoisers.
EXAMPLES = {
    "attention_unet/attention_unet": ["-Dwidth=4", "--size=64x48"],
    "cells/cells": ["--size=64x40"],
    "denoise/simple_denoiser": ["-Dwidth=6", "--size=40x24"],
    "denoise/tiny_unet": ["-Dbase=4", "--size=64x40"],
    "denoise/unet_denoiser": ["-Dbase=4", "--size=64x40"],
    "dncnn/dncnn": ["-Dwidth=6", "-Dlayers=5", "--size=40x24"],
    "drunet/drunet": ["-Dwidths=[4,6,8,12]", "-Dblocks=1", "--size=64x40"],
    "enet/enet": ["-Dwidth=4", "--size=64x64"],
    "fast_scnn/fast_scnn": ["-Dstem=[4,6,8]", "-Dwidths=[8,12,16]", "-Drepeats=[1,1,1]", "--size=192x192"],
    "milesial/milesial": ["-Dwidth=4", "-Ddepth=3", "--size=48x40"],
    "nafnet/nafnet": ["-Dwidth=4", "-Denc=[1,1,1,1]", "-Dmiddle=1", "-Ddec=[1,1,1,1]", "--size=64x48"],
    "pp_liteseg/pp_liteseg": ["-Dbase=8", "-Dlayers=[1,1,1]", "-Darm=[4,6,8]", "-Dmid=[4,6,6]", "--size=128x128"],
    "resnet34_unet/resnet34_unet": ["-Dwidth=4", "-Dblocks=[1,1,1,1]", "-Ddecoder=[16,8,6,4,4]", "--size=64x64"],
    "restormer/restormer": ["-Ddim=4", "-Dblocks=[1,1,1,1]", "-Dheads=[1,1,2,2]", "-Drefine=1", "--size=32x24"],
    "resunet/resunet": ["-Dfilters=[4,6,8,12]", "--size=64x48"],
    "segment/cells": ["-Dbase=4", "--size=64x40"],
    "segformer/segformer": ["-Ddims=[4,6,8,8]", "-Ddepths=[1,1,1,1]", "-Dheads=[1,2,2,4]", "-Dembed=6", "--size=64x64"],
    "swinir/swinir": ["-Dwidth=6", "-Ddepths=[2]", "-Dheads=2", "-Dwindow=4", "--size=32x24"],
    "unet_2015/unet_2015": ["-Dwidth=2", "-Dsize=188"],
    "unet_plus_plus/unet_plus_plus": ["-Df=[4,6,8,8,12]", "--size=64x48"],
}
WITHOUT_NORM = "denoise/simple_denoiser", "denoise/tiny_unet", "denoise/unet_denoiser", "drunet/drunet", "segment/cells"


class Net:
    valid = BATCH


def random_numbers(rng, build):
    """Parameters, then the inputs of all samples; labels are classes."""
    numbers, inputs = array.array("d"), []
    for line in execute([build.program, "describe"]).decode().splitlines():
        kind, name, *rest = line.split()
        if kind == "parameter":
            count = 1
            for extent in rest:
                count *= int(extent)
            numbers.extend(rng.uniform(-1, 1) * 0.25 + name.endswith("running_var") for _ in range(count))
        elif kind == "input":
            inputs.append((int(rest[0]), int(rest[1])))
    for elements, classes in inputs:
        numbers.extend(rng.randrange(classes) if classes else rng.random() for _ in range(BATCH * elements))
    return numbers


def run(build, numbers, threads):
    return execute([build.program, "evaluate", str(BATCH), str(STEPS)] + build.offsets, input=numbers.tobytes(),
                   env={**os.environ, "THREADS": str(threads), "OMP_WAIT_POLICY": "passive"})


def has_bands(steps):
    return any(step.get("loop") == "bands" or has_bands(step.get("body", [])) for step in steps)


def least(tools, file, options, whole):
    """The smallest budget, as a refusal says it, and half of WHOLE, where that is enough."""
    arena = plan_of(tools, file, options + ["--mem=1B"])["arena"]["bytes"]
    return sorted({arena, max(arena, whole // 2)})


def compare(tools, file, kernels, folder):
    """Complaints about one example with one kind of kernels."""
    common = ["--programs=train,eval,predict", "--batch=%d" % BATCH, "--staging=f32", *kernels]  # the harness hands floats over
    kept = ["--micro-batches=off", "--bands=off"]
    name = "fast %s" if kernels != ["--kernels=reference"] else "%s"
    build = random_nets.Build(tools, Net, file, name % "whole", common + kept)
    numbers = random_numbers(random.Random(os.path.basename(file)), build)
    expected, complaints = run(build, numbers, 1), []
    if not any(expected):
        raise Failure("the results are all zero")
    variants = [["--bands=%d" % BANDS]] + [["--mem=%dB" % bytes] for bytes in least(tools, file, common, build.arena)]
    if not has_bands(plan_of(tools, file, common + variants[0])["programs"]["train"]):
        complaints.append("no loop over bands")
    for k, variant in enumerate(variants):
        other = random_nets.Build(tools, Net, file, name % k, common + variant)
        complaints += ["%s %s, %d threads: other bits" % (" ".join(kernels), variant[0], threads) for threads in (1, THREADS)
                       if run(other, numbers, threads) != expected]
    return complaints + (["whole, %d threads: other bits" % THREADS] if run(build, numbers, THREADS) != expected else [])


def check(options, name):
    path = os.path.join(ROOT, "examples", name + ".unet")
    kinds = [["--kernels=reference"]] + [["--conv=direct"], ["--conv=winograd"]] * (name in WITHOUT_NORM)
    complaints = []
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            tools = argparse.Namespace(objects=random_nets.Objects(folder), unetc=options.unetc, runtime=options.runtime, flags=[])
            file = os.path.join(folder, "net.unet")
            with open(path) as source, open(file, "w") as copy:
                copy.write(source.read())
            try:
                complaints += compare(tools, file, EXAMPLES[name] + kind, folder)
            except Failure as failure:
                complaints.append("%s: %s" % (" ".join(kind), failure))
    print("%s: %s" % (name, "; ".join(complaints) or "the same bits"), flush=True)
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--runtime", required=True, help="the library that generated programs link")
    parser.add_argument("name", nargs="*", metavar="NAME", help="examples, such as denoise/tiny_unet")
    options = parser.parse_args()
    return 1 if any([check(options, name) for name in options.name or EXAMPLES]) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""batches_8gib.py UNETC [OPTION...]: the largest batch that trains within 8 GiB, as a Markdown table: as a whole, as a whole with
activations in codes of 8 bits, and a few samples at a time with the same result.  Beside these, the largest batch whose activations an
eager framework keeps (search/eager.c) fit there beside parameters, their gradients and Adam's two moments, without any workspace.
OPTIONs are unetc's.  Nothing is compiled or run."""

import json
import os
import re
import subprocess
import sys

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
MEMORY = 8 * 2**30
NETS = [("milesial's U-Net", "milesial/milesial.unet", "640x959"), ("ResNet-34 U-Net", "resnet34_unet/resnet34_unet.unet", "512x512"),
        ("Restormer", "restormer/restormer.unet", "128x128"), ("DDPM for CIFAR-10", "diffusion/ddpm.unet", "32x32"),
        ("SegFormer B0", "segformer/segformer.unet", "512x512"), ("SwinIR", "swinir/swinir.unet", "64x64"),
        ("nnU-Net", "volume/nnunet.unet", "128x128x128"), ("UNETR", "volume/unetr.unet", "96x96x96"), ("BERT base", "bert/bert.unet", "512")]
OF_PARAMETERS = 4 * 4  # bytes for each: itself, its gradient, two moments


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout


def bytes_of(pattern, text):
    return int(re.search(pattern, text).group(1).replace(",", ""))


def eager(unetc, file, size):
    """The largest batch of a framework that keeps all; norms over a batch and the like leave that proportional."""
    text = run([unetc, "mem", "--batch=1", "--size=" + size, "--micro-batches=1", "--no-recompute", file])
    kept = bytes_of(r"an eager framework keeps +\S+ \S+ +([\d,]+) B", text)
    parameters = bytes_of(r"([\d,]+) parameters? in", text)
    return max(0, (MEMORY - OF_PARAMETERS * parameters) // kept)


def fit(unetc, options, file, size):
    said = run([unetc, "fit", "--max=batch", "--mem=%d" % MEMORY + "B", "--format=json", "--size=" + size, *options, file])
    return json.loads(said)["rows"][0]


def cell(row, key):
    best = row.get(key)
    if not best:
        return "-"
    extra = 100 * best["recompute_flops"] / best["flops"]
    return "%s%s" % (format(best["batch"], ","), " (+%.0f %%)" % extra if extra >= 0.5 else "")


def main():
    unetc, options = sys.argv[1], sys.argv[2:]
    print("| | size | eager, at most | as a whole | `compress 8` | a few at a time |\n|---|---|---|---|---|---|")
    for name, path, size in NETS:
        file = os.path.join(EXAMPLES, path)
        plain, codes = (fit(unetc, [*options, *more], file, size) for more in ([], ["--compress=8"]))
        print("| %s | %s | %d | %s | %s | %s |" % (name, size.replace("x", " x "), eager(unetc, file, size), cell(plain, "best"),
                                                 cell(codes, "best"), cell(plain, "with_sample_loops")), flush=True)


main()

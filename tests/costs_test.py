#!/usr/bin/env python3
"""costs_test.py UNETC: the table of measured rates of the CPU's kernels (compiler/cpu/costs.def) names kernels that there
are, each class once, in order; and what a plan tells of time grows with the work."""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NET = os.path.join(ROOT, "examples", "denoise", "tiny_unet.unet")


def rows():
    with open(os.path.join(ROOT, "compiler", "cpu", "costs.def")) as file:
        return [(name, *map(int, numbers.split(","))) for name, numbers in re.findall(r"^COST\((\w+),([^)]*)\)$", file.read(), re.M)]


def nanoseconds(unetc, *options):
    """By step of training, what computes it and how long that takes."""
    plan = json.loads(subprocess.run([unetc, "mem", "--format=json", "--no-recompute", *options, NET], check=True, stdout=subprocess.PIPE).stdout)
    return [(step["kernel"], step["ns"]) for step in plan["programs"]["train"] if "ns" in step]


def complaints(unetc):
    table = rows()
    for kernel, bits, channels, per_flop, per_byte in table:
        if not os.path.exists(os.path.join(ROOT, "templates", "cpu", kernel + ".c")):
            yield "%s is no kernel" % kernel
        if bits not in (16, 32) or channels < 1 or (per_flop > 0) == (per_byte > 0):
            yield "%s, %d, %d: not a rate" % (kernel, bits, channels)
    if len(table) < 50 or [row[:3] for row in table] != sorted({row[:3] for row in table}):
        yield "rows are missing, out of order, or there twice"
    one, two = nanoseconds(unetc, "--batch=1"), nanoseconds(unetc, "--batch=2", "--micro-batches=off")
    direct = nanoseconds(unetc, "--batch=1", "--conv=direct")
    for (kernel, once), (same, twice) in zip(one, two):
        if same != kernel or not once <= twice <= 2 * once + 2:
            yield "%s takes %d ns for one sample, %s %d ns for two" % (kernel, once, same, twice)
    if not 1.5 < sum(ns for _, ns in two) / sum(ns for _, ns in one) < 2.1:
        yield "two samples do not take about twice as long as one"
    if not sum(ns for _, ns in direct) > sum(ns for _, ns in one):
        yield "direct convolutions take no longer than those by Winograd's method"


found = list(complaints(sys.argv[1]))
print("\n".join(found) or "%d rates" % len(rows()))
sys.exit(1 if found else 0)

#!/usr/bin/env python3
"""Loops over bands of rows inside the loop over samples change no bit.

    bands.py --unetc=UNETC --make-pictures=MAKE_PICTURES [--long]

bands.unet, a chain of what can compute ranges of rows, is trained, evaluated and used without bands and with 2, 3, 5
and more bands than a tensor has rows, in the short form with 3 in 16 bits and with more by fast kernels: fast kernels, reference kernels, in 16 bits, and in builds that stop at the first
access outside a buffer's life, or to a row that is not there.  Weights, metrics and pictures are the same, bit for bit.
The plans have a loop over bands in one over samples, in the forward pass and in the backward pass, and check_plan.py finds them sound.  The same
of a whole U-Net with --conv=direct, in 4 and 16 bands (in the short form, in 16), where training is one loop and tensors are rings, and by Winograd's
method; and of a tall one in the least memory, where each band packs weights and computes some rows again.
tests/cuda/bands.py does the same for the cuda target.  Standard library only."""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
QUICK_CC = os.path.join(os.path.dirname(HERE), "quick_cc")
sys.path.insert(0, os.path.dirname(HERE))
import check_plan  # noqa: E402

LOOPED = ["--micro-batches=3"]  # the first option of each net


class Net:
    """A file, with what options, and which operators are in loops over bands, forward and backward."""

    def __init__(self, file, options, metric, forward, backward):
        self.file, self.options, self.metric = os.path.join(HERE, file), LOOPED + options, metric
        self.name = os.path.splitext(os.path.basename(file))[0]
        self.forward, self.backward = forward, backward


CHAIN = Net("bands.unet", [], "(answer, clean)",
            {"conv", "upconv", "relu", "leaky_relu", "sigmoid", "add", "max_pool", "avg_pool", "resize", "match"},
            {"relu_grad", "max_pool_grad", "avg_pool_grad", "resize_grad", "dropout", "dropout_channels"})
UNET = Net("../../examples/denoise/tiny_unet.unet", ["--conv=direct", "--size=32x32", "--batch=3"], "(denoised, clean)",
           {"conv", "upconv", "max_pool"}, {"conv_dgrad", "conv_wgrad", "upconv_wgrad", "max_pool_grad", "mse", "mse_grad"})
WINOGRAD = Net("../../examples/denoise/tiny_unet.unet", ["--size=32x32", "--batch=3"], "(denoised, clean)", UNET.forward, UNET.backward)
TALL = Net("../../examples/denoise/tiny_unet.unet", ["--conv=direct", "--size=768x32", "--batch=3"], "(denoised, clean)",
           set(), set())
LEAST = "the least memory"  # instead of a number of bands: each iteration packs weights, too, and some rows are computed again
LONG = ("narrow U-Net", "reference", "poison, reference", "U-Net, bf16", "U-Net, poison", "Winograd, poison", "tall U-Net, poison")  # of KINDS, those of the long form
SHORT_BANDS = {"fast": [64], "bf16": [3], "U-Net": [16], "Winograd": [4]}  # in place of all
KINDS = {"fast": (CHAIN, [], [2, 5, 3, 64]), "reference": (CHAIN, ["--kernels=reference"], [2, 5, 3, 64]),
         "bf16": (CHAIN, ["--precision=bf16"], [2, 5, 3, 64]), "poison": (CHAIN, ["--poison"], [3]),
         "poison, reference": (CHAIN, ["--poison", "--kernels=reference"], [3]), "U-Net": (UNET, [], [4, 16]),
         "narrow U-Net": (UNET, ["-Dbase=3"], [4]),
         "U-Net, bf16": (UNET, ["--precision=bf16"], [4, 16]), "U-Net, poison": (UNET, ["--poison"], [4]),
         "Winograd": (WINOGRAD, [], [4, 8]), "Winograd, poison": (WINOGRAD, ["--poison"], [4]), "tall U-Net": (TALL, [], [LEAST]),
         "tall U-Net, poison": (TALL, ["--poison"], [LEAST])}


class Failure(Exception):
    pass


def execute(command, **environment):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                            env={**os.environ, **environment})
    if result.returncode != 0:
        raise Failure("%s: exit code %d\n%s" % (" ".join(command), result.returncode, result.stderr[-3000:]))
    return result.stdout


def nested_loops(steps, around=()):
    """The axes of each step's loops, outermost first, and its operator, with " again" behind it."""
    for step in steps:
        if "loop" in step:
            yield from nested_loops(step["body"], around + (step["loop"],))
        else:
            yield around, step["op"] + (" again" if step.get("recompute") else "")


def check_loops(net, plan, bands):
    """Which operators are in loops, as the plan says it."""
    for program, steps in plan["programs"].items():
        banded = {op for loops, op in nested_loops(steps) if loops[-1:] == ("bands",)}
        nested = {op for loops, op in nested_loops(steps) if loops == ("samples", "bands")}
        if bands is None:
            expected = set()
        else:
            expected = net.forward | (net.backward if program == "train" else set())
        if not expected <= banded or (bands is None and banded) or (program == "train" and nested != banded):
            raise Failure("%s bands: %s has %s in loops over bands, %s of them inside a loop over samples" %
                          (bands, program, sorted(banded), sorted(nested)))


def check_rings(unetc):
    """All that training on a high picture computes is there a few rows at a time, and its height takes no memory."""
    arenas = []
    for size in "512x32", "4096x32":
        command = [unetc, "mem", "--format=json", "--programs=train", "--conv=direct", "--batch=3", "--size=" + size,
                   "--bands=%d" % (int(size.split("x")[0]) // 8), UNET.file]
        plan = json.loads(execute(command))
        complaints = check_plan.judge(plan)
        if complaints:
            raise Failure("%s: %s" % (size, "; ".join(complaints[:5])))
        check_high(plan)
        row_sums = [buffer["bytes"] for buffer in plan["buffers"] if buffer["name"] in ("mse scratch", "psnr scratch")]
        arenas.append(plan["arena"]["bytes"] - sum(row_sums))
    if arenas[0] != arenas[1]:
        raise Failure("but for what losses sum in each row, 512 rows take %d bytes, and 4096 take %d" % tuple(arenas))
    return "training at 512 and at 4096 rows takes %d bytes" % arenas[0]


def check_high(plan):
    """Each tensor is a ring."""
    whole = [buffer["name"] for buffer in plan["buffers"]
             if buffer["class"].startswith("activation") and not {"ring", "same"} & (buffer["alias"] or {}).keys()]
    if whole:
        raise Failure("no rings: %s" % whole)


class Workshop:
    def __init__(self, tools, folder):
        self.unetc, self.folder = os.path.abspath(tools.unetc), folder
        self.data, self.small = [os.path.join(folder, name) for name in ("data", "small")]
        execute([tools.make_pictures, self.data, "8", "33", "37", "8"])
        self.tall = os.path.join(folder, "tall")
        execute([tools.make_pictures, self.tall, "4", "769", "37", "8"])
        execute([tools.make_pictures, self.small, "1", "19", "19", "8"])
        for net in CHAIN, UNET:
            with open(net.file) as text, open(self.path(net), "w") as copy:
                copy.write(text.read().replace("data {\n", "data {\n    holdout 0.3\n"))
        self.compiler = os.path.join(folder, "cc")  # what programs compute does not depend on the level
        with open(self.compiler, "w") as script:
            script.write("#!/bin/sh\nexec %s \"$@\"\n" % shlex.quote(QUICK_CC))
        os.chmod(self.compiler, 0o755)

    def path(self, net):
        return os.path.join(self.folder, net.name + ".unet")

    def plan(self, net, options, bands):
        plan = json.loads(execute([self.unetc, "mem", "--format=json", *options, self.path(net)]))
        complaints = check_plan.judge(plan)
        if complaints:
            raise Failure("%s: %s" % (" ".join(options), "; ".join(complaints[:5])))
        check_loops(net, plan, bands)
        self.report(net, options)

    def report(self, net, options):
        """The text for people, with a budget that holds the plan and one that does not."""
        for budget, code in (("1GiB", 0), ("1KiB", 3)):
            done = subprocess.run([self.unetc, "mem", "--mem=" + budget, *options, self.path(net)], capture_output=True, text=True)
            if done.returncode != code or "peak" not in done.stdout:
                raise Failure("mem --mem=%s %s: exit code %d: %s" % (budget, " ".join(options), done.returncode,
                                                                     done.stderr[-1000:]))

    def least(self, net, options):
        """The option for the least memory that a refusal tells of, in which bands pack weights."""
        command = [self.unetc, "mem", "--format=json", *net.options[1:], *options, self.path(net)]
        refused = subprocess.run(command + ["--mem=1KiB"], capture_output=True, text=True)
        option = "--mem=" + re.search(r"needs ([0-9.]+) (\w+)", refused.stderr).expand(r"\1\2")
        plan = json.loads(execute(command + [option]))
        complaints = check_plan.judge(plan)
        banded = {op for steps in plan["programs"].values() for loops, op in nested_loops(steps) if loops[-1:] == ("bands",)}
        if complaints or not {"conv_pack", "conv_dgrad_pack"} <= banded or not any(op.endswith(" again") for op in banded):
            raise Failure("%s: %s" % (option, "; ".join(complaints[:5]) or "in bands are only %s" % sorted(banded)))
        return option

    def results(self, kind, bands):
        """The bytes of trained weights, the metrics, a picture."""
        net, more, _ = KINDS[kind]
        if bands == LEAST:
            options = net.options + more + [self.least(net, more)]
        else:
            options = net.options + more + ["--bands=off" if bands is None else "--bands=%d" % bands]
            self.plan(net, options, bands)
        path = os.path.join(self.folder, "%s %s" % (kind, bands))
        execute([self.unetc, "-o", path, *options, self.path(net)], CC=self.compiler)
        out, picture = path + ".out", path + ".png"
        weights = os.path.join(out, net.name + ".safetensors")
        data = self.tall if net is TALL else self.data
        execute([path, "train", "--data=" + data, "--steps=3", "--threads=2", "--out=" + out])
        said = execute([path, "eval", "--data=" + data, "--threads=2", "--weights=" + weights])
        execute([path, "predict", "--threads=2", "--weights=" + weights, self.small + "/noisy/00.png", "-o", picture])
        metrics = re.findall(re.escape(net.metric) + r" (\S+)", said)
        if not metrics:
            raise Failure("eval says no metric: %s" % said)
        with open(weights, "rb") as trained, open(picture, "rb") as predicted:
            return trained.read(), metrics, predicted.read()


def compare(shop, kind, long):
    expected = shop.results(kind, None)
    counts = KINDS[kind][2] if long else SHORT_BANDS.get(kind, KINDS[kind][2])
    for bands in counts:
        found = shop.results(kind, bands)
        for what, a, b in zip(("weights", "metrics", "pictures"), expected, found):
            if a != b:
                raise Failure("%s: %s with %s bands are not those without" % (kind, what, bands))
    return "%s: the same bits with %s" % (kind, ", ".join(c if c == LEAST else "%d bands" % c for c in counts))


def check_early_row(shop):
    """In a checking build, a convolution that runs a row ahead of its input stops the program."""
    fault = os.path.join(shop.folder, "early.cc")
    with open(fault, "w") as script:
        script.write("""#!/bin/sh
for file; do
    case $file in *tiny_unet.c) sed -i 's/\\(_conv_sizes_1, n, band_rows(band, [0-9]*, \\)2,/\\11,/' "$file" ;; esac
done
exec cc "$@" -O1
""")
    os.chmod(fault, 0o755)
    path = os.path.join(shop.folder, "early")
    execute([shop.unetc, "-o", path, "--poison", "--programs=train", "--bands=4", *UNET.options, shop.path(UNET)], CC=fault)
    done = subprocess.run([path, "train", "--data=" + shop.data, "--steps=1", "--threads=1", "--out=" + path + ".out"],
                          capture_output=True, text=True)
    if done.returncode == 0 or "use-after-poison" not in done.stderr or "tiny_unet_conv_" not in done.stderr:
        raise Failure("a row read too early: exit code %d: %s" % (done.returncode, done.stderr[-1000:]))
    return "a row that is read before it is there stops a checking build"


def told(jobs):
    """Prints what each has found; how many failed."""
    failures = 0
    for job in jobs:
        try:
            print(job.result(), flush=True)
        except Failure as failure:
            print("FAILED: %s" % failure, flush=True)
            failures += 1
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("unetc", "make-pictures"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--long", action="store_true", help="all kinds and numbers of bands")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        shop = Workshop(options, folder)
        checks = [pool.submit(check_rings, shop.unetc), pool.submit(check_early_row, shop)]
        kinds = [kind for kind in KINDS if options.long or kind not in LONG]
        return told(checks + [pool.submit(compare, shop, kind, options.long) for kind in kinds]) > 0


if __name__ == "__main__":
    sys.exit(main())

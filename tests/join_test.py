#!/usr/bin/env python3
"""join_test.py UNETC: which steps become one (compiler/passes/join.c), seen from outside: a 3x3 convolution by Winograd's
method and the max_pool behind it, where the kernel can do both and no plan gets larger.  Every plan passes the outsider's
judge, and computes as much as one by reference kernels, which join nothing."""

import json
import os
import re
import subprocess
import sys
import tempfile

import check_plan

# An encoder and a decoder; what a case replaces stands between @.
NET = """
input  noisy : image(3, 128, 128)
target clean : image(3)
x = noisy -> conv(16, 3) -> relu
y = x -> conv(16, @3@) -> relu
p = @max_pool(y)@
q = p -> conv(32, 3) -> relu
@rest@
data {
    noisy = images("noisy/*.png")
    clean = images("clean/*.png")
    crop
}
train {
    loss      mse(denoised, clean)
    optimizer adam(lr = 5e-4)
    batch     4
    steps     10
}
"""
REST = "output denoised = concat(upconv(q, 16), y) -> conv(16, 3) -> relu -> conv(3, 3)"
NARROW = "output denoised = upconv(max_pool(q), 4, kernel = 4) -> conv(3, 1)"
JOINED = ["y.0"]

# What it is; what stands in the file in place of 3, max_pool(y) and the rest; options; the convolutions that are joined, by program.
CASES = [
    ("a skip connection", {}, [], {"train": JOINED, "predict": JOINED}),
    ("in 16 bits", {}, ["--precision=bf16", "--isa=portable"], {"train": JOINED, "predict": JOINED}),
    ("a loop over samples", {}, ["--micro-batches=4"], {"train": JOINED, "predict": JOINED}),
    ("odd extents", {"rest": REST.replace("q, 16", "q, 16, kernel = 3, stride = 2")}, ["--size=131x129"], {"predict": JOINED}),
    ("computed directly", {}, ["--conv=direct"], {"train": [], "predict": []}),
    ("reference kernels", {}, ["--kernels=reference"], {"train": [], "predict": []}),
    ("windows of 5x5", {"3": "5"}, [], {"train": [], "predict": []}),
    ("maxima of 3x3", {"max_pool(y)": "max_pool(y, 3, stride = 2, padding = 1)"}, [], {"train": [], "predict": []}),
    ("windows that overlap", {"max_pool(y)": "max_pool(y, 2, stride = 1)",
                              "rest": REST.replace("q, 16", "q, 16, stride = 1")}, [],
     {"train": [], "predict": []}),
    ("something between", {"max_pool(y)": "max_pool(sigmoid(y))"}, [], {"train": [], "predict": []}),
    ("of something else", {"max_pool(y)": "max_pool(x)"}, [], {"train": [], "predict": []}),
    ("two of one", {"max_pool(y)": "max_pool(y) + max_pool(y)"}, [], {"train": JOINED, "predict": JOINED}),
    ("nothing is as large as the first", {"rest": NARROW}, ["--programs=predict", "--max-threads=1"], {"predict": ["q.0"]}),
]


def plan_of(unetc, text, options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.unet")
        with open(path, "w") as file:
            file.write(text)
        return json.loads(subprocess.run([unetc, "mem", "--format=json", "--bands=off", "--no-recompute", *options, path], check=True,
                                         stdout=subprocess.PIPE).stdout)


def complaints(unetc, changes, options, wanted):
    text = re.sub("@(.*?)@", lambda m: changes.get(m.group(1), REST if m.group(1) == "rest" else m.group(1)), NET)
    plan = plan_of(unetc, text, options)
    yield from check_plan.judge(plan)
    arena, bound = plan["arena"]["bytes"], check_plan.packing_bound(plan)
    if arena != bound:
        yield "the arena of %d bytes is above its bound of %d" % (arena, bound)
    for program, joined in wanted.items():
        found = [step["name"] for step in check_plan.all_steps(plan["programs"][program]) if step["op"] == "conv + max_pool"]
        if found != joined:
            yield "%s joins %s, not %s" % (program, found, joined)
    plain = [option for option in options if not option.startswith("--conv")]
    flops = [{program: sum(step["flops"] for step in check_plan.all_steps(steps)) for program, steps in each["programs"].items()}
             for each in (plan, plan_of(unetc, text, plain + ["--kernels=reference"]))]
    if flops[0] != flops[1]:
        yield "%s operations, by reference kernels %s" % tuple(flops)


def main():
    unetc, failures = os.path.abspath(sys.argv[1]), 0
    for name, changes, options, wanted in CASES:
        for complaint in complaints(unetc, changes, options, wanted):
            failures += 1
            print("FAILED: %s: %s" % (name, complaint))
    print("%d cases, %d failures" % (len(CASES), failures))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())

"""How the compiler's time and memory grow with the net: four families of nets, each at several numbers of steps.

    growth.py [--steps=250,1000,4000,16000] [--family=NAME] [--budget=SHARE] UNETC
    growth.py --work [--steps=500,2000,8000] [--family=NAME] [--budget=SHARE] UNETC_MORE

The first prints a table: steps of training, seconds (the processor's, of the program and of the system for it), the largest
resident memory in MB, and below each family the exponents with which both grow.  With --budget the net is planned under that
share of what it needs without one.

The second counts work instead of time, in a compiler that counts the blocks of its code that run and the memory that it moves
(tests/bench/count_work.c), and fails where the exponent of a family is above 1.3.  n log n is about 1.1 here, n squared is 2.  The counts
lie far apart, for the search for offsets ends after so much work, which in a net of 2000 steps can be most of it all: unetc_more_brief searches with little effort.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

LIMIT = 1.3
IMAGES = "input  x : image(3, 32, 32)\ntarget t : image(3)\n\n"
TRAIN = "\ntrain {\n    loss      mse(y, t)\n    optimizer adam(lr = 1e-3)\n    batch     4\n    epochs    1\n}\n"


def deep(n):
    """Residual blocks one behind the other; each ends bands of rows."""
    return (IMAGES + "h = conv(x, 8, 3)\n"
            f"for i in range({n}) {{ h = h + conv(relu(group_norm(conv(h, 8, 3), groups = 2)), 8, 3) }}\n"
            "output y = conv(h, 3, 1)\n" + TRAIN)


def wide(n):
    """Branches of one tensor, which is alive as long as there are any, joined by sixteens."""
    return (IMAGES + "h = conv(x, 8, 3)\ns = h\n"
            f"for i in range({n}) {{\n    parts = []\n"
            "    for k in range(16) { parts += [relu(conv(h, 4, 3))] }\n"
            "    s = s + conv(concat(parts), 8, 1)\n}\noutput y = conv(s, 3, 1)\n" + TRAIN)


def unet(n):
    """A U-Net of six levels with N convolutions in each half of a level."""
    return (IMAGES + "block convs(x, c) {\n"
            f"    for i in range({n}) {{ x = relu(batch_norm(conv(x, c, 3))) }}\n    return x\n}}\n"
            "h = x\nskips = []\n"
            "for i in range(5) {\n    h = convs(h, 8)\n    skips += [h]\n    h = max_pool(h)\n}\nh = convs(h, 8)\n"
            "for i in range(5) { h = convs(concat(upconv(h, 8), pop(skips)), 8) }\n"
            "output y = conv(h, 3, 1)\n" + TRAIN)


def heads(n):
    """Heads behind each other, each with a loss of its own on logits that are enlarged."""
    return ("input  x : image(3, 512, 32)\ntarget t : labels(4)\n\nh = relu(conv(x, 8, 3, stride = 4))\nheads = []\n"
            f"for i in range({n}) {{\n    h = relu(conv(h, 8, 3))\n"
            "    heads += [resize(conv(h, 4, 1), like = x, mode = \"bilinear\")]\n}\n"
            "output y = argmax(heads[-1])\n"
            + TRAIN.replace("loss      mse(y, t)", "for head in heads { loss cross_entropy(head, t) }"))


FAMILIES = {"deep": deep, "wide": wide, "unet": unet, "heads": heads}


# A process counts the memory of the one that it was forked from, so a small one runs the compiler and tells what it took.
MEASURE = """
import os, subprocess, sys
code = subprocess.call(sys.argv[3:], stdout=open(sys.argv[1], "wb"), stderr=open(sys.argv[2], "wb"))
import resource
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)
"""


class Run:
    """One plan: its steps and bytes, and what it took."""

    def __init__(self, unetc, text, options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "net.unet")
            with open(path, "w") as file:
                file.write(text)
            out, err = os.path.join(folder, "out"), os.path.join(folder, "err")
            took = subprocess.run([sys.executable, "-S", "-c", MEASURE, out, err, unetc, "mem", "--format=json", *options, path],
                                  stdout=subprocess.PIPE, text=True, check=True)
            code, self.seconds, self.megabytes = (float(word) for word in took.stdout.split())
            said = open(err).read()
            if code not in (0, 3):
                sys.exit(f"{unetc} mem {' '.join(options)}: exit {code:.0f}: {said}")
            with open(out) as file:
                plan = json.load(file)
        counted = re.search(r"^work (\d+)$", said, re.MULTILINE)
        self.work = int(counted.group(1)) if counted else 0
        self.steps = count_steps(plan["programs"]["train"])
        self.arena = plan["arena"]["bytes"]


def count_steps(steps):
    return sum(1 + count_steps(step.get("body", [])) for step in steps)


def nets(unetc, family, wanted):
    """For each number of steps the family's net that has about so many."""
    first = Run(unetc, family(4), ["--no-recompute"]).steps
    each = (Run(unetc, family(12), ["--no-recompute"]).steps - first) / 8
    return [family(max(1, round(4 + (steps - first) / each))) for steps in wanted]


def planned(unetc, text, budget):
    plan = Run(unetc, text, [])
    return plan if budget is None else Run(unetc, text, [f"--mem={int(plan.arena * budget)}"])


def exponent(x, y):
    """The slope of the line through the logarithms."""
    x, y = [math.log(v) for v in x], [math.log(max(v, 1e-3)) for v in y]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)


def measure(options, name):
    print(f"{name:6} {'steps':>7} {'seconds':>8} {'MB':>7}")
    runs = []
    for text in nets(options.unetc, FAMILIES[name], options.steps):
        runs.append(planned(options.unetc, text, options.budget))
        print(f"{'':6} {runs[-1].steps:7} {runs[-1].seconds:8.2f} {runs[-1].megabytes:7.0f}", flush=True)
    steps = [run.steps for run in runs]
    if len(runs) < 2:
        return True
    print(f"{'':6} {'grows as':>7} {exponent(steps, [run.seconds for run in runs]):7.2f}"
          f" {exponent(steps, [run.megabytes for run in runs]):7.2f}")
    return True


def count(options, name):
    runs = [planned(options.unetc, text, options.budget) for text in nets(options.unetc, FAMILIES[name], options.steps)]
    if not all(run.work for run in runs):
        sys.exit(f"{options.unetc} does not count its work")
    # Between neighbours: a square that is small at first shows between the largest nets.
    grows = [exponent([a.steps, b.steps], [a.work, b.work]) for a, b in zip(runs, runs[1:])]
    print(f"{name}: " + ", ".join(f"{run.steps} steps {run.work / 1e6:.0f}" for run in runs) + " million: exponents "
          + ", ".join(f"{one:.2f}" for one in grows))
    return max(grows) <= LIMIT


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("unetc")
    parser.add_argument("--steps", type=lambda text: [int(part) for part in text.split(",")], default=None)
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--budget", type=float, help="a share of what the net needs without a budget")
    parser.add_argument("--work", action="store_true", help="count work; fail where it grows too fast")
    options = parser.parse_args()
    options.steps = options.steps or ([500, 2000, 8000] if options.work else [250, 1000, 4000, 16000])
    each = count if options.work else measure
    fine = [each(options, name) for name in ([options.family] if options.family else FAMILIES)]
    if not all(fine):
        sys.exit(f"FAILED: the work of the compiler grows faster than with the power {LIMIT} of the net")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""budget_costs.py OLD NEW [--budgets=N] [--precision=f32,bf16] FILE.unet... - what two builds of unetc pay for the same budgets.

For each file and precision, N budgets from the least that NEW finds to everything kept, evenly apart.  The cost of a plan is
its `units` beside those of a plan that keeps everything, by the same build, for the prices of steps may differ.  Prints a line for
each file: how many budgets cost less than before, as much, and more (by over 0.05 % of a step), the mean of both in per cent, and each
budget that costs more.  Budgets that only one of the builds can meet are told apart."""
import argparse
import concurrent.futures
import json
import os
import subprocess

SAME = 5e-4


def plan(unetc, file, options):
    done = subprocess.run([unetc, "mem", "--format=json", *options, file], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise RuntimeError("%s %s %s: %s" % (unetc, options, file, done.stderr))
    return done.returncode == 0, json.loads(done.stdout)


def costs(unetc, file, options, budgets):
    """The price of each budget over the plan that keeps everything; None: nothing fits."""
    _, whole = plan(unetc, file, [*options, "--no-recompute"])
    found = []
    for budget in budgets:
        fits, made = plan(unetc, file, [*options, "--mem=%dB" % budget])
        found.append(made["cost"]["units"] / whole["cost"]["units"] - 1 if fits else None)
    return found


def budgets_of(unetc, file, options, count):
    _, whole = plan(unetc, file, [*options, "--no-recompute"])
    _, least = plan(unetc, file, [*options, "--mem=1B"])
    low, high = least["arena"]["bytes"], whole["arena"]["bytes"]
    return [low + (high - low) * k // (count - 1) for k in range(count)]


def compare(arguments, file, precision):
    options = ["--precision=" + precision]
    budgets = budgets_of(arguments.new, file, options + arguments.new_options.split(), arguments.budgets)
    old = costs(arguments.old, file, options, budgets)
    new = costs(arguments.new, file, options + arguments.new_options.split(), budgets)
    both = [(a, b, budget) for a, b, budget in zip(old, new, budgets) if a is not None and b is not None]
    more = [(a, b, budget) for a, b, budget in both if b > a + SAME]
    less = sum(b < a - SAME for a, b, _ in both)
    mean = [100 * sum(row[k] for row in both) / max(1, len(both)) for k in (0, 1)]
    text = "%-24s %-5s less %2d same %2d more %2d, mean %6.2f -> %6.2f %%" % (
        os.path.basename(file), precision, less, len(both) - less - len(more), len(more), *mean)
    only = [sum(a is None and b is not None for a, b in zip(old, new)), sum(a is not None and b is None for a, b in zip(old, new))]
    if any(only):
        text += ", only after %d, only before %d" % tuple(only)
    return text + "".join("\n    %d bytes: %.2f -> %.2f %%" % (budget, 100 * a, 100 * b) for a, b, budget in more)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("file", nargs="+")
    parser.add_argument("--budgets", type=int, default=12)
    parser.add_argument("--precision", default="f32,bf16")
    parser.add_argument("--new-options", default="", help="of NEW alone, such as --staging=f32: loaders kept pictures as floats")
    parser.add_argument("--jobs", type=int, default=1, help="a search takes two threads")
    arguments = parser.parse_args()
    asked = [(file, precision) for file in arguments.file for precision in arguments.precision.split(",")]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for text in pool.map(lambda row: compare(arguments, *row), asked):
            print(text, flush=True)


if __name__ == "__main__":
    main()

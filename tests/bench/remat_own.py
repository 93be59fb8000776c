#!/usr/bin/env python3
"""remat_own.py UNETC REMAT [--seconds S]: what the planner recomputes, against integer programming.

For some of our nets, small enough for the solver, and budgets from the tightest to almost enough: the cost that the
planner finds, and what HiGHS finds and proves in S seconds, 600 by default, in the order of the file and in that of
the planner's own schedule.  Costs are in per cent more than that of everything once, in the planner's units.  A ratio
is the planner's cost by the solver's; below 1 the planner gains by its order.  `none` says that no schedule in this
order is cheaper than the planner's.  Ends with 1 if a ratio is above 1.005."""

import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DENOISE = os.path.join(ROOT, "examples", "denoise")
UNET = os.path.join(ROOT, "tests", "planner", "unet.unet")
NETS = [("simple_denoiser", [os.path.join(DENOISE, "simple_denoiser.unet")]),
        ("2 levels", ["-Ddepth=2", "-Dbase=8", "--batch=8", UNET]),
        ("3 levels", ["-Ddepth=3", "-Dbase=8", "--batch=8", UNET]),
        ("4 levels", ["-Ddepth=4", "-Dbase=8", "--batch=8", UNET]),
        ("tiny_unet", [os.path.join(DENOISE, "tiny_unet.unet")])]
SHARES = [0.05, 0.15, 0.3, 0.6]  # of the way from the least peak that was found to that of the given order
LARGEST_RATIO = 1.005


def numbers(text):
    return {name: float(value) for name, value in re.findall(r"^(\w+) ([\d.]+)\b", text, re.MULTILINE)}


def solve(remat, file, memory, *words):
    answer = subprocess.run([remat, file, "--mem", str(memory), *words], capture_output=True, text=True, check=False)
    return numbers(answer.stdout)


def prove(file, memory, seconds, *words):
    """What the solver found and proved; the third is whether there is nothing to be found."""
    answer = subprocess.run([sys.executable, os.path.join(HERE, "remat_ilp.py"), file, "--mem", str(memory),
                             "--seconds", str(seconds), *words], capture_output=True, text=True, check=True)
    found = numbers(answer.stdout)
    return found.get("cost"), found.get("bound"), "infeasible" in answer.stdout.lower()


def row(name, remat, file, memory, seconds, scratch):
    """Prints a line of the table; returns the largest ratio."""
    order = os.path.join(scratch, "order.txt")
    planned = solve(remat, file, memory, "--output", order)
    base, cost = planned["base_cost"], planned["cost"]
    cells, worst = [], 0.0
    for words in ([], ["--order", order]):
        found, bound, none = prove(file, memory, seconds, "--at-most", str(round(cost * 1.0001)), *words)
        if found is not None:
            worst = max(worst, cost / found)
        cells.append("none" if none else "not closed" if found is None else
                     "%.3f %%, ratio %.5f" % (100 * (found / base - 1), cost / found))
        cells.append("" if bound is None else "%.3f %%" % (100 * (bound / base - 1)))
    print("| %s | %.1f MB | %.3f %% | %.3f %% | %.2f | %s |" %
          (name, memory / 1e6, 100 * (cost / base - 1), 100 * (planned["cost_lower_bound"] / base - 1),
           planned["seconds"], " | ".join(cells)), flush=True)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unetc")
    parser.add_argument("remat")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", help="the net of this name")
    arguments = parser.parse_args()
    print("| net | capacity | planner | its bound | seconds | HiGHS, given order | bound | HiGHS, planner's order | "
          "bound |\n|---|---|---|---|---|---|---|---|---|")
    worst = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        for name, options in NETS:
            if arguments.only not in (None, name):
                continue
            file = os.path.join(scratch, "problem.txt")
            with open(file, "w", encoding="ascii") as out:
                subprocess.run([arguments.unetc, "--emit=remat", "--micro-batches=off", *options], stdout=out, check=True)
            least, most = solve(arguments.remat, file, 1)["peak"], solve(arguments.remat, file, 2**60)["peak"]
            for share in SHARES:
                worst = max(worst, row(name, arguments.remat, file, round(least + share * (most - least)),
                                       arguments.seconds, scratch))
    return 1 if worst > LARGEST_RATIO else 0


if __name__ == "__main__":
    sys.exit(main())

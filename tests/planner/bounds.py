#!/usr/bin/env python3
"""bounds.py UNETC [--plans=N] [--seed=N] [--keep=FOLDER]: N plans that compute again, of random U-Nets under random budgets.
The arena is what is alive at the peak, and not a byte more, but for one plan, or one of 40.  Every plan above its bound is
listed; KEEP receives its file and its buffers, for `place`."""

import argparse
import concurrent.futures
import os
import random
import sys
import tempfile

import plans

sys.path.insert(0, os.path.join(os.path.dirname(plans.FOLDER), "whole"))
import random_net  # noqa: E402

ONE_ABOVE_OF = 40
HOW = [["--target=cpu", "--bands=off", "--micro-batches=off"], ["--target=cuda", "--micro-batches=off"],
       ["--target=cpu", "--bands=off", "--micro-batches=auto"], ["--target=cuda", "--micro-batches=auto"]]
LEAST_EXTENT, MOST_EXTENT = 48, 256


class Net(random_net.Net):
    BASES, BATCHES, MOST_CONVOLUTIONS = range(8, 49, 4), (1, 32), 3
    UPCONVS, BETWEEN = 1, []
    JOINS = random_net.Net.JOINS + ["up%d"]

    def extent(self):
        unit = 2**self.depth
        return unit * self.rng.randint(-(-LEAST_EXTENT // unit), MOST_EXTENT // unit)


def recomputing_plan(unetc, number, seed, folder):
    """Plan NUMBER, under a budget that makes it compute something again; None if there is none."""
    rng = random.Random("%d %d" % (seed, number))
    net = Net(rng, 1 + number % 5)
    file = os.path.join(folder, "net%d.unet" % number)
    with open(file, "w") as out:
        out.write(net.text())
    precision = rng.choice(["--precision=f32", "--precision=bf16"])
    options = ["--programs=train", precision] + HOW[number // 5 % len(HOW)] + [file]
    one_sample = ["--micro-batches=%d" % net.batch] if "--micro-batches=auto" in options else []
    free = plans.Plan(unetc, options + one_sample)
    plan = plans.Plan(unetc, options, int(free.arena * rng.uniform(0.45, 0.97)))
    return plan if plan.fits and plan.recomputes() > 0 else None


def keep(unetc, plan, folder, number):
    with open(os.path.join(folder, "plan%d.csv" % number), "wb") as out:
        out.write(plans.execute([unetc, "mem", "--format=csv"] + plan.options))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unetc", type=os.path.abspath)
    parser.add_argument("--plans", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder for the buffers of plans above their bound")
    tools = parser.parse_args()
    found, above, tried, failures = 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as workers:
        while found < tools.plans:
            numbers = range(tried, tried + min(20, 2 * (tools.plans - found)))
            tried = numbers.stop
            made = workers.map(lambda n: recomputing_plan(tools.unetc, n, tools.seed, tools.keep or folder), numbers)
            for number, plan in zip(numbers, made):
                if plan is None or found == tools.plans:
                    continue
                found += 1
                for complaint in plan.complaints()[:5]:
                    print("FAILED %s: %s" % (plan, complaint))
                    failures += 1
                if plan.gap() > 0:
                    above += 1
                    print("%.6f %s" % (plan.arena / plan.lower_bound, plan), flush=True)
                    if tools.keep:
                        keep(tools.unetc, plan, tools.keep, number)
    print("%d plans of %d nets, %d above their bound" % (found, tried, above))
    return 1 if failures or above > max(1, found // ONE_ABOVE_OF) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""packing.py [--long] UNETC: at least 200 plans (40 in the short form), of U-Nets with 2 to 6 levels under many batch sizes, loops over samples and
budgets.  Each passes the outsider's judge; each packs its buffers without a gap, or `unetc mem` says how large the
gap is.  Every gap is listed."""

import concurrent.futures
import os
import sys

import plans

LONG = "--long" in sys.argv
LEAST_PLANS = 200 if LONG else 40
DEPTHS = [2, 3, 4, 5, 6] if LONG else [4]
SIZES = ["96x128", "64x64"]
LOOPED = [(1, 1), (2, 1), (2, 2), (3, 2), (5, 1), (5, 2), (5, 5), (8, 1), (8, 4), (16, 1), (16, 2), (16, 5), (16, 16)]
TIGHT = [(3, 1), (8, 1), (16, 4)]
SHARES = [0.95, 0.9, 0.8, 0.7, 0.6, 0.5]  # budgets, as a share of the arena that keeps everything
LARGEST_GAP = 0.02  # more than this is a defect of the planner, even if it is printed


def options_of(depth, size, batch, loops):
    return ["-Ddepth=%d" % depth, "-Dbase=8", "--size=" + size, "--batch=%d" % batch, "--micro-batches=%d" % loops,
            plans.net("unet")]


def jobs():
    for depth in DEPTHS:
        for batch, loops in LOOPED:
            for size in SIZES:
                yield options_of(depth, size, batch, loops), None
        for batch, loops in TIGHT:
            for share in SHARES:
                yield options_of(depth, SIZES[0], batch, loops), share


def judge(unetc, options, share):
    """A plan and what is wrong with it."""
    plan = plans.Plan(unetc, options)
    if share is not None:
        plan = plans.Plan(unetc, options, int(plan.arena * share))
    complaints = plan.complaints()
    if plan.gap() > 0:
        said = plans.execute([unetc, "mem"] + plan.options, (0, plans.DOES_NOT_FIT)).decode()
        if "the arena is " not in said:
            complaints.append("`unetc mem` does not say how far the arena is above its bound")
    if plan.gap() > LARGEST_GAP:
        complaints.append("the arena is %.3f %% above its bound" % (100 * plan.gap()))
    return plan, complaints


def main():
    unetc, failures = os.path.abspath(sys.argv[-1]), 0
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        judged = list(workers.map(lambda job: judge(unetc, *job), jobs()))
    for plan, complaints in judged:
        failures += bool(complaints)
        for complaint in complaints[:5]:
            print("FAILED %s: %s" % (plan, complaint))
    gaps = sorted((plan for plan, _ in judged if plan.gap() > 0), key=plans.Plan.gap, reverse=True)
    for plan in gaps:
        print("%.6f %s" % (plan.arena / plan.lower_bound, plan))
    recomputing = sum(plan.recomputes() > 0 for plan, _ in judged)
    fitting = sum(plan.fits for plan, _ in judged)
    print("%d plans, %d within their budget, %d recompute, %d packed without a gap, %d wrong; largest gap %.3f %%" %
          (len(judged), fitting, recomputing, len(judged) - len(gaps), failures,
           100 * max(plan.gap() for plan, _ in judged)))
    return 1 if failures or len(judged) < LEAST_PLANS else 0


if __name__ == "__main__":
    sys.exit(main())

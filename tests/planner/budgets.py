#!/usr/bin/env python3
"""budgets.py --unetc=UNETC --make-pictures=MAKE_PICTURES: a budget changes the memory of training, never the weights.

Nets that train whole batches also keep their gradients to the end of the step.  Three nets are planned in 1, 2, 3 and 6 loops over samples, and one with batch norm without loops, or in one over whole batches, and each of these
under budgets from the tightest to none; each plan becomes a program, which stops at the first access outside of a buffer's life, and trains for a few
steps, the last batch of an epoch being short.  All weights of a net are the same, bit for bit.  A few plans are
compiled with the fast kernels of each method, also for tensors of 16 bits, without the checks; these run with one,
two and three threads.  The short form has other loops for each net, fewer budgets and steps, and two of the methods."""

import argparse
import concurrent.futures
import hashlib
import os
import sys
import tempfile

import plans

# Per number of loops: so many budgets, none and the tightest included, if there are; of the long form, and of the short one.
BUDGETS = {1: 7, 2: 3, 3: 1, 6: 1}
SHORT_BUDGETS = {"tiny": {1: 3, 6: 1}, "five levels": {2: 2, 1: 1}, "irregular": {1: 2, 3: 1}}
FAST_BUDGETS, SHORT_FAST_BUDGETS = {1: 2, 6: 1}, {1: 2}
NORMAL_BUDGETS, SHORT_NORMAL_BUDGETS, FAST_NORMAL_BUDGETS = {1: 6}, {1: 2}, {1: 3}
BISECTIONS, SHORT_BISECTIONS = 3, 2
STEPS, SHORT_STEPS = 10, 4
CHECKED = ["--kernels=reference", "--poison"]
# name, file, options, pictures: not a multiple of the batch, which is 6
NETS = [("tiny", "unet", ["-Ddepth=3", "-Dbase=2"], 10), ("five levels", "unet", ["-Ddepth=5", "-Dbase=2"], 7),
        ("irregular", "irregular", [], 9)]
# The whole batch at once; the files of weights hold running statistics as well. Gradients are a large share of the memory of
# small images, so that the update has parts.
NORMAL_NETS = [("batch norm", "norms", ["--size=16x16", "--batch=3"], 10), ("clipped", "clipped", [], 10),
               ("batch norm of two batches a step", "norms", ["-Dparts=2", "--batch=3"], 10)]
FAST_NETS = [("tiny, " + " ".join(options), "unet", ["-Ddepth=3", *options], 9) for options in (
    ["--conv=direct"], ["--conv=winograd"], ["--conv=auto", "-Dbase=4", "--precision=bf16"],
    ["--conv=fast", "-Dbase=16", "--precision=bf16"])]
SHORT_FAST_NETS = FAST_NETS[1:3]


def plans_of_loops(unetc, options, bisections, loops, count):
    """COUNT plans: without a budget, under the tightest that is found, and under those between."""
    options = options + ["--micro-batches=%d" % loops]
    free = plans.Plan(unetc, options)
    if count == 1:
        return [free]
    updates = [step["op"] for step in free.json["programs"]["train"] if step.get("op") in ("sgd", "adam", "rmsprop")]
    kept = [plans.Plan(unetc, options + ["--keep-gradients"])] if len(updates) > 1 else []
    tight = plans.tightest(unetc, options, free, bisections)
    if tight.arena == free.arena:
        return [free]
    between = [plans.Plan(unetc, options, tight.arena + (free.arena - tight.arena) * k // (count - 1))
               for k in range(1, count - 1)]
    return [free, tight] + kept + [plan for plan in between if plan.fits]


def build(tools, plan, folder, name):
    program = os.path.join(folder, name)
    plans.execute([tools.unetc, "-o", program] + plan.options)
    return program


def train(program, plan, data, steps, threads):
    """The weights after STEPS steps."""
    out = "%s.%d" % (program, steps)
    plans.execute([program, "train", "--data=" + data, "--out=" + out, "--steps=%d" % steps, "--threads=%d" % threads])
    weights = os.path.join(out, plan.json["model"] + ".safetensors")
    with open(weights, "rb") as file:
        return file.read()


def check_net(tools, net, how, budgets):
    name, file, options, pictures = net
    steps, bisections = (STEPS, BISECTIONS) if tools.long else (SHORT_STEPS, SHORT_BISECTIONS)
    options = how + options + [plans.net(file)]
    failures = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as workers:
        data = os.path.join(folder, "data")
        plans.execute([tools.make_pictures, data, str(pictures), "40", "40", "8"])
        found = list(workers.map(lambda item: plans_of_loops(tools.unetc, options, bisections, *item), budgets.items()))
        tried = [plan for of_loops in found for plan in of_loops]
        for plan in tried:
            failures += ["%s: %s" % (plan, complaint) for complaint in plan.complaints()]
        programs = list(workers.map(lambda k: build(tools, tried[k], folder, "plan%d" % k), range(len(tried))))
        threads = [1 if how else 1 + k % 3 for k in range(len(tried))]
        weights = list(workers.map(lambda program, plan, n: train(program, plan, data, steps, n), programs, tried, threads))
        if train(programs[0], tried[0], data, steps - 1, 1) == weights[0]:
            failures.append("the last step changes no weight")
    for plan, bytes_of_plan in zip(tried, weights):
        print("%s  %9d bytes, %6.2f %% recomputed: %s" % (hashlib.sha256(bytes_of_plan).hexdigest()[:8], plan.arena,
                                                        100 * plan.recomputes(), plan))
        if bytes_of_plan != weights[0]:
            failures.append("%s: other weights than without a budget" % plan)
    if not any(plan.recomputes() > 0 for plan in tried):
        failures.append("no plan recomputes anything")
    arenas = {plan.arena for plan in tried}
    print("%s: %d plans, arenas from %d to %d bytes" % (name, len(arenas), min(arenas), max(arenas)))
    if len(arenas) < sum(budgets.values()):
        failures.append("only %d plans" % len(arenas))
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--make-pictures", required=True)
    parser.add_argument("--long", action="store_true", help="more budgets, steps and nets")
    tools = parser.parse_args()
    failed = False
    normal_nets = NORMAL_NETS if tools.long else NORMAL_NETS[:2]
    for nets, how, budgets, short_budgets in ((NETS, CHECKED, BUDGETS, SHORT_BUDGETS), (normal_nets, CHECKED, NORMAL_BUDGETS, SHORT_NORMAL_BUDGETS),
                                              (normal_nets, [], FAST_NORMAL_BUDGETS, SHORT_NORMAL_BUDGETS),
                                              (FAST_NETS if tools.long else SHORT_FAST_NETS, [], FAST_BUDGETS, SHORT_FAST_BUDGETS)):
        for net in nets:
            try:
                short = short_budgets.get(net[0], short_budgets)
                failures = check_net(tools, net, how, budgets if tools.long else short)
            except plans.Failure as failure:
                failures = [str(failure)]
            for failure in failures:
                print("FAILED %s: %s" % (net[0], failure))
            failed = failed or bool(failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

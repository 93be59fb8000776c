#!/usr/bin/env python3
"""monotone.py UNETC [--long]: more memory never costs more, and never refuses what fitted.

Each net is planned under budgets from the least to all it can use, in steps of equal ratio.  The least is what the
refusal of one byte says is needed; that must be enough, and so must all that is more.  No plan may be over its budget
or cost more, in the planner's units, than one under a smaller budget."""

import concurrent.futures
import os
import sys

import plans

DENOISE = os.path.join(os.path.dirname(os.path.dirname(plans.FOLDER)), "examples", "denoise")
WHOLE = ["--micro-batches=off", "--bands=off"]
TURNS = ["--bands=off"]
NETS = [  # the first two are those of the short test
    WHOLE + ["-Ddepth=3", "-Dbase=8", "--batch=8", plans.net("unet")],
    TURNS + ["-Ddepth=2", "-Dbase=16", "--batch=8", "--size=64x64", plans.net("unet")],
    WHOLE + [plans.net("irregular")],
    WHOLE + [os.path.join(DENOISE, "tiny_unet.unet")],
    WHOLE + ["--size=512x512", "--batch=2", os.path.join(DENOISE, "unet_denoiser.unet")],
    TURNS + ["--size=512x512", "--batch=8", os.path.join(DENOISE, "unet_denoiser.unet")],
    WHOLE + ["--precision=bf16", "--batch=4", os.path.join(DENOISE, "simple_denoiser.unet")],
    WHOLE + ["--batch=6", plans.net("five")],
    TURNS + ["--batch=8", plans.net("five")],
    WHOLE + [plans.net("volume")],
    ["-Dbase=16", "--size=256x256", "--batch=1", os.path.join(DENOISE, "unet_denoiser.unet")],  # in bands, too
]
REFUSED = [["--target=cpu"] + NETS[-1],  # its least is met early, and lost to a plan that packs worse
           ["--target=cpu", "--kernels=reference"] + WHOLE + [plans.net("enlarged")],  # the same, by a plan of a lower estimate
           ["--target=cpu", "--kernels=reference", "--precision=bf16", "--programs=train,eval,predict", plans.net("packed")]]
SHORT_NETS, SHORT_BUDGETS, LONG_BUDGETS = 2, 5, 40
TARGETS = ["cpu", "cuda"]


def keeps_all(plan, other):
    """Nothing is computed again, in no more turns; what is left are steps that let the next inputs come early."""
    return plan.recomputes() == 0 and plan.json["micro_batches"] <= other.json["micro_batches"]


def complaints_about(unetc, options, count):
    free, refused = plans.Plan(unetc, options), plans.Plan(unetc, options, 1)
    least, most = refused.arena, free.arena
    found, last = [], None
    for k in range(count):
        budget = round(least * (most / least) ** (k / (count - 1)))
        plan = plans.Plan(unetc, options, budget)
        if not plan.fits or plan.arena > budget:
            found.append("%s: does not fit, but %d bytes are said to be enough" % (plan, last.arena if last else least))
            continue
        if last is not None and plan.units() > last.units() and not keeps_all(plan, last):
            found.append("%s: costs %d units, but %s costs %d" % (plan, plan.units(), last, last.units()))
        last = plan
    print("%s: from %d to %d bytes, %d complaints" % (free, least, most, len(found)), flush=True)
    return found


def complaint_about_refusal(unetc, options):
    """What the refusal of one byte says is needed must be enough."""
    least = plans.Plan(unetc, options, 1).arena
    plan = plans.Plan(unetc, options, least)
    return [] if plan.fits else ["%s: does not fit, but a refusal says that it does" % plan]


def main():
    unetc, long = os.path.abspath(sys.argv[1]), "--long" in sys.argv
    nets, count = (NETS, LONG_BUDGETS) if long else (NETS[:SHORT_NETS], SHORT_BUDGETS)
    jobs = [["--target=" + target] + net for net in nets for target in TARGETS]
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        found = [line for lines in workers.map(lambda job: complaints_about(unetc, job, count), jobs) for line in lines]
    found += [line for options in REFUSED for line in complaint_about_refusal(unetc, options)]
    for line in found:
        print("FAILED " + line)
    print("%d nets, %d budgets each, %d complaints" % (len(jobs), count, len(found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

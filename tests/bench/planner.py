#!/usr/bin/env python3
"""planner.py UNETC PLACE: what the planner gets out of a budget, and how long it takes, as Markdown tables.

UNetDenoiser at 512x512 in f32, the arena and the loader's pictures beside it counted: the largest batch that fits whole, that with at most
26 % more operations, and that which fits without computing anything again; the same in loops over samples; batch 16
under a range of budgets.  Then the time of plans and of placements."""

import json
import os
import resource
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "planner"))
import plans

DENOISER = ["--size=512x512", os.path.join(ROOT, "examples", "denoise", "unet_denoiser.unet")]
WHOLE = ["--micro-batches=off"]
BUDGETS = ["8GiB", "4GiB", "12GiB", "24GiB"]
BATCH_16 = ["12GiB", "8GiB", "6GiB", "4608MiB", "4GiB"]
MOST_EXTRA = 0.26
ANY = 2**20  # `unetc fit` tries no larger batch
REPEATS = 5


def extra(work):
    return work["recompute_flops"] / work["flops"]


def planned(unetc, budget, batch):
    return plans.Plan(unetc, WHOLE + ["--mem=" + budget, "--batch=%d" % batch] + DENOISER)


def fit(unetc, budget, options):
    """The largest whole batch, or None, and the largest in loops over samples."""
    command = [unetc, "fit", "--max=batch", "--format=json", "--mem=" + budget] + options + DENOISER
    row = json.loads(plans.execute(command, (0, plans.DOES_NOT_FIT)))["rows"][0]
    return row["best"] if row["fits"] else None, row.get("with_sample_loops"), row["memory"]


def cheap_enough(unetc, memory, best, kept):
    """The largest batch below BEST that adds little work, as a plan; MEMORY: what fit was asked for."""
    for batch in range(best["batch"], kept["batch"] if kept else 0, -1):
        plan = planned(unetc, "%dB" % (memory - best["beside"] // best["batch"] * batch), batch)
        if plan.fits and plan.recomputes() <= MOST_EXTRA:
            return plan
    return None


def cell(batch, arena, share):
    return "%d (%+.1f %%, %.2f GiB)" % (batch, 100 * share, arena / 2**30)


def table_of_batches(unetc):
    print("| memory | everything kept | at most %d %% more work | largest whole batch | a few samples at a time |" %
          (100 * MOST_EXTRA))
    print("|---|---|---|---|---|")
    for budget in BUDGETS:
        kept, _, memory = fit(unetc, budget, WHOLE + ["--no-recompute"])
        best, _, _ = fit(unetc, budget, WHOLE)
        _, looped, _ = fit(unetc, budget, [])
        cheap = cheap_enough(unetc, memory, best, kept) if best else None
        cells = [cell(fitted["batch"], fitted["arena"], extra(fitted)) if fitted else "none" for fitted in (kept, best)]
        cells.insert(1, cell(cheap.json["batch"], cheap.arena, cheap.recomputes()) if cheap else cells[0])
        loops = cell(looped["batch"], looped["arena"], extra(looped)) if looped else "none"
        cells.append("no limit (%.2f GiB)" % (looped["arena"] / 2**30) if looped and looped["batch"] >= ANY else loops)
        print("| %s | %s |" % (budget, " | ".join(cells)), flush=True)


def table_of_budgets(unetc):
    print("\n| budget | arena of batch 16 | more work | seconds |\n|---|---|---|---|")
    for budget in BATCH_16:
        start = time.monotonic()
        plan = planned(unetc, budget, 16)
        print("| %s | %.3f GiB%s | %.1f %% | %.2f |" %
              (budget, plan.arena / 2**30, "" if plan.fits else ", does not fit", 100 * plan.recomputes(),
               time.monotonic() - start), flush=True)


def user_seconds(command):
    """The processor time of COMMAND: what other work on the machine does not change much."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    plans.execute(command, (0, plans.DOES_NOT_FIT))
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def place_seconds(place, unetc, plan):
    rows = plans.execute([unetc, "mem", "--format=csv"] + plan.options, (0, plans.DOES_NOT_FIT)).decode().splitlines()
    table = "\n".join(row.rsplit(",", 1)[0] for row in rows) + "\n"
    said = plans.execute([place, "/dev/stdin", "--capacity", str(plan.lower_bound)], (0, plans.DOES_NOT_FIT),
                         input=table.encode())
    return float(dict(line.split() for line in said.decode().splitlines())["seconds"])


def table_of_times(unetc, place):
    print("\n| U-Net of 5 levels, 256x256, batch 16: budget | planning | placement |\n|---|---|---|")
    options = ["-Ddepth=5", "-Dbase=32", "--size=256x256", "--batch=16"] + WHOLE + [plans.net("unet")]
    free = plans.Plan(unetc, options)
    for share in (None, 0.9, 0.75, 0.6, 0.5):
        plan = plans.Plan(unetc, options, int(free.arena * share)) if share else free
        planning = statistics.median(user_seconds([unetc, "mem"] + plan.options) for _ in range(REPEATS))
        placing = statistics.median(place_seconds(place, unetc, plan) for _ in range(REPEATS))
        name = "%.0f %% of that" % (100 * share) if share else "none, %.2f GiB" % (plan.arena / 2**30)
        print("| %s | %.0f ms | %.2f ms |" % (name, 1000 * planning, 1000 * placing), flush=True)


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    unetc, place = (os.path.abspath(path) for path in sys.argv[1:])
    table_of_batches(unetc)
    table_of_budgets(unetc)
    table_of_times(unetc, place)
    return 0


if __name__ == "__main__":
    sys.exit(main())

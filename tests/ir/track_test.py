#!/usr/bin/env python3
"""A node that updates storage which outlives the step, and that differs in training: `track` (track.c), an exponential
average of a tensor's mean, which only the compiler of this test has.

    track_test.py --unetc=UNETC_MORE --runtime=libunet_runtime.a

  prune     keeps it in training, though nobody reads what it writes; evaluation and prediction have no such node
  storage   persists, is one for all programs, and is read and written by each such step
  loops     over samples neither set it to zero nor add to it
  budgets   make other nodes run again, never this one; two on one statistic keep their order
  values    after two steps, whole batches or in a loop, are those of the formula, and prediction leaves them

Standard library only."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import check_plan  # noqa: E402
import emitted  # noqa: E402

NET = """input  noisy : image(3, 32, 32)
target clean : image(3)

seen   = track(noisy)
top    = relu(conv(seen, 6, 3))
kept   = track(top, rate = 0.5)
low    = track(relu(conv(max_pool(kept), 6, 3)), rate = 0.25, again = true)
deep   = relu(conv(max_pool(low), 6, 3))
again  = track(relu(conv(upconv(deep, 6) + low, 6, 3)), again = true)
late   = track(noisy, again = true)  # nothing but the statistic ties it to its place
output answer = conv(upconv(again, 6) + top, 3, 3)

data {
    noisy   = images("noisy/*.png")
    clean   = images("clean/*.png")
    holdout 0.5
}

train {
    loss  mse(answer, clean)
    batch 4
    steps 2
}
"""
RATE, INPUT = 0.1, 0.5
DOES_NOT_FIT = 3


def execute(command, accept=(0,)):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode not in accept:
        raise SystemExit("%s: exit code %d\n%s" % (" ".join(command), result.returncode, result.stderr[-3000:]))
    return result.stdout


def expect(good, message, *values):
    if not good:
        raise SystemExit("FAILED: " + message % values)


class Compiler:
    def __init__(self, unetc, folder):
        self.unetc, self.file = os.path.abspath(unetc), os.path.join(folder, "net.unet")
        with open(self.file, "w") as out:
            out.write(NET)

    def __call__(self, *words, accept=(0,)):
        return execute([self.unetc, *words, self.file], accept)

    def plan(self, *options, accept=(0,)):
        plan = json.loads(self("mem", "--format=json", *options, accept=accept))
        complaints = check_plan.judge(plan)
        expect(not complaints, "%s: %s", options, complaints[:5])
        return plan


def tracks(plan, program="train"):
    return [step for step in check_plan.all_steps(plan["programs"][program]) if step["op"] == "track"]


def statistics(plan):
    return {b["id"]: b for b in plan["buffers"] if b["class"] == "running_statistic"}


def check_prune(unetc):
    text = unetc("--emit=graph:after=prune")
    count = {part.split(":", 1)[0]: part.count(" track ") for part in re.split(r"^(?=\w+:$)", text, flags=re.M) if part}
    expect(count == {"train": 5, "eval": 0, "predict": 0}, "after prune: %s\n%s", count, text)


def check_storage(unetc):
    plan = unetc.plan()
    kept = statistics(plan)
    expect(len(kept) == 2 and all(b["lifetime"] == "persistent" for b in kept.values()), "statistics: %s", kept)
    expect(len(tracks(plan)) == 5 and not tracks(plan, "eval") and not tracks(plan, "predict"), "steps of track")
    for step in tracks(plan):
        expect(len(step["writes"]) == 1 and step["writes"][0] in kept and step["writes"][0] in step["reads"], "%s", step)
    alone = statistics(unetc.plan("--programs=predict"))
    expect(len(alone) == 2, "prediction alone has %d statistics", len(alone))


def check_loops(unetc):
    plan = unetc.plan("--micro-batches=4")
    kept = statistics(plan)
    loops = [step for step in plan["programs"]["train"] if "loop" in step]
    expect(len(loops) == 1 and sum(s["op"] == "track" for s in loops[0]["body"]) == 5, "track is not in the loop")
    zeroed = [s for s in check_plan.all_steps(plan["programs"]["train"]) if s["op"] == "zero"]
    expect(zeroed and not any(set(s["writes"]) & set(kept) for s in zeroed), "a statistic is set to zero")


def check_budgets(unetc):
    def order(plan):
        """Of each statistic, the steps that update it."""
        return {k: [step["name"] for step in tracks(plan) if step["writes"] == [k]] for k in statistics(plan)}

    expected = order(unetc.plan("--micro-batches=off"))
    free = unetc.plan("--micro-batches=off")["arena"]["bytes"]
    again = 0
    for part in range(50, 100, 15):
        budget = free * part // 100
        plan = unetc.plan("--micro-batches=off", "--mem=%dB" % budget, accept=(0, DOES_NOT_FIT))
        expect(order(plan) == expected, "%d bytes: %s instead of %s", budget, order(plan), expected)
        again += plan["cost"]["recompute_flops"] > 0
    expect(again > 0, "no budget makes anything run again")
    return again


def check_values(unetc, runtime, folder):
    """statistic.c hands floats over."""
    for count in (1, 2):
        options = ["--kernels=reference", "--staging=f32", "--micro-batches=%s" % ("off" if count == 1 else count)]
        plan, sources = unetc.plan(*options), os.path.join(folder, "sources%d" % count)
        unetc("-S", sources, *options)
        (offset,) = {statistics(plan)[s["writes"][0]]["offset"] for s in tracks(plan) if s["name"] == "seen"}
        program = os.path.join(folder, "statistic%d" % count)
        execute(["cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O1", "-fopenmp", "-I" + ROOT + "/runtime/include",
                 "-I" + sources, '-DMODEL_HEADER="net.h"', "-DMODEL=net_model", HERE + "/statistic.c",
                 *emitted.sources(sources), runtime, *emitted.libraries(runtime), "-o", program])
        values = [float(line) for line in execute([program, str(offset), "2"]).split()]
        expected = [INPUT * (1 - (1 - RATE) ** (count * step)) for step in (1, 2, 2)]
        expect(len(values) == 3 and all(abs(a - b) < 1e-6 for a, b in zip(values, expected)), "%d iterations: %s, not %s",
               count, values, expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("unetc", "runtime"):
        parser.add_argument("--" + name, required=True)
    tools = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        unetc = Compiler(tools.unetc, folder)
        check_prune(unetc)
        check_storage(unetc)
        check_loops(unetc)
        again = check_budgets(unetc)
        check_values(unetc, os.path.abspath(tools.runtime), folder)
    print("a node that updates a running statistic: kept, once a step, in order (%d plans recompute), its values right" % again)
    return 0


if __name__ == "__main__":
    sys.exit(main())

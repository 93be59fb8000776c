#!/usr/bin/env python3
"""heads_test.py --unetc=UNETC --runtime=LIBRARY: what reads enlarged logits stands in a loop over bands of rows, in which few of
them are there at a time, and no bit changes: outputs, losses, gradients and trained weights are those of --bands=off, with
fast kernels and reference kernels, in 16 bits, with two samples at a time, and where memory is scarce.  Logits that a loss
of the whole batch reads, too, are there as a whole."""

import argparse
import array
import json
import os
import sys
import tempfile

import cases
import run_oracle

sys.path.insert(0, os.path.join(cases.ROOT, "tests"))
import check_plan  # noqa: E402

FILE = os.path.join(cases.HERE, "cases", "enlarged.unet")
WAYS = [[], ["--kernels=reference"], ["--precision=bf16"], ["--micro-batches=2"]]
SCARCE = "--mem=900KiB"  # some of what is in front of the heads is computed again
HEADS = {"train": {"resize", "argmax", "cross_entropy", "miou", "cross_entropy_grad", "resize_grad"}, "predict": {"resize", "argmax"}}


def loops(steps):
    """The operators of each loop over bands."""
    for step in steps:
        if step.get("loop") == "bands":
            yield [inner["op"] for inner in step["body"]]
        elif "loop" in step:
            yield from loops(step["body"])


def flat(steps):
    for step in steps:
        yield from flat(step["body"]) if "loop" in step else [step]


def plan_of(tools, options):
    return json.loads(run_oracle.execute([tools.unetc, "mem", "--format=json", *options, FILE]))


def check_plans(tools):
    plan, whole = plan_of(tools, []), plan_of(tools, ["--bands=off"])
    for name, expected in HEADS.items():
        found = {op for loop in loops(plan["programs"][name]) for op in loop}
        assert expected <= found, "%s: in loops are %s" % (name, sorted(found))
        assert not list(loops(whole["programs"][name])), "%s: loops, which --bands=off forbids" % name
    complaints = check_plan.judge(plan)
    assert not complaints, complaints[:3]
    enlarged = [b for b in plan["buffers"] if b["name"].endswith(".resize") and b["shape"][-2:] == [96, 64]]
    assert len(enlarged) >= 5 and all("ring" in (b["alias"] or {}) for b in enlarged), "enlarged logits that are no rings"
    assert plan["arena"]["bytes"] < whole["arena"]["bytes"], "%d bytes in loops, %d without" % (
        plan["arena"]["bytes"], whole["arena"]["bytes"])
    for loop in loops(plan_of(tools, ["-Doverlap=true"])["programs"]["train"]):
        assert "dice_loss" not in loop and loop.count("resize") == 1, "a loss of the whole batch in a loop: %s" % loop
    print("the arena takes %d bytes, and %d without loops" % (plan["arena"]["bytes"], whole["arena"]["bytes"]))


def numbers(model):
    """Weights, two batches of pictures and labels: made up, the same each time."""
    state, values = 1, array.array("d")
    counts = [1 if shape == [] else run_oracle.math.prod(shape) for shape in model.parameters.values()]
    for count in counts + [3 * 3 * 96 * 64]:
        for _ in range(count):
            state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
            values.append((state >> 40) / 2**24 - 0.5 if count < 3 * 96 * 64 else (state >> 40) / 2**24)
    for _ in range(3 * 96 * 64):
        state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
        values.append(state >> 60 & 3)
    return values


def train(tools, options):
    with tempfile.TemporaryDirectory() as folder:
        model = run_oracle.Model(tools, folder, FILE, {}, (96, 64), 3, options)
        offsets = [str(offset) for offset in model.gradient_offsets()]
        return run_oracle.execute([model.program, "run", "3", str(cases.STEPS)] + offsets, input=numbers(model).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--runtime", required=True)
    tools = parser.parse_args()
    tools.flags, tools.include = [], os.path.join(cases.ROOT, "runtime", "include")
    check_plans(tools)
    for options in WAYS:
        whole, looped = train(tools, options + ["--bands=off"]), train(tools, options)
        assert len(whole) > 1000 and whole == looped, "%s: other bits" % (options or "the fast kernels")
        print("%s: %d bytes of results are the same" % (" ".join(options) or "fast", len(whole)))
        if not options:
            assert any(step.get("recompute") for step in flat(plan_of(tools, [SCARCE])["programs"]["train"])), "nothing again"
            assert train(tools, [SCARCE]) == whole, "%s: other bits" % SCARCE
    return 0


sys.exit(main())

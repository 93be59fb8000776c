#!/usr/bin/env python3
"""heads_test.py --unetc=UNETC --runtime=LIBRARY [--long]: what reads enlarged logits stands in loops over bands of rows, in which few of
them are there at a time, and no bit changes: outputs, losses, gradients and trained weights are those of --bands=off, with
fast kernels and reference kernels, in 16 bits, with two samples at a time, and where memory is scarce.  Gradients of losses
that see all points first stand in loops of their own, in which the logits are enlarged once more; without that the judge
complains.  Logits that a loss sorts are there as a whole.  The short form trains in each way with one of the losses, and leaves three ways to
the long form."""

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
REFERENCE, HALF, TWO = ["--kernels=reference"], ["--precision=bf16"], ["--micro-batches=2"]
SCARCE = ["--mem=900KiB"]  # some of what is in front of the heads is computed again
CORNERS, ODD = ["-Dcorners=true"], ["-Dhigh=101"]  # no band has whole rows of the small logits
BANDED = ["--bands=6"]  # throughout
BATCHES = ["-Dparts=2", "--batch=2"]  # each with sums of its own
# The ways of the short form: each that is not in the long form alone, of one loss.
SHORT = {"entropy": (HALF, ODD), "ohem": (REFERENCE, BANDED), "dice": (BATCHES, SCARCE), "dice_of_samples": ([],)}
# Of each loss: the ways in which it is trained, and what its loops compute, those of the first sweep and those of the second.
SWEEPS = {
    "entropy": ([[], REFERENCE, HALF, TWO, SCARCE, CORNERS, ODD], {"resize", "argmax", "cross_entropy", "miou", "cross_entropy_grad", "resize_grad"},
                set()),
    "ohem": ([[], REFERENCE, CORNERS + HALF, BATCHES, BANDED], {"resize", "dropout", "argmax", "ohem_cross_entropy", "miou"},
             {"resize", "dropout", "ohem_cross_entropy_grad", "resize_grad"}),
    "dice": ([[], BATCHES, SCARCE], {"resize", "dropout", "argmax", "dice_loss", "cross_entropy", "tversky_loss", "miou"},
             {"resize", "dropout", "cross_entropy_grad", "dice_loss_grad", "add", "resize_grad"}),
    "dice_of_samples": ([[], REFERENCE, TWO], {"resize", "argmax", "overlap_loss", "focal_loss", "miou"},
                        {"resize", "cross_entropy_grad", "dice_loss_grad", "add", "resize_grad"}),
}


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


def defined(losses):
    return ['-Dlosses="%s"' % losses]


def found_in(loops_of_head):
    return {op for loop in loops_of_head for op in loop}


def check_loops(losses, plan):
    """Each loop belongs to one sweep, of which the second follows all of the first."""
    _, first, second = SWEEPS[losses]
    train = list(loops(plan["programs"]["train"]))
    assert len(train) == (4 if second else 2), "%s: %d loops" % (losses, len(train))
    assert found_in(train[:2]) == first, "%s: in the first sweeps are %s" % (losses, sorted(found_in(train[:2])))
    assert found_in(train[2:]) == second, "%s: in the second sweeps are %s" % (losses, sorted(found_in(train[2:])))
    assert found_in(loops(plan["programs"]["predict"])) == {"resize", "argmax"}


def check_judge(losses, plan):
    """The judge complains of each step of a loop that is left out, and of each ring that is a row too small."""
    faults = 0
    for loop in (step for step in plan["programs"]["train"] if step.get("loop") == "bands"):
        for i, step in enumerate(loop["body"]):
            if step["op"] not in ("resize", "dropout", "add") and not step["op"].endswith("_grad"):
                continue
            del loop["body"][i]
            assert check_plan.judge(plan), "%s: nobody misses %s" % (losses, step["op"])
            loop["body"].insert(i, step)
            faults += 1
    for buffer in plan["buffers"]:
        if "ring" in (buffer["alias"] or {}):
            buffer["alias"]["ring"] -= 1
            assert check_plan.judge(plan), "%s: %s is a row too small, and nobody notices" % (losses, buffer["name"])
            buffer["alias"]["ring"] += 1
            faults += 1
    return faults


def check_plans(tools, losses, options):
    plan, whole = (plan_of(tools, ["--no-recompute", *bands, *defined(losses), *options]) for bands in ([], ["--bands=off"]))
    check_loops(losses, plan)
    assert not any(list(loops(steps)) for steps in whole["programs"].values()), "loops, which --bands=off forbids"
    complaints = check_plan.judge(plan) + check_plan.judge(whole)
    assert not complaints, complaints[:3]
    large = [b for b in plan["buffers"] if b["class"].startswith("activation") and b["shape"][1:] == [4, height(options), 64]]
    assert len(large) >= 5 and all("ring" in (b["alias"] or {}) or "same" in (b["alias"] or {}) for b in large), "no rings"
    assert plan["arena"]["bytes"] < whole["arena"]["bytes"], "%d bytes in loops, %d without" % (
        plan["arena"]["bytes"], whole["arena"]["bytes"])
    print("%s %s: the arena takes %d bytes, and %d without loops; %d faults are noticed" % (
        losses, " ".join(options), plan["arena"]["bytes"], whole["arena"]["bytes"], check_judge(losses, plan)))


def check_sorted(tools):
    """Of two heads the one that lovasz_loss reads."""
    for loop in loops(plan_of(tools, ["--no-recompute", *defined("lovasz")])["programs"]["train"]):
        assert "lovasz_loss" not in loop and loop.count("resize") == 1, "a loss that sorts in a loop: %s" % loop


def height(options):
    return 101 if "-Dhigh=101" in options else 96


def numbers(model, points):
    """Weights, two batches of pictures and labels: made up, the same each time."""
    state, values = 1, array.array("d")
    counts = [1 if shape == [] else run_oracle.math.prod(shape) for shape in model.parameters.values()]
    for count in counts + [3 * 3 * points]:
        for _ in range(count):
            state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
            values.append((state >> 40) / 2**24 - 0.5 if count < 3 * points else (state >> 40) / 2**24)
    for _ in range(3 * points):
        state = state * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
        values.append(state >> 60 & 3)
    return values


def train(tools, losses, options):
    with tempfile.TemporaryDirectory() as folder:
        size = height(options), 64
        model = run_oracle.Model(tools, folder, FILE, {}, size, 3, defined(losses) + options)
        offsets = [str(offset) for offset in model.gradient_offsets()]
        return run_oracle.execute([model.program, "run", "3", str(cases.STEPS)] + offsets, input=numbers(model, size[0] * size[1]).tobytes())


def check_bits(tools, losses):
    expected = None
    for options in SWEEPS[losses][0]:
        if options not in SHORT[losses] and not tools.long:
            continue
        whole = expected if expected and options in (SCARCE, BANDED) else train(tools, losses, options + ["--bands=off"])
        assert len(whole) > 1000 and whole == train(tools, losses, options), "%s, %s: other bits" % (losses, options)
        expected = expected or (whole if options == [] else None)
        print("%s, %s: %d bytes of results are the same" % (losses, " ".join(options) or "fast", len(whole)))
    if SCARCE in SWEEPS[losses][0]:
        steps = flat(plan_of(tools, SCARCE + defined(losses))["programs"]["train"])
        assert any(step.get("recompute") for step in steps), "%s: nothing is computed again" % losses


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--runtime", required=True)
    parser.add_argument("--long", action="store_true")
    tools = parser.parse_args()
    tools.flags, tools.include = [], os.path.join(cases.ROOT, "runtime", "include")
    check_sorted(tools)
    for losses in SWEEPS:
        for options in [], CORNERS, ODD:
            check_plans(tools, losses, options)
        check_bits(tools, losses)
    return 0


sys.exit(main())

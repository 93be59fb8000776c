#!/usr/bin/env python3
"""plans_test.py UNETC [--long] [--every=N]: the plans of the denoisers, at several sizes and batches, and of small
ones of all other examples, or each Nth of all these, also in bands of rows and, those of volumes or in the long form,
for cuda, pass the outsider's judge; their arenas meet the lower bound, but for one of 40, which is a 200th above it
at most; the plan is the same each time it is made; a file may say its precision, and an option has the last word; the
optimiser takes gradients early where it may, each once; packed weights do not make prediction need more than training."""

import json
import os
import subprocess
import sys
import tempfile

import check_plan

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(HERE, "models"))
import models  # noqa: E402

FILES = ["examples/denoise/tiny_unet.unet", "examples/denoise/unet_denoiser.unet",
         "examples/denoise/simple_denoiser.unet", "tests/oracle/cases/variants.unet",
         "tests/oracle/cases/optimizers.unet", "tests/quality/tiny_grey.unet"]
OPTIONS = [[], ["--batch=1"], ["--batch=7"], ["--precision=f64", "--kernels=reference"], ["--programs=predict"],
           ["--micro-batches=2"], ["--batch=12", "--micro-batches=4"]]
LARGEST_GAP, ONE_OF = 0.005, 40
SIZES = {"tests/oracle/cases/variants.unet": [], "tests/oracle/cases/optimizers.unet": ["--size=7x3"]}
COMMON_SIZES = ["--size=64x64", "--size=40x1024"]


def plan_of(unetc, file, options):
    result = subprocess.run([unetc, "mem", "--format=json"] + options + [file], stdout=subprocess.PIPE, cwd=ROOT)
    if result.returncode:
        raise SystemExit("%s %s: exit code %d" % (file, " ".join(options), result.returncode))
    return result.stdout


def complaints_of_precision(unetc):
    file = FILES[0]
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, os.path.basename(file))
        with open(os.path.join(ROOT, file)) as text, open(copy, "w") as out:
            out.write(text.read().replace("train {\n", "train {\n    precision \"bf16\"\n"))

        def arena(path, *options):
            plan = json.loads(plan_of(unetc, path, list(options)))
            return plan["precision"], plan["arena"]["bytes"]

        for said, meant in ((), "--precision=bf16"), (("--precision=f32",), "--precision=f32"):
            if arena(copy, *said) != arena(file, meant):
                yield "%s %s in a file of bf16: %s, but %s is %s" % (file, said, arena(copy, *said), meant, arena(file, meant))


def complaints_of_updates(unetc):
    """A net of batch norms, which trains whole batches: parts of the update stand among the steps of the backward pass, the last
    one behind all, and the arena is smaller for it; --keep-gradients and loops over samples leave one update."""
    def updates(*options):
        plan = json.loads(plan_of(unetc, "tests/planner/norms.unet", ["--no-recompute", "--size=16x16", *options]))
        steps = list(check_plan.all_steps(plan["programs"]["train"]))
        parameters = {b["id"] for b in plan["buffers"] if b["class"] == "parameter" and b["alias"]}
        places = [k for k, step in enumerate(steps) if step["op"] == "adam"]
        updated = [number for k in places for number in steps[k]["writes"] if number in parameters]
        if sorted(updated) != sorted(parameters):
            yield "%s: parameters are not updated once each" % (options,)
        yield plan["arena"]["bytes"], places, len(steps)

    found = [list(updates(*options)) for options in (("--batch=3",), ("--batch=3", "--keep-gradients"), ("-Dparts=2", "--batch=3"))]
    yield from (said for plan in found for said in plan[:-1])
    (arena, places, length), (kept, one, _), (_, looped, _) = (plan[-1] for plan in found)
    if len(places) < 2 or places[0] + len(places) >= length - 1 or not arena < kept:
        yield "%d updates, at the steps %s of %d, in %d bytes; %d with gradients kept" % (len(places), places, length, arena, kept)
    if len(one) != 1 or len(looped) != 1:
        yield "%d updates with --keep-gradients, %d in loops" % (len(one), len(looped))
    yield from complaints_of_launches(unetc)


def complaints_of_launches(unetc):
    """On a GPU a part is a launch: a large step has parts, which save memory for less than 1 % of the work, and a short step has none."""
    def figures(file, *options):
        plan = json.loads(plan_of(unetc, file, ["--target=cuda", "--no-recompute", *options]))
        updates = sum(step["op"] == "adam" for step in check_plan.all_steps(plan["programs"]["train"]))
        return updates, plan["arena"]["bytes"], plan["cost"]["units"]

    large, short = "examples/attention_unet/attention_unet.unet", "tests/planner/norms.unet"
    (parts, less, slower), (one, more, cost) = figures(large), figures(large, "--keep-gradients")
    if parts < 2 or one != 1 or not (less < more and cost < slower <= cost * 1.01):
        yield "%s: %d updates in %d bytes, %d in %d" % (large, parts, less, one, more)
    if figures(short, "--batch=3", "--size=16x16")[0] != 1:
        yield "%s: parts of an update for a step of few microseconds" % short


def complaints_of_packs(unetc):
    """A program that also trains keeps packed weights from image to image only where prediction needs no more than training then."""
    for file, options, packs in (("examples/attention_unet/attention_unet.unet", [], False),
                                 ("examples/attention_unet/attention_unet.unet", ["--programs=predict"], True), (FILES[0], [], True)):
        plan = json.loads(plan_of(unetc, file, options))
        extent = plan["arena"]["extent"]
        if any(step.get("once") for step in plan["programs"]["predict"]) != packs or (extent["train"] or extent["predict"]) < extent["predict"]:
            yield "%s %s: prediction keeps packed weights, or does not, and takes %s" % (file, options, extent)


def all_plans(long):
    for file in FILES:
        for more in OPTIONS + [[size] for size in SIZES.get(file, COMMON_SIZES)]:
            yield file, more
    yield "tests/planner/taken.unet", ["--conv=winograd", "--bands=2"]
    for model in models.MODELS:
        for definitions in model.small:
            for more in [[], ["--bands=4"]] + ([["--target=cuda"]] if long or "/volume/" in model.file else []):
                yield model.file, models.options(definitions) + ["--size=" + "x".join(map(str, model.size))] + more


def main():
    unetc, plans, failures, above = os.path.abspath(sys.argv[1]), 0, 0, 0
    every = next((int(word[len("--every="):]) for word in sys.argv if word.startswith("--every=")), 1)
    for file, more in list(all_plans("--long" in sys.argv))[::every]:
        text = plan_of(unetc, file, more)
        plan = json.loads(text)
        complaints = check_plan.judge(plan)
        arena, bound = plan["arena"]["bytes"], check_plan.packing_bound(plan)
        above += arena > bound
        if arena > bound * (1 + LARGEST_GAP):
            complaints.append("the arena of %d bytes is above its bound of %d" % (arena, bound))
        if plan_of(unetc, file, more) != text:
            complaints.append("two runs give different plans")
        plans += 1
        failures += bool(complaints)
        for complaint in complaints[:5]:
            print("%s %s: %s" % (file, " ".join(more), complaint))
    for complaint in [*complaints_of_precision(unetc), *complaints_of_updates(unetc), *complaints_of_packs(unetc)]:
        print(complaint)
        failures += 1
    print("%d plans judged, %d not sound, %d above their bound" % (plans, failures, above))
    return 1 if failures or above > plans / ONE_OF else 0


if __name__ == "__main__":
    sys.exit(main())

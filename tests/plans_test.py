#!/usr/bin/env python3
"""plans_test.py UNETC [--long] [--every=N]: the plans of the denoisers, at several sizes and batches, and of small
ones of all other examples, or each Nth of all these, also in bands of rows and, those of volumes or in the long form,
for cuda, pass the outsider's judge; their arenas meet the lower bound, but for one of 40, which is a 200th above it
at most; the plan is the same each time it is made; a file may say its precision, and an option has the last word."""

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
        above += plan["arena"]["bytes"] > plan["arena"]["lower_bound"]
        if plan["arena"]["bytes"] > plan["arena"]["lower_bound"] * (1 + LARGEST_GAP):
            complaints.append("the arena of %(bytes)d bytes is above its bound of %(lower_bound)d" % plan["arena"])
        if plan_of(unetc, file, more) != text:
            complaints.append("two runs give different plans")
        plans += 1
        failures += bool(complaints)
        for complaint in complaints[:5]:
            print("%s %s: %s" % (file, " ".join(more), complaint))
    for complaint in complaints_of_precision(unetc):
        print(complaint)
        failures += 1
    print("%d plans judged, %d not sound, %d above their bound" % (plans, failures, above))
    return 1 if failures or above > plans / ONE_OF else 0


if __name__ == "__main__":
    sys.exit(main())

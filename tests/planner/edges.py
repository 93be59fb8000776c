#!/usr/bin/env python3
"""edges.py [--short] UNETC: budgets, batches and sizes at the limits.  Each is planned, soundly and within its
budget, or refused with a message and an exit code that say why; none crashes.  What a refusal says is needed
is enough.  Prediction keeps packed weights only where the arena is no larger for that.
--short: every second budget, batch and size."""

import json
import os
import re
import subprocess
import sys
import tempfile

import plans

DONE, ERRORS, USAGE = 0, 1, 2
UNLIMITED = 2**63 - 1
HUGE = ["--batch=1048576", "--size=65536x65536"]

# options, the net, the exit code
CASES = [
    (["--micro-batches=4"], "unet", DONE),  # 6 samples in turns of 2
    (["--micro-batches=5"], "unet", DONE),
    (["--micro-batches=100"], "unet", DONE),
    (["--batch=7", "--micro-batches=3"], "unet", DONE),
    (["--batch=7", "--micro-batches=3", "--mem=340000"], "unet", plans.DOES_NOT_FIT),
    (["--batch=1", "--micro-batches=6"], "unet", DONE),
    (["--batch=1", "--mem=500000"], "unet", DONE),
    (["--mem=1B"], "unet", plans.DOES_NOT_FIT),
    (["--mem=0"], "unet", USAGE),
    (["--mem=100EiB"], "unet", USAGE),
    (["--no-recompute", "--mem=900000"], "unet", DONE),
    (["--no-recompute", "--mem=900000", "--micro-batches=off"], "unet", plans.DOES_NOT_FIT),
    (["--no-reuse", "--mem=500000"], "unet", plans.DOES_NOT_FIT),
    (["--programs=predict"], "unet", DONE),
    (["--programs=predict", "--mem=1B"], "unet", plans.DOES_NOT_FIT),
    (["--programs=eval"], "unet", DONE),  # the data are named when it runs
    (["--batch=1048576"], "unet", DONE),
    (["--batch=1048576", "--mem=8GiB"], "unet", DONE),
    (["--batch=2147483647"], "unet", USAGE),
    (HUGE, "unet", DONE),
    (HUGE + ["--micro-batches=off"], "unet", DONE),
    (HUGE + ["--micro-batches=off", "--mem=8GiB"], "unet", plans.DOES_NOT_FIT),
    (["--batch=1048576", "--size=524288x524288"], "unet", plans.DOES_NOT_FIT),  # more than 2^62 bytes
    (["--size=1048576x1048576"], "unet", ERRORS),
    (["--micro-batches=5", "--mem=330000"], "irregular", DONE),
    (["--batch=11"], "irregular", DONE),
    ([], "volume", DONE),
    (["--batch=1"], "volume", DONE),
    (["--micro-batches=5", "--batch=9", "--precision=f64", "--kernels=reference", "--mem=8MiB"], "volume", DONE),
    (["--mem=64KiB"], "volume", plans.DOES_NOT_FIT),
]


def around_the_arena(unetc):
    """Budgets of exactly what is needed, and of a little less."""
    options = ["--micro-batches=off", plans.net("unet")]
    arena = plans.Plan(unetc, options).arena
    return [(options[:1] + ["--mem=%d" % (arena - less)], "unet", DONE) for less in (0, 1, 63, 64, 65)]


# options under which the smallest plan is asked for, and the net
REFUSED = [
    ([], "unet"),
    (["--micro-batches=off", "-Ddepth=4"], "unet"),
    (["--no-recompute"], "unet"),
    (["--micro-batches=off", "--batch=2"], "five"),
    (["--micro-batches=off", "--batch=6"], "five"),
    (["--micro-batches=off", "--batch=8"], "five"),
    (["--micro-batches=off"], "irregular"),
    ([], "norms"),
    ([], "volume"),
]


def what_is_needed(unetc):
    """A plan is refused and says what it needs; a budget of so many bytes, and of the rounded number in the message,
    must be enough."""
    complaints = []
    for options, net in REFUSED:
        options = options + [plans.net(net)]
        refusal = subprocess.run([unetc, "mem", "--format=json", "--mem=1B"] + options, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        needed = json.loads(refusal.stdout)["arena"]["bytes"]
        message = re.search(r"training needs ([0-9.]+) (\w+), ", refusal.stderr.decode())
        for budget in (str(needed), "".join(message.groups())):
            plan = plans.Plan(unetc, options + ["--mem=" + budget])
            if not plan.fits:
                complaints.append("%s: needs %d, says the refusal; then %d" % (plan, needed, plan.arena))
    return complaints


def no_more_is_needed(unetc):
    """What a refusal of next to nothing says is needed is not much more than what does."""
    complaints = []
    net = os.path.join(plans.FOLDER, "..", "..", "examples", "resnet34_unet", "resnet34_unet.unet")
    for target in "cpu", "cuda":
        options = ["--target=" + target, net]
        needed = plans.Plan(unetc, options, 1).arena
        if plans.Plan(unetc, options, needed * 9 // 10).fits:
            complaints.append("%s: needs %d, says the refusal; a tenth less is enough" % (target, needed))
    return complaints


def whole_batches(unetc):
    """Where batch_norm sees the whole batch nobody gets a part of it: by option an error, else no such plan."""
    complaints = []

    def says(words, *options, batch_of_one=""):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "net.unet")
            with open(plans.net("norms")) as text, open(file, "w") as net:
                net.write(text.read().replace("18, 3) -> instance_norm", batch_of_one or "18, 3) -> instance_norm"))
            done = subprocess.run([unetc, "mem", *options, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 1 or not all(word in done.stderr for word in words):
            complaints.append("%s: exit code %d, without %s\n%s" % (options, done.returncode, words, done.stderr))

    says(["U0705", "net.unet:7:45", "called here", "--micro-batches=2"], "--micro-batches=2")
    says(["U0705", "taken over 6 samples"], "--micro-batches=4", "-Dparts=2")
    says(["U0411", "batch 1, 18 x 1 x 1"], "--batch=1",
         batch_of_one="18, 8, padding = \"valid\") -> batch_norm -> upconv(18, 8)")
    for parts in 1, 2:
        options = ["-Dparts=%d" % parts, plans.net("norms")]
        free = plans.Plan(unetc, options)
        tight = plans.tightest(unetc, options, free, 4)
        found = [plan.json["micro_batches"] for plan in (free, tight)]
        if found != [parts, parts] or not tight.arena < free.arena:
            complaints.append("norms: %d and %d micro-batches, not %d" % (*found, parts))
    return complaints


LOSS = """input  photo : image(3, 32, 32)
target truth : labels(3)
output scores = conv(photo, 3, 3)
train {
    loss      %s
    optimizer adam
    batch     4
    %s
    epochs    5
}
"""


WHOLE_BATCH_LOSSES = [("dice_loss(scores, truth)", "batch = false"), ("tversky_loss(scores, truth)", "batch = false"),
                      ("ohem_cross_entropy(scores, truth)", ""), ("lovasz_loss(scores, truth)", "")]


def whole_batch_losses(unetc):
    """Losses whose sums are those of the batch are not trained in parts of one; summed for each sample they are."""
    complaints = []

    def says(code, words, loss, setting, *options):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "net.unet")
            with open(file, "w") as net:
                net.write(LOSS % (loss, setting))
            done = subprocess.run([unetc, "mem", *options, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != code or not all(word in done.stderr for word in words):
            complaints.append("%s %s: exit code %d, without %s\n%s" % (loss, options, done.returncode, words, done.stderr))

    for loss, help in WHOLE_BATCH_LOSSES:
        says(1, ["U0705", "sees the whole batch", help], loss, "", "--micro-batches=2")
        says(1, ["U0705", "over 4 samples", help], loss, "accumulate 2", "--micro-batches=4")
        says(0, [], loss, "accumulate 2")
    for loss in "dice_loss(scores, truth, batch = false)", "tversky_loss(scores, truth, batch = false)":
        says(0, [], loss, "", "--micro-batches=2")
        says(0, [], loss, "accumulate 2")
    return complaints


def packed_weights(unetc):
    """Prediction of pictures larger than those of training: where packed weights that stay would break the budget, they are
    packed for each picture."""
    complaints = []
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "wide.unet")
        with open(plans.net("unet")) as text, open(file, "w") as wide:
            wide.write(text.read() + "\npredict {\n    size 112, 112\n}\n")
        for target in "cpu", "cuda":
            options = ["--target=" + target, "--micro-batches=off", "--bands=off", "-Dbase=16", file]
            roomy = plans.Plan(unetc, options, 1 << 40)
            needed = roomy.json["arena"]["extent"]["predict"]
            for budget, stay in ((needed, True), (needed - 1, False), (roomy.arena, True)):
                plan = plans.Plan(unetc, options, budget)
                found = any(step.get("once") for step in plan.json["programs"]["predict"])
                if not plan.fits or found != stay or plan.complaints():
                    complaints.append("%s: arena of %d bytes, weights %s packed once; with them %d for prediction; %s" % (
                        plan, plan.arena, "are" if found else "are not", needed, plan.complaints()))
    return complaints


def check(unetc, options, net, code):
    command = [unetc, "mem", "--format=json"] + options + [plans.net(net)]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode != code:
        return ["exit code %d, expected %d\n%s" % (result.returncode, code, result.stderr.decode()[-500:])]
    if code != DONE and not result.stderr.strip():
        return ["exit code %d without a word" % code]
    if code not in (DONE, plans.DOES_NOT_FIT):
        return []
    plan = json.loads(result.stdout)
    if plan["arena"]["bytes"] == UNLIMITED and code == plans.DOES_NOT_FIT:
        return []  # larger than any machine: nothing has a place that could be judged
    return plans.check_plan.judge(plan)


def main():
    unetc, failures = os.path.abspath(sys.argv[-1]), 0
    cases = (CASES + around_the_arena(unetc))[::2 if "--short" in sys.argv else 1]
    for options, net, code in cases:
        for complaint in check(unetc, options, net, code)[:5]:
            print("FAILED %s.unet %s: %s" % (net, " ".join(options), complaint))
            failures += 1
    for complaint in what_is_needed(unetc) + no_more_is_needed(unetc) + whole_batches(unetc) + whole_batch_losses(unetc) + packed_weights(unetc):
        print("FAILED " + complaint)
        failures += 1
    print("%d cases, %d refusals, %d complaints" % (len(cases), len(REFUSED), failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

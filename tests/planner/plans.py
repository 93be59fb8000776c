"""What the tests of the planner share: plans as the compiler makes them, budgets between the smallest and the
largest, the outsider's judge."""

import json
import os
import subprocess
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(FOLDER))
import check_plan

DOES_NOT_FIT = 3


class Failure(Exception):
    pass


def execute(command, accept=(0,), **arguments):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **arguments)
    if result.returncode not in accept:
        raise Failure("%s: exit code %d\n%s" % (" ".join(command), result.returncode,
                                                result.stderr.decode(errors="replace")[-2000:]))
    return result.stdout


def net(name):
    return os.path.join(FOLDER, name + ".unet")


class Plan:
    """One plan, whether it fits or not."""

    def __init__(self, unetc, options, budget=None):
        self.options = options + (["--mem=%dB" % budget] if budget else [])
        text = execute([unetc, "mem", "--format=json"] + self.options, (0, DOES_NOT_FIT))
        self.json = json.loads(text)
        arena = self.json["arena"]
        self.fits, self.arena, self.lower_bound = arena["fits"], arena["bytes"], check_plan.packing_bound(self.json)

    def complaints(self):
        return check_plan.judge(self.json)

    def gap(self):
        return self.arena / self.lower_bound - 1

    def recomputes(self):
        return self.json["cost"]["recompute_flops"] / self.json["cost"]["flops"]

    def units(self):
        """What a step of training costs."""
        return self.json["cost"]["units"]

    def __str__(self):
        return " ".join(os.path.basename(option) for option in self.options)


def tightest(unetc, options, plan, steps):
    """The plan of the smallest budget that bisection in STEPS steps finds to be enough; PLAN has no budget."""
    low, best = plan.json["arena"]["bytes"] // 4, plan
    for _ in range(steps):
        budget = (low + best.arena) // 2
        tried = Plan(unetc, options, budget)
        if tried.fits:
            best = tried
        else:
            low = budget
    return best

"""told.py PROGRAMS OUT RESULTS STAGE... - whether results say so where something is other than expected.

`memory`, run as a dry run: another cuDNN than at planning, one that does not take the engines of the plan, more memory
beside the arena than was estimated, no time left.  `first`, of which RESULTS are there: a form of a convolution that no
engine computes, beside those that are timed."""
import json
import os
import shutil
import subprocess
import sys

import programs

HERE = os.path.dirname(os.path.abspath(__file__))


def run(folder, out, wanted, code, arguments=(), **environment):
    """Whether it exits with CODE and all of WANTED is told."""
    done = subprocess.run([sys.executable, "-B", os.path.join(HERE, "memory.py"), folder, out, "--dry-run", *arguments],
                          stdout=subprocess.DEVNULL, env=dict(os.environ, **environment))
    with open(os.path.join(out, "memory.md")) as file:
        text = file.read()
    right = done.returncode == code and all(words in text for words in wanted)
    if not right:
        print("memory exits %d, not %d, or does not tell %s:\n%s" % (done.returncode, code, wanted, text))
    return right


def with_less_estimated(folder, to):
    """A copy of the programs of `memory` whose plans leave nothing beside the arena."""
    for spec in programs.specs("memory", True):
        shutil.copytree(os.path.join(folder, spec.name), os.path.join(to, spec.name))
        path = os.path.join(to, spec.name, "plan.json")
        with open(path) as file:
            plan = json.load(file)
        plan["beside"]["context_estimate"] = -1
        with open(path, "w") as file:
            json.dump(plan, file)
    return to


def memory(folder, out):
    less = with_less_estimated(folder, os.path.join(out, "programs"))
    return all([
        run(less, out, ["ENGINES of", "are not those planned", "chosen again by 91300",
                        "MiB beside the arena; the plan leaves", "memory: passed"], 0, UNET_CUDNN_REFERENCE_VERSION="91300"),
        run(folder, out, ["ENGINES of", "does not accept the pins", "memory: passed"], 0, UNET_CUDNN_REFERENCE_REFUSES="1"),
        run(folder, out, ["UNFINISHED: ", "memory: passed, UNFINISHED: 2 left out"], 3, ["--seconds=-1"])])


def first(results):
    """The stand-in for cuDNN has no engine that sums what has 16 bits."""
    with open(os.path.join(results, "first.json")) as file:
        lines = [line for net in json.load(file)["sweep"].values() for line in net]
    with open(os.path.join(results, "first.md")) as file:
        text = file.read()
    timed = {line["form"] for line in lines if line["seconds"] is not None}
    without = {line["form"] for line in lines if line["engine"] is None}
    right = (timed == {"y", "dx", "dw", "y, into a slice", "dx, masked", "dx, added", "dx, added, masked", "dx, biased", "dw in f32"} and
             without == {"dx, masked, summed"} and "no engine computes this" in text)
    if not right:
        print("first has timed %s, and has no engine for %s" % (sorted(timed), sorted(without)))
    return right


def main(folder, out, results, stages):
    first_is_right = "first" not in stages or first(results)
    return ("memory" not in stages or memory(folder, out)) and first_is_right


if __name__ == "__main__":
    sys.exit(not main(*sys.argv[1:4], sys.argv[4:]))

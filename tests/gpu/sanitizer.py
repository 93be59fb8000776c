"""sanitizer.py - compute-sanitizer on the tests of the kernels and on small programs."""
import itertools
import os
import re
import subprocess

import programs
from stage import OUT_OF_TIME, Stage, sanitizer

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
# Our own calls of CUDA are checked where they are made; CUDA's and cuDNN's libraries try out some that fail by design.
MORE = {"memcheck": ["--report-api-errors", "no"]}
LONGEST = 75  # seconds of one program
HEAD = ["tool", "program", "errors", "exit code", "kernels named"]


def jobs(stage, name="sanitizer"):
    """Name, command and spec of what is checked, the most telling first: kernels alone and whole steps."""
    kernels = [("kernels, " + stored, [os.path.join(stage.folder, "kernels-" + stored.strip("_"), "kernels")], None)
               for stored in programs.stored_types(stage.dry)]
    steps = [(spec.name, [stage.path(spec, "program"), "memory", "3"], spec) for spec in programs.specs(name, stage.dry)]
    return [job for pair in itertools.zip_longest(steps, kernels) for job in pair if job]


def complaints(text):
    """How many, of which kernels, and the first."""
    counts = [int(n) for n in re.findall(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard", text) for n in n if n]
    kernels = sorted(set(re.findall(r"(?:at|in) (?:void )?([A-Za-z_][\w:]*)[<(]", text)))
    first = re.search(r"^=+ (?:Error|Program|Device|Invalid|Uninitialized|Barrier|Warning|Race)[^\n]*", text, re.M)
    return sum(counts), kernels, first.group(0) if first else ""


def is_of_a_library(kernels, model):
    """Whether all complaints are of kernels that are not ours. These begin with the model's name, tiny_unet_adam_0_sweep, or,
    where several operators share one, with `unet_` (templates/cuda)."""
    own = [kernel.split("::")[-1].startswith((model + "_", "unet_")) for kernel in kernels]
    return len(kernels) > 0 and not any(own)


def check(stage, tool, name, command, spec, table):
    prefix = [] if stage.dry else [sanitizer(), "--tool", tool, "--error-exitcode", "9"] + MORE.get(tool, [])
    limited = ["timeout", "-k", "5", "%d" % min(LONGEST, stage.left())]  # also what the sanitizer started
    # Launched one by one, kernels are named in complaints.
    done = stage.run(limited + prefix + command, spec, stderr=subprocess.STDOUT, env=dict(os.environ, UNET_CUDA_GRAPH="0"))
    code, text = done.returncode, done.stdout.decode(errors="replace")
    count, kernels, first = complaints(text)
    found = stage.results["%s, %s" % (tool, name)] = {"exit code": code, "errors": count, "kernels": kernels, "first": first}
    if code != 0:
        found["said"] = text[:100000]
    foreign = not name.startswith("kernels") and is_of_a_library(kernels, name.split("-")[0])
    if code in OUT_OF_TIME:
        stage.unfinished("%s, %s" % (tool, name))
    stage.check("%s, %s: exit code %d, %d errors, %s" % (tool, name, code, count, first),
                code == 0 or foreign or (code in OUT_OF_TIME and count == 0))
    table.add(tool, name, count, code, " ".join(kernels[:6]) + (" (none of ours)" if foreign else ""))


def main():
    stage = Stage("sanitizer", __doc__)
    if not stage.dry and sanitizer() is None:
        stage.check("there is no compute-sanitizer here: nothing was checked", False)
        stage.done()
    table = stage.table("Exit code 124: not done within %d s." % LONGEST, HEAD)
    for name, command, spec in jobs(stage):
        for tool in TOOLS:
            if not stage.late("%s, %s" % (tool, name)):
                check(stage, tool, name, command, spec, table)
    stage.done()


if __name__ == "__main__":
    main()

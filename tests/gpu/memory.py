"""memory.py - stage 2: planned against measured memory of the device."""
import json
import subprocess

import programs
from stage import Stage, output, table

MIB = 1 << 20


def used_by_others():
    """Bytes of the device in use before a program starts."""
    text = output(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"])
    return int(text) * MIB if text.isdigit() else 0


def measure(stage, spec, steps):
    with open(stage.path(spec, "plan.json")) as file:
        planned = json.load(file)["arena"]["bytes"]
    before = 0 if stage.dry else used_by_others()
    done = subprocess.run([stage.path(spec, "program"), "memory", str(steps)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    if not stage.check("%s: %s" % (spec.name, done.stderr[-1000:]), done.returncode == 0):
        return None
    found = json.loads(done.stdout)
    free = found["free"]
    stage.results[spec.name] = dict(found, planned=planned, before=before)
    stage.check("%s: %d allocations, not one" % (spec.name, found["allocations"]), found["allocations"] == 1)
    stage.check("%s: %d bytes allocated, %d planned" % (spec.name, found["allocated"], planned),
                found["allocated"] == planned)
    stage.check("%s: free memory moves between %d and %d bytes" % (spec.name, free["least"], free["most"]),
                free["least"] == free["most"] == free["captured"])
    context = found["total"] - free["context"] - before
    beside = free["context"] - free["opened"] - planned
    later = free["opened"] - free["captured"]
    return [spec.name, "%.2f" % (planned / MIB), "%.2f" % (found["allocated"] / MIB), found["allocations"],
            "%.1f" % (context / MIB), "%.1f" % (beside / MIB), "%.1f" % (later / MIB),
            "%d, %d" % (found["steps"], free["most"] - free["least"])]


def main():
    stage = Stage("memory", __doc__)
    rows = []
    for spec in programs.specs("memory", stage.dry):
        if stage.late():
            stage.check("%s: no time left" % spec.name, False)
            continue
        row = measure(stage, spec, 20 if stage.dry else 1000)
        if row:
            rows.append(row)
    stage.say("Memory of the device in MiB. Context: what a program takes before it asks for anything. Libraries: cuDNN, its")
    stage.say("plans and the stream. Later: what loads with the first steps and their graphs.")
    stage.say("")
    table(stage, ["program", "arena planned", "allocated", "allocations", "context", "libraries", "later",
                  "steps, and bytes by which free memory moved"], rows)
    stage.done()


main()

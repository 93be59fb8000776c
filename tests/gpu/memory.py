"""memory.py - planned against measured memory of the device, and what takes memory beside the arena."""
import json

import programs
from stage import Stage, output

MIB = 1 << 20
TITLE = """Memory of the device in MiB. Beside the arena: the context, which a program has before it asks for anything; cuDNN's handles;
its plans; what loads with the first steps, without their graphs; the graphs; and the sum of it all, which the plan estimates."""
HEAD = ["program", "arena planned", "allocated", "allocations", "context", "handle", "plans", "first steps", "graphs",
        "beside the arena", "estimate", "steps, and bytes by which free memory moved"]


def used_by_others():
    """Bytes of the device in use before a program starts."""
    text = output(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"])
    return int(text) * MIB if text.isdigit() else 0


def measure(stage, spec, steps, table):
    plan = stage.plan(spec)
    if plan is None:
        return
    planned, estimate = plan["arena"]["bytes"], plan["beside"]["context_estimate"]
    before = 0 if stage.dry else used_by_others()
    done = stage.run([stage.path(spec, "program"), "memory", str(steps)], spec)
    if not stage.succeeded(spec.name, done):
        return
    found = json.loads(done.stdout)
    free, taken = found["free"], found["taken"]
    beside = found["total"] - free["captured"] - planned - before
    stage.results[spec.name] = dict(found, planned=planned, before=before, beside=beside)
    stage.check("%s: %d allocations, not one" % (spec.name, found["allocations"]), found["allocations"] == 1)
    stage.check("%s: %d bytes allocated, %d planned" % (spec.name, found["allocated"], planned),
                found["allocated"] == planned)
    stage.check("%s: free memory moves between %d and %d bytes" % (spec.name, free["least"], free["most"]),
                free["least"] == free["most"] == free["captured"])
    if beside > estimate:  # a figure, from which the estimate is corrected
        stage.say("- %s: %.1f MiB beside the arena; the plan leaves %.1f" % (spec.name, beside / MIB, estimate / MIB))
    sizes = [found["total"] - free["context"] - before, taken["handle"], taken["plans"],
             free["opened"] - free["captured"] - taken["graphs"], taken["graphs"], beside, estimate]
    table.add(spec.name, "%.2f" % (planned / MIB), "%.2f" % (found["allocated"] / MIB), found["allocations"],
              *["%.1f" % (size / MIB) for size in sizes], "%d, %d" % (found["steps"], free["most"] - free["least"]))


def main():
    stage = Stage("memory", __doc__)
    table = stage.table(TITLE, HEAD)
    for spec in programs.specs("memory", stage.dry):
        if not stage.late(spec.name):
            measure(stage, spec, 8 if stage.dry else 1000, table)
    stage.done()


if __name__ == "__main__":
    main()

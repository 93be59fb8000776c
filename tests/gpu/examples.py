"""examples.py - every network of examples/ in bf16: does it run, how fast, in how much memory, and beside PyTorch?

Ours is measured twice: as planned by default, which computes again in the backward pass what costs nearly nothing, and with
--no-recompute.  The plan says what computing again costs; the device says what it takes.
"""
import peers
import programs
import speed
import torch
from stage import Stage

STEPS = 40
SECONDS = {"ours": 330, "PyTorch": 150}
MS, MIB = 1e3, 1 << 20
HEAD = ["network", "plan", "arena, MiB", "work of the plan", "step, ms", "sum of the parts, ms"]


def is_kept(spec):
    return "--no-recompute" in spec.more


def work_of(stage, spec, specs):
    """The work of its plan over the work of the plan that keeps all, as the compiler counts both."""
    kept = next((other for other in specs if other.file == spec.file and is_kept(other)), None)
    return "%.4f" % (stage.plan(spec)["cost"]["units"] / stage.plan(kept)["cost"]["units"]) if kept else ""


def ours(stage, specs):
    table = stage.table("## A training step of every network", HEAD)
    for spec in specs:
        found = {} if stage.late(spec.name) else speed.bench(stage, spec, speed.GRAPHS, STEPS)
        if not found:
            continue
        device = found["train"]["device"]
        parts = sum(part["seconds"] for part in device["parts"])
        table.add(spec.file, "all kept" if is_kept(spec) else "default", "%.0f" % (stage.plan(spec)["arena"]["bytes"] / MIB),
                  work_of(stage, spec, specs), "%.3f" % (MS * device["step"]), "%.3f" % (MS * parts))


def peak_of(spec):
    """Seconds of a step of PyTorch's, and the most bytes that its tensors take."""
    torch.cuda.reset_peak_memory_stats()
    seconds = speed.median_seconds(peers.Step(spec, "eager"), "cuda")
    return seconds, torch.cuda.max_memory_allocated()


def theirs(stage, specs):
    table = stage.table("## The same in PyTorch, eager, channels last, autocast to bf16", ["network", "step, ms", "tensors, MiB"])
    for spec in specs:
        if stage.late("%s in PyTorch" % spec.name):
            continue
        found = speed.guarded(stage, lambda: peak_of(spec))
        told = (found, "") if isinstance(found, str) else ("%.3f" % (MS * found[0]), "%.0f" % (found[1] / MIB))
        stage.results.setdefault("PyTorch", {})[spec.name] = told
        table.add(spec.file, *told)


def main():
    stage = Stage("examples", __doc__, 420, 50)
    specs = [spec for spec in programs.specs("examples", stage.dry) if stage.plan(spec)]
    stage.part("ours", SECONDS["ours"], ours, stage, specs)
    if not stage.dry:
        stage.part("PyTorch", SECONDS["PyTorch"], theirs, stage, [spec for spec in specs if not is_kept(spec)])
    stage.done()


if __name__ == "__main__":
    main()

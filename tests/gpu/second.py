"""second.py - three minutes more on a device: ten training steps of two small nets in bf16, f32 and f16 beside PyTorch in float64; free
memory over a thousand steps; compute-sanitizer on a small program, its kernels and the tests of kernels."""
import memory
import numerics
import programs
import sanitizer
from stage import Stage

SECONDS = {"numerics": 60, "memory": 30, "sanitizer": 75}
TOOLS = ["memcheck", "racecheck", "initcheck"]


def compare(stage):
    numerics.nets(stage, programs.specs("second", stage.dry), "cpu" if stage.dry else "cuda")


def remember(stage):
    table = stage.table(memory.TITLE, memory.HEAD)
    memory.measure(stage, programs.specs("second", stage.dry)[0], 8 if stage.dry else 1000, table)


def sanitise(stage):
    if not stage.dry and sanitizer.sanitizer() is None:
        stage.check("there is no compute-sanitizer here: nothing was checked", False)
        return
    table = stage.table("compute-sanitizer. Exit code 124: not done in time.", sanitizer.HEAD)
    (name, command, spec), (kernels, test, _) = sanitizer.jobs(stage, "second")[:2]
    for tool in TOOLS:
        if not stage.late("%s, %s" % (tool, name)):
            sanitizer.check(stage, tool, name, command, spec, table)
    if not stage.late(kernels):
        sanitizer.check(stage, "racecheck", kernels, test, None, table)


def main():
    stage = Stage("second", __doc__, 120, 45)
    for what, work in (("numerics", compare), ("memory", remember), ("sanitizer", sanitise)):
        stage.part(what, SECONDS[what], work, stage)
    stage.done()


if __name__ == "__main__":
    main()

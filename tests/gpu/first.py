"""first.py - the first ten minutes on a device: a little of everything, printed as it goes, for TinyUNet at 256x256 and
UNetDenoiser at 512x512 in bf16.

Versions and engines; the tests of the kernels; one training step beside PyTorch's f32; our step with all its parts,
as a graph of two streams and of one, and launched one by one; PyTorch's step, eager and as a CUDA graph; `tune`, and our
step with the table that it leaves; memory beside the arena; how long each convolution takes by each engine that cuDNN has for
it, and in one graph with what may follow it; PyTorch's step, compiled.
"""
import json
import os
import re
import shutil
import tempfile
import time

import memory
import numerics
import programs
import speed
from stage import Stage

STEPS, MEMORY_STEPS = 100, 200
TUNE_SECONDS, SWEEP_SECONDS, SWEEP_REPEATS = (40, 60), (50, 70), 20  # of each net
SAVED_EVERY = 2  # seconds
WAYS = [("eager", "bf16", True), ("graph", "bf16", True)]
COMPILED = [("compile", "bf16", True)]
BENCH_HEAD = ["net", "program", "engines", "launched", "steps", "ms on the device", "ms, one begun ahead", "ms of inputs", "images/s",
              "sum of the parts, ms"]
TUNE_HEAD = ["no.", "convolution", "fastest: engine", "µs", "planned, µs"]
SWEEP_HEAD = ["no.", "form", "sizes", "engines", "planned: engine", "µs", "workspace", "fastest: engine", "µs", "workspace",
              "compiled when run: engine", "µs", "workspace"]
MS = 1e3


# ---- our step ---------------------------------------------------------------------------------------


def bench(stage, spec, launched, table, engines=None):
    """ENGINES: a file that `tune` left, or those of the plan."""
    found = speed.bench(stage, spec, launched, STEPS, engines)
    for name, told in found.items():
        device = told["device"]
        parts = sum(part["seconds"] for part in device["parts"])
        numbers = [device["step"], told["median"], device["inputs"]]
        table.add(spec.config, name, "measured" if engines else "planned", launched, told["steps"], *["%.3f" % (MS * n) for n in numbers],
                  "%.1f" % (told["batch"] / told["median"]), "%.3f" % (MS * parts))
    return found


def parts_table(stage, spec, found):
    if not found:
        return
    parts = found["train"]["device"]["parts"]
    table = stage.table("## All parts of a training step of %s, launched one by one" % spec.name, ["part", "µs"])
    table.rows = [(part["name"], "%.1f" % (1e6 * part["seconds"])) for part in parts]
    stage.save()


# ---- engines ----------------------------------------------------------------------------------------


class Tune:
    """What `PROGRAM tune` says of one net, a row for each convolution as it comes, and the file that it leaves at its end."""

    LINE = re.compile(r" *(\d+) of (\d+)  (.*): engine (\d+), ([\d.]+) us(?: \(planned: ([\d.]+) us\))?")

    def __init__(self, stage, spec):
        self.stage, self.spec, self.folder = stage, spec, tempfile.mkdtemp()
        self.found = stage.results.setdefault("tune", {}).setdefault(spec.name, {"said": [], "table": None})
        self.table = stage.table("## The fastest engines of %s within its plan, by `tune`" % spec.name, TUNE_HEAD)

    def take(self, line):
        self.found["said"].append(line.rstrip())
        match = self.LINE.match(line)
        if match:
            number, _, convolution, engine, us, planned = match.groups()
            self.table.add(number, convolution, engine, us, planned or us)

    def run(self, seconds):
        """The file, or None where the time ran out."""
        name = self.spec.name
        code = self.stage.stream([self.stage.path(self.spec, "program"), "tune", "--out=" + self.folder], self.take, self.spec, seconds)
        if code == 124:
            self.stage.unfinished("tune of %s" % name)
            return None
        path = os.path.join(self.folder, self.spec.file + ".engines.json")
        if not self.stage.check("tune of %s: exit code %d: %s" % (name, code, " ".join(self.stage.results["said"][name][-3:])),
                                code == 0 and os.path.exists(path)):
            return None
        with open(path) as file:
            self.found["table"] = json.load(file)
        self.stage.say("- tune of %s: %s" % (name, self.found["said"][-1].split(": ")[-1]))
        return path


def tuned_steps(stage, specs, table, comparisons):
    """Our steps by the engines that `tune` finds."""
    for spec, seconds, comparison in zip(specs, TUNE_SECONDS, comparisons):
        if stage.late("tune of " + spec.name):
            continue
        tune = Tune(stage, spec)
        path = tune.run(min(seconds, int(stage.left())))
        found = bench(stage, spec, speed.GRAPHS, table, path) if path else {}
        if found:
            comparison.ours("bf16", found, "unetc, engines of `tune`")
        shutil.rmtree(tune.folder)


class Sweep:
    """What `PROGRAM sweep` says of one net, with a row for each convolution, and below them for each with what may follow it."""

    def __init__(self, stage, spec):
        self.stage, self.spec, self.found, self.saved = stage, spec, {}, 0
        self.lines = stage.results.setdefault("sweep", {}).setdefault(spec.name, [])
        self.table = stage.table("## Engines of the convolutions of %s" % spec.name, SWEEP_HEAD)

    def take(self, line):
        try:
            one = json.loads(line)
        except ValueError:  # cut off
            return
        self.lines.append(one)
        self.found.setdefault((one["convolution"], one["form"]), []).append(one)
        if time.monotonic() < self.saved + SAVED_EVERY:
            return
        self.saved = time.monotonic()
        self.save()
        print("engines: %d; at convolution %d, %s" % (len(self.lines), one["convolution"], one["form"]), flush=True)

    def save(self):
        in_order = sorted(self.found, key=lambda which: ("," in which[1] or " " in which[1], which))
        self.table.rows = [self.row(which) for which in in_order]
        self.stage.save()

    def fastest(self, which, **wanted):
        timed = [one for one in self.found[which] if one["seconds"] is not None and
                 all(one[key.replace("_", " ")] == value for key, value in wanted.items())]
        return min(timed, key=lambda one: one["seconds"]) if timed else None

    def row(self, which):
        first, cells = self.found[which][0], []
        engines = [one for one in self.found[which] if one["engine"] is not None]
        for one in (self.fastest(which, planned=True), self.fastest(which), self.fastest(which, runtime_compiled=True)):
            cells += ["%d" % one["engine"], "%.1f" % (1e6 * one["seconds"]), one["workspace"]] if one else [""] * 3
        if not engines:
            cells[3] = "no engine computes this"
        return [first["convolution"], first["form"], first["sizes"], len(engines)] + cells

    def run(self, seconds):
        command = [self.stage.path(self.spec, "program"), "sweep", str(seconds), str(1 if self.stage.dry else SWEEP_REPEATS)]
        code = self.stage.stream(command, self.take, self.spec, seconds + 30)
        self.save()
        both = [(self.fastest(which, planned=True), self.fastest(which)) for which in self.found]
        sums = [sum(pair[i]["seconds"] for pair in both if all(pair)) for i in (0, 1)]
        self.stage.say("- %s: %d convolutions that differ, %d engines: %.3f ms by those planned, %.3f by the fastest" % (
            self.spec.name, len({number for number, _ in self.found}), sum(one["engine"] is not None for one in self.lines),
            MS * sums[0], MS * sums[1]))
        if code == 124:
            self.stage.unfinished("engines of %s" % self.spec.name)
        else:
            self.stage.check("engines of %s: exit code %d: %s" % (self.spec.name, code, " ".join(
                self.stage.results["said"][self.spec.name][-3:])), code == 0)


# ---- all --------------------------------------------------------------------------------------------


def compare_with_pytorch(stage, comparisons, ways, device):
    for way in ways:
        for comparison in comparisons:
            speed.measure_peer(stage, comparison, way, device)


def main():
    stage = Stage("first", __doc__, 440)
    device = "cpu" if stage.dry else "cuda"
    specs = [spec for spec in programs.specs("first", stage.dry) if stage.plan(spec)]
    if not specs:
        stage.done()
    numerics.device(stage, specs[0])
    numerics.kernels(stage)
    numerics.nets(stage, specs, device, lambda spec: numerics.Course(1, "f32"))
    table = stage.table("## Our steps; the median of %d back to back where one is begun ahead" % STEPS, BENCH_HEAD)
    comparisons = [speed.Comparison(stage, [spec], True) for spec in specs]
    for i, spec in enumerate(specs):
        if stage.late("steps of " + spec.name):
            continue
        found = bench(stage, spec, speed.GRAPHS, table)
        if found:
            comparisons[i].ours("bf16", found)
        bench(stage, spec, speed.ONE_STREAM, table)
        bench(stage, spec, speed.ONE_BY_ONE, table)
        parts_table(stage, spec, found)
    compare_with_pytorch(stage, comparisons, WAYS[:1] if stage.dry else WAYS, device)
    tuned_steps(stage, specs, table, comparisons)
    beside = stage.table(memory.TITLE, memory.HEAD)
    for spec in specs:
        memory.measure(stage, spec, 8 if stage.dry else MEMORY_STEPS, beside)
    for spec, seconds in zip(specs, SWEEP_SECONDS):
        if not stage.late("engines of " + spec.name):
            Sweep(stage, spec).run(min(seconds, int(stage.left())))
    compare_with_pytorch(stage, comparisons, [] if stage.dry else COMPILED, device)
    stage.done()


if __name__ == "__main__":
    main()

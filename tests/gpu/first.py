"""first.py - the first eight minutes on a device, the most telling part first; each has a time limit, and goes on where another failed:

    start         does a program start: driver, cuDNN, versions; nothing else is tried if not
    one step      three training steps of TinyUNet, 256x256, in f32 and bf16, and of UNetDenoiser, 512x512, in bf16, beside PyTorch
    kernels       every kernel against its reference
    speed         steps and predictions, as graphs of two streams and of one, and launched one by one; PyTorch's, eager, as a CUDA
                  graph and compiled; all parts of a step
    memory        what lies beside the arena
    assumptions   what the runtime takes for granted of cuDNN's engines
    others        PP-LiteSeg-T, nnU-Net's 3D network, milesial's U-Net: do they run, how fast, beside PyTorch
    tune          the fastest engines within the plan, and a step with them
    sweep         each convolution by the first engines that cuDNN has for it, and in one graph with what may follow it
"""
import json
import os
import re
import shutil
import tempfile
import time

import programs
from stage import Stage

STEPS, MEMORY_STEPS = 100, 200
SECONDS = {"start": 30, "one step": 70, "kernels": 40, "speed": 150, "memory": 30, "assumptions": 40, "others": 120, "tune": 100, "sweep": 120}
SWEEP_SECONDS, SWEEP_REPEATS = (60, 30), 20  # of each net
SAVED_EVERY = 2  # seconds
PEERS = ["eager", "compile"]  # of other networks
WAYS = [("eager", "bf16", True), ("graph", "bf16", True), ("compile", "bf16", True)]
BENCH_HEAD = ["net", "program", "engines", "launched", "steps", "ms on the device", "ms, one begun ahead", "ms of inputs", "images/s",
              "sum of the parts, ms"]
TUNE_HEAD = ["no.", "convolution", "fastest: engine", "µs", "planned, µs"]
SWEEP_HEAD = ["no.", "form", "sizes", "engines", "planned: engine", "µs", "workspace", "fastest: engine", "µs", "workspace",
              "compiled when run: engine", "µs", "workspace"]
ASSUMED = {"repeats": True, "in graph": True, "in place": (True, None), "keeps nan": True}
MS = 1e3


# ---- our step ---------------------------------------------------------------------------------------


def bench(stage, spec, launched, table, engines=None):
    """ENGINES: a file that `tune` left, or those of the plan."""
    import speed
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


# ---- parts ------------------------------------------------------------------------------------------


class First:
    """The parts, and what several of them know: COMPARED are the programs whose nets PyTorch has, OTHERS all else."""

    def __init__(self, stage):
        self.stage, self.device = stage, "cpu" if stage.dry else "cuda"
        specs = [spec for spec in programs.specs("first", stage.dry) if stage.plan(spec)]
        self.others = [spec for spec in specs if isinstance(spec, programs.Example)]
        self.exact = [spec for spec in specs if spec.precision == "f32" and spec not in self.others]
        self.compared = [spec for spec in specs if spec not in self.others + self.exact]
        self.started, self.table, self.comparisons = False, None, []

    def start(self):
        spec = self.compared[0]
        self.started = self.stage.succeeded("%s does not start" % spec.name, self.stage.run(
            [self.stage.path(spec, "program"), "bench", "--format=json", "--steps=1"], spec))

    def one_step(self):
        import numerics
        numerics.device(self.stage, self.compared[0])
        numerics.nets(self.stage, self.exact + self.compared, self.device, lambda spec: numerics.Course(3, "f32"))

    def kernels(self):
        import numerics
        numerics.kernels(self.stage)

    def speed(self):
        import speed
        self.table = self.stage.table("## Our steps; the median of %d back to back where one is begun ahead" % STEPS, BENCH_HEAD)
        self.comparisons = [[speed.Comparison(self.stage, [spec], training) for training in (True, False)] for spec in self.compared]
        for spec, pair in zip(self.compared, self.comparisons):
            found = bench(self.stage, spec, speed.GRAPHS, self.table)
            for comparison in pair if found else ():
                comparison.ours("bf16", found)
            bench(self.stage, spec, speed.ONE_STREAM, self.table)
            bench(self.stage, spec, speed.ONE_BY_ONE, self.table)
            parts_table(self.stage, spec, found)
        for way in WAYS[:1] if self.stage.dry else WAYS:
            for pair in self.comparisons:
                for comparison in pair:
                    speed.measure_peer(self.stage, comparison, way, self.device)

    def memory(self):
        import memory
        table = self.stage.table(memory.TITLE, memory.HEAD)
        for spec in self.compared:
            memory.measure(self.stage, spec, 8 if self.stage.dry else MEMORY_STEPS, table)

    def assumptions(self):
        for spec in self.compared + self.others:
            done = self.stage.run([self.stage.path(spec, "program"), "assumptions"], spec)
            lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
            self.stage.results.setdefault("assumptions", {})[spec.name] = lines
            if not self.stage.succeeded("assumptions of %s" % spec.name, done):
                continue
            wrong = [line for line in lines if any(line[name] != value and line[name] not in (value if isinstance(value, tuple) else ())
                                                   for name, value in ASSUMED.items())]
            self.stage.say("- assumptions of %s: %d of %d engines are as the runtime takes them" % (spec.name, len(lines) - len(wrong), len(lines)))
            for line in wrong:
                self.stage.check("%s: %s" % (spec.name, json.dumps(line)), self.stage.dry)  # the stand-in's ReLU drops a NaN

    def run_others(self):
        import speed
        table = self.stage.table("## Other networks, training step", ["net", "way", "ms"])
        for spec in self.others:
            found = bench(self.stage, spec, speed.GRAPHS, self.table)
            parts_table(self.stage, spec, found)
            if found:
                table.add(spec.config, "unetc", "%.3f" % (MS * found["train"]["device"]["step"]))
        for way in () if self.stage.dry else PEERS:
            for spec in self.others:
                self.peer(spec, way, table)

    def peer(self, spec, way, table):
        """PyTorch's milliseconds, or why there are none."""
        import peers
        import speed
        seconds = speed.guarded(self.stage, lambda: speed.median_seconds(peers.Step(spec, way), "cuda"))
        told = seconds if isinstance(seconds, str) else "%.3f" % (MS * seconds)
        self.stage.results.setdefault("PyTorch of others", {}).setdefault(spec.name, {})[way] = told
        table.add(spec.config, "PyTorch, %s" % way, told)

    def tune(self):
        import speed
        for spec, pair in zip(self.compared, self.comparisons):
            tune = Tune(self.stage, spec)
            path = tune.run(int(self.stage.left()))
            found = bench(self.stage, spec, speed.GRAPHS, self.table, path) if path else {}
            if found:
                pair[0].ours("bf16", found, "unetc, engines of `tune`")
            shutil.rmtree(tune.folder)

    def sweep(self):
        for spec, seconds in zip(reversed(self.compared), SWEEP_SECONDS):
            Sweep(self.stage, spec).run(min(seconds, int(self.stage.left())))


def main():
    stage = Stage("first", __doc__, 410, 50)
    first = First(stage)
    if not first.compared:
        stage.done()
    stage.part("start", SECONDS["start"], first.start)
    if not first.started:
        stage.say("- nothing else was tried: a program does not start here")
        stage.done()
    for what, work in (("one step", first.one_step), ("kernels", first.kernels), ("speed", first.speed), ("memory", first.memory),
                       ("assumptions", first.assumptions), ("others", first.run_others), ("tune", first.tune), ("sweep", first.sweep)):
        stage.part(what, SECONDS[what], work)
    stage.done()


if __name__ == "__main__":
    main()

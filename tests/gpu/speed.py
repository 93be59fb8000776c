"""speed.py - a training step and a prediction of ours and of PyTorch, in one run.

Ours is what `PROGRAM bench` says of the device: the time of the captured step, from data on the device to new weights on
it; copying the inputs there is told beside it. PyTorch works on data that is on the device already, in several ways: eagerly;
with channels_last and autocast; compiled; captured by hand as a CUDA graph. Each figure is a median, by the device's events.
The most telling comes first, so that a stage that runs out of time has it.
"""
import json
import os
import statistics
import time

import torch

import precisions
import programs
from stage import Stage

import record  # tests/oracle, which stage makes known

RATE, WARM_UP, SECONDS = 5e-4, 5, 1.5
# What is measured one after the other: KIND of ours, or (way, precision, whether channels_last) of PyTorch; both of all
# nets, in training and prediction, but for those that SLOW names.
ORDER = ["bf16", ("eager", "bf16", True), ("compile", "bf16", True), "f32", ("eager", "f32", False),
         "f16", ("eager", "f16", True), ("graph", "bf16", True), "bf16, upconv by cudnn", "tf32", ("eager", "tf32", True),
         "bf16, nondeterministic", "bf16, 8 bands", ("eager", "tf32", False), ("graph", "tf32", True), ("compile", "tf32", True),
         ("reduce-overhead", "bf16", True)]
DRY_ORDER = ["bf16", ("eager", "bf16", True), "f32", ("eager", "f32", False), "f16", "bf16, nondeterministic", "bf16, upconv by cudnn"]
# These take half a minute each, so most come at the end: first the large net, and training of the small one.
SLOW, FIRST = ("compile", "reduce-overhead"), [(0, True), (1, True), (0, False)]


# ---- ours -------------------------------------------------------------------------------------------


GRAPHS, ONE_STREAM, ONE_BY_ONE = "graphs", "graphs of one stream", "one by one"  # how a step is launched
LAUNCHED = {GRAPHS: {}, ONE_STREAM: {"UNET_CUDA_BRANCHES": "0"}, ONE_BY_ONE: {"UNET_CUDA_GRAPH": "0"}}


def bench(stage, spec, launched=GRAPHS, steps=0, engines=None):
    """{program: {...}} as `bench --format=json` has it. STEPS: at most, if not 0. ENGINES: a file that `tune` left."""
    env = dict(os.environ, **LAUNCHED[launched])
    what = spec.name + ("" if launched == GRAPHS else ", " + launched) + (", engines of tune" if engines else "")
    steps = 5 if stage.dry else steps
    done = stage.run([stage.path(spec, "program"), "bench", "--format=json"] + ["--steps=%d" % steps] * (steps > 0) +
                     ["--engines=%s" % engines] * bool(engines), spec, env)
    if not stage.succeeded(what, done):
        return {}
    found = {program["name"]: program for program in json.loads(done.stdout)["programs"]}
    stage.results.setdefault("ours", {})[what] = found
    stage.save()
    return found


# ---- PyTorch ----------------------------------------------------------------------------------------


class Step:
    """A step of the net of SPEC: training, or prediction of one picture."""

    def __init__(self, spec, training, way, precision, channels_last, device):
        self.training, self.way, self.precision, self.device = training, way, precision, device
        precisions.choose(precision)
        torch.backends.cudnn.benchmark = True
        layout = torch.channels_last if channels_last else torch.contiguous_format
        torch.manual_seed(0)
        self.net = record.NETS[spec.net](**{spec.define: spec.width}).to(device).to(memory_format=layout)
        shape = (spec.batch if training else 1, 3, spec.size, spec.size)
        self.photo, self.clean = (torch.rand(shape, device=device).contiguous(memory_format=layout) for _ in range(2))
        options = {"fused": True, "capturable": way == "graph"} if device == "cuda" else {}
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=RATE, **options)
        if way in SLOW:
            self.net = torch.compile(self.net, mode=None if way == "compile" else way)
        self.scaler = precisions.scaler(precision)
        self.graph = None
        if way == "graph":
            self.capture()

    def run(self):
        # A cache of casts must not outlive a capture.
        cast = precisions.cast(self.precision, self.device, cache_enabled=self.way != "graph")
        if not self.training:
            with torch.no_grad(), cast:
                return self.net(self.photo)
        self.optimizer.zero_grad(set_to_none=True)
        with cast:
            answer = self.net(self.photo)
        loss = torch.nn.functional.mse_loss(answer.float(), self.clean)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss

    def capture(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                self.run()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            self.result = self.run()
        self.graph = graph

    def __call__(self):
        if self.graph is None:
            return self.run()
        self.graph.replay()
        return self.result


def median_seconds(step, device):
    """Between events, all of a round queued at once, so that the host is not waited for."""
    for _ in range(WARM_UP):
        result = step()
    if device == "cpu":
        begin = time.perf_counter()
        step()
        return time.perf_counter() - begin
    torch.cuda.synchronize()
    if not torch.isfinite(result).all():
        raise RuntimeError("the result is not finite")
    begin = time.perf_counter()
    step()
    torch.cuda.synchronize()
    rounds = max(10, min(200, int(SECONDS / (time.perf_counter() - begin))))
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(rounds + 1)]
    marks[0].record()
    for mark in marks[1:]:
        step()
        mark.record()
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) for a, b in zip(marks, marks[1:])) / 1e3


def guarded(stage, work):
    """What WORK returns, or in words why it does not: one way of PyTorch that fails must not lose the others."""
    try:
        with stage.alarm():
            found = work()
    except Exception as problem:
        found = ("%s: %s" % (type(problem).__name__, problem))[:100].replace("\n", " ")
    if torch.cuda.is_available():
        torch._dynamo.reset()
        torch.cuda.empty_cache()
    return found


def measure(stage, spec, training, way, device):
    """Seconds, or why there are none."""
    if way[0] in SLOW and not hasattr(torch, "compile"):
        return "not in this PyTorch"
    return guarded(stage, lambda: median_seconds(Step(spec, training, *way, device), device))


# ---- both -------------------------------------------------------------------------------------------


class Comparison:
    """One net in training or prediction: a table of all ways, with how many times faster ours is in the same precision."""

    def __init__(self, stage, specs, training):
        self.specs, self.training = {spec.kind: spec for spec in specs}, training
        self.spec, self.seconds = specs[0], {}  # of ours by precision
        self.program, self.batch = ("train", self.spec.batch) if training else ("predict", 1)
        self.peers = []
        title = "## %s, %s, batch %d" % (self.spec.config, "training step" if training else "prediction", self.batch)
        self.table = stage.table(title, ["", "precision", "ms", "images/s", "unetc is faster by", ""])

    def ours(self, kind, found, name="unetc"):
        """PyTorch's are compared with the first of a KIND."""
        told = found[self.program]
        seconds = told["device"]["step"]
        self.seconds.setdefault(kind, seconds)
        self.table.add(name, kind, "%.3f" % (1e3 * seconds), "%.1f" % (self.batch / seconds), "",
                       "inputs %.3f ms, whole %.3f ms" % (1e3 * told["device"]["inputs"], 1e3 * told["median"]))

    def peer(self, way, seconds):
        name = "PyTorch " + way[0] + (", channels_last" if way[2] else "")
        if isinstance(seconds, str):
            self.table.add(name, way[1], "", "", "", seconds)
            return
        ratio = "%.2f" % (seconds / self.seconds[way[1]]) if way[1] in self.seconds else ""
        self.table.add(name, way[1], "%.3f" % (1e3 * seconds), "%.1f" % (self.batch / seconds), ratio, "")


def measure_ours(stage, training, prediction, kind):
    if kind not in training.specs or stage.late(training.specs[kind].name):
        return
    spec = training.specs[kind]
    found = bench(stage, spec)
    for comparison in (training, prediction) if found else ():
        comparison.ours(kind, found)
    if found:
        parts = sorted(found["train"]["device"]["parts"], key=lambda part: -part["seconds"])
        stage.say("Longest parts of %s, launched one by one, ms: %s" % (
            spec.name, ", ".join("%s %.3f" % (part["name"], 1e3 * part["seconds"]) for part in parts[:12])))


def measure_peer(stage, comparison, way, device):
    what = "PyTorch %s, %s of %s" % (" ".join(str(word) for word in way[:2]), comparison.program, comparison.spec.config)
    seconds = "no time left" if stage.late(what) else measure(stage, comparison.spec, comparison.training, way, device)
    stage.results.setdefault("PyTorch", []).append(
        {"config": comparison.spec.config, "training": comparison.training, "way": way[0], "precision": way[1],
         "channels_last": way[2], "seconds": seconds})
    comparison.peer(way, seconds)


def main():
    stage = Stage("speed", __doc__)
    device = "cpu" if stage.dry else "cuda"
    by_config = {}
    for spec in programs.specs("speed", stage.dry):
        by_config.setdefault(spec.config, []).append(spec)
    nets = [{training: Comparison(stage, specs, training) for training in (True, False)} for specs in by_config.values()]
    later = []
    for what in DRY_ORDER if stage.dry else ORDER:
        for i, net in enumerate(nets):
            if isinstance(what, str):
                measure_ours(stage, net[True], net[False], what)
                continue
            for training in (True, False):
                if what[0] in SLOW and (i, training) not in FIRST:
                    later.append((net[training], what))
                else:
                    measure_peer(stage, net[training], what, device)
    for comparison, way in later:
        measure_peer(stage, comparison, way, device)
    stage.done()


if __name__ == "__main__":
    main()

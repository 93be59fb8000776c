"""speed.py - stage 3: a training step and a prediction of ours and of PyTorch, in one run.

Ours is what `PROGRAM bench` says of the device: the time of the captured step, from data on the device to new weights on
it; copying the inputs there is told beside it. PyTorch works on data that is on the device already, in several ways: eagerly;
with channels_last and autocast; compiled; captured by hand as a CUDA graph. Each figure is a median, by the device's events.
"""
import contextlib
import json
import statistics
import subprocess
import time

import torch

import programs
from stage import Stage, table

import record  # tests/oracle, which stage makes known

RATE, WARM_UP, SECONDS = 5e-4, 5, 1.5
# (way, precision, whether channels_last), the most telling first.
WAYS = [("eager", "bf16", True), ("graph", "bf16", True), ("eager", "f32", False), ("eager", "tf32", False),
        ("compile", "bf16", True), ("eager", "tf32", True), ("graph", "tf32", True), ("compile", "tf32", True),
        ("reduce-overhead", "bf16", True)]
DRY_WAYS = [("eager", "f32", False), ("eager", "bf16", True)]


# ---- ours -------------------------------------------------------------------------------------------


def bench(stage, spec):
    """{program: {...}} as `bench --format=json` has it."""
    done = subprocess.run([stage.path(spec, "program"), "bench", "--format=json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    if not stage.check("%s: exit code %d: %s" % (spec.name, done.returncode, done.stderr[-1000:]), done.returncode == 0):
        return {}
    found = {program["name"]: program for program in json.loads(done.stdout)["programs"]}
    stage.results.setdefault("ours", {})[spec.name] = found
    stage.save()
    return found


# ---- PyTorch ----------------------------------------------------------------------------------------


class Step:
    """A step of the net of SPEC: training, or prediction of one picture."""

    def __init__(self, spec, training, way, precision, channels_last, device):
        self.training, self.way, self.precision, self.device = training, way, precision, device
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision != "f32"
        torch.backends.cudnn.benchmark = True
        layout = torch.channels_last if channels_last else torch.contiguous_format
        torch.manual_seed(0)
        self.net = record.NETS[spec.net](**{spec.define: spec.width}).to(device).to(memory_format=layout)
        shape = (spec.batch if training else 1, 3, spec.size, spec.size)
        self.photo, self.clean = (torch.rand(shape, device=device).contiguous(memory_format=layout) for _ in range(2))
        options = {"fused": True, "capturable": way == "graph"} if device == "cuda" else {}
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=RATE, **options)
        if way in ("compile", "reduce-overhead"):
            self.net = torch.compile(self.net, mode=None if way == "compile" else way)
        self.graph = None
        if way == "graph":
            self.capture()

    def run(self):
        cast = contextlib.nullcontext()
        if self.precision == "bf16":
            # A cache of casts must not outlive a capture.
            cast = torch.autocast(self.device, dtype=torch.bfloat16, cache_enabled=self.way != "graph")
        if not self.training:
            with torch.no_grad(), cast:
                return self.net(self.photo)
        self.optimizer.zero_grad(set_to_none=True)
        with cast:
            answer = self.net(self.photo)
        loss = torch.nn.functional.mse_loss(answer.float(), self.clean)
        loss.backward()
        self.optimizer.step()
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


def measure(stage, spec, training, way, device):
    """Seconds, or why there are none."""
    if stage.late():
        return "no time left"
    if way[0] in ("compile", "reduce-overhead") and not hasattr(torch, "compile"):
        return "not in this PyTorch"
    try:
        seconds = median_seconds(Step(spec, training, *way, device), device)
    except Exception as problem:  # one way that fails must not lose the others
        seconds = ("%s: %s" % (type(problem).__name__, problem))[:100].replace("\n", " ")
    if hasattr(torch, "_dynamo") and device == "cuda":
        torch._dynamo.reset()
    if device == "cuda":
        torch.cuda.empty_cache()
    return seconds


# ---- both -------------------------------------------------------------------------------------------


def ours_of(found, program):
    """{precision: seconds of a step} of one configuration."""
    return {precision: programs[program]["device"]["step"] for precision, programs in found.items()
            if program in programs}


def tell(stage, spec, training, ours, found, peers):
    """A table of one configuration: each way, and how many times faster ours is in the same precision."""
    program, batch = ("train", spec.batch) if training else ("predict", 1)
    stage.say("## %s, %s, batch %d" % (spec.config, "training step" if training else "prediction", batch))
    stage.say("")
    rows = []
    for precision, seconds in ours.items():
        told = found[precision][program]
        rows.append(["unetc", precision, "%.3f" % (1e3 * seconds), "%.1f" % (batch / seconds), "", "inputs %.3f ms, whole %.3f ms"
                     % (1e3 * told["device"]["inputs"], 1e3 * told["median"])])
    for (way, precision, channels_last), seconds in peers.items():
        name = "PyTorch " + way + (", channels_last" if channels_last else "")
        if isinstance(seconds, str):
            rows.append([name, precision, "", "", "", seconds])
            continue
        ratio = "%.2f" % (seconds / ours[precision]) if precision in ours else ""
        rows.append([name, precision, "%.3f" % (1e3 * seconds), "%.1f" % (batch / seconds), ratio, ""])
    table(stage, ["", "precision", "ms", "images/s", "unetc is faster by", ""], rows)


def longest_parts(stage, spec, found):
    parts = sorted(found["train"]["device"]["parts"], key=lambda part: -part["seconds"])
    stage.say("Longest parts of %s, launched one by one, ms: %s" % (
        spec.name, ", ".join("%s %.3f" % (part["name"], 1e3 * part["seconds"]) for part in parts[:12])))
    stage.say("")


def main():
    stage = Stage("speed", __doc__)
    device = "cpu" if stage.dry else "cuda"
    by_config, ours = {}, {}
    for spec in programs.specs("speed", stage.dry):
        by_config.setdefault(spec.config, []).append(spec)
    for config, specs in by_config.items():
        ours[config] = {spec.precision: found for spec in specs for found in [bench(stage, spec)] if found}
    peers = {(config, training): {} for training in (True, False) for config in by_config}
    for way in DRY_WAYS if stage.dry else WAYS:
        for (config, training), found in peers.items():
            found[way] = measure(stage, by_config[config][0], training, way, device)
            stage.results.setdefault("PyTorch", []).append(
                {"config": config, "training": training, "way": way[0], "precision": way[1], "channels_last": way[2],
                 "seconds": found[way]})
            stage.save()
    for (config, training), found in peers.items():
        program = "train" if training else "predict"
        tell(stage, by_config[config][0], training, ours_of(ours[config], program), ours[config], found)
    for config, specs in by_config.items():
        for spec in specs:
            if spec.precision in ours[config]:
                longest_parts(stage, spec, ours[config][spec.precision])
    stage.done()


main()

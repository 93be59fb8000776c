"""numerics.py - stage 1: every kernel against its reference, and ten training steps of whole nets against PyTorch.

PyTorch trains the same net from the same weights on the same batches twice: in float64, which is the truth here, and in
the precision of our program. An error is the L2 norm of the difference from the truth over the norm of the truth. Ours
may be at most FACTOR times PyTorch's own error of that tensor, or PyTorch's worst error among the tensors, or FLOOR.
"""
import contextlib
import json
import os
import subprocess

import numpy
import torch

import programs
from stage import Stage, table

import record  # tests/oracle, which stage makes known

STEPS, RATE, FACTOR = 10, 5e-4, 4
FLOOR = {"f32": 2e-6, "tf32": 2e-3, "bf16": 2e-2}


def kernels(stage):
    for stored in programs.stored_types(stage.dry):
        program = os.path.join(stage.folder, "kernels-" + stored.strip("_"), "kernels")
        done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        said = done.stdout.strip().splitlines() or ["nothing"]
        stage.check("kernels of %s: exit code %d" % (stored, done.returncode), done.returncode == 0)
        for line in said if done.returncode else said[-1:]:
            stage.say("- kernels, %s: %s" % (stored, line))
        stage.results["kernels " + stored] = said[-1]
    stage.say("")


def make_net(spec):
    torch.manual_seed(0)
    return record.NETS[spec.net](**{spec.define: spec.width})


def make_batches(spec):
    """Like pictures: so many 255ths."""
    generator = torch.Generator().manual_seed(1)
    shape = (spec.batch, 3, spec.size, spec.size)
    return [[torch.randint(0, 256, shape, generator=generator).float() / 255 for _ in range(2)] for _ in range(STEPS)]


def set_precision(precision):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision != "f32"


class Trained:
    """Losses of all steps, and as arrays by name: gradients of the first step, weights after the last, predictions."""

    def __init__(self, losses, gradients, weights, prediction):
        self.losses, self.gradients, self.weights, self.prediction = losses, gradients, weights, prediction


def arrays(tensors):
    """Copies: PyTorch goes on with its own."""
    return {name: tensor.detach().double().cpu().numpy().ravel().copy() for name, tensor in tensors}


def train_torch(spec, device, precision):
    """PRECISION f64, f32, tf32 or bf16."""
    real = torch.float64 if precision == "f64" else torch.float32
    net = make_net(spec).to(device=device, dtype=real)
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    set_precision(precision)

    def answer(photo):
        with torch.autocast(device, dtype=torch.bfloat16) if precision == "bf16" else contextlib.nullcontext():
            return net(photo)

    losses = []
    for photo, clean in make_batches(spec):
        photo, clean = photo.to(device, real), clean.to(device, real)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(answer(photo).to(real), clean)
        loss.backward()
        if not losses:
            gradients = arrays((name, value.grad) for name, value in net.named_parameters())
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        prediction = arrays([("prediction", answer(photo[:1]))])
    return Trained(losses, gradients, arrays(net.named_parameters()), prediction)


def train_ours(stage, spec):
    """The program, fed with the same numbers."""
    with open(stage.path(spec, "plan.json")) as file:
        offsets = json.load(file)["gradients"]
    state = {name: value.numpy() for name, value in make_net(spec).state_dict().items()}
    data = [value.astype("<f4").tobytes() for value in state.values()]
    data += [picture.numpy().astype("<f4").tobytes() for batch in make_batches(spec) for picture in batch]
    command = [stage.path(spec, "program"), "steps", str(STEPS)] + [str(offsets[name]) for name in state]
    done = subprocess.run(command, input=b"".join(data), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise RuntimeError("exit code %d: %s" % (done.returncode, done.stderr.decode(errors="replace")[-2000:]))
    numbers, taken = numpy.frombuffer(done.stdout, "<f8"), 0

    def take(count):
        nonlocal taken
        taken += count
        return numbers[taken - count:taken]

    results = (len(numbers) - 2 * sum(v.size for v in state.values()) - 3 * spec.size**2) // STEPS
    losses = [take(results)[0]]
    gradients = {name: take(value.size) for name, value in state.items()}
    losses += [take(results)[0] for _ in range(STEPS - 1)]
    weights = {name: take(value.size) for name, value in state.items()}
    prediction = {"prediction": take(3 * spec.size**2)}
    if taken != len(numbers) or results < 1:
        raise RuntimeError("it wrote %d numbers, not %d" % (len(numbers), taken))
    return Trained([float(loss) for loss in losses], gradients, weights, prediction)


def error(values, truth):
    norm = numpy.linalg.norm(truth)
    return float(numpy.linalg.norm(values - truth) / norm) if norm > 0 else float(numpy.linalg.norm(values))


def compare(stage, spec, what, ours, peer, truth):
    """The worst error of ours and of PyTorch's; each must be within its bound."""
    mine = {name: error(ours[name], truth[name]) for name in truth}
    theirs = {name: error(peer[name], truth[name]) for name in truth}
    for name in truth:
        bound = max(FACTOR * theirs[name], max(theirs.values()), FLOOR[spec.precision])
        stage.check("%s, %s of %s: off by %.2e, allowed %.2e" % (spec.name, what, name, mine[name], bound),
                    mine[name] <= bound)
    worst = {"ours": max(mine.values()), "PyTorch": max(theirs.values())}
    stage.results.setdefault(spec.name, {})[what] = worst
    return worst


def nets(stage, device):
    rows, truths = [], {}
    for spec in programs.specs("numerics", stage.dry):
        if stage.late():
            stage.check("%s: no time left" % spec.name, False)
            continue
        try:
            if spec.config not in truths:
                truths[spec.config] = train_torch(spec, device, "f64")
            truth = truths[spec.config]
            peer, ours = train_torch(spec, device, spec.precision), train_ours(stage, spec)
        except RuntimeError as problem:
            stage.check("%s: %s" % (spec.name, problem), False)
            continue
        losses = [{str(i): numpy.array([loss]) for i, loss in enumerate(run.losses)} for run in (ours, peer, truth)]
        found = [compare(stage, spec, "loss", *losses)]
        for what in ("gradients", "weights", "prediction"):
            found.append(compare(stage, spec, what, *(getattr(run, what) for run in (ours, peer, truth))))
        rows.append([spec.config, spec.precision] + ["%.1e / %.1e" % (w["ours"], w["PyTorch"]) for w in found])
    stage.say("Largest relative errors against PyTorch in float64, ours / PyTorch's in the same precision:")
    stage.say("")
    table(stage, ["net", "precision", "losses of %d steps" % STEPS, "gradients of step 1", "weights at the end",
                  "prediction"], rows)


def main():
    stage = Stage("numerics", __doc__)
    kernels(stage)
    nets(stage, "cpu" if stage.dry else "cuda")
    stage.done()


main()

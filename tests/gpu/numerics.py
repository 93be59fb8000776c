"""numerics.py - every kernel against its reference, ten training steps of whole nets against PyTorch, and what
cuDNN knows of the device beside what the compiler plans for.

PyTorch trains the same net from the same weights on the same batches twice: in float64, which is the truth here, and in
the precision of our program. At the sizes that `speed` times float64 takes too long: there f32 is the truth, for three
steps, and EXACT takes the place of its error. An error is the L2 norm of the difference from the truth over the norm of the truth. Ours
may be at most FACTOR times PyTorch's own error of that tensor, or PyTorch's worst error among the tensors, or FLOOR.
Where PyTorch has no f16 (on a processor), an eighth of its errors in bf16 takes the place.
"""
import json
import os
import subprocess

import numpy
import torch

import precisions
import programs
from stage import Stage

import record  # tests/oracle, which stage makes known

RATE, FACTOR = 5e-4, 4
STEPS, STEPS_LARGE, LARGE = 10, 3, 256  # the latter from such a size on
FLOOR = {"f32": 2e-6, "tf32": 2e-3, "bf16": 2e-2, "f16": 3e-3}
EXACT = 1e-3  # of f32 beside an f32 that adds in another order, weights and gradients that are nearly nothing included


class Course:
    """How many steps are compared, and with what: f64, or f32."""

    def __init__(self, steps, truth):
        self.steps, self.truth = steps, truth


def course(spec):
    return Course(STEPS, "f64") if spec.size < LARGE else Course(STEPS_LARGE, "f32")



def kernels(stage):
    for stored in programs.stored_types(stage.dry):
        program = os.path.join(stage.folder, "kernels-" + stored.strip("_"), "kernels")
        done = stage.run([program], stderr=subprocess.STDOUT)
        said = done.stdout.decode(errors="replace").strip().splitlines() or ["nothing"]
        stage.succeeded("kernels of %s" % stored, done)
        for line in said if done.returncode else said[-1:]:
            stage.say("- kernels, %s: %s" % (stored, line))
        stage.results["kernels " + stored] = said[-1]
        stage.save()


def device(stage, spec):
    """Where the device differs from the one that the compiler described to cuDNN."""
    assumed = (stage.plan(spec) or {}).get("device") or {}
    done = stage.run([stage.path(spec, "program"), "device"])
    if not stage.succeeded("what cuDNN knows of the device", done):
        return
    found = json.loads(done.stdout)
    stage.results["cuDNN of the device"], stage.results["device planned for"] = found, assumed
    table = stage.table("cuDNN %s: what it knows of the device where that is not what is planned for." % found["cuDNN"],
                        ["property", "device", "planned for"])
    for name in sorted(found["device"].keys() | assumed.keys()):
        if found["device"].get(name) != assumed.get(name):
            table.add(name, found["device"].get(name, ""), assumed.get(name, ""))


def make_net(spec):
    torch.manual_seed(0)
    return record.NETS[spec.net](**{spec.define: spec.width})


def make_batches(spec, steps):
    """Like pictures: so many 255ths."""
    generator = torch.Generator().manual_seed(1)
    shape = (spec.batch, 3, spec.size, spec.size)
    return [[torch.randint(0, 256, shape, generator=generator).float() / 255 for _ in range(2)] for _ in range(steps)]


class Trained:
    """Losses of all steps, and as arrays by name: gradients of the first step, weights after the last, predictions."""

    def __init__(self, losses, gradients, weights, prediction):
        self.losses, self.gradients, self.weights, self.prediction = losses, gradients, weights, prediction


def arrays(tensors):
    """Copies: PyTorch goes on with its own."""
    return {name: tensor.detach().double().cpu().numpy().ravel().copy() for name, tensor in tensors}


def train_torch(spec, device, precision, steps):
    """PRECISION f64, f32, tf32, bf16 or f16, whose loss is scaled."""
    real = torch.float64 if precision == "f64" else torch.float32
    net = make_net(spec).to(device=device, dtype=real)
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    scaler = precisions.scaler(precision)
    precisions.choose(precision)

    def answer(photo):
        with precisions.cast(precision, device):
            return net(photo)

    losses = []
    for photo, clean in make_batches(spec, steps):
        photo, clean = photo.to(device, real), clean.to(device, real)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(answer(photo).to(real), clean)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if not losses:
            gradients = arrays((name, value.grad) for name, value in net.named_parameters())
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    with torch.no_grad():
        prediction = arrays([("prediction", answer(photo[:1]))])
    return Trained(losses, gradients, arrays(net.named_parameters()), prediction)


def train_ours(stage, spec, offsets, steps):
    """The program, fed with the same numbers; OFFSETS: of gradients."""
    state = {name: value.numpy() for name, value in make_net(spec).state_dict().items()}
    data = [value.astype("<f4").tobytes() for value in state.values()]
    data += [picture.numpy().astype("<f4").tobytes() for batch in make_batches(spec, steps) for picture in batch]
    command = [stage.path(spec, "program"), "steps", str(steps)] + [str(offsets[name]) for name in state]
    done = stage.run(command, spec, input=b"".join(data))
    if not stage.succeeded(spec.name, done):
        return None
    numbers, taken = numpy.frombuffer(done.stdout, "<f8"), 0

    def take(count):
        nonlocal taken
        taken += count
        return numbers[taken - count:taken]

    results = (len(numbers) - 2 * sum(v.size for v in state.values()) - 3 * spec.size**2) // steps
    losses = [take(results)[0]]
    gradients = {name: take(value.size) for name, value in state.items()}
    losses += [take(results)[0] for _ in range(steps - 1)]
    weights = {name: take(value.size) for name, value in state.items()}
    prediction = {"prediction": take(3 * spec.size**2)}
    if taken != len(numbers) or results < 1:
        raise RuntimeError("it wrote %d numbers, not %d" % (len(numbers), taken))
    return Trained([float(loss) for loss in losses], gradients, weights, prediction)


def error(values, truth):
    norm = numpy.linalg.norm(truth)
    return float(numpy.linalg.norm(values - truth) / norm) if norm > 0 else float(numpy.linalg.norm(values))


def compare(stage, spec, what, share, floor, ours, peer, truth):
    """The worst error of ours and of PyTorch's, of which SHARE counts; each must be within its bound."""
    mine = {name: error(ours[name], truth[name]) for name in truth}
    theirs = {name: share * error(peer[name], truth[name]) for name in truth}
    for name in truth:
        bound = max(FACTOR * theirs[name], max(theirs.values()), floor)
        stage.check("%s, %s of %s: off by %.2e, allowed %.2e" % (spec.name, what, name, mine[name], bound),
                    mine[name] <= bound)
    worst = {"ours": max(mine.values()), "PyTorch": max(theirs.values())}
    stage.results.setdefault(spec.name, {})[what] = worst
    return worst


HEAD = ["net", "precision", "steps, truth", "losses", "gradients of step 1", "weights at the end", "prediction"]
TITLE = "Largest relative errors against PyTorch in float64 or f32 (truth), ours / PyTorch's in the same precision."


def compare_net(stage, spec, device, how, truths, table):
    """TRUTHS: those computed already, by net and course."""
    plan = stage.plan(spec)
    if plan is None:
        return
    key = (spec.config, how.steps, how.truth)
    if key not in truths:
        truths[key] = train_torch(spec, device, how.truth, how.steps)
    truth = truths[key]
    precision, share = ("bf16", 1 / 8) if (device, spec.precision) == ("cpu", "f16") else (spec.precision, 1)
    peer, ours = train_torch(spec, device, precision, how.steps), train_ours(stage, spec, plan["gradients"], how.steps)
    if ours is None:
        return
    floor = max(FLOOR[spec.precision], EXACT if how.truth == "f32" else 0)
    losses = [{str(i): numpy.array([loss]) for i, loss in enumerate(run.losses)} for run in (ours, peer, truth)]
    found = [compare(stage, spec, "loss", share, floor, *losses)]
    for what in ("gradients", "weights", "prediction"):
        found.append(compare(stage, spec, what, share, floor, *(getattr(run, what) for run in (ours, peer, truth))))
    table.add(spec.config, spec.kind, "%d, %s" % (how.steps, how.truth),
              *["%.1e / %.1e" % (w["ours"], w["PyTorch"]) for w in found])


def nets(stage, specs, device, course_of=course):
    truths, table = {}, stage.table(TITLE, HEAD)
    for spec in specs:
        if stage.late(spec.name):
            continue
        try:
            compare_net(stage, spec, device, course_of(spec), truths, table)
        except RuntimeError as problem:
            stage.check("%s: %s" % (spec.name, problem), False)


def main():
    stage = Stage("numerics", __doc__)
    specs = programs.specs("numerics", stage.dry)
    kernels(stage)
    device(stage, specs[0])
    nets(stage, specs, "cpu" if stage.dry else "cuda")
    stage.done()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""fifty_steps_test.py --unetc=UNETC --runtime=LIBRARY: converted networks train as PyTorch trains them.

Networks of tests/models are converted by examples/from_pytorch and trained for fifty steps on one batch of random numbers, by
PyTorch and by unetc, both in double, each by another optimiser.  The loss of every step is PyTorch's within 1e-6 of it.
Runs in the Python that has PyTorch, else exits with 77."""

import array
import os
import sys
import tempfile

import cases
import run_oracle
import safetensors
import with_pytorch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "models"))
TOLERANCE, BATCH, STEPS = 1e-6, 2, 50
# name, its definitions, the size of an input, the optimiser, as PyTorch and as the language call it
NETS = [("milesial", {"width": 4}, (3, 32, 48), ("SGD", {"lr": 0.01, "momentum": 0.9}), "sgd(lr = 0.01, momentum = 0.9)"),
        ("pix2pix", {"widths": (4, 5, 6, 7)}, (3, 32, 48), ("Adam", {"lr": 2e-4, "betas": (0.5, 0.999)}),
         "adam(lr = 2e-4, betas = [0.5, 0.999])"),
        ("fastmri", {"channels": 4, "depth": 3}, (1, 32, 48), ("RMSprop", {"lr": 1e-3}), "rmsprop(lr = 1e-3)")]
TRAIN = """
target truth : image({size})
train {{
    loss  mse({output}, truth)
    optimizer {optimizer}
    batch {batch}
    steps {steps}
}}
"""


def numbers(tensor):
    return safetensors.Tensor(tensor.shape, array.array("d", tensor.detach().double().flatten().tolist()))


def trained(network, optimizer, x, target):
    """The losses of PyTorch."""
    import torch
    kind, settings = optimizer
    optimizer = getattr(torch.optim, kind)(network.train().parameters(), **settings)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(network(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def check(tools, module, name, definitions, size, optimizer, written):
    import nets
    import torch
    torch.manual_seed(0)
    network = nets.NETS[name](**definitions)
    with_pytorch.spread(network)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + ".unet")
        weights = safetensors.read(module.convert(network, size, path, check=False))[0]
        x = torch.rand(BATCH, *size).double()
        exact = network.double().eval()(x)
        target = torch.rand(exact.shape).double()
        with open(path) as file:
            text = file.read()
        output = text.rpartition("\noutput ")[2].split()[0]
        with open(path, "w") as file:
            file.write(text + TRAIN.format(size=", ".join(map(str, exact.shape[1:])), output=output, optimizer=written, batch=BATCH,
                                           steps=STEPS))
        model = run_oracle.Model(tools, folder, path, {}, size[1:], BATCH, run_oracle.DOUBLE)
        vectors = {"initial/" + key: numbers(torch.tensor(weights[key].values.tolist())) for key in model.parameters}
        vectors.update(input=numbers(x), target=numbers(target), output=numbers(exact))
        ours = model.run(BATCH, vectors).losses
    theirs = trained(network, optimizer, x, target)
    worst = max(abs(a / b - 1) for a, b in zip(ours, theirs))
    print("%-10s %d steps, loss %.6f to %.6f, PyTorch's within %.1e" % (name, len(ours), ours[0], ours[-1], worst))
    return worst <= TOLERANCE and len(ours) == len(theirs) == STEPS


def main():
    tools = with_pytorch.options(__doc__)
    module = with_pytorch.converter()
    cases.STEPS = STEPS
    sound = [check(tools, module, *net) for net in NETS if not tools.net or net[0] in tools.net]
    return 0 if all(sound) else 1


if __name__ == "__main__":
    sys.exit(main())

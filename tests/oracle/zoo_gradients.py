"""Gradients of one training step of a converted network beside PyTorch's, both in double.

    largest_error(from_pytorch, network, size) -> the largest relative error

Two samples of random numbers, the mean square against random targets; batch norm takes the statistics of the batch,
and nothing drops out.  Errors are relative to the norm of a tensor's gradient.  A gradient that is zero but for
rounding, such as the one of a bias in front of batch norm, is compared with a millionth of the largest one.
"""

import argparse
import array
import os
import sys
import tempfile

import cases
import run_oracle
import safetensors

BATCH = 2
LEAST = 1e-6
TRAIN = """
target truth : {kind}({size})
train {{
    loss  mse(result, truth)
    batch {batch}
    steps 1
}}
"""
# others' packages mean another one by this name
sys.modules.pop("safetensors")


def numbers(tensor):
    return safetensors.Tensor(tensor.shape, array.array("d", tensor.detach().double().flatten().tolist()))


def tools():
    unetc = os.environ.get("UNETC", os.path.join(cases.ROOT, "build", "unetc"))
    runtime = run_oracle.execute([unetc, "runtime"]).decode().strip()
    return argparse.Namespace(unetc=unetc, runtime=os.path.join(runtime, "libunet_runtime.a"), flags=[],
                              include=os.path.join(cases.ROOT, "runtime", "include"))


def learning(network):
    """In evaluation, but for batch norm."""
    import torch
    for module in network.double().eval().modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.train()
    return network


def steps(from_pytorch, network, size):
    """The step of the network, by PyTorch and by unetc: {name in the file: gradient} twice."""
    import torch
    for module in network.modules():
        if isinstance(module, torch.nn.modules.dropout._DropoutNd):
            module.p = 0.0
    translation, text = from_pytorch.translated(network, [size])
    if len(translation.outputs) != 1:
        raise from_pytorch.Inexpressible("gradients are compared of networks with one output alone")
    tensors = from_pytorch.weights.file_tensors(translation)
    x = torch.rand(BATCH, *size).double()
    exact, = [tensor for _, tensor in from_pytorch.checking.labelled(learning(network)(x))]
    layout, = translation.layouts
    exact = exact if layout is None else layout.of(exact)
    target = torch.rand(exact.shape).double()
    torch.nn.functional.mse_loss(exact, target).backward()
    parameters = dict(network.named_parameters(remove_duplicate=False))
    theirs = {name: stored.of(parameters[stored.path].grad) for name, stored in translation.tensors.items()
              if stored.path in parameters and parameters[stored.path].grad is not None}
    vectors = {"initial/" + name: numbers(tensor) for name, tensor in tensors}
    vectors.update(input=numbers(x), target=numbers(target), output=numbers(exact))
    return theirs, own_step(text, size, shape_of(exact, size), vectors)


def shape_of(exact, size):
    """The output's, with an axis of one point for each that it lacks."""
    shape = list(exact.shape[1:])
    return shape + [1] * (len(size) - len(shape))


def own_step(text, size, shape, vectors):
    cases.STEPS = 1
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.unet")
        with open(path, "w") as file:
            file.write(text.replace('"computed"', '"fixed"') + TRAIN.format(
                kind={2: "signal", 3: "image", 4: "volume"}[len(size)], batch=BATCH, size=", ".join(map(str, shape))))
        model = run_oracle.Model(tools(), folder, path, {}, size[1:], BATCH, run_oracle.DOUBLE)
        return model.run(BATCH, vectors).gradients


def largest_error(from_pytorch, network, size):
    theirs, ours = steps(from_pytorch, network, size)
    norms = {name: theirs[name].norm().item() for name in ours}
    floor = LEAST * max(norms.values())
    errors = {}
    for name, values in ours.items():
        difference = theirs[name].flatten() - theirs[name].new_tensor(values.tolist())
        errors[name] = difference.norm().item() / max(norms[name], floor)
    return max(errors.values())

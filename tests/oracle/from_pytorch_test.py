#!/usr/bin/env python3
"""from_pytorch_test.py --unetc=UNETC --runtime=LIBRARY [NET...]: networks that examples/from_pytorch converts, compiled for
double precision, predict what PyTorch does, to 1e-9, and have its parameters by name; what cannot be said is an error that
names the module.  Exits with 77 where there is no PyTorch that has torch.export; networks of others' packages are left out
where these are missing."""

import argparse
import array
import importlib.util
import os
import subprocess
import sys
import tempfile

import cases
import run_oracle
import safetensors

TOLERANCE = 1e-9
TRAIN = """
target truth : image({size})
train {{
    loss  mse({output}, truth)
    batch 1
    steps 1
}}
"""


def converter():
    path = os.path.join(cases.ROOT, "examples", "from_pytorch", "from_pytorch.py")
    spec = importlib.util.spec_from_file_location("from_pytorch", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers(tensor):
    return safetensors.Tensor(tensor.shape, array.array("d", tensor.detach().double().flatten().tolist()))


def check(tools, module, name, make, size):
    import torch
    torch.manual_seed(0)
    network = make()
    for key, value in network.state_dict().items():
        if key.endswith("running_var"):
            value.uniform_(0.5, 2)
        elif key.endswith("running_mean"):
            value.uniform_(-1, 1)
    x = torch.rand(1, *size)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + ".unet")
        weights = safetensors.read(module.convert(network, size, path))[0]
        network.double().eval()
        exact = network(x.double())
        with open(path) as file:
            text = file.read()
        again = module.text_of(network.float(), size)
        assert again == text, name + ": another file for the same network"
        output = text.rpartition("\noutput ")[2].split()[0]
        with open(path, "w") as file:
            file.write(text + TRAIN.format(size=", ".join(str(n) for n in exact.shape[1:]), output=output))
        model = run_oracle.Model(tools, folder, path, {}, size[1:], 1, run_oracle.DOUBLE)
        assert set(weights) == set(model.parameters), "%s: parameters differ: %s" % (
            name, sorted(set(weights) ^ set(model.parameters))[:5])
        vectors = {"initial/" + key: numbers(torch.tensor(weights[key].values.tolist())) for key in model.parameters}
        vectors.update(input=numbers(x), target=numbers(torch.zeros_like(exact)), output=numbers(exact))
        answer = model.run(1, vectors)
    error = run_oracle.relative_error(answer.output, vectors["output"].values)
    assert error <= TOLERANCE, "%s: the output is off by %.3g" % (name, error)
    print("%-18s %3d lines, %3d parameters, largest error %.1e" % (name, text.count("\n"), len(model.parameters), error))


def check_refused(module, name, make, says):
    try:
        module.text_of(make(), (3, 16, 16))
    except module.Inexpressible as error:
        assert says in str(error), "%s: `%s` does not say `%s`" % (name, error, says)
    else:
        raise AssertionError(name + " was converted")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--runtime", required=True)
    parser.add_argument("net", nargs="*")
    tools = parser.parse_args()
    tools.flags, tools.include = [], os.path.join(cases.ROOT, "runtime", "include")
    try:
        import torch.export
    except ImportError:
        print("SKIPPED: there is no PyTorch with torch.export here")
        return 77
    import from_pytorch_nets as nets
    # others' packages mean another one by this name
    sys.modules.pop("safetensors")
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    module = converter()
    for name, make, size in nets.NETS:
        if tools.net and name not in tools.net:
            continue
        try:
            check(tools, module, name, make, size)
        except ModuleNotFoundError as error:
            print("%-18s left out: %s" % (name, error))
    for name, make, says in nets.REFUSED:
        check_refused(module, name, make, says)
    return 0


sys.exit(main())

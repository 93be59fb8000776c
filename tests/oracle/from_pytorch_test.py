#!/usr/bin/env python3
"""from_pytorch_test.py --unetc=UNETC --runtime=LIBRARY [NET...]: networks that examples/from_pytorch converts.

Networks of from_pytorch_nets.py, compiled for double precision, predict what PyTorch does, to 1e-9, and have its parameters
by name.  Modules of from_pytorch_modules.py pass the converter's own comparison, or are refused by a line that names the
module.  Trained weights come back into all of them.  Runs in the Python that has PyTorch, else exits with 77; networks of
others' packages are left out where these are missing.
"""

import array
import os
import sys
import tempfile

import run_oracle
import safetensors
import with_pytorch

TOLERANCE = 1e-9
# The file lacks a layer that is never called, a buffer whose numbers stand in the text, and weights that computed ones replace.
STAY = {"unused_layer": ["unused.weight", "unused.bias"], "number_buffer": ["g"], "tokens_with_positions": ["w"], "constant_as_its_neighbour": ["mean"],
        "normalised": ["mean", "std"], "standardised": ["c.weight", "c.bias"], "computed": ["k", "b"],
        "computed_linear": ["f.weight", "f.bias"], "computed_constant": ["m"], "constant_condition": ["m"],
        "windows": ["2.mask", "3.mask"], "cosine_windows": ["2.mask"], "attention_of_pairs": ["mask"], "attention_with_computed_bias": ["b"], "computed_summand": ["b"], "summand_of_a_layer": ["e.weight", "e.bias"]}
# the network computes weights of weights: a file with `train` is refused until it says "fixed"
COMPUTED = {"standardised", "computed", "computed_linear", "computed_summand", "summand_of_a_layer",
            "attention_with_computed_bias"}
TRAIN = """
target truth : image({size})
train {{
    loss  mse({output}, truth)
    batch 1
    steps 1
}}
"""


def numbers(tensor):
    return safetensors.Tensor(tensor.shape, array.array("d", tensor.detach().double().flatten().tolist()))


def check(tools, module, name, make, size):
    import torch
    torch.manual_seed(0)
    network = make()
    with_pytorch.spread(network)
    x = torch.rand(1, *size)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + ".unet")
        weights = safetensors.read(module.convert(network, size, path, check=False))[0]
        network.double().eval()
        exact = network(x.double())
        with open(path) as file:
            text = file.read()
        again = module.text_of(network.float(), size)
        assert again == text, name + ": another file for the same network"
        output = text.rpartition("\noutput ")[2].split()[0]
        assert ('weights = "computed"' in text) == (name in COMPUTED), name + ": are weights computed?"
        with open(path, "w") as file:
            file.write(text.replace('"computed"', '"fixed"') + TRAIN.format(
                size=", ".join(str(n) for n in exact.shape[1:]), output=output))
        model = run_oracle.Model(tools, folder, path, {}, size[1:], 1, run_oracle.DOUBLE)
        assert set(weights) == set(model.parameters), "%s: parameters differ: %s" % (
            name, sorted(set(weights) ^ set(model.parameters))[:5])
        vectors = {"initial/" + key: numbers(torch.tensor(weights[key].values.tolist())) for key in model.parameters}
        vectors.update(input=numbers(x), target=numbers(torch.zeros_like(exact)), output=numbers(exact))
        answer = model.run(1, vectors)
    error = run_oracle.relative_error(answer.output, vectors["output"].values)
    assert error <= TOLERANCE, "%s: the output is off by %.3g" % (name, error)
    print("%-18s %3d lines, %3d parameters, largest error %.1e" % (name, text.count("\n"), len(model.parameters), error))


def check_module(module, name, make, size):
    """Converts, and compares itself; weights that were changed come back, all of them."""
    import torch
    import to_pytorch
    torch.manual_seed(0)
    network = make()
    with_pytorch.spread(network)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + ".unet")
        try:
            weights = module.convert(network, size, path)
        except (module.Inexpressible, module.NotEqual) as error:
            raise AssertionError("%s: %s" % (name, error)) from None
        before = {key: value.clone() for key, value in network.state_dict().items()}
        for value in network.parameters():
            torch.nn.init.constant_(value, 7)
        kept = to_pytorch.load_trained(network, path, weights)
    for key, value in network.state_dict().items():
        assert key in kept or torch.equal(value, before[key]), "%s: `%s` does not come back" % (name, key)
    assert kept == STAY.get(name, []), "%s: left out: %s" % (name, kept)


def check_refused(module, name, make, size, says):
    try:
        module.text_of(make(), size)
    except module.Inexpressible as error:
        assert says in str(error), "%s: `%s` does not say `%s`" % (name, error, says)
        assert "\n" not in str(error), "%s: more than a line: %s" % (name, error)
    else:
        raise AssertionError(name + " was converted")


def main():
    tools = with_pytorch.options(__doc__)
    module = with_pytorch.converter()
    import from_pytorch_modules as modules
    import from_pytorch_nets as nets
    # others' packages mean another one by this name
    sys.modules.pop("safetensors")
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    for name, make, size in nets.NETS:
        if tools.net and name not in tools.net:
            continue
        try:
            check(tools, module, name, make, size)
        except ModuleNotFoundError as error:
            print("%-18s left out: %s" % (name, error))
    count = 0
    for name, make, size in modules.RIGHT:
        if not tools.net or name in tools.net:
            check_module(module, name, make, size)
            count += 1
    for name, make, size, says in nets.REFUSED + modules.REFUSED:
        if not tools.net or name in tools.net:
            check_refused(module, name, make, size, says)
            count += 1
    print("%d modules, converted or refused" % count)
    return 0


sys.exit(main())

#!/usr/bin/env python3
"""from_pytorch.py - writes a torch.nn.Module as a .unet file, and its weights as a safetensors file.

    from_pytorch.py MODULE:EXPRESSION --size=CxHxW [-o NAME.unet]

MODULE is a Python file or an importable module, EXPRESSION what makes the network: `unet.py:UNet(3, 2)`.  A volume has
--size=CxDxHxW; a network of several inputs a --size for each.  Out of Python:

    from from_pytorch import convert
    convert(network, (3, 256, 256), "unet.unet")        # and unet.safetensors

PyTorch records what the network computes in evaluation (torch.export of PyTorch 2.5 and newer; from 1.13 on the tracer of
torch.jit).  A module that repeats becomes a block; what differs between its calls becomes the block's arguments.  Every
layer has the name it has in the state dict, so the weights load as they are.  What the language has no words for is an
error that names the module and its line.

When both files are written, the network runs once on random numbers, and a program that unetc makes of the files has to
compute the same, in double precision; --no-check leaves that out.  to_pytorch.py brings trained weights back.

The .unet file holds the network alone: add the sections `data` and `train` to train it.
"""

import argparse
import importlib
import importlib.util
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from converter import Inexpressible  # noqa: E402
from converter import check as checking  # noqa: E402
from converter import capture, naming, translate, weights, writing  # noqa: E402

__all__ = ["Inexpressible", "NotEqual", "convert", "load", "text_of"]
NotEqual = checking.NotEqual


def sizes_of(size):
    """(3, 256, 256) or [(3, 256, 256), (1, 64, 64)] as a list."""
    return [tuple(part) for part in size] if isinstance(size[0], (list, tuple)) else [tuple(size)]


def translated(network, size):
    """The network in words of the language, and its title."""
    was_training = network.training
    network.eval()
    try:
        translation = translate.Translation(capture.capture(network, sizes_of(size)), type(network).__name__)
    finally:
        network.train(was_training)
    count = sum(parameter.numel() for parameter in network.parameters())
    return translation, "%s: %s parameters." % (type(network).__name__, format(count, ","))


def text_of(network, size):
    """The .unet file of NETWORK for inputs of SIZE, (channels, height, width), or a list of such."""
    translation, title = translated(network, size)
    return writing.file_text(title, translation)


def convert(network, size, path, check=True):
    """Writes PATH, a .unet file, and beside it the weights; returns the path of these.  With `check` they are compared with
    the network: raises NotEqual."""
    translation, title = translated(network, size)
    text = writing.file_text(title, translation)
    beside = os.path.splitext(path)[0] + ".safetensors"
    tensors = weights.file_tensors(translation)
    weights.write_file(path, text.encode())
    weights.write_file(beside, weights.safetensors(tensors))
    if check:
        compared(network, translation, text, tensors)
    return beside


def compared(network, translation, text, tensors):
    was_training = network.training
    network.eval()
    try:
        checking.compare(network, translation, text, tensors)
    except checking.Unable as error:
        print("from_pytorch.py: the files are not compared with the network: %s" % error, file=sys.stderr)
    finally:
        network.train(was_training)


def load(source):
    """The network that MODULE:EXPRESSION makes."""
    place, colon, expression = source.partition(":")
    if not colon:
        raise SystemExit("from_pytorch.py: write MODULE:EXPRESSION, such as unet.py:UNet(3, 2), not %s" % source)
    sys.path.insert(0, os.path.dirname(os.path.abspath(place)) if place.endswith(".py") else os.getcwd())
    try:
        if place.endswith(".py"):
            name = os.path.basename(place)[:-3]
            spec = importlib.util.spec_from_file_location(name, place)
            module = importlib.util.module_from_spec(spec)
            sys.modules.setdefault(name, module)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(place)
        network = eval(expression, vars(module))
        network = network() if isinstance(network, type) else network
        assert hasattr(network, "named_modules"), "a %s is no torch.nn.Module" % type(network).__name__
        return network
    except Exception as error:  # noqa: BLE001 - the user's code may raise anything
        raise SystemExit("from_pytorch.py: %s: %s: %s" % (source, type(error).__name__, error)) from None


def size_of(word):
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*){2,3}", word):
        raise SystemExit("from_pytorch.py: --size=%s: write channels, height and width, such as 3x256x256, or channels, depth, "
                         "height and width" % word)
    return tuple(int(number) for number in word.split("x"))


def needs_pytorch():
    try:
        import torch.utils._python_dispatch
        supported = hasattr(torch.utils._python_dispatch, "TorchDispatchMode")
    except ImportError:
        supported = False
    if not supported:
        raise SystemExit("from_pytorch.py: needs PyTorch 1.13 or newer")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", metavar="MODULE:EXPRESSION")
    parser.add_argument("--size", required=True, action="append", metavar="CxHxW")
    parser.add_argument("-o", metavar="NAME.unet")
    parser.add_argument("--no-check", action="store_true", help="do not compare the files with the network")
    options = parser.parse_args()
    sizes = [size_of(word) for word in options.size]
    needs_pytorch()
    network = load(options.network)
    path = options.o or naming.snake(type(network).__name__) + ".unet"
    try:
        beside = convert(network, sizes, path, not options.no_check)
    except (Inexpressible, NotEqual, OSError) as error:
        raise SystemExit("from_pytorch.py: %s" % error) from None
    print("%s and %s" % (path, beside))


if __name__ == "__main__":
    main()

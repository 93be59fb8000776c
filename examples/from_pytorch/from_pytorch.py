#!/usr/bin/env python3
"""from_pytorch.py - writes a torch.nn.Module as a .unet file, and its weights as a safetensors file.

    from_pytorch.py MODULE:EXPRESSION --size=CxHxW [-o NAME.unet]

MODULE is a Python file or an importable module, EXPRESSION what makes the network: `unet.py:UNet(3, 2)`.  A volume has
--size=CxDxHxW, a signal --size=CxL; a network of several inputs has a --size for each.  Out of Python:

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
import contextlib
import importlib
import importlib.util
import math
import os
import re
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from converter import Inexpressible  # noqa: E402
from converter import check as checking  # noqa: E402
from converter import capture, naming, outputs, translate, weights, writing  # noqa: E402

__all__ = ["Inexpressible", "NotEqual", "convert", "load", "text_of"]
NotEqual = checking.NotEqual
# Points of an input that the comparison computes at least.
SMALL = 32 * 32


def sizes_of(size):
    """(3, 256, 256) or [(3, 256, 256), (1, 64, 64)] as a list."""
    return [tuple(part) for part in size] if isinstance(size[0], (list, tuple)) else [tuple(size)]


@contextlib.contextmanager
def evaluating(network):
    """The network in evaluation; afterwards every module is in the mode it was in."""
    modes = [(module, module.training) for module in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


def translated(network, size):
    """The network in words of the language, and the text of its file."""
    with evaluating(network):
        translation = translate.Translation(capture.capture(network, sizes_of(size)), type(network).__name__)
    count = sum(parameter.numel() for parameter in network.parameters())
    return translation, writing.file_text("%s: %s parameters." % (type(network).__name__, format(count, ",")), translation)


def text_of(network, size):
    """The .unet file of NETWORK for inputs of SIZE, (channels, height, width), (channels, length), or a list of such."""
    return translated(network, size)[1]


def folded_notes(translation):
    """About tensors whose numbers the file alone has."""
    computed = [path for path, (_, source) in translation.folded.items() if source is not None]
    constant = [path for path in translation.folded if path not in computed]
    about = [(computed, "computed of weights: the file predicts, and with `train` unetc asks what becomes of these numbers"),
             (constant, "constant: training leaves the numbers in the file as they are")]
    return [("`%s` is %s" % (paths[0], text)) if len(paths) == 1 else
            "%d tensors, `%s` for example, are %s" % (len(paths), paths[0], text) for paths, text in about if paths]


def convert(network, size, path, check=True):
    """Writes PATH, a .unet file, and beside it the weights; returns the path of these.  With `check` they are compared with
    the network: raises NotEqual."""
    translation, text = translated(network, size)
    checking.accepted(text)
    for note in folded_notes(translation) + outputs.notes(translation, writing.output_names(translation)):
        print("from_pytorch.py: %s" % note, file=sys.stderr)
    beside = os.path.splitext(path)[0] + ".safetensors"
    tensors = weights.file_tensors(translation)
    weights.write_file(path, text.encode())
    weights.write_file(beside, weights.safetensors(tensors))
    if check:
        compared(network, size, translation, text, tensors)
    return beside


def without_sizes(text):
    return [line for line in text.splitlines() if not line.startswith("input ")]


def smaller(network, size, translation, text):
    """The same file for smaller inputs, where it is the same: reference kernels are slow."""
    for divisor in (16, 8, 4, 2):
        sizes = [(channels, *[points // divisor for points in rest]) for channels, *rest in sizes_of(size)]
        if any(points % divisor for _, *rest in sizes_of(size) for points in rest) or max(
                math.prod(rest) for _, *rest in sizes) < SMALL:
            continue
        try:
            other, shorter = translated(network, sizes)
        except Inexpressible:
            continue
        if without_sizes(shorter) == without_sizes(text):
            return other, shorter
    return translation, text


def compared(network, size, translation, text, tensors):
    """The largest relative error, or None where nothing can be compiled."""
    with evaluating(network):
        try:
            return checking.compare(network, *smaller(network, size, translation, text), tensors)
        except checking.Unable as error:
            print("from_pytorch.py: the files are not compared with the network: %s" % error, file=sys.stderr)
            return None


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
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*){1,3}", word):
        raise SystemExit("from_pytorch.py: --size=%s: write channels, height and width, such as 3x256x256, or channels, depth, "
                         "height and width, or of a signal channels and length" % word)
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
    except Exception as error:  # noqa: BLE001 - a line is what the user can send us
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise SystemExit("from_pytorch.py: a mistake of the converter: %s: %s (%s:%d); please report it with the network" % (
            type(error).__name__, " ".join(str(error).split())[:200], os.path.basename(place.filename), place.lineno)) from None
    print("%s and %s" % (path, beside))


if __name__ == "__main__":
    main()

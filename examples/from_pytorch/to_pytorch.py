#!/usr/bin/env python3
"""to_pytorch.py - brings weights that a program of unetc trained back into the torch.nn.Module that from_pytorch.py converted.

    to_pytorch.py MODULE:EXPRESSION NAME.unet WEIGHTS.safetensors [-o NAME.pt]

NAME.unet is the file that from_pytorch.py wrote; sections `data` and `train` may have been added.  The state dict is written
to NAME.pt, or beside the weights.  Every weight of the file must be in WEIGHTS, in its shape, and nothing else.  Weights of
layers that the network does not call in evaluation are not in the file: they stay as they are, and are told of.  Out of
Python:

    from to_pytorch import load_trained
    load_trained(network, "unet.unet", "run/unet.safetensors")
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from converter import Inexpressible  # noqa: E402
from converter.weights import load_trained  # noqa: E402
from from_pytorch import load, needs_pytorch  # noqa: E402

__all__ = ["Inexpressible", "load_trained"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", metavar="MODULE:EXPRESSION")
    parser.add_argument("unet", metavar="NAME.unet")
    parser.add_argument("weights", metavar="WEIGHTS.safetensors")
    parser.add_argument("-o", metavar="NAME.pt")
    options = parser.parse_args()
    needs_pytorch()
    import torch
    network = load(options.network)
    path = options.o or os.path.splitext(options.weights)[0] + ".pt"
    try:
        kept = load_trained(network, options.unet, options.weights)
        torch.save(network.state_dict(), path)
    except (Inexpressible, OSError) as error:
        raise SystemExit("to_pytorch.py: %s" % error) from None
    if kept:
        print("to_pytorch.py: not in the file, and left as they are: %s%s" % (
            ", ".join(kept[:5]), " and %d more" % (len(kept) - 5) if kept[5:] else ""), file=sys.stderr)
    print(path)


if __name__ == "__main__":
    main()

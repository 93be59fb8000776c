"""What the tests of examples/from_pytorch share: the Python that has PyTorch, the converter, weights that hide nothing."""

import argparse
import os
import subprocess
import sys

import cases

# Debian's package python3-torch is for this one.
SYSTEM = "/usr/bin/python3"
SKIPPED = 77


def options(words):
    """Of the command line; goes on in another Python where this one has no PyTorch, and exits where none has."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--runtime", required=True)
    parser.add_argument("--flags", default="", help="of the C compiler")
    parser.add_argument("net", nargs="*")
    tools = parser.parse_args()
    try:
        import torch  # noqa: F401
    except ImportError:
        if os.path.realpath(sys.executable) != os.path.realpath(SYSTEM) and os.access(SYSTEM, os.X_OK) and not subprocess.run(
                [SYSTEM, "-c", "import torch"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            os.execv(SYSTEM, [SYSTEM, "-B"] + sys.argv)
        print("SKIPPED: there is no PyTorch here")
        sys.exit(SKIPPED)
    tools.flags, tools.include = tools.flags.split(), os.path.join(cases.ROOT, "runtime", "include")
    os.environ["UNETC"] = os.path.abspath(tools.unetc)
    os.environ["CC"] = " ".join([os.environ.get("CC", "cc")] + tools.flags)
    return tools


def converter():
    folder = os.path.join(cases.ROOT, "examples", "from_pytorch")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import from_pytorch
    return from_pytorch


def spread(network):
    """Statistics and factors are not what they are at first, so that none can be left out unseen."""
    for key, value in network.state_dict().items():
        if key.endswith("running_var"):
            value.uniform_(0.5, 2)
        elif value.is_floating_point() and value.dim() == 1:
            value.uniform_(-1, 1)

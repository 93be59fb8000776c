"""Names: of blocks, values and weights, and the words of the language that none of them may be.

    words() -> set              as `unetc words` prints them, or, without unetc, as the syntax file of the editors lists them
    weight_name(path)           how the file calls a weight of the state dict
    snake("DoubleConv")         "double_conv"
"""

import functools
import os
import re
import shutil
import subprocess

from . import Inexpressible

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
SYNTAX = os.path.join(ROOT, "dsl", "editors", "vim", "syntax", "unet.vim")


def compiler():
    """The path of unetc, or None: $UNETC, that of the PATH, or that of this source tree."""
    for path in (os.environ.get("UNETC"), shutil.which("unetc"), os.path.join(ROOT, "build", "unetc")):
        if path and os.access(path, os.X_OK) and not os.path.isdir(path):
            return os.path.abspath(path)
    return None


@functools.lru_cache(maxsize=None)
def words():
    unetc = compiler()
    if unetc is not None:
        lines = subprocess.run([unetc, "words"], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
        return frozenset(line.partition("\t")[2].partition("(")[0] for line in lines.splitlines())
    if os.path.exists(SYNTAX):
        with open(SYNTAX) as file:
            return frozenset(word for line in re.findall(r"^let s:\w+ = '([^']*)'", file.read(), re.M) for word in line.split())
    raise Inexpressible("there is no unetc that tells the words of the language: put it into the PATH, or name it by UNETC=")


def is_word(name):
    return name in words()


def snake(name):
    """A word of the language gets `block_` in front."""
    name = re.sub(r"[^A-Za-z0-9]", "_", name.rpartition(".")[2]).replace("ReLU", "Relu")
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower().strip("_")
    return name if name and not name[0].isdigit() and not is_word(name) else "block_" + name


def weight_name(path):
    """Letters, digits, `_` and dots."""
    return re.sub(r"[^A-Za-z0-9_.]", "_", path)


def fresh(hint, taken):
    """HINT, or with a number behind it."""
    name, number = hint, 1
    while name in taken:
        number += 1
        name = "%s_%d" % (hint, number)
    return name

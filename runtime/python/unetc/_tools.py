"""Finds the compiler and the C compiler, and runs them.

Places of unetc, in this order: $UNETC; the package itself, as a wheel brings it; the PATH.
The C compiler is $CC or `cc`, as unetc itself has it.  If neither is there, and the package `ziglang` is installed
(`pip install unetc[cc]`), it is `python -m ziglang cc`.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import importlib.util
import json
import logging
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from ._errors import Diagnostic, DoesNotFit, Error, FileError, ToolError, UsageError

log = logging.getLogger("unetc")

HERE = os.path.dirname(os.path.abspath(__file__))
BROUGHT = os.path.join(HERE, "_root")  # what `cmake --install` puts into a wheel
Source = Union[str, "os.PathLike[str]"]


def compiler() -> str:
    """The path of unetc."""
    for path in (os.environ.get("UNETC"), os.path.join(BROUGHT, "bin", "unetc"), shutil.which("unetc")):
        if path and os.access(path, os.X_OK) and not os.path.isdir(path):
            return os.path.abspath(path)
    raise ToolError("there is no unetc: install the wheel, put it into the PATH, or name it by UNETC=")


def runtime() -> str:
    """The folder of the runtime library."""
    result = subprocess.run([compiler(), "--runtime"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if result.returncode:
        raise ToolError(result.stderr.strip())
    return os.path.realpath(result.stdout.strip())


def cache_folder() -> str:
    """$XDG_CACHE_HOME/unetc or ~/.cache/unetc; it is made where it is missing, for its owner alone."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(base, "unetc")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


def write_whole(path: str, data: bytes, mode: int = 0o666) -> None:
    """The file appears whole or not at all, whoever else writes it."""
    handle, part = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".part-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part, mode & ~mask)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


# ---- the C compiler ----

# Without -march ziglang compiles for the processor at hand, where unetc means any; and it has names of its own for levels.
ZIG = """#!/bin/sh
for word; do
    shift
    case $word in
    -march=x86-64-v[234]) set -- "$@" "-mcpu=x86_64_${word#-march=x86-64-}" ;;
    *) set -- "$@" "$word" ;;
    esac
done
case " $* " in
*' -march='* | *' -mcpu='*) ;;
*) set -- -mcpu=baseline "$@" ;;
esac
case " $* " in
*' -c '*) exec %(cc)s "$@" ;;
*) exec %(cc)s "$@" %(omp)s ;;
esac
"""


def _zig() -> Optional[str]:
    """A script that calls `python -m ziglang cc`; None: there is no ziglang.  Its name has `clang` in it, by which unetc knows
    how to link."""
    if importlib.util.find_spec("ziglang") is None:
        return None
    words, omp = [sys.executable, "-m", "ziglang", "cc"], []
    for header in glob.glob(os.path.join(BROUGHT, "lib*", "**", "omp.h"), recursive=True):  # OpenMP, which ziglang lacks
        folder = os.path.dirname(header)
        words.append("-I" + folder)
        omp = [os.path.join(folder, "libomp.so.5"), "-Wl,-rpath," + folder]
    text = ZIG % {"cc": " ".join(map(shlex.quote, words)), "omp": " ".join(map(shlex.quote, omp))}
    path = os.path.join(cache_folder(), "zig-clang-%s" % hashlib.sha256(text.encode()).hexdigest()[:12])
    if not os.path.exists(path):
        write_whole(path, text.encode(), stat.S_IRWXU)
    return path


def c_compiler() -> Optional[str]:
    """The words of $CC, `cc`, or a path of our own; None: there is none."""
    return os.environ.get("CC") or shutil.which("cc") or _zig()


def environment() -> Dict[str, str]:
    """The variables of a process that runs unetc."""
    own = dict(os.environ)
    if not own.get("CC") and shutil.which("cc") is None:
        zig = _zig()
        if zig is not None:
            own["CC"] = zig
    return own


# ---- a source ----

class Text(NamedTuple):
    """A .unet file: its text, its name, and its path where it has one."""

    text: str
    name: str
    path: Optional[str]


def read(source: Source, name: str = "model") -> Text:
    """SOURCE is a path, or the text itself: a str with a line end in it."""
    if isinstance(source, str) and "\n" in source:
        return Text(source, name, None)
    path = os.fspath(source)
    if not isinstance(path, str):
        raise UsageError("a path is a str or a pathlib.Path, not %s" % type(source).__name__)
    try:
        with open(path, encoding="utf-8") as file:
            return Text(file.read(), os.path.splitext(os.path.basename(path))[0], path)
    except (OSError, UnicodeDecodeError) as error:
        raise FileError("%s: %s" % (path, getattr(error, "strerror", None) or error)) from None


@contextlib.contextmanager
def at(source: Text) -> Iterator[Tuple[str, str]]:
    """The folder to run unetc in, and the file there.  A text gets a file of its own."""
    if source.path is not None:
        yield os.getcwd(), source.path
        return
    with tempfile.TemporaryDirectory(prefix="unetc-") as folder:
        file = source.name + ".unet"
        with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
            out.write(source.text)
        yield folder, file


# ---- options ----

def _size(size: Any) -> str:
    return size if isinstance(size, str) else "x".join(str(int(length)) for length in (size if isinstance(size, Sequence) else [size]))


def _memory(amount: Any) -> str:
    return "%dB" % amount if isinstance(amount, int) else str(amount)


def words(options: Mapping[str, Any]) -> List[str]:
    """The words of a command line: batch=6 is --batch=6, no_reuse=True is --no-reuse.  None and False are left out.  size may
    be numbers, mem a number of bytes, define a dict of the file's `let`s, programs and freeze lists."""
    line: List[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            line.append(option)
        elif name == "define":
            line += ["-D%s=%s" % item for item in value.items()]
        elif name == "freeze" and not isinstance(value, str):
            line += ["--freeze=%s" % layer for layer in value]
        else:
            text = {"size": _size, "mem": _memory}.get(name, lambda v: v if isinstance(v, str) else ",".join(map(str, v))
                                                       if isinstance(v, (list, tuple)) else str(v))(value)
            line.append("%s=%s" % (option, text))
    return line


# ---- running ----

ERRORS = {1: FileError, 2: UsageError, 3: DoesNotFit, 4: FileError, 5: ToolError}


def diagnostics(errors: str) -> Tuple[List[Diagnostic], str]:
    """The compiler's diagnostics, and whatever else it says."""
    found, rest = [], []
    for line in errors.splitlines():
        if line.startswith('{"$message_type"'):
            found.append(Diagnostic.of(json.loads(line)))
        else:
            rest.append(line)
    return found, "\n".join(rest).strip()


def run(command: Sequence[str], source: Text, options: Mapping[str, Any]) -> str:
    """The standard output of unetc.  Raises what its exit code says; where it does not fit, the output is `error.output`.
    Warnings go to the logger `unetc`."""
    with at(source) as (folder, file):
        line = [compiler(), *command, "--error-format=json", *words(options), "--", file]
        result = subprocess.run(line, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                universal_newlines=True, encoding="utf-8")
    found, rest = diagnostics(result.stderr)
    for diagnostic in found:
        if diagnostic.level != "error":
            log.warning("%s", diagnostic)
    if result.returncode == 0:
        if rest:
            log.warning("%s", rest)
        return result.stdout
    mistakes = [diagnostic for diagnostic in found if diagnostic.level == "error"]
    error = ERRORS.get(result.returncode, Error)(rest or "unetc ends with exit code %d" % result.returncode, mistakes)
    error.output = result.stdout  # type: ignore[attr-defined]
    raise error

"""compile(): from a .unet file, or a torch.nn.Module, to a Model, by way of a shared library that is kept.

The library lies in $XDG_CACHE_HOME/unetc or ~/.cache/unetc, under a name that follows from all that it is made of: the text, the
options, the compiler and its runtime library, the C compiler, and the processor where code is for it alone.  It is written under
another name and then renamed, so several processes may compile the same file.  To clear the cache, delete the folder.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import shutil
import subprocess
import tempfile
from typing import Any, Dict, Mapping, Optional, Union

from . import _tools
from ._errors import UsageError
from ._model import Model


@functools.lru_cache(maxsize=None)
def _digest(path: str, size: int, changed: int) -> str:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _content(path: str) -> str:
    try:
        status = os.stat(path)
        return _digest(path, status.st_size, status.st_mtime_ns)
    except OSError:
        return ""


@functools.lru_cache(maxsize=None)
def _c_compiler(words: str) -> str:
    """Its name and its version."""
    try:
        result = subprocess.run([*words.split(), "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        return "%s\n%s" % (words, result.stdout.decode(errors="replace"))
    except (OSError, subprocess.SubprocessError):
        return words


@functools.lru_cache(maxsize=None)
def _processor() -> str:
    """The instructions of this processor."""
    try:
        with open("/proc/cpuinfo") as file:
            return next((line for line in file if line.startswith(("flags", "Features"))), "") + platform.machine()
    except OSError:
        return platform.machine()


def _key(text: _tools.Text, options: Mapping[str, Any]) -> str:
    home = _tools.runtime()
    parts = [text.name, text.text, _tools.words(options), _content(_tools.compiler()), _content(os.path.join(home, "libunet_runtime.a")),
             _content(os.path.join(home, "libunet_cuda.a")), _c_compiler(_tools.c_compiler() or ""), os.environ.get("NVCC", ""),
             _content(str(options.get("engines") or "")), "" if options.get("isa") == "portable" else _processor()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def library_of(text: _tools.Text, options: Mapping[str, Any]) -> str:
    """The path of the shared library, which is compiled where it is not there yet."""
    for name in ("shared", "output", "S", "emit"):
        if name in options:
            raise UsageError("compile() has no option %s=" % name)
    folder = _tools.cache_folder()
    path = os.path.join(folder, "%s-%s.so" % (text.name, _key(text, options)))
    if os.path.exists(path):
        return path
    own = tempfile.mkdtemp(dir=folder, prefix=".build-")
    try:
        made = os.path.join(own, "library.so")
        _tools.run(["--shared", "-o", made], text, options)
        os.replace(made, path)
    finally:
        shutil.rmtree(own, ignore_errors=True)
    return path


def compile(source: Any, inputs: Any = None, *, name: str = "model", sections: str = "", batch: Optional[int] = None,
            mem: Union[str, int, None] = None, size: Any = None, target: Optional[str] = None, buffer: Any = None, threads: int = 0,
            seed: Optional[int] = None, **options: Any) -> Model:
    """A Model of SOURCE: the path of a .unet file, its text, a torch.nn.Module, or what from_torch() returned.

    INPUTS      of a module: the size of its input, (channels, height, width), or a list of such
    SECTIONS    text that is added to the file, such as a target and `train { ... }` for a module, whose file has neither
    BATCH, MEM, SIZE, TARGET and further OPTIONS are options of `unetc`: samples of a training step at most; the budget of the arena,
                "512MiB" or a number of bytes; (height, width); "cpu" or "cuda"; kernels="reference", define={"base": 8}.
                staging= is "f32" here, for arrays may have any numbers, and pictures from files have 8 or 16 bits
    BUFFER, THREADS, SEED are the Model's.

    The first call for a file takes seconds, those after it milliseconds (see the cache above).
    Raises FileError, DoesNotFit, UsageError; ToolError where the C compiler is missing or fails."""
    network = None
    if hasattr(source, "named_modules") or hasattr(source, "weights"):
        from . import _torch
        network = source if hasattr(source, "weights") else _torch.from_torch(source, inputs if inputs is not None else size)
        if inputs is None and network is not source:
            size = None
        source, name = network.text, network.name if name == "model" else name
    text = _tools.read(source, name)
    if sections:
        text = text._replace(text=text.text.rstrip("\n") + "\n\n" + sections.strip("\n") + "\n", path=None)
    given: Dict[str, Any] = {"batch": batch, "mem": mem, "size": size, "target": target, "staging": "f32", **options}
    model = Model(library_of(text, given), buffer=buffer, threads=threads, seed=seed)
    model._source = (text, given)
    model._network = network
    if network is not None:
        network.load_into(model)
    return model

"""The C side: unet/door.h, as ctypes has it.  ctypes lets go of the GIL while a function runs."""

from __future__ import annotations

import contextlib
import ctypes
import glob
import os
from typing import Any, Iterator

from . import _tools
from ._errors import ModelError

VERSION = 1
PARAMETERS, TRAIN, EVAL, PREDICT, OUTPUTS = range(5)
KINDS = {0: "f4", 1: "f8", 2: "u1"}  # UNET_F32, UNET_F64, UNET_U8

_i32, _i64, _text, _real, _void = ctypes.c_int32, ctypes.c_int64, ctypes.c_char_p, ctypes.c_double, ctypes.c_void_p


class ErrorText(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 1024), ("kind", _text)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", _text), ("type", _i32), ("rank", _i32), ("dim", _i64 * 5), ("is_target", _i32), ("classes", _i32)]


class ResultInfo(ctypes.Structure):
    _fields_ = [("name", _text), ("metric", _text), ("is_loss", _i32), ("higher_is_better", _i32), ("weight", _real)]


class Facts(ctypes.Structure):
    _fields_ = [*((name, _text) for name in ("name", "source", "source_hash", "target", "isa", "precision", "optimizer")),
                *((name, _i64) for name in ("buffer_bytes", "arena_bytes", "persistent_bytes", "ring_bytes", "parameter_count", "sums",
                                            "seed")),
                ("learning_rate", _real),
                *((name, _i32) for name in ("parameters", "inputs", "outputs", "results", "batch", "eval_batch", "predict_batch",
                                            "max_threads"))]


_error, _pointers = ctypes.POINTER(ErrorText), ctypes.POINTER(_void)


def _function(result: Any, *arguments: Any) -> Any:
    return ctypes.CFUNCTYPE(result, *arguments)


class Door(ctypes.Structure):
    _fields_ = [
        ("version", _i32), ("bytes", _i32), ("models", _pointers), ("nmodels", _i64),
        ("facts", _function(None, _void, ctypes.POINTER(Facts))),
        ("tensor", _function(_i32, _void, _i32, _i32, ctypes.POINTER(TensorInfo))),
        ("result", _function(_i32, _void, _i32, ctypes.POINTER(ResultInfo))),
        ("rate", _function(_real, _void, _real, _i64, _i64, _i64)),
        ("init", _function(_i32, _pointers, _i32, _void, ctypes.c_size_t, _i32, ctypes.c_uint64, _error)),
        ("close", _function(None, _void)),
        ("load", _function(_i32, _void, _text, _error)),
        ("save", _function(_i32, _void, _text, _error)),
        ("checkpoint", _function(_i32, _void, _text, _error)),
        ("resume", _function(_i32, _void, _text, _error)),
        ("steps", _function(_i64, _void)),
        ("get", _function(_i32, _void, _pointers, _error)),
        ("set", _function(_i32, _void, _pointers, _error)),
        ("forward", _function(_i32, _void, _pointers, _pointers, _error)),
        ("train_step", _function(_i32, _void, _i32, _pointers, _real, ctypes.POINTER(_real), _error)),
        ("evaluate", _function(_i32, _void, _i32, _pointers, _i64, ctypes.POINTER(_real), _error)),
        ("value", _function(_real, _void, _i32, ctypes.POINTER(_real), _i64)),
    ]


@contextlib.contextmanager
def _sharing() -> Iterator[None]:
    """OpenMP reads its variables when it is loaded.  Unless they are set, threads wait for each other without spinning for long, as
    in the model's own program, for other programs may want the processors."""
    gentle = {"GOMP_SPINCOUNT": "2000", "KMP_BLOCKTIME": "0"}
    if any(name in os.environ for name in ("OMP_WAIT_POLICY", *gentle)):
        yield
        return
    os.environ.update(gentle)
    try:
        yield
    finally:
        for name in gentle:
            os.environ.pop(name, None)


def _loaded(path: str) -> Any:
    """The library.  If the machine lacks one that it needs, the libraries of the wheel are loaded first, for whatever is loaded is
    found by its name."""
    try:
        return ctypes.CDLL(path)
    except OSError:
        brought = sorted(glob.glob(os.path.join(_tools.BROUGHT, "lib*", "**", "lib*.so*"), recursive=True))
        for name in brought:
            ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        if not brought:
            raise
    return ctypes.CDLL(path)


class Library:
    """A shared library that `unetc --shared` made."""

    def __init__(self, path: str):
        if not os.path.exists(path):
            raise ModelError("%s: there is no such library: it was deleted; compile the model again" % path)
        try:
            with _sharing():
                library = _loaded(os.path.abspath(path))
            entry = library.unet_door
        except (OSError, AttributeError) as error:
            raise ModelError("%s: no library that `unetc --shared` made for this machine: %s" % (path, error)) from None
        entry.restype, entry.argtypes = ctypes.POINTER(Door), []
        self.path, self._library, self.table = os.path.abspath(path), library, entry()
        door = self.table.contents
        if door.version != VERSION or door.bytes != ctypes.sizeof(Door):
            raise ModelError("%s: made by another version of unetc (door %d, this package has %d): compile the model again" % (
                path, door.version, VERSION))
        self.door = door
        self.facts = Facts()
        door.facts(self.table, ctypes.byref(self.facts))

    def tensors(self, which: int) -> Iterator[TensorInfo]:
        """The tensors of a list; rank -1: the program does not read this input."""
        for i in range(1 << 30):
            info = TensorInfo()
            if not self.door.tensor(self.table, which, i, ctypes.byref(info)):
                return
            yield info

    def results(self) -> Iterator[ResultInfo]:
        for i in range(self.facts.results):
            info = ResultInfo()
            self.door.result(self.table, i, ctypes.byref(info))
            yield info


def pointers(addresses: Any) -> Any:
    """An array of pointers; 0 is NULL."""
    return (_void * max(1, len(addresses)))(*addresses)

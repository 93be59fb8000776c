"""Arrays in and out, with NumPy or without.

An input is anything with `__array_interface__` (NumPy), with `__dlpack__` (PyTorch, JAX, NumPy) or with the buffer protocol
(`array.array`, `memoryview`, `bytes`).  If it lies in C order and has the type that the model takes, its memory is read in
place; else it is copied once.  An output must be writable memory of just the right shape, type and order.  For a model on a GPU
inputs and outputs may lie there, by `__dlpack__` or `__cuda_array_interface__`; such inputs have the right type and order, too.

    taken(name, value, "f4", shape, most, gpu) -> (Memory, samples, batched)   an input
    given(name, value, "f4", shape, gpu) -> Memory            an output of the caller's
    made(shape, "f4") -> (array, address)                     a result: a NumPy array, or an Array where there is no NumPy
    made_beside(values, shape, "f4") -> (array, address)      the same; a tensor of PyTorch on a GPU if one of the values is
"""

from __future__ import annotations

import array
import ctypes
import math
import struct
import sys
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ._errors import ArgumentError

Shape = Tuple[int, ...]
BYTES = {"f2": 2, "f4": 4, "f8": 8, "i1": 1, "i2": 2, "i4": 4, "i8": 8, "u1": 1, "u2": 2, "u4": 4, "u8": 8, "b1": 1}
WORDS = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
         "b1": "?"}  # of struct and memoryview
NAMES = {"f2": "float16", "f4": "float32", "f8": "float64", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8",
         "u2": "uint16", "u4": "uint32", "u8": "uint64", "b1": "bool"}


class Memory(NamedTuple):
    """The place of the numbers of an array; strides in bytes.  `owner` keeps them alive."""

    address: int
    shape: Shape
    strides: Shape
    kind: str  # "f4"
    readonly: bool
    owner: Any
    on_gpu: bool = False


def elements(shape: Sequence[int]) -> int:
    return math.prod(shape)


def dense(shape: Sequence[int], size: int) -> Shape:
    """The strides of C order."""
    strides: List[int] = []
    for length in reversed(shape):
        strides.insert(0, size)
        size *= length
    return tuple(strides)


def is_dense(memory: Memory) -> bool:
    """Axes of length 1 may have any stride."""
    right = dense(memory.shape, BYTES[memory.kind])
    return 0 in memory.shape or all(length == 1 or own == wanted
                                    for length, own, wanted in zip(memory.shape, memory.strides, right))


# ---- without NumPy: our own array ----

class Array:
    """A dense array of numbers that were computed, where NumPy is not installed.

    `memoryview(a.data)`, `a.tolist()`, `numpy.asarray(a)` and `torch.from_dlpack(a)` read it, the last two without a copy."""

    def __init__(self, shape: Sequence[int], kind: str):
        self.shape: Shape = tuple(shape)
        self.dtype = NAMES[kind]
        self._kind = kind
        self._bytes = (ctypes.c_char * max(1, elements(shape) * BYTES[kind]))()

    @property
    def address(self) -> int:
        return ctypes.addressof(self._bytes)

    @property
    def data(self) -> Any:
        """The numbers, writable, with the axes of the array."""
        count = elements(self.shape)
        flat: Any = memoryview(self._bytes).cast("B")[:count * BYTES[self._kind]]
        return flat.cast(WORDS[self._kind], self.shape) if self.shape and count else flat.cast(WORDS[self._kind])

    @property
    def __array_interface__(self) -> Any:
        return {"version": 3, "shape": self.shape, "typestr": ("|" if BYTES[self._kind] == 1 else "<") + self._kind,
                "data": (self.address, False)}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return HOST, 0

    def __dlpack__(self, *, stream: Any = None, **more: Any) -> Any:
        """A capsule for `from_dlpack`."""
        return _capsule(self)

    def tolist(self) -> Any:
        return self.data.tolist() if self.shape else self.data[0]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return "unetc.Array(%s, %s)" % ("x".join(map(str, self.shape)), self.dtype)


def _numpy() -> Any:
    try:
        import numpy
        return numpy
    except ImportError:
        return None


def made(shape: Sequence[int], kind: str) -> Tuple[Any, int]:
    """A new array in C order, and the address of its numbers."""
    numpy = _numpy()
    if numpy is not None:
        result = numpy.empty(shape, "<" + kind)
        return result, result.ctypes.data
    own = Array(shape, kind)
    return own, own.address


def made_beside(values: Iterable[Any], shape: Sequence[int], kind: str) -> Tuple[Any, int]:
    """A new array in C order: if one of the VALUES is a tensor of PyTorch on a CUDA GPU, a tensor there."""
    torch = sys.modules.get("torch")
    for value in values:
        if torch is not None and isinstance(value, torch.Tensor) and value.is_cuda:
            result = value.new_empty(tuple(shape), dtype=torch.uint8 if kind == "u1" else torch.float32)
            return result, result.data_ptr()
    return made(shape, kind)


# ---- DLPack ----

HOST = 1  # kDLCPU
CUDA = (2, 13)  # and managed
PINNED = (3, 11)  # of CUDA and ROCm: memory of the host, too
DEVICES = {2: "a CUDA GPU", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "a ROCm GPU", 13: "CUDA managed memory", 14: "oneAPI"}


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _DELETER)]


class _Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", _DELETER),
                ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


_NAME, _NAME_VERSIONED = b"dltensor", b"dltensor_versioned"  # capsules keep the pointers
_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}
_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def _exported(value: Any, on_gpu: bool) -> Tuple[Any, _Tensor, bool]:
    """The capsule, its tensor, and whether that is read-only: only DLPack from 1.0 on tells.  The library waits for all that
    was begun on a GPU before, so whoever lends memory need not (stream -1)."""
    stream = {"stream": -1} if on_gpu else {}
    try:
        capsule = value.__dlpack__(max_version=(1, 0), **stream)
    except TypeError:
        capsule = value.__dlpack__(**stream)
    if _api.PyCapsule_IsValid(capsule, _NAME_VERSIONED):
        versioned = _Versioned.from_address(_api.PyCapsule_GetPointer(capsule, _NAME_VERSIONED))
        return capsule, versioned.tensor, bool(versioned.flags & 1)
    return capsule, _Managed.from_address(_api.PyCapsule_GetPointer(capsule, _NAME)).tensor, False


def _from_dlpack(name: str, value: Any, gpu: bool) -> Memory:
    place = value.__dlpack_device__() if hasattr(value, "__dlpack_device__") else (HOST, 0)
    on_gpu = gpu and int(place[0]) in CUDA
    if int(place[0]) != HOST and int(place[0]) not in PINNED and not on_gpu:
        raise ArgumentError(name, "lies on %s, and a model takes memory of the host: move it there first, as with .cpu()" % (
            DEVICES.get(int(place[0]), "a device")))
    try:
        capsule, tensor, readonly = _exported(value, on_gpu)
    except Exception as error:  # noqa: BLE001 - PyTorch's is a RuntimeError, and tells of requires_grad
        raise ArgumentError(name, str(error).strip() or type(error).__name__) from None
    kind = "%s%d" % (_KINDS.get(tensor.code, "?"), tensor.bits // 8)
    if kind not in BYTES or tensor.lanes != 1:
        raise ArgumentError(name, "has numbers of a type that is not read%s: make it float32" % (
            ", bfloat16" if tensor.code == 4 else ""))
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    size = BYTES[kind]
    strides = tuple(tensor.strides[k] * size for k in range(tensor.ndim)) if tensor.strides else dense(shape, size)
    # The capsule owns the memory as long as nobody takes it over, and lives as long as this.
    return Memory((tensor.data or 0) + tensor.byte_offset, shape, strides, kind, readonly, capsule, on_gpu)


class _Lent:
    """Numbers of an Array that somebody reads by DLPack."""

    def __init__(self, owner: Array):
        rank = len(owner.shape)
        self.owner = owner
        self.shape = (ctypes.c_int64 * max(1, rank))(*owner.shape)
        code = {"f": 2, "i": 0, "u": 1, "b": 6}[owner._kind[0]]
        self.managed = _Managed(_Tensor(owner.address, HOST, 0, rank, code, 8 * BYTES[owner._kind], 1, self.shape, None, 0), None, _returned)


_lent: Dict[int, _Lent] = {}  # by the address of what was lent


def _give_back(address: int) -> None:
    _lent.pop(address, None)


def _end(capsule: int) -> None:
    """A capsule ends; where nobody has taken its memory over, it goes back."""
    if _is_valid(capsule, _NAME):
        _give_back(_pointer(capsule, _NAME))


_returned, _unread = _DELETER(_give_back), _DESTRUCTOR(_end)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))


def _capsule(owner: Array) -> Any:
    lent = _Lent(owner)
    address = ctypes.addressof(lent.managed)
    _lent[address] = lent
    return _api.PyCapsule_New(address, _NAME, ctypes.cast(_unread, ctypes.c_void_p))


# ---- whatever has numbers ----

def _from_interface(name: str, value: Any) -> Memory:
    interface = value.__array_interface__
    order, kind = interface["typestr"][0], interface["typestr"][1:]
    if kind not in BYTES or order == ">":
        raise ArgumentError(name, "has numbers of the type %s, which is not read: make it float32" % interface["typestr"])
    shape = tuple(interface["shape"])
    data = interface.get("data")
    if data is None:
        return _from_buffer(name, value)
    return Memory(data[0], shape, tuple(interface.get("strides") or dense(shape, BYTES[kind])), kind, bool(data[1]), value)


def _from_cuda(name: str, value: Any, gpu: bool) -> Memory:
    if not gpu:
        raise ArgumentError(name, "lies on a CUDA GPU, and a model takes memory of the host: move it there first")
    interface = value.__cuda_array_interface__
    order, kind = interface["typestr"][0], interface["typestr"][1:]
    if kind not in BYTES or order == ">":
        raise ArgumentError(name, "has numbers of the type %s, which is not read: make it float32" % interface["typestr"])
    shape, data = tuple(interface["shape"]), interface["data"]
    return Memory(data[0], shape, tuple(interface.get("strides") or dense(shape, BYTES[kind])), kind, bool(data[1]), value, True)


class _PyBuffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


_api.PyObject_GetBuffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_api.PyBuffer_Release.argtypes = [ctypes.POINTER(_PyBuffer)]
_STRIDED = 0x18  # PyBUF_STRIDES


class _Held:
    """The memory of an object with the buffer protocol, held as long as this lives."""

    def __init__(self, view: memoryview):
        self.view, self.buffer = view, _PyBuffer()
        _api.PyObject_GetBuffer(view, ctypes.byref(self.buffer), _STRIDED)

    def __del__(self) -> None:
        _api.PyBuffer_Release(ctypes.byref(self.buffer))


def _from_buffer(name: str, value: Any) -> Memory:
    try:
        view = memoryview(value)
    except TypeError:
        raise ArgumentError(name, "a %s is no array: it has neither __array_interface__ nor __dlpack__ nor a buffer" % (
            type(value).__name__)) from None
    word = view.format.lstrip("@=<")
    word = {"l": "q" if view.itemsize == 8 else "i", "L": "Q" if view.itemsize == 8 else "I", "c": "B"}.get(word, word)
    kinds = {letter: kind for kind, letter in WORDS.items()}
    if word not in kinds:
        raise ArgumentError(name, "has numbers of the type %s, which is not read: make it float32" % view.format)
    held = _Held(view)
    return Memory(held.buffer.buf or 0, tuple(view.shape or ()), tuple(view.strides or ()), kinds[word], view.readonly, held)


def is_array(value: Any) -> bool:
    """Does it have numbers itself, and is no collection of arrays?"""
    if any(hasattr(value, way) for way in ("__array_interface__", "__dlpack__", "__cuda_array_interface__")):
        return True
    try:
        memoryview(value)
        return True
    except TypeError:
        return False


def memory_of(name: str, value: Any, gpu: bool = False) -> Memory:
    """The memory of VALUE, which an error calls NAME.  GPU: it may lie on one."""
    if hasattr(value, "__array_interface__"):
        return _from_interface(name, value)
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(name, value, gpu)
    if hasattr(value, "__cuda_array_interface__"):
        return _from_cuda(name, value, gpu)
    return _from_buffer(name, value)


# ---- copies ----

def _numbers(memory: Memory) -> Iterator[Any]:
    """One by one, in C order; without NumPy, and slow."""
    reader = struct.Struct("<" + WORDS[memory.kind])

    def walk(address: int, axis: int) -> Iterator[Any]:
        if axis == len(memory.shape):
            yield reader.unpack(ctypes.string_at(address, reader.size))[0]
            return
        for k in range(memory.shape[axis]):
            yield from walk(address + k * memory.strides[axis], axis + 1)
    return walk(memory.address, 0)


class _Interface:
    """NumPy reads a Memory by it."""

    def __init__(self, memory: Memory):
        self.owner = memory.owner
        self.__array_interface__ = {"version": 3, "shape": memory.shape, "typestr": ("|" if BYTES[memory.kind] == 1 else "<") + memory.kind,
                                    "data": (memory.address, True), "strides": memory.strides}


def _labels_in_range(name: str, low: Any, high: Any) -> None:
    if low < 0 or high > 255:
        raise ArgumentError(name, "has the label %s, and labels are 0 to 255: points that count nowhere are 255" % (
            low if low < 0 else high))


def copied(name: str, memory: Memory, kind: str) -> Memory:
    """The same numbers in C order, as another type."""
    numpy = _numpy()
    if kind == "u1" and memory.kind[0] == "f":
        raise ArgumentError(name, "has numbers of the type %s, and labels are whole numbers: make them uint8" % NAMES[memory.kind])
    if numpy is not None:
        array_ = numpy.asarray(_Interface(memory))
        if kind == "u1" and array_.size:
            _labels_in_range(name, array_.min(), array_.max())
        result = numpy.ascontiguousarray(array_, "<" + kind).reshape(memory.shape)
        return Memory(result.ctypes.data, memory.shape, result.strides, kind, False, result)
    numbers = list(_numbers(memory))
    if kind == "u1" and numbers:
        _labels_in_range(name, min(numbers), max(numbers))
    own = array.array({"u1": "B"}.get(kind, WORDS[kind]), numbers)
    return Memory(own.buffer_info()[0], memory.shape, dense(memory.shape, BYTES[kind]), kind, False, own)


# ---- inputs and outputs ----

def shape_text(shape: Sequence[Any]) -> str:
    return "(%s)" % (", ".join(map(str, shape)) + ("," if len(shape) == 1 else ""))


def moved(name: str, output: Any, gradient: Any, factor: float) -> Any:
    """OUTPUT + FACTOR * GRADIENT, arrays of one shape."""
    if getattr(output, "is_cuda", False):  # a tensor of PyTorch
        return output + factor * gradient
    numpy = _numpy()
    first, second = memory_of("output", output), memory_of("gradient", gradient)
    if tuple(first.shape) != tuple(second.shape):
        raise ArgumentError("gradient", "has the shape %s, and the output has %s" % (shape_text(second.shape), shape_text(first.shape)))
    if second.kind not in ("f4", "f8") or not is_dense(second):
        second = copied("gradient", second, "f4")
    if numpy is not None:
        return (numpy.asarray(_Interface(first)) + factor * numpy.asarray(_Interface(second))).astype("<f4")
    result, _ = made(first.shape, "f4")
    to = _flat(result.address, first.shape, "f4")
    for i, (x, slope) in enumerate(zip(*(_flat(m.address, m.shape, m.kind) for m in (first, second)))):
        to[i] = x + factor * slope
    return result


def _flat(address: int, shape: Sequence[int], kind: str) -> Any:
    """The numbers of a dense array in a row."""
    flat: Any = memoryview((ctypes.c_char * (elements(shape) * BYTES[kind])).from_address(address)).cast("B")
    return flat.cast(WORDS[kind])


def taken(name: str, value: Any, kind: str, shape: Shape, most: Optional[int], gpu: bool = False) -> Tuple[Memory, int, bool]:
    """An input of samples of SHAPE: dense numbers of the KIND, how many samples, and whether there was an axis of them.
    MOST: samples at a time; None: any number.  GPU: it may lie on one."""
    memory = memory_of(name, value, gpu)
    batched = len(memory.shape) == len(shape) + 1
    own = memory.shape[1:] if batched else memory.shape
    if own != shape:
        raise ArgumentError(name, "has the shape %s, and the model takes %s" % (
            shape_text(memory.shape), shape_text(("n",) + shape) + (" or %s" % shape_text(shape) if shape else "")))
    count = memory.shape[0] if batched else 1
    if count < 1 or (most is not None and count > most):
        raise ArgumentError(name, "has %d samples, and the model was compiled for 1 to %s: compile it with a larger batch=" % (count, most)
                            if count else "has no samples")
    if memory.kind != kind or not is_dense(memory) or memory.address % BYTES[kind]:
        if memory.on_gpu:
            raise ArgumentError(name, "lies on the GPU as %s%s, and is read there as it is: make it %s in C order, as with "
                                ".to(torch.%s).contiguous()" % (NAMES[memory.kind], "" if is_dense(memory) else ", not in C order",
                                                                NAMES[kind], NAMES[kind]))
        memory = copied(name, memory, kind)
    return memory, count, batched


def given(name: str, value: Any, kind: str, shape: Shape, gpu: bool = False) -> Memory:
    """An output that the caller brings.  GPU: it may lie on one."""
    memory = memory_of(name, value, gpu)
    if memory.shape != shape:
        raise ArgumentError(name, "has the shape %s, and the result has %s" % (shape_text(memory.shape), shape_text(shape)))
    if memory.kind != kind:
        raise ArgumentError(name, "is %s, and the result is %s" % (NAMES[memory.kind], NAMES[kind]))
    if memory.readonly:
        raise ArgumentError(name, "is read-only")
    if not is_dense(memory) or memory.address % BYTES[kind]:
        raise ArgumentError(name, "does not lie in C order: results are written to contiguous memory alone")
    return memory

"""Reads and writes the safetensors format with the standard library alone."""

import array
import json
import struct
import sys

_CODES = {"F32": "f", "F64": "d"}


class Tensor:
    """A shape and its values in row-major order; `values` is an array.array of 'f' or 'd'."""

    def __init__(self, shape, values):
        self.shape = list(shape)
        self.values = values


def read(path):
    """Returns the tensors by name, in the order of the file, and the metadata."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        values = array.array(_CODES[entry["dtype"]])
        values.frombytes(data[8 + length + begin:8 + length + end])
        if sys.byteorder == "big":
            values.byteswap()
        tensors[name] = Tensor(entry["shape"], values)
    return tensors, metadata


def write(path, tensors, metadata=None):
    """TENSORS: name to Tensor, written in that order."""
    header, offset = {}, 0
    if metadata:
        header["__metadata__"] = metadata
    for name, tensor in tensors.items():
        size = tensor.values.itemsize * len(tensor.values)
        dtype = {code: name for name, code in _CODES.items()}[tensor.values.typecode]
        header[name] = {"dtype": dtype, "shape": tensor.shape, "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            values = array.array(tensor.values.typecode, tensor.values)
            if sys.byteorder == "big":
                values.byteswap()
            file.write(values.tobytes())

"""Writes the weights beside the file, and brings trained ones back into the network.

    safetensors(tensors) -> bytes                    [(name, tensor)]
    file_tensors(translation) -> [(name, tensor)]    each weight once, under the file's name and in its shape
    read_safetensors(path) -> {name: tensor}
    load_trained(network, unet, weights)             strictly: every weight of the file, every one of the network that it has

The file says in its first lines which weights have other names in the state dict.
"""

import json
import os
import re
import struct

from . import Inexpressible
from .capture import first_paths


def file_tensors(translation):
    state = {**translation.program.tensors, **{path: tensor for path, (tensor, _) in translation.folded.items()}}
    order = {path: i for i, path in enumerate(state)}
    return [(name, stored.of(state[stored.path].detach())) for name, stored in sorted(
        translation.tensors.items(), key=lambda item: order[item[1].path])]


def write_file(path, data):
    """Whole, or not at all; no file that lies there is followed."""
    part = "%s.%d.part" % (path, os.getpid())
    if os.path.lexists(part):  # of a process that is gone
        os.unlink(part)
    with open(part, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def safetensors(tensors):
    header, values, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, tensor in tensors:
        data = tensor.detach().cpu().float().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + len(data)]}
        values.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(values)


def read_safetensors(path):
    import torch
    types = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16}
    with open(path, "rb") as file:
        data = file.read()
    try:
        length, = struct.unpack_from("<Q", data)
        header = json.loads(data[8:8 + length])
        tensors = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[name] = torch.frombuffer(bytearray(data[begin:end]) or bytearray(8), dtype=types[entry["dtype"]])[
                :(end - begin) // torch.empty((), dtype=types[entry["dtype"]]).element_size()].reshape(entry["shape"])
    except (struct.error, ValueError, KeyError, RuntimeError) as error:
        raise Inexpressible("%s is no whole safetensors file of floating point numbers (%s)" % (path, error)) from None
    return tensors


def names_of(unet):
    """{name in the file: (path in the state dict, sizes, order)}, where the head of the file has a line for it."""
    with open(unet) as file:
        lines = re.findall(r"^# (\S+) is `(.*)` of the state dict(?:, axes of ([\d ]+) in the order ([\d ]+))?\.$", file.read(), re.M)
    return {name: (path, *([int(word) for word in words.split()] for words in (sizes, order))) for name, path, sizes, order in lines}


def folded_in(unet):
    """The names of tensors whose numbers stand in the file alone."""
    with open(unet) as file:
        return set(re.findall(r"^# (\S+) is .*: the file alone has its numbers\.$", file.read(), re.M))


def moved_back(tensor, sizes, order):
    """Undoes translate.Stored.of, but for the shape."""
    if not order:
        return tensor
    return tensor.reshape([sizes[axis] for axis in order]).permute([order.index(axis) for axis in range(len(order))])


def load_trained(network, unet, weights):
    """Into NETWORK, of which UNET was made; returns the paths of weights that the file does not have: those of layers that
    the network never calls in evaluation."""
    moved, state = names_of(unet), network.state_dict()
    names = {name: path for name, (path, _, _) in moved.items()}
    first, found = first_paths(network.state_dict(keep_vars=True)), {}
    folded = folded_in(unet)
    for name, tensor in read_safetensors(weights).items():
        path = names.get(name, name)
        if name in folded:
            continue
        if path not in state:
            raise Inexpressible("%s has `%s`, which the network has not: it was made of another one" % (weights, name))
        if state[path].numel() != tensor.numel():
            raise Inexpressible("`%s` has %s elements in %s, and %s in the network" % (
                name, "x".join(map(str, tensor.shape)), weights, "x".join(map(str, state[path].shape))))
        found[path] = moved_back(tensor, *moved.get(name, ("", [], []))[1:]).reshape(state[path].shape).to(state[path].dtype)
    used = {names.get(name, name) for name in layers_of(unet, set(names) | set(first.values()))}
    missing = [path for path, tensor in state.items() if tensor.is_floating_point() and first[path] not in found]
    lost = [path for path in missing if first[path] in used]
    if lost:
        raise Inexpressible("%s lacks `%s`%s" % (weights, lost[0], " and %d more" % (len(lost) - 1) if lost[1:] else ""))
    network.load_state_dict({path: found.get(first[path], tensor) for path, tensor in state.items()}, strict=True)
    return missing


def layers_of(unet, names):
    """Those NAMES of weights that a program of this file has."""
    import subprocess
    from .naming import compiler
    if compiler() is None:
        raise Inexpressible("there is no unetc that tells the weights of %s: put it into the PATH, or name it by UNETC=" % unet)
    result = subprocess.run([compiler(), "--emit=graph", unet], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            universal_newlines=True)
    if result.returncode:
        raise Inexpressible("unetc refuses %s: %s" % (unet, result.stderr.partition("\n")[0]))
    return names & set(re.findall(r"[A-Za-z0-9_.]+", result.stdout))

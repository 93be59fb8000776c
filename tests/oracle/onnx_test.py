#!/usr/bin/env python3
"""ONNX files as a reader sees them: networks with PyTorch's weights (vectors/), written by `unetc onnx`, decoded here and
evaluated node by node, give PyTorch's outputs to 1e-5.  What does not fit is refused, and every operator that a file may
call, but for losses and metrics, has a form.

    onnx_test.py UNETC [--with-runtime]     with: ONNX's checker and ONNX Runtime say so, too, of more networks

Standard library only; --with-runtime needs the packages onnx, onnxruntime and numpy."""

import array
import itertools
import math
import operator
import os
import re
import struct
import subprocess
import sys
import tempfile

import cases
import safetensors

TOLERANCE = 1e-5
EVALUATED = ("functions", "attention", "biases", "channel_attention", "linear_attention", "lengths", "windows", "arithmetic", "given", "borders", "rearranged", "tiny_unet_odd", "simple_denoiser", "variants", "activations", "resizing", "batch_norm", "scales")
# For ONNX Runtime alone: three axes, padded pools, an output that is another's input, two outputs of one tensor.
MORE = """input  scan : volume(2, 4, 6, 8)
a = silu(conv(scan, 6, [1, 3, 3], stride = [1, 1, 2]))
b = max_pool(a, 3, stride = [1, 2, 2], padding = 1)
c = upconv(b, 4, [1, 2, 2])
both = concat(avg_pool(c, [1, 2, 2]), b)
output joined = both
output again = both
output last = leaky_relu(conv(both, 3, 3)) + conv(both, 3, 1)
"""

failures = []


def expect(good, *words):
    if not good:
        failures.append(" ".join(str(word) for word in words))


# ---- protocol buffers ----

def fields(data):
    """(number, value) of each field: integers, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
            value -= (value >> 63) << 64
        else:
            length = varint() if kind == 2 else 4
            value, at = data[at:at + length], at + length
            expect(kind in (2, 5) and len(value) == length, "a field of type", kind)
        yield key >> 3, value


def all_of(data, number):
    return [value for n, value in fields(data) if n == number]


def text(data, number):
    return [value.decode() for value in all_of(data, number)]


class Node:
    def __init__(self, data):
        self.inputs, self.outputs, (self.type,) = text(data, 1), text(data, 2), text(data, 4)
        self.attributes = {}
        for a in all_of(data, 5):
            (name,), (kind,) = text(a, 1), all_of(a, 20)
            self.attributes[name] = {1: lambda: struct.unpack("<f", all_of(a, 2)[0])[0], 2: lambda: all_of(a, 3)[0],
                                     3: lambda: text(a, 4)[0], 7: lambda: all_of(a, 8)}[kind]()


class Tensor:
    """Of one sample, or a weight; values in row-major order."""

    def __init__(self, shape, values):
        self.shape, self.values = list(shape), values


class Model:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        (graph,) = all_of(data, 7)
        expect(all_of(data, 1) == [8] and [all_of(o, 2) for o in all_of(data, 8)] == [[17]], "IR 8, opset 17")
        self.nodes = [Node(n) for n in all_of(graph, 1)]
        self.weights = {}
        for t in all_of(graph, 5):
            values = array.array({1: "f", 7: "q"}[all_of(t, 2)[0]])
            values.frombytes(all_of(t, 9)[0])
            self.weights[text(t, 8)[0]] = Tensor(all_of(t, 1), values)
        self.inputs, self.outputs = ([self.described(v) for v in all_of(graph, n)] for n in (11, 12))

    @staticmethod
    def described(value):
        """The name and the shape: "N" for the batch."""
        (name,), (kind,) = text(value, 1), all_of(value, 2)
        (tensor,) = all_of(kind, 1)
        expect(all_of(tensor, 1) == [1], name, "is f32")
        dims = all_of(all_of(tensor, 2)[0], 1)
        return name, [(text(d, 2) or all_of(d, 1))[0] for d in dims]

    def run(self, sample):
        known = dict(self.weights)
        known[self.inputs[0][0]] = sample
        for node in self.nodes:
            expect(not known.keys() & set(node.outputs), "made twice:", node.outputs)
            made = OPERATORS[node.type](node.attributes, *[known[i] if i else None for i in node.inputs])
            known.update(zip(node.outputs, made if isinstance(made, tuple) else (made,)))
        return known[self.outputs[0][0]]


# ---- operators, for images ----

def padded(x, pads, value):
    """Planes of rows with a border."""
    channels, height, width = x.shape
    top, left, bottom, right = pads
    planes = []
    for c in range(channels):
        rows = [[value] * (width + left + right) for _ in range(top)]
        for h in range(height):
            begin = (c * height + h) * width
            rows.append([value] * left + list(x.values[begin:begin + width]) + [value] * right)
        planes.append(rows + [[value] * (width + left + right) for _ in range(bottom)])
    return planes


def windows(a, x, value):
    """The padded planes, and the size of what a window makes of them."""
    planes = padded(x, a["pads"], value)
    size = [len(planes[0]), len(planes[0][0])]
    dilation = a.get("dilations", [1, 1])
    out = [(size[k] - dilation[k] * (a["kernel_shape"][k] - 1) - 1) // a["strides"][k] + 1 for k in range(2)]
    taps = [(i * dilation[0], j * dilation[1]) for i in range(a["kernel_shape"][0]) for j in range(a["kernel_shape"][1])]
    return planes, out, taps


def conv(a, x, w, b=None):
    planes, (height, width), taps = windows(a, x, 0.0)
    outs, ins = w.shape[:2]
    of = outs // a["group"]  # each of them reads INS channels
    (down, right), values = a["strides"], []
    for o in range(outs):
        for h in range(height):
            row = [b.values[o] if b else 0.0] * width
            for c in range(ins):
                for t, (i, j) in enumerate(taps):
                    weight = w.values[(o * ins + c) * len(taps) + t]
                    source = planes[o // of * ins + c][h * down + i][j:j + (width - 1) * right + 1:right]
                    row = [r + weight * s for r, s in zip(row, source)]
            values += row
    return Tensor([outs, height, width], values)


def conv_transpose(a, x, w, b=None):
    channels, height, width = x.shape
    of_group, kernel, stride, pads = w.shape[1], a["kernel_shape"], a["strides"], a["pads"]
    outs, ins = of_group * a["group"], channels // a["group"]
    more = a.get("output_padding", [0, 0])
    size = [stride[k] * ((height, width)[k] - 1) + kernel[k] - pads[k] - pads[2 + k] + more[k] for k in range(2)]
    values = [b.values[o] if b else 0.0 for o in range(outs) for _ in range(size[0] * size[1])]
    for c in range(channels):
        for h in range(height):
            for v in range(width):
                number = x.values[(c * height + h) * width + v]
                for o in range(of_group):
                    to = c // ins * of_group + o
                    for i in range(kernel[0]):
                        for j in range(kernel[1]):
                            y, z = h * stride[0] + i - pads[0], v * stride[1] + j - pads[1]
                            if 0 <= y < size[0] and 0 <= z < size[1]:
                                values[(to * size[0] + y) * size[1] + z] += \
                                    number * w.values[((c * of_group + o) * kernel[0] + i) * kernel[1] + j]
    return Tensor([outs] + size, values)


def pool(a, x, border, reduce):
    planes, (height, width), taps = windows(a, x, border)
    (down, right), values = a["strides"], []
    for plane in planes:
        values += [reduce([plane[h * down + i][v * right + j] for i, j in taps])
                   for h in range(height) for v in range(width)]
    return Tensor([len(planes), height, width], values)


def max_pool(a, x):
    """And where the maxima lie, as numbers of elements."""
    planes, (height, width), taps = windows(a, x, float("-inf"))
    (down, right), (top, left), indices = a["strides"], a["pads"][:2], []
    for c, plane in enumerate(planes):
        for h in range(height):
            for v in range(width):
                i, j = max(taps, key=lambda tap: plane[h * down + tap[0]][v * right + tap[1]])
                indices.append((c * x.shape[1] + h * down + i - top) * x.shape[2] + v * right + j - left)
    return Tensor([len(planes), height, width], [x.values[i] for i in indices]), Tensor([len(planes), height, width], indices)


def max_unpool(a, x, indices, shape):
    values = [0.0] * math.prod(shape.values)
    for value, i in zip(x.values, indices.values):
        values[i] = value
    return Tensor(list(shape.values)[1:], values)


def broadcast(function):
    """Of a tensor and one with fewer channels or points, a weight of each channel, or a number."""
    def apply(a, x, *more):
        y = more[0] if more else x
        shape = ([1] * 3 + list(y.shape))[-3:]
        if math.prod(shape) == len(x.values):
            return Tensor(x.shape, [function(p, q) for p, q in zip(x.values, y.values)])
        for axis in range(len(x.shape) if len(y.shape) == len(x.shape) > 2 else 0):  # a number for each line of an axis
            if list(y.shape) == [*x.shape[:axis], 1, *x.shape[axis + 1:]]:
                values = list(x.values)
                for line, q in zip(lines(x, axis), y.values):
                    for i in line:
                        values[i] = function(x.values[i], q)
                return Tensor(x.shape, values)
        points = math.prod(x.shape[1:])
        at = lambda i: (0 if shape[0] == 1 else i // points) * math.prod(shape[1:]) + (i % points if math.prod(shape[1:]) > 1 else 0)
        return Tensor(x.shape, [function(p, y.values[at(i)]) for i, p in enumerate(x.values)])
    return apply


def lines(x, axis):
    """The places of each line along an axis, which is counted without the samples."""
    behind, extent = math.prod(x.shape[axis + 1:]), x.shape[axis]
    return [[(i * extent + k) * behind + j for k in range(extent)] for i in range(math.prod(x.shape[:axis])) for j in range(behind)]


def reduced(function):
    """Over one axis."""
    def apply(a, x):
        axis = a["axes"][0] - 1
        expect(len(a["axes"]) == 1 and axis >= 0, "over one axis")
        return Tensor([*x.shape[:axis], 1, *x.shape[axis + 1:]], [function([x.values[i] for i in line]) for line in lines(x, axis)])
    return apply


def average_pool(a, x):
    a = {"pads": [0, 0, 0, 0], **a}
    expect(a.get("count_include_pad") == 1 or not any(a["pads"]), "PyTorch counts the padding")
    return pool(a, x, 0.0, lambda numbers: sum(numbers) / len(numbers))


def concat(a, *parts):
    if a["axis"] == 0:
        return Tensor([sum(len(p.values) for p in parts)], [v for p in parts for v in p.values])
    expect(a["axis"] == 1, "channels are joined")
    return Tensor([sum(p.shape[0] for p in parts)] + parts[0].shape[1:], [v for p in parts for v in p.values])


def points(function):
    return lambda a, *xs: Tensor(xs[0].shape, [function(a, *numbers) for numbers in zip(*(x.values for x in xs))])


def batch_norm(a, x, scale, shift, mean, variance):
    size, values = x.shape[1] * x.shape[2], []
    for c in range(x.shape[0]):
        factor = scale.values[c] / (variance.values[c] + a["epsilon"])**0.5
        values += [(v - mean.values[c]) * factor + shift.values[c] for v in x.values[c * size:(c + 1) * size]]
    return Tensor(x.shape, values)


def gathered(x, size, rows, columns):
    """Of an image of another size: ROWS and COLUMNS give for each the points of x it is made of, and how much of each."""
    height, width = x.shape[1:]
    values = [sum(p * q * x.values[(c * height + i) * width + j] for i, p in rows[h] for j, q in columns[w])
              for c in range(x.shape[0]) for h in range(size[0]) for w in range(size[1])]
    return Tensor([x.shape[0]] + size, values)


def resize(a, x, roi, scales):
    places, size, taps = a["coordinate_transformation_mode"], [], []
    for extent, scale in zip(x.shape[1:], scales.values[2:]):
        out = math.floor(extent * scale)
        axis = []
        for o in range(out):
            at = {"asymmetric": o / scale, "half_pixel": (o + 0.5) / scale - 0.5,
                  "align_corners": o * (extent - 1) / max(out - 1, 1)}[places]
            if a["mode"] == "nearest":
                axis.append([(math.floor(at + {"floor": 1e-6, "round_prefer_ceil": 0.5 + 1e-6}[a["nearest_mode"]]), 1.0)])
            else:
                low = math.floor(at)
                axis.append([(min(max(low + k, 0), extent - 1), share) for k, share in ((0, 1 - at + low), (1, at - low))])
        size.append(out)
        taps.append(axis)
    return gathered(x, size, *taps)


def part(a, x, starts, ends, axes=None):
    if axes is None:
        return Tensor([ends.values[0] - starts.values[0]], x.values[starts.values[0]:ends.values[0]])
    if list(axes.values) == [1]:
        size = math.prod(x.shape[1:])
        begin, end = starts.values[0], ends.values[0]
        return Tensor([end - begin] + x.shape[1:], x.values[begin * size:end * size])
    expect(list(axes.values) == [2, 3], "channels are cut, or rows and columns")
    taps = [[[(i, 1.0)] for i in range(start, end)] for start, end in zip(starts.values, ends.values)]
    return gathered(x, [len(axis) for axis in taps], *taps)


def depth_to_space(a, x):
    expect(a["mode"] == "CRD", "the order of PyTorch")
    fold, (channels, height, width) = a["blocksize"], x.shape
    values = [x.values[((c * fold * fold + h % fold * fold + w % fold) * height + h // fold) * width + w // fold]
              for c in range(channels // fold**2) for h in range(height * fold) for w in range(width * fold)]
    return Tensor([channels // fold**2, height * fold, width * fold], values)


def along(a, x, indices):
    """INDICES, a tensor, in the place of an axis; the first axis is of a weight, for a tensor has no axis of samples here."""
    axis = max(a["axis"] - 1, 0)
    before, behind = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1:])
    return Tensor(x.shape[:axis] + list(indices.shape) + x.shape[axis + 1:],
                  [x.values[(b * x.shape[axis] + i) * behind + c] for b in range(before) for i in indices.values for c in range(behind)])


def gather(a, x, indices):
    if len(x.shape) != 3 or len(indices.shape) != 1:
        return along(a, x, indices)
    taps = [[[(i, 1.0)] for i in range(extent)] for extent in x.shape[1:]]
    taps[a["axis"] - 2] = [[(i, 1.0)] for i in indices.values]
    return gathered(x, [len(axis) for axis in taps], *taps)


def pad(a, x, pads, number=None):
    if number is not None and number.values[0] != 0:  # of what is less by this, zeros; then more by it
        less = pad(a, Tensor(x.shape, [v - number.values[0] for v in x.values]), pads)
        return Tensor(less.shape, [v + number.values[0] for v in less.values])
    before, after = pads.values[2:4], pads.values[6:8]
    taps = []
    for extent, front, behind in zip(x.shape[1:], before, after):
        axis = []
        for i in range(-front, extent + behind):
            inside = 0 <= i < extent
            axis.append([(min(max(i, 0), extent - 1), 1.0)] if inside or a["mode"] == "edge" else [])
        taps.append(axis)
    return gathered(x, [len(axis) for axis in taps], *taps)


def sigmoid(x):
    return 1 / (1 + 2.718281828459045**-x)


def clip(a, x, low=None, high=None):
    low, high = low.values[0] if low else float("-inf"), high.values[0] if high else float("inf")
    return Tensor(x.shape, [min(max(v, low), high) for v in x.values])


def expand(a, x, shape):
    """One channel, row or column, as often as SHAPE has them."""
    channels, height, width = shape.values[1:]
    x = Tensor(list(x.shape)[-3:], x.values)
    at = lambda extent, i: 0 if extent == 1 else i
    return Tensor([channels, height, width], [
        x.values[(at(x.shape[0], c) * x.shape[1] + at(x.shape[1], h)) * x.shape[2] + at(x.shape[2], w)]
        for c in range(channels) for h in range(height) for w in range(width)])


def matmul(a, x, y):
    """A matrix of each head, or of each window of each head."""
    *several, rows, depth = x.shape
    heads, columns = math.prod(several), y.shape[-1]
    expect(y.shape[:-1] == [*several, depth], "matrices fit", x.shape, y.shape)
    return Tensor([*several, rows, columns], [
        sum(x.values[(h * rows + r) * depth + k] * y.values[(h * depth + k) * columns + c] for k in range(depth))
        for h in range(heads) for r in range(rows) for c in range(columns)])


def transpose(a, x):
    order = a["perm"] if len(a["perm"]) == len(x.shape) else [k - 1 for k in a["perm"][1:]]  # of a weight, or of samples
    steps = [math.prod(x.shape[k + 1:]) for k in order]
    shape = [x.shape[k] for k in order]
    return Tensor(shape, [x.values[sum(map(int.__mul__, at, steps))] for at in itertools.product(*map(range, shape))])


def on_all(function):
    """Axes of the tensors are equal, or 1, from the last one on."""
    def apply(a, *xs):
        rank = max(len(x.shape) for x in xs)
        shapes = [[1] * (rank - len(x.shape)) + list(x.shape) for x in xs]
        shape = [max(extents) for extents in zip(*shapes)]
        steps = [[math.prod(own[k + 1:]) if own[k] > 1 else 0 for k in range(rank)] for own in shapes]
        values = [function(*(x.values[sum(map(int.__mul__, at, step))] for x, step in zip(xs, steps)))
                  for at in itertools.product(*map(range, shape))]
        while len(shape) > len(xs[-2].shape) and shape[0] == 1:  # a constant has the axis of samples
            del shape[0]
        return Tensor(shape, values)
    return apply


def softmax(a, x):
    values = [0.0] * len(x.values)
    for line in lines(x, a["axis"] - 1):
        most = max(x.values[i] for i in line)
        shares = [math.exp(x.values[i] - most) for i in line]
        for i, share in zip(line, shares):
            values[i] = share / sum(shares)
    return Tensor(x.shape, values)


def below(a, x, first):
    """A matrix that is zero above diagonal number FIRST."""
    expect(a["upper"] == 0 and x.shape[0] == 1, "one lower triangle")
    columns = x.shape[2]
    return Tensor(x.shape, [v if i % columns - i // columns <= first.values[0] else 0.0 for i, v in enumerate(x.values)])


OPERATORS = {
    "Conv": conv, "ConvTranspose": conv_transpose, "Concat": concat, "AveragePool": average_pool,
    "MaxPool": max_pool, "MaxUnpool": max_unpool, "ReduceMean": reduced(lambda line: sum(line) / len(line)), "ReduceL2": reduced(lambda line: math.hypot(*line)),
    "PRelu": broadcast(lambda x, w: x if x > 0 else w * x),
    "Sub": broadcast(lambda x, y: x - y), "Div": broadcast(lambda x, y: x / y),
    "Cast": points(lambda a, x: int(x)),
    "Sqrt": points(lambda a, x: x**0.5),
    "Elu": points(lambda a, x: x if x > 0 else a["alpha"] * math.expm1(x)),
    "Selu": points(lambda a, x: a["gamma"] * (x if x > 0 else a["alpha"] * math.expm1(x))),
    "Exp": points(lambda a, x: math.exp(x)), "Log": points(lambda a, x: math.log(x)),
    "Sin": points(lambda a, x: math.sin(x)), "Cos": points(lambda a, x: math.cos(x)),
    "Tanh": points(lambda a, x: math.tanh(x)), "Abs": points(lambda a, x: abs(x)),
    "Reciprocal": points(lambda a, x: 1 / x), "Expand": expand,
    "Greater": broadcast(lambda x, y: x > y), "Equal": on_all(lambda x, y: x == y),
    "Where": on_all(lambda above, x, y: x if above else y),
    "Max": broadcast(max), "Min": broadcast(min), "Softplus": points(lambda a, x: math.log1p(math.exp(x))), "Clip": clip,
    "Shape": lambda a, x: Tensor([len(x.shape) + 1], [1] + x.shape),
    "Reshape": lambda a, x, shape: Tensor([n for n in shape.values][1:], x.values),
    "Relu": points(lambda a, x: max(x, 0.0)),
    "LeakyRelu": points(lambda a, x: x if x > 0 else a["alpha"] * x),
    "Sigmoid": points(lambda a, x: sigmoid(x)),
    "Add": lambda a, x, y: on_all(operator.add)(a, x, y) if len(x.shape) > 3 else broadcast(operator.add)(a, x, y),
    "Mul": broadcast(lambda x, y: x * y),
    "Identity": points(lambda a, x: x),
    "BatchNormalization": batch_norm, "Resize": resize, "Slice": part, "Pad": pad, "Gather": gather,
    "DepthToSpace": depth_to_space, "MatMul": matmul, "Transpose": transpose, "Softmax": softmax, "Trilu": below,
}


# ---- checks ----

def unetc(*words):
    result = subprocess.run([sys.argv[1], *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return result.returncode, result.stderr.decode()


def export(folder, case, vectors):
    weights, path = os.path.join(folder, "w.safetensors"), os.path.join(folder, case["name"] + ".onnx")
    safetensors.write(weights, {n[len("initial/"):]: t for n, t in vectors.items() if n.startswith("initial/")})
    options = ["-D%s=%s" % item for item in case["defines"].items()] + ["--size=" + "x".join(map(str, case["size"]))]
    code, said = unetc("onnx", "--weights=" + weights, "-o", path, *options, case["file"])
    expect(code == 0 and said == "", case["name"], "is written:", said)
    return path


def check_case(folder, case):
    vectors, _ = safetensors.read(case["vectors"])
    model = Model(export(folder, case, vectors))
    shape, first = vectors["input"].shape, vectors["output"].shape
    (_, taken), (_, given) = model.inputs[0], model.outputs[0]
    expect(taken == ["N"] + shape[1:] and given == ["N"] + first[1:], case["name"], "shapes", taken, given)
    count = len(vectors["input"].values) // shape[0]
    output = model.run(Tensor(shape[1:], vectors["input"].values[:count]))
    expected = vectors["output"].values[:len(output.values)]
    largest = max(abs(a - b) for a, b in zip(output.values, expected))
    expect(output.shape == first[1:] and largest <= TOLERANCE, case["name"], "off by", largest)
    print("%-16s %3d nodes, %3d weights: off by %.1e" % (case["name"], len(model.nodes), len(model.weights), largest))


def check_mistakes(folder):
    case = next(c for c in cases.CASES if c["name"] == "simple_denoiser")
    vectors, _ = safetensors.read(case["vectors"])
    path = export(folder, case, vectors)
    before = os.stat(path).st_mtime_ns
    weights = os.path.join(folder, "w.safetensors")
    mapped = ["--weights=" + weights, "-o", folder + "/mapped.onnx", "-Dwidth=8", case["file"]]
    for name, line in (("same.map", "* -> *"), ("other.map", "* -> other.*")):
        with open(os.path.join(folder, name), "w") as file:
            file.write(line + "\n")
    for words, code, said in (
            (["--map=" + folder + "/same.map", *mapped], 0, ""),
            (["--map=" + folder + "/other.map", *mapped], 4, "not in the file"),
            (["-o", path, case["file"]], 2, "--weights=FILE.safetensors"),
            (["--weights=" + folder + "/none", "-o", path, case["file"]], 4, "none"),
            (["--weights=" + weights, "-o", path, case["file"]], 4, "16 x"),  # another width
            (["--weights=" + weights, "-o", folder + "/no/such.onnx", "-Dwidth=8", case["file"]], 4, "no/such.onnx"),
            (["--weights=" + weights, "--mem=1GiB", case["file"]], 2, "does not take --mem")):
        got, err = unetc("onnx", *words)
        expect(got == code and (said in err or code == 4), words, "exit code", got, err)
        expect(code != 4 or os.path.basename(words[0].split("=")[-1]) in err or said in err, words, "names no file:", err)
    expect(os.stat(path).st_mtime_ns == before, "a file that was there is left alone")


def check_rules():
    """Each operator that a file may call, but for losses and metrics, has a rule in compiler/onnx/nodes.c."""
    with open(os.path.join(cases.ROOT, "compiler", "ir", "ops.def")) as file:
        rows = re.findall(r'^OP\((\w+), "\w+",\s+"(?:.*?)",\s+(.*?)\)$', file.read(), flags=re.M | re.S)
    with open(os.path.join(cases.ROOT, "compiler", "onnx", "nodes.c")) as file:
        ruled = set(re.findall(r"\[OP_(\w+)\] =", file.read()))
    called = {name for name, row in rows if "TRAIT_MEASURES" not in row and "TRAIT_CALLS" not in row}
    expect(len(called) >= 9, "operators are found:", sorted(called))
    expect(called <= ruled, "operators without a form in ONNX:", sorted(called - ruled))


def check_with_runtime(folder):
    import numpy
    import onnx
    import onnxruntime
    for case in cases.CASES:
        vectors, _ = safetensors.read(case["vectors"])
        path = export(folder, case, vectors)
        onnx.checker.check_model(path, full_check=True)
        session = onnxruntime.InferenceSession(path)
        x, y = (numpy.array(vectors[n].values, "f").reshape(vectors[n].shape) for n in ("input", "output"))
        largest = abs(session.run(None, {session.get_inputs()[0].name: x})[0] - y).max()
        expect(largest <= TOLERANCE, case["name"], "in ONNX Runtime: off by", largest)
        print("%-16s in ONNX Runtime: off by %.1e" % (case["name"], largest))
    file, weights = os.path.join(folder, "more.unet"), os.path.join(folder, "w.safetensors")
    shapes = {"a": ([6, 2, 1, 3, 3], [6]), "c": ([6, 4, 1, 2, 2], [4]), "last": ([3, 10, 3, 3, 3], [3]),
              "conv": ([3, 10, 1, 1, 1], [3])}
    rng = numpy.random.default_rng(0)
    tensors = {}
    for name, (w, b) in shapes.items():
        for suffix, shape in (("weight", w), ("bias", b)):
            tensors[name + "." + suffix] = safetensors.Tensor(shape, array.array("f", rng.normal(size=int(numpy.prod(shape)))))
    safetensors.write(weights, tensors)
    with open(file, "w") as out:
        out.write(MORE)
    code, said = unetc("onnx", "--weights=" + weights, "-o", folder + "/more.onnx", file)
    if code != 0:
        return expect(False, "more.unet:", said)
    onnx.checker.check_model(folder + "/more.onnx", full_check=True)
    session = onnxruntime.InferenceSession(folder + "/more.onnx")
    joined, again, last = session.run(None, {"scan": rng.normal(size=(3, 2, 4, 6, 8)).astype("f")})
    expect((joined == again).all() and last.shape == (3, 3) + joined.shape[2:], "more.unet: outputs")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for case in cases.CASES:
            if case["name"] in EVALUATED:
                check_case(folder, case)
        check_mistakes(folder)
        if "--with-runtime" in sys.argv:
            check_with_runtime(folder)
    check_rules()
    for failure in failures:
        print("FAILED: " + failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

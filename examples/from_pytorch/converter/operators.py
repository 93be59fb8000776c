"""A row for each operator of PyTorch that a file can say.

    find(name) -> Row or None         name: `conv2d`, `add.Tensor`, as the schemas have it

A row says which arguments its rule reads and which make no difference.  An argument that is in neither list is refused
unless it has its default, so that what a newer PyTorch adds is never passed over; a test goes through PyTorch's schemas.
`relu_` has the row of `relu`: what it changes is the business of translate.py.
"""

import fractions
import math

from .capture import Ref
from .values import Atom, Computed, Indices, Unfit, Value, Weight, joined, product

ROWS = {}


class Row:
    """keeps_order: the elements of the result are those of the first argument, in their order."""

    def __init__(self, rule, reads, harmless, keeps_order):
        self.rule, self.reads, self.harmless, self.keeps_order = rule, reads.split(), harmless.split(), keeps_order


def operator(names, reads, harmless="", keeps_order=False):
    def register(rule):
        for name in names.split():
            ROWS[name] = Row(rule, reads, harmless, keeps_order)
        return rule
    return register


def find(name):
    if name in ROWS:
        return ROWS[name]
    word, dot, overload = name.partition(".")
    return ROWS.get(word[:-1] + dot + overload) if word.endswith("_") and not word.endswith("__") else None


ADVICE = {
    "attention": ("scaled_dot_product_attention matmul bmm einsum baddbmm", "attention, a product of two tensors: "
                  "unetc has no operator for it"),
    "wrap": ("reflection_pad1d reflection_pad2d reflection_pad3d", "it pads by reflection: unetc pads with zeros"),
    "sequence": ("conv1d conv_transpose1d max_pool1d avg_pool1d adaptive_avg_pool1d",
                 "a signal of one dimension: unetc takes images and volumes"),
}


def advice(name):
    for words, text in ADVICE.values():
        if name.partition(".")[0] in words.split():
            return text
    return "unetc has no operator for it"


# ---- numbers ------------------------------------------------------------------------------------------------------


def listed(value, count):
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * count if len(values) == 1 else values


def number(values):
    """[3, 3] is 3."""
    return values[0] if all(value == values[0] for value in values) else list(values)


def given(keyword, value, default):
    return [(keyword, value)] if value != default else []


def after(n):
    """The size of the output, whose axes are N C [D] H W."""
    return n.shape()[1:]


def plainly(n, name):
    return Value(name, n.translation.size[name])


# ---- convolutions -------------------------------------------------------------------------------------------------

CONV = "input weight bias stride padding dilation groups"


@operator("conv2d conv3d conv2d.padding conv3d.padding conv1d conv1d.padding", CONV)
@operator("convolution", CONV + " transposed output_padding")
@operator("_convolution _convolution.deprecated", CONV + " transposed output_padding",
          "benchmark deterministic cudnn_enabled allow_tf32")
@operator("_convolution_mode", CONV)
def conv(n):
    if n.has("transposed") and n["transposed"]:
        return upconv(n)
    weight = n.weight("weight")
    out, _, *kernel = weight.shape
    if len(kernel) == 1:
        n.refuse(advice("conv1d"))
    dilation, padding = listed(n["dilation"], len(kernel)), n["padding"]
    zeros = (same_zeros if padding == "same" else no_zeros)(kernel, dilation) if isinstance(padding, str) else [
        (p, p) for p in listed(padding, len(kernel))]
    source, waiting = padded(n, "input", len(kernel))
    zeros = [(a + c, b + d) for (a, b), (c, d) in zip(zeros, waiting)]
    layer = n.layer({"weight": weight, "bias": n.weight("bias")})
    stride = number(listed(n["stride"], len(kernel)))
    return plainly(n, n.emit("conv", [source], [(None, out), (None, number(kernel))] + given("stride", stride, 1)
                             + zeros_given(zeros, kernel, dilation) + given("dilation", number(dilation), 1)
                             + given("groups", n["groups"], 1) + given("bias", n["bias"] is not None, True), after(n), layer))


def same_zeros(kernel, dilation):
    """PyTorch's: of an odd number the last is behind."""
    return [(d * (k - 1) // 2, d * (k - 1) - d * (k - 1) // 2) for k, d in zip(kernel, dilation)]


def no_zeros(kernel, dilation):
    return [(0, 0)] * len(kernel)


def zeros_given(zeros, kernel, dilation):
    if all(k % 2 == 1 and pair == (d * (k - 1) // 2,) * 2 for pair, k, d in zip(zeros, kernel, dilation)):
        return []
    if all(front == back for front, back in zeros):
        return [("padding", number([front for front, _ in zeros]))]
    return [("padding", [list(pair) for pair in zeros])]


def padded(n, name, spatial):
    """The base of an argument, and the zeros around it that nobody has made yet."""
    value = n.tensor(name)
    if len(value.points) != spatial:
        n.refuse("an operator of %d dimensions on a tensor of %d" % (spatial, len(value.points)))
    if value.pads and all(number >= 0 for pair in value.pads for number in pair):
        return value.base, value.pads
    return n.translation.forced(n, value), [(0, 0)] * spatial


@operator("conv_transpose2d.input conv_transpose3d.input conv_transpose1d",
          "input weight bias stride padding output_padding groups dilation")
def upconv(n):
    weight = n.weight("weight")
    _, out, *kernel = weight.shape
    count = len(kernel)
    if count == 1:
        n.refuse(advice("conv1d"))
    if n["groups"] != 1 or any(d != 1 for d in listed(n["dilation"], count)):
        n.refuse("a transposed convolution in groups, or with a dilation; unetc has them without")
    kernel, stride = number(kernel), number(listed(n["stride"], count))
    source = n.plain("input")
    layer = n.layer({"weight": weight, "bias": n.weight("bias")})
    return plainly(n, n.emit(
        "upconv", [source], [(None, out)] + ([(None, kernel)] if kernel != 2 or stride != 2 else [])
        + given("stride", stride, kernel) + given("padding", number(listed(n["padding"], count)), 0)
        + given("output_padding", number(listed(n["output_padding"], count)), 0)
        + given("bias", n["bias"] is not None, True), after(n), layer))


@operator("linear", "input weight bias")
def linear(n):
    """A convolution with kernel 1, over whichever axis has the channels; of all points at once, with their kernel."""
    value, weight = n.made("input"), n.weight("weight")
    out, inner = weight.shape
    spatial = len(value.points)
    bias = given("bias", n["bias"] is not None, True)
    if value.whole_channels(-1):
        layer = n.layer({"weight": weight, "bias": n.weight("bias")}, {"weight": (out, inner) + (1,) * spatial})
        name = n.emit("conv", [value.base], [(None, out), (None, 1)] + bias, (out, *value.points), layer)
        return value_of_channels(value, name, out, len(value.axes) - 1)
    if not value.in_order() or product(n.shape()[:-1]) != 1:
        n.refuse("a linear layer over an axis other than channels")
    layer = n.layer({"weight": weight, "bias": n.weight("bias")}, {"weight": (out, *value.size)})
    name = n.emit("conv", [value.base], [(None, out), (None, number(value.points)), ("padding", 0)] + bias,
                  (out,) + (1,) * spatial, layer)
    return Value(name, (out,) + (1,) * spatial).reshaped(n.shape())


def value_of_channels(value, name, channels, axis):
    """The axes of VALUE, for a tensor with other channels in axis AXIS."""
    axes = [tuple(a for a in atoms if a.letter != "C") for atoms in value.axes]
    axes[axis] = (Atom("C", channels),)
    return Value(name, (channels, *value.points), axes)


# ---- normalisation ------------------------------------------------------------------------------------------------


@operator("batch_norm", "input weight bias running_mean running_var training momentum eps", "cudnn_enabled")
def batch_norm(n):
    if n["training"]:
        n.refuse("it normalises by the statistics of the batch in evaluation, too; unetc's batch_norm takes running ones then: "
                 "pass training = self.training")
    if n["weight"] is None or n["bias"] is None or n["running_mean"] is None:
        n.refuse("batch_norm without weights, or without running statistics")
    if n["momentum"] == 0:
        n.refuse("running statistics that are means over all batches (momentum = None); unetc's have a momentum")
    layer = n.layer({word: n.weight(word) for word in ("weight", "bias", "running_mean", "running_var")})
    value = n.of_channels("input")
    return value.with_base(n.emit("batch_norm", [value.base], given("eps", n["eps"], 1e-5)
                                  + given("momentum", n["momentum"], 0.1), layer=layer))


@operator("instance_norm", "input weight bias running_mean running_var use_input_stats eps", "momentum cudnn_enabled")
def instance_norm(n):
    if n["running_mean"] is not None or not n["use_input_stats"]:
        n.refuse("instance_norm with running statistics")
    affine = n["weight"] is not None
    layer = n.layer({"weight": n.weight("weight"), "bias": n.weight("bias")}) if affine else None
    value = n.of_channels("input")
    return value.with_base(n.emit("instance_norm", [value.base], given("eps", n["eps"], 1e-5)
                                  + given("affine", affine, False), layer=layer))


@operator("group_norm", "input num_groups weight bias eps", "cudnn_enabled")
def group_norm(n):
    value = n.of_channels("input")
    eps = given("eps", n["eps"], 1e-5)
    if n["weight"] is None and n["num_groups"] == value.channels:
        return value.with_base(n.emit("instance_norm", [value.base], eps))
    if n["weight"] is None or n["bias"] is None:
        n.refuse("group_norm without weights")
    layer = n.layer({"weight": n.weight("weight"), "bias": n.weight("bias")})
    return value.with_base(n.emit("group_norm", [value.base], [(None, n["num_groups"])] + eps, layer=layer))


@operator("layer_norm", "input normalized_shape weight bias eps", "cudnn_enable")
def layer_norm(n):
    value = n.made("input")
    if len(n["normalized_shape"]) != 1 or not value.whole_channels(-1):
        n.refuse("layer_norm over other axes than channels; permute them to the end, or take group_norm")
    if n["weight"] is None or n["bias"] is None:
        n.refuse("layer_norm without weights, or without a bias")
    layer = n.layer({"weight": n.weight("weight"), "bias": n.weight("bias")})
    return value.with_base(n.emit("layer_norm", [value.base], given("eps", n["eps"], 1e-5), layer=layer))


# ---- functions of a point -----------------------------------------------------------------------------------------


def arithmetic(n, sign, left, right):
    """Of two tensors of one size, by name, or of one and a number."""
    inputs, numbers = [], []
    for side in (left, right):
        if isinstance(side, str):
            inputs.append(side)
        else:
            numbers.append((len(inputs), side))
    return n.emit(sign, inputs, numbers)


def shifted(n, name, by):
    if by == 0:
        return name
    return arithmetic(n, "+", name, by) if by > 0 else arithmetic(n, "-", name, -by)


def scaled(n, name, by):
    return name if by == 1 else n.emit("-", [name]) if by == -1 else arithmetic(n, "*", name, by)


def relu_of(n, name):
    return n.emit("relu", [name])


def of_points(n, function, argument="self"):
    """The same axes of FUNCTION of the base, a name."""
    value = n.made(argument)
    return value.with_base(function(value.base))


@operator("relu sigmoid tanh silu", "self")
def map_of(n):
    return of_points(n, lambda x: n.emit(n.name.partition(".")[0].rstrip("_"), [x]))


@operator("leaky_relu", "self negative_slope")
def leaky_relu(n):
    return of_points(n, lambda x: n.emit("leaky_relu", [x], given("slope", n["negative_slope"], 0.01)))


@operator("gelu", "self approximate")
def gelu(n):
    def approximate(x):
        cube = arithmetic(n, "*", arithmetic(n, "*", x, x), x)
        inner = scaled(n, arithmetic(n, "+", x, scaled(n, cube, 0.044715)), math.sqrt(2 / math.pi))
        return arithmetic(n, "*", scaled(n, x, 0.5), shifted(n, n.emit("tanh", [inner]), 1))
    return of_points(n, approximate if n["approximate"] == "tanh" else lambda x: n.emit("gelu", [x]))


@operator("elu", "self alpha scale input_scale")
def elu(n):
    if n["input_scale"] != 1:
        n.refuse("an elu of a scaled input")
    return of_points(n, lambda x: elu_of(n, x, n["alpha"], n["scale"]))


@operator("selu", "self")
def selu(n):
    return of_points(n, lambda x: elu_of(n, x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946))


@operator("celu", "self alpha")
def celu(n):
    if n["alpha"] != 1:
        n.refuse("a celu whose alpha is not 1")
    return of_points(n, lambda x: n.emit("elu", [x]))


def elu_of(n, x, alpha, scale):
    if alpha == 1:
        return scaled(n, n.emit("elu", [x]), scale)
    above = relu_of(n, x)
    below = arithmetic(n, "-", n.emit("elu", [x]), above)
    return scaled(n, arithmetic(n, "+", above, scaled(n, below, alpha)), scale)


def clamped(n, x, low, high):
    """By relu: low + relu(x - low) - relu(x - high)."""
    if high is None:
        return x if low is None else shifted(n, relu_of(n, shifted(n, x, -low)), low)
    if low is None:
        return shifted(n, n.emit("-", [relu_of(n, shifted(n, n.emit("-", [x]), high))]), high)
    lower = relu_of(n, shifted(n, x, -low))
    return shifted(n, arithmetic(n, "-", lower, relu_of(n, shifted(n, x, -high))), low)


def finite(bound):
    return None if bound is None or math.isinf(bound) else bound


@operator("relu6", "self")
def relu6(n):
    return of_points(n, lambda x: clamped(n, x, 0, 6))


@operator("hardtanh", "self min_val max_val")
def hardtanh(n):
    return of_points(n, lambda x: clamped(n, x, n["min_val"], n["max_val"]))


@operator("clamp clip", "self min max")
def clamp(n):
    return of_points(n, lambda x: clamped(n, x, finite(n["min"]), finite(n["max"])))


@operator("clamp_min", "self min")
def clamp_min(n):
    return of_points(n, lambda x: clamped(n, x, finite(n["min"]), None))


@operator("clamp_max", "self max")
def clamp_max(n):
    return of_points(n, lambda x: clamped(n, x, None, finite(n["max"])))


def hard_gate(n, x):
    return arithmetic(n, "/", clamped(n, shifted(n, x, 3), 0, 6), 6)


@operator("hardsigmoid", "self")
def hardsigmoid(n):
    return of_points(n, lambda x: hard_gate(n, x))


@operator("hardswish", "self")
def hardswish(n):
    return of_points(n, lambda x: arithmetic(n, "*", x, hard_gate(n, x)))


@operator("abs", "self")
def absolute(n):
    return of_points(n, lambda x: arithmetic(n, "+", relu_of(n, x), relu_of(n, n.emit("-", [x]))))


@operator("square", "self")
def square(n):
    return of_points(n, lambda x: arithmetic(n, "*", x, x))


@operator("pow.Tensor_Scalar", "self exponent")
def power(n):
    exponent = n["exponent"]
    if exponent not in (1, 2, 3, 4):
        n.refuse("a power that is not 2, 3 or 4")

    def repeated(x):
        result = x
        for _ in range(int(exponent) - 1):
            result = arithmetic(n, "*", result, x)
        return result
    return of_points(n, repeated)


@operator("neg", "self")
def negative(n):
    return of_points(n, lambda x: n.emit("-", [x]))


@operator("prelu", "self weight")
def prelu(n):
    weight = n.weight("weight")
    count = product(weight.shape)
    value = n.of_channels("self")
    return value.with_base(n.emit("prelu", [value.base], given(None, count, 1),
                                  layer=n.layer({"weight": weight}, {"weight": (count,)})))


@operator("softmax.int", "self dim dtype")
def softmax(n):
    value = n.tensor("self")
    if value.pads or value.stack or n["dtype"] is not None or not value.whole_channels(n["dim"]) or value.channels == 1:
        n.refuse("softmax over an axis other than channels")
    return value.with_base(n.emit("softmax", [value.base]))


@operator("dropout feature_dropout", "input self p train")
def dropout(n):
    source = "input" if n.has("input") else "self"
    if n["train"]:
        n.refuse("it drops elements in evaluation, too; unetc's dropout only in training: take nn.Dropout, or pass "
                 "training = self.training")
    if n["p"] == 0:
        return n.tensor(source)
    name = "dropout_channels" if n.name.startswith("feature") else "dropout"
    if name == "dropout_channels":
        return plainly(n, n.emit(name, [n.plain(source)], given("p", n["p"], 0.5)))
    return of_points(n, lambda x: n.emit(name, [x], given("p", n["p"], 0.5)), source)


# ---- pooling, sizes -----------------------------------------------------------------------------------------------


def windows(n, kernel, stride):
    return ([(None, kernel)] if kernel != 2 or stride != 2 else []) + given("stride", stride, kernel)


def pool_windows(n):
    spatial = len(n.tensor("self").points)
    kernel = number(listed(n["kernel_size"], spatial))
    return kernel, number(listed(n["stride"], spatial)) if n["stride"] else kernel, number(listed(n["padding"], spatial))


@operator("max_pool2d max_pool3d max_pool2d_with_indices max_pool3d_with_indices",
          "self kernel_size stride padding dilation ceil_mode")
def max_pool(n):
    source = n.plain("self")
    kernel, stride, padding = pool_windows(n)
    name = n.emit("max_pool", [source], windows(n, kernel, stride) + given("padding", padding, 0)
                  + given("dilation", number(listed(n["dilation"], 2)), 1) + given("ceil", n["ceil_mode"], False), after(n))
    exact = padding == 0 and not n["ceil_mode"] and number(listed(n["dilation"], 2)) == 1
    return [plainly(n, name), Indices(source if exact else None, kernel, stride)]


@operator("max_unpool2d max_unpool3d", "self indices output_size", "stride padding")
def max_unpool(n):
    indices = n.value("indices")
    if not isinstance(indices, Indices) or indices.like is None or list(after(n)[1:]) != list(
            n.translation.size[indices.like][1:]):
        n.refuse("max_unpool by other indices than those of a max_pool without padding, back to its size")
    return plainly(n, n.emit("max_unpool", [n.plain("self"), indices.like], windows(n, indices.kernel, indices.stride),
                             after(n)))


@operator("avg_pool2d avg_pool3d", "self kernel_size stride padding ceil_mode count_include_pad divisor_override")
def avg_pool(n):
    value = n.tensor("self")
    spatial = len(value.points)
    kernel, stride, padding = pool_windows(n)
    sides, steps, zeros = (listed(v, spatial) for v in (kernel, stride, padding))
    source, waiting = value.base, value.pads
    even = waiting and all(front == back >= 0 for front, back in waiting)
    if even and padding == 0 and all(2 * front <= k for (front, _), k in zip(waiting, sides)):
        zeros = [front for front, _ in waiting]
        padding = number(zeros)
    else:
        source = n.plain("self")
    points = n.translation.size[source][1:]
    floor = [(p + 2 * z - k) // s + 1 for p, z, k, s in zip(points, zeros, sides, steps)]
    if floor != after(n)[1:]:
        n.refuse("an average pool that rounds up (ceil_mode) at this size; choose one that its windows divide")
    divisor = n["divisor_override"]
    counted = n["count_include_pad"] or bool(waiting)
    if divisor is not None and padding != 0 and not counted:
        n.refuse("an average pool with a divisor of its own")
    name = n.emit("avg_pool", [source], windows(n, kernel, stride) + given("padding", padding, 0)
                  + given("count_include_pad", counted or padding == 0, True), after(n))
    if divisor is not None:
        name = scaled(n, name, product(sides) / divisor)
    return plainly(n, name)


def equal_parts(n, points, size):
    if any(p % s for p, s in zip(points, size)):
        n.refuse("adaptive pooling to %s of %s points, which are no equal parts" % (
            "x".join(map(str, size)), "x".join(map(str, points))))


@operator("adaptive_avg_pool2d adaptive_avg_pool3d", "self output_size")
def adaptive_avg_pool(n):
    source = n.plain("self")
    channels, *points = n.translation.size[source]
    size = after(n)[1:]
    if any(s > p and s % p for p, s in zip(points, size)):
        n.refuse("adaptive pooling of %s points to more, %s, which is no multiple" % (
            "x".join(map(str, points)), "x".join(map(str, size))))
    means = [min(p, s) for p, s in zip(points, size)]
    name = pooled(n, source, (channels, *means))
    if means != size:
        name = n.emit("resize", [name], [("scale", number([s // m for s, m in zip(size, means)]))], after(n))
    return plainly(n, name)


@operator("adaptive_max_pool2d adaptive_max_pool3d", "self output_size")
def adaptive_max_pool(n):
    source = n.plain("self")
    points, size = n.translation.size[source][1:], after(n)[1:]
    equal_parts(n, points, size)
    kernel = number([p // s for p, s in zip(points, size)])
    return [plainly(n, n.emit("max_pool", [source], windows(n, kernel, kernel), after(n))), Indices(None, kernel, kernel)]


def reduced(n, dims, keepdim, over_points, over_channels, over_parts):
    """The result of a reduction along axes DIMS: of some spatial letters, of all channels, or of a part of them."""
    value = n.tensor("self")
    if value.pads or (value.stack and len(dims) > 1):
        value = plainly(n, n.translation.forced(n, value))
    rank = len(value.axes)
    dims = sorted({dim % rank for dim in dims})
    atoms = [atom for dim in dims for atom in value.axes[dim]]
    axes = [() if i in dims else axis for i, axis in enumerate(value.axes)]
    if any(atom.letter == "*" for atom in atoms):
        n.refuse("a reduction over an axis that only repeats")
    channel = [atom for atom in atoms if atom.letter == "C"]
    names = {letter: size for letter, size in zip("CDHW" if len(value.points) == 3 else "CHW", value.size)}
    if any(atom.size != names[atom.letter] for atom in atoms if atom.letter != "C"):
        n.refuse("a reduction over a part of the rows or columns")
    base, size = value.base, list(value.size)
    if channel and product(atom.size for atom in channel) != value.channels:
        if len(channel) != 1 or channel[0].inner * channel[0].size != value.channels:
            n.refuse("a reduction over a part of the channels that is no outer group of them")
        base = over_parts(value, channel[0].size)
        size[0] = channel[0].inner
        value.stack = None
    elif channel:
        base, size[0] = over_channels(base, value.channels), 1
    points = [letter for letter in names if letter != "C" and letter in {atom.letter for atom in atoms}]
    if points:
        after_points = [1 if letter in points else names[letter] for letter in names if letter != "C"]
        base = over_points(base, (size[0], *after_points), product(names[letter] for letter in points))
        size = [size[0], *after_points]
    result = Value(base, size, axes)
    return result if keepdim else result.reshaped([s for i, s in enumerate(result.shape()) if i not in dims])


def sum_of_parts(n, value, count):
    names = [v.base for v in value.stack[1]] if value.stack else n.translation.chunked(n.node, value.base, count)
    total = names[0]
    for name in names[1:]:
        total = arithmetic(n, "+", total, name)
    return total


def pooled(n, base, size):
    points = n.translation.size[base][1:]
    return n.emit("adaptive_avg_pool", [base], [(None, number(list(size[1:])))], size) if list(points) != list(size[1:]) else base


def dims_of(n, name="dim"):
    raw = n[name] if n.has(name) else None
    if raw is None or raw == []:
        return list(range(len(n.tensor("self").axes)))
    return raw if isinstance(raw, (list, tuple)) else [raw]


def whole_number_type(n):
    if n.has("dtype") and n.raw("dtype") is not None and not n.raw("dtype").is_floating_point:
        n.refuse("it makes whole numbers")


@operator("mean mean.dim", "self dim keepdim dtype")
def mean(n):
    whole_number_type(n)
    return reduced(n, dims_of(n), n.has("keepdim") and n["keepdim"],
                   lambda base, size, _: pooled(n, base, size),
                   lambda base, _: n.emit("channel_mean", [base], size=(1, *n.translation.size[base][1:])),
                   lambda value, count: arithmetic(n, "/", sum_of_parts(n, value, count), count))


@operator("sum sum.dim_IntList", "self dim keepdim dtype")
def total(n):
    whole_number_type(n)
    return reduced(n, dims_of(n), n.has("keepdim") and n["keepdim"],
                   lambda base, size, count: scaled(n, pooled(n, base, size), count),
                   lambda base, count: scaled(n, n.emit("channel_mean", [base], size=(1, *n.translation.size[base][1:])), count),
                   lambda value, count: sum_of_parts(n, value, count))


def maximum_over(n, dims, keepdim):
    def over_points(base, size, _):
        points = n.translation.size[base][1:]
        kernel = number([p // s for p, s in zip(points, size[1:])])
        return n.emit("max_pool", [base], windows(n, kernel, kernel), size)

    def over_parts(value, count):
        names = [v.base for v in value.stack[1]] if value.stack else n.translation.chunked(n.node, value.base, count)
        best = names[0]
        for name in names[1:]:
            best = larger(n, best, name)
        return best
    return reduced(n, dims, keepdim, over_points,
                   lambda base, _: n.emit("channel_max", [base], size=(1, *n.translation.size[base][1:])), over_parts)


@operator("amax", "self dim keepdim")
def amax(n):
    return maximum_over(n, dims_of(n), n["keepdim"])


@operator("max.dim", "self dim keepdim")
def max_along(n):
    return [maximum_over(n, [n["dim"]], n["keepdim"]), Indices(None, 0, 0)]


def larger(n, a, b):
    return arithmetic(n, "+", a, relu_of(n, arithmetic(n, "-", b, a)))


def two_of_a_size(n):
    left, right = n.tensor("self"), n.tensor("other")
    if left.key() != right.key() or left.size != right.size or left.pads or right.pads:
        n.refuse("of two tensors of different sizes, or axes in different orders")
    return left, right


@operator("maximum max.other", "self other")
def maximum(n):
    left, right = two_of_a_size(n)
    return left.with_base(larger(n, left.base, right.base))


@operator("minimum min.other", "self other")
def minimum(n):
    left, right = two_of_a_size(n)
    return left.with_base(arithmetic(n, "-", left.base, relu_of(n, arithmetic(n, "-", left.base, right.base))))


@operator("upsample_nearest2d.vec upsample_nearest3d.vec _upsample_nearest_exact2d.vec _upsample_nearest_exact3d.vec",
          "input output_size scale_factors")
@operator("upsample_bilinear2d.vec upsample_trilinear3d.vec", "input output_size align_corners scale_factors")
def resize(n):
    source = n.plain("input")
    before, behind = n.translation.size[source][1:], after(n)[1:]
    word = n.name.partition(".")[0]
    mode = "nearest_exact" if "exact" in word else "nearest" if "nearest" in word else "bilinear"
    how = given("mode", mode, "nearest") + given("align_corners", n.has("align_corners") and n["align_corners"], False)
    if list(before) == list(behind) and n["scale_factors"] is None:
        return plainly(n, source)
    scale = resize_scale(n["scale_factors"], before, behind)
    if scale is None:
        n.refuse("a scale factor that is no fraction")
    if any(s.denominator != 1 and (1 / s).denominator != 1 for s in scale) and n["scale_factors"] is None:
        like = next((name for name in n.translation.order[::-1] if list(n.translation.size[name][1:]) == list(behind)), None)
        if like is not None:
            return plainly(n, n.emit("resize", [source, like], how, after(n)))
    return plainly(n, n.emit("resize", [source], [("scale", number(scale))] + how, after(n)))


def resize_scale(factors, before, behind):
    """What positions follow from: the factors, or without them the ratios of the sizes."""
    if factors is None:
        return [fractions.Fraction(b, a) for a, b in zip(before, behind)]
    scale = [fractions.Fraction(f).limit_denominator(1000) for f in listed(factors, len(before))]
    if any(float(s) != f or a * s // 1 != b for s, f, a, b in zip(scale, listed(factors, len(before)), before, behind)):
        return None
    return scale


@operator("pixel_shuffle", "self upscale_factor")
def pixel_shuffle(n):
    return plainly(n, n.emit("pixel_shuffle", [n.plain("self")], [(None, n["upscale_factor"])], after(n)))


@operator("pixel_unshuffle", "self downscale_factor")
def pixel_unshuffle(n):
    return plainly(n, n.emit("pixel_unshuffle", [n.plain("self")], [(None, n["downscale_factor"])], after(n)))


@operator("pad", "self pad mode value")
def pad(n):
    return surround(n, n["pad"], n["mode"], n["value"] or 0)


@operator("constant_pad_nd", "self pad value")
def constant_pad(n):
    return surround(n, n["pad"], "constant", n["value"] or 0)


@operator("replication_pad2d replication_pad3d", "self padding")
def replication_pad(n):
    return surround(n, n["padding"], "replicate", 0)


def surround(n, pads, mode, filling):
    value = n.tensor("self")
    if not any(pads):
        return value
    if mode in ("reflect", "circular"):
        n.refuse("it pads %s: unetc pads with zeros" % ("by reflection" if mode == "reflect" else "from the other side"))
    if filling != 0:
        n.refuse("it pads with %s: unetc pads with zeros" % filling)
    if value.stack or not value.is_plain() and not value.pads:
        value = plainly(n, n.translation.forced(n, value))
    spatial = len(value.points)
    pairs = [tuple(pads[i:i + 2]) for i in range(0, len(pads), 2)][::-1]
    if any(any(pair) for pair in pairs[:-spatial]):
        if mode != "constant" or pairs[-spatial - 1:-spatial] != pairs[:-spatial] or min(pairs[0]) < 0 or value.pads:
            n.refuse("it pads batch or channels in a way that is no concatenation of zeros")
        value = with_channels(n, value, *pairs[0])
    pairs = [(0, 0)] * (spatial - len(pairs)) + pairs[-spatial:]
    if value.pads and any(min(pair) < 0 for pair in value.pads) or value.pads and mode == "replicate":
        value = plainly(n, n.translation.forced(n, value))
    held = value.pads or [(0, 0)] * spatial
    total = Value(value.base, value.size, None, [(a + c, b + d) for (a, b), (c, d) in zip(held, pairs)])
    if mode == "replicate":
        return plainly(n, n.translation.surrounded(n, total, None, "replicate"))
    return total


def with_channels(n, value, front, back):
    """Zeros as channels before and behind: the first channels, times zero."""
    def zeros(count):
        whole, rest = divmod(count, value.channels)
        parts = [value.base] * whole
        if rest:
            parts.append(channel_part(n, value, 1, 0, rest).base)
        return [scaled(n, part, 0) for part in parts]
    channels = value.channels + front + back
    name = n.emit("concat", zeros(front) + [value.base] + zeros(back), size=(channels, *value.points))
    return Value(name, (channels, *value.points))


# ---- channels -----------------------------------------------------------------------------------------------------


@operator("cat concat concatenate", "tensors dim")
def cat(n):
    values = [n.image(n.translation.value(raw)) for raw in n["tensors"] if not empty(n, raw)]
    rank = len(values[0].axes)
    axis = n["dim"] % rank
    hint = next((value.base for value in values if value.is_plain() and not value.pads), None)
    values = [plainly(n, n.translation.forced(n, v, hint)) if v.pads or v.stack else v for v in values]
    rest = [[tuple(a.key() for a in atoms) for i, atoms in enumerate(v.axes) if i != axis] for v in values]
    if any(r != rest[0] for r in rest) or not all(v.whole_channels(axis) for v in values):
        n.refuse("concatenation along another axis than channels")
    channels = sum(value.channels for value in values)
    if len(values) == 1:
        return values[0]
    name = n.emit("concat", [value.base for value in values], size=(channels, *values[0].points))
    return value_of_channels(values[0], name, channels, axis)


def empty(n, raw):
    """A tensor without elements, which a constant may be."""
    return not isinstance(raw, Ref) and raw.numel() == 0


def channel_part(n, value, axis, begin, end):
    """Channels BEGIN to END of a value whose axis AXIS has all of them."""
    if value.pads:
        value = plainly(n, n.translation.forced(n, value))
    if value.stack and value.axes[axis] and value.axes[axis][0].key() == value.stack[0].key() and end == begin + 1:
        return value.stack[1][begin].seen(value.stack[1][begin].axes[:axis] + ((),) + value.stack[1][begin].axes[axis:])
    if value.stack:
        value = stacked(n, value)
    atoms = value.axes[axis]
    if len(atoms) != 1 or atoms[0].letter != "C" or atoms[0].inner * atoms[0].size != value.channels:
        n.refuse("a part of an axis other than channels, or of a group of them")
    inner = atoms[0].inner
    begin, end = begin * inner, end * inner
    common = math.gcd(math.gcd(begin, end), value.channels)
    if common == value.channels:
        return value
    names = n.translation.chunked(n.node, value.base, value.channels // common)[begin // common:end // common]
    count = end - begin
    name = names[0] if len(names) == 1 else n.emit("concat", names, size=(count, *value.points))
    axes = list(value.axes)
    axes[axis] = joined([Atom("C", count // inner, inner)])
    return Value(name, (count, *value.points), axes)


@operator("chunk unsafe_chunk split.Tensor split split_with_sizes split.sizes unsafe_split.Tensor tensor_split.sections",
          "self chunks split_size split_sizes sections dim")
def chunk(n):
    value = n.tensor("self")
    axis = n["dim"] % len(value.axes)
    parts, at = [], 0
    for i in range(len(n.node.outputs)):
        size = n.shape(i)[axis]
        parts.append(channel_part(n, value, axis, at, at + size))
        at += size
    return parts


@operator("unbind.int", "self dim")
def unbind(n):
    value = n.tensor("self")
    axis = n["dim"] % len(value.axes)
    return [without(channel_part(n, value, axis, i, i + 1), axis) for i in range(len(n.node.outputs))]


def without(value, axis):
    """A value without this axis, which has one element."""
    return value.seen(value.axes[:axis] + value.axes[axis + 1:])


@operator("select.int", "self dim index", "", True)
def select(n):
    value = n.tensor("self")
    axis = n["dim"] % len(value.axes)
    count = value.shape()[axis]
    index = n["index"] % count
    return without(value if count == 1 else channel_part(n, value, axis, index, index + 1), axis)


@operator("slice.Tensor", "self dim start end step", "", True)
def sliced(n):
    value = n.tensor("self")
    axis = n["dim"] % len(value.axes)
    count = value.shape()[axis]
    begin, end, _ = slice(n["start"], n["end"]).indices(count)
    if (begin, end) == (0, count) and n["step"] == 1:
        return value
    if n["step"] != 1:
        n.refuse("every other row or channel")
    return narrowed(n, value, axis, begin, end)


@operator("narrow", "self dim start length", "", True)
def narrow(n):
    value = n.tensor("self")
    axis = n["dim"] % len(value.axes)
    begin = n["start"] % max(value.shape()[axis], 1)
    return narrowed(n, value, axis, begin, begin + n["length"])


def narrowed(n, value, axis, begin, end):
    count = value.shape()[axis]
    if (begin, end) == (0, count):
        return value
    if value.stack or not (value.is_plain() or value.pads) or axis < 2:
        return channel_part(n, value, axis, begin, end)
    pads = list(value.pads or [(0, 0)] * len(value.points))
    front, back = pads[axis - 2]
    pads[axis - 2] = (front - begin, back - (count - end))
    return Value(value.base, value.size, None, pads)


@operator("stack", "tensors dim")
def stack(n):
    values = [n.image(n.translation.value(raw)) for raw in n["tensors"]]
    values = [plainly(n, n.translation.forced(n, v)) if v.pads or v.stack else v for v in values]
    first = values[0]
    if any(v.key() != first.key() or v.size != first.size for v in values):
        n.refuse("a stack of tensors whose axes are in different orders")
    axis = n["dim"] % (len(first.axes) + 1)
    atom = Atom("C", len(values), first.channels)
    size = (first.channels * len(values), *first.points)
    return Value(None, size, first.axes[:axis] + ((atom,),) + first.axes[axis:], None, (atom, values))


def stacked(n, value):
    """What torch.stack put together, as a tensor."""
    name = n.emit("concat", [v.base for v in value.stack[1]], size=value.size)
    return Value(name, value.size, value.axes)


def laid_out(translation, n, value):
    """The name of a tensor that holds VALUE in the axes N C [D] H W, where operators can lay it out so; else None."""
    shape = value.shape()
    repeated = [i for i, axis in enumerate(value.axes) if any(a.letter == "*" for a in axis)]
    if repeated:
        return repeat_axes(n, value, shape)
    if len(value.points) != 2 or len(shape) != 4 or shape[0] != 1:
        return None
    channels, rows, columns = value.axes[1:]
    if (len(rows) == len(columns) == 2 and len(channels) < 2 and rows[0].letter == "H" and columns[0].letter == "W"
            and rows[1].letter == columns[1].letter == "C" and rows[1].size == columns[1].size
            and columns[1].inner == 1 and rows[1].inner == columns[1].size
            and product(a.size for a in channels) * rows[1].size ** 2 == value.channels):
        return n.emit("pixel_shuffle", [value.base], [(None, rows[1].size)], shape[1:])
    return None


def repeat_axes(n, value, shape):
    """An axis that repeats one element is resized; repeated channels are a concat."""
    kept = Value(value.base, value.size, [tuple(a for a in axis if a.letter != "*") for axis in value.axes])
    if len(shape) != len(value.size) + 1 or shape[0] != 1 or not kept.is_plain():
        return None
    base, size = value.base, list(value.size)
    times = [product(a.size for a in axis if a.letter == "*") for axis in value.axes[1:]]
    if any(t > 1 and s > 1 for t, s in zip(times[1:], size[1:])) or any(
            axis and axis[-1].letter == "*" and len(axis) > 1 for axis in value.axes):
        return None
    if any(t > 1 for t in times[1:]):
        size[1:] = [t * s for t, s in zip(times[1:], size[1:])]
        base = n.emit("resize", [base], [("scale", number(times[1:]))], size)
    if times[0] > 1:
        size[0] *= times[0]
        base = n.emit("concat", [base] * times[0], size=size)
    return base


# ---- axes ---------------------------------------------------------------------------------------------------------


def movable(n, name="self"):
    value = n.tensor(name)
    return plainly(n, n.translation.forced(n, value)) if value.pads else value


@operator("view reshape flatten.using_ints unflatten.int squeeze squeeze.dim squeeze.dims unsqueeze _unsafe_view view_as "
          "reshape_as _reshape_copy", "self size shape start_dim end_dim dim sizes other", "", True)
def reshape(n):
    return movable(n).reshaped(n.shape())


@operator("permute", "self dims")
def permute(n):
    value = movable(n)
    return value.permuted([axis % len(value.axes) for axis in n["dims"]])


@operator("transpose.int swapaxes", "self dim0 dim1 axis0 axis1")
def transpose(n):
    value = movable(n)
    order = list(range(len(value.axes)))
    names = ("dim0", "dim1") if n.has("dim0") else ("axis0", "axis1")
    a, b = (n[name] % len(order) for name in names)
    order[a], order[b] = b, a
    return value.permuted(order)


@operator("t", "self")
def turned(n):
    value = movable(n)
    return value.permuted(list(range(len(value.axes)))[::-1])


@operator("movedim.int movedim.intlist", "self source destination")
def movedim(n):
    value = movable(n)
    rank = len(value.axes)
    source = [axis % rank for axis in listed(n["source"], 1)]
    target = [axis % rank for axis in listed(n["destination"], 1)]
    order = [axis for axis in range(rank) if axis not in source]
    for to, axis in sorted(zip(target, source)):
        order.insert(to, axis)
    return value.permuted(order)


@operator("expand expand_as", "self size other", "implicit", True)
def expand(n):
    value = movable(n)
    if value.stack:
        value = stacked(n, value)
    shape, before = n.shape(), value.shape()
    axes = [()] * (len(shape) - len(before)) + list(value.axes)
    before = [1] * (len(shape) - len(before)) + before
    return Value(value.base, value.size, [
        (Atom("*", want),) if want != have else axis for want, have, axis in zip(shape, before, axes)])


@operator("repeat", "self repeats")
def repeat(n):
    value = movable(n)
    if value.stack:
        value = stacked(n, value)
    times = n["repeats"]
    axes = [()] * (len(times) - len(value.axes)) + list(value.axes)
    return Value(value.base, value.size, [
        ((Atom("*", count),) if count > 1 else ()) + tuple(axis) for count, axis in zip(times, axes)])


@operator("clone contiguous", "self", "memory_format", True)
@operator("detach alias lift_fresh lift_fresh_copy resolve_conj", "self", "", True)
@operator("to.dtype _to_copy to.device to.dtype_layout type_as to.other", "self dtype other",
          "non_blocking copy memory_format device layout pin_memory", True)
def same(n):
    dtype = n.raw("dtype")
    if dtype is not None and not dtype.is_floating_point:
        n.refuse("it makes whole numbers of a tensor")
    value = n.value("self")
    return value if isinstance(value, Weight) else n.tensor("self")


@operator("copy", "self src", "non_blocking")
def copy(n):
    value, other = n.tensor("self"), n.tensor("src")
    if value.shape() != other.shape():
        n.refuse("it copies into a tensor of another size")
    return other


# ---- arithmetic ---------------------------------------------------------------------------------------------------


@operator("add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Scalar rsub.Tensor", "self other alpha")
@operator("mul.Tensor mul.Scalar div.Tensor div.Scalar true_divide.Tensor", "self other")
def operate(n):
    word = n.name.partition(".")[0].rstrip("_")
    sign = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rsub": "-", "true_divide": "/"}[word]
    left, right = n.value("self"), n.value("other")
    alpha = n["alpha"] if n.has("alpha") else 1
    left, right = (scalar(n, side) for side in (left, right))
    if alpha != 1:
        if isinstance(right, Value):
            right = movable(n, "other")
            right = right.with_base(scaled(n, right.base, alpha))
        elif isinstance(right, Weight):
            n.refuse("`%s`, a weight of the network, as a summand; a file has weights in layers and in `scale` alone" % right.path)
        else:
            right = right * alpha
    if word == "rsub":
        left, right = right, left
    if isinstance(left, Value) and isinstance(right, Value):
        return of_two(n, sign, left, right)
    return with_other(n, sign, left, right)


def scalar(n, side):
    """A constant whose elements are equal is a number."""
    if isinstance(side, Weight) and side.path in n.translation.program.buffers:
        side = n.translation.program.tensors[side.path]
    if isinstance(side, (Value, Weight, bool, int, float)):
        return side
    if isinstance(side, Computed):
        n.refuse("a factor or summand that %s computes of `%s`, a weight" % (side.function, side.path))
    if not hasattr(side, "numel"):
        n.refuse("arithmetic with %s" % type(side).__name__)
    if side.numel() == 0 or not bool((side == side.flatten()[0]).all()):
        n.refuse("a constant of %s elements, which is no parameter: make it a Parameter, or normalise by `normalize` in the "
                 "file's `data`" % "x".join(map(str, side.shape)))
    return side.flatten()[0].item()


def with_other(n, sign, left, right):
    """Of a tensor and a number, or a weight."""
    value, other, first = (left, right, True) if isinstance(left, Value) else (right, left, False)
    if value.pads or value.stack:
        value = plainly(n, n.translation.forced(n, value))
    if value.shape() != n.shape():
        n.refuse("a tensor that a constant or a weight repeats along an axis")
    if isinstance(other, Weight):
        if sign != "*":
            n.refuse("`%s`, a weight of the network, as a summand or divisor; a file has weights in layers and in `scale` alone"
                     % other.path)
        return scale_by(n, value, other)
    if isinstance(other, bool) or not isinstance(other, (int, float)):
        n.refuse("arithmetic with %s" % type(other).__name__)
    if not first and sign == "/":
        n.refuse("a number divided by a tensor: unetc divides by numbers alone")
    if sign == "/" and other == 0 or not math.isfinite(other):
        n.refuse("arithmetic with %s" % other)
    if sign in "+-" and first and other < 0:
        return value.with_base(shifted(n, value.base, other if sign == "+" else -other))
    return value.with_base(arithmetic(n, sign, *((value.base, other) if first else (other, value.base))))


def scale_by(n, value, weight):
    """`scale`: a weight for each channel."""
    shape = [1] * (len(value.axes) - len(weight.shape)) + list(weight.shape)
    axes = [i for i, size in enumerate(shape) if size != 1]
    count = product(shape)
    fits = count == value.channels and (count == 1 or len(axes) == 1 and value.whole_channels(axes[0]))
    if not fits or len(shape) > len(value.axes):
        n.refuse("`%s`, a weight of the network of %s elements, as a factor of %d channels; `scale` has one for each channel" % (
            weight.path, "x".join(map(str, weight.shape)), value.channels))
    n.translation.tensor(n, weight_name(weight.path), weight.path, (count,))
    numbers = n.translation.program.tensors[weight.path].detach().flatten()
    first = numbers[0].item()
    init = given("init", float(repr_of(first)), 1) if bool((numbers == first).all()) else []
    return value.with_base(n.emit("scale", [value.base], init, layer=weight_name(weight.path)))


def repr_of(number32):
    """The shortest decimal number that a float32 is."""
    import struct
    for digits in range(1, 10):
        text = "%.*g" % (digits, number32)
        if struct.pack("f", float(text)) == struct.pack("f", number32):
            return text
    return repr(number32)


def weight_name(path):
    from . import naming
    return naming.weight_name(path)


def of_two(n, sign, left, right):
    """Of two tensors: of one size, or of which one is repeated along some axes."""
    if sign == "/":
        n.refuse("a tensor divided by a tensor: unetc divides by numbers alone")
    hints = [v.base for v in (right, left) if not v.pads and not v.stack and v.is_plain()]
    if left.pads or left.stack:
        left = plainly(n, n.translation.forced(n, left, hints[0] if hints else None))
    if right.pads or right.stack:
        right = plainly(n, n.translation.forced(n, right, hints[-1] if hints else None))
    left, right = (plainly(n, n.translation.forced(n, v)) if any(
        a.letter == "*" for axis in v.axes if len(axis) > 1 for a in axis) else v for v in (left, right))
    rank = max(len(left.axes), len(right.axes))
    left, right = (v.seen(((),) * (rank - len(v.axes)) + v.axes) for v in (left, right))
    axes = [a if product(x.size for x in a) >= product(x.size for x in b) else b
            for a, b in zip(unrepeated(left, right), unrepeated(right, left))]
    want = Value(None, merged_size(left, right), axes)
    sides = [fitted(n, sign, v, want, other) for v, other in ((left, right), (right, left))]
    return want.with_base(n.emit(sign, sides, size=want.size))


def unrepeated(value, other):
    """Axes without repetitions that the other tensor has real elements for."""
    return [() if any(x.letter == "*" for x in a) and b and not any(x.letter == "*" for x in b)
            and product(x.size for x in a) == product(x.size for x in b) else a for a, b in zip(value.axes, other.axes)]


def merged_size(left, right):
    return [max(a, b) for a, b in zip(left.size, right.size)]


def fitted(n, sign, value, want, other):
    """The name of VALUE, enlarged where arithmetic of the language does not repeat it itself."""
    for atoms, mine in zip(want.axes, value.axes):
        keys = [a.key() for a in mine]
        if any(a.letter == "*" for a in atoms):
            n.refuse("both tensors are repeated along an axis")
        if keys and keys != [a.key() for a in atoms] and not any(a.letter == "*" for a in mine):
            n.refuse("of two tensors whose axes are in different orders")
    if value.size == want.size:
        return value.base
    base, size = value.base, list(value.size)
    if sign == "*" and other.size == want.size and (size[1:] == [1] * len(size[1:]) and size[0] == want.size[0]
                                                    or size[0] == 1 and size[1:] == list(want.size[1:])):
        return base
    if any(s not in (1, w) for s, w in zip(size, want.size)):
        n.refuse("of two tensors of different sizes")
    if size[1:] != list(want.size[1:]):
        size[1:] = want.size[1:]
        scale = [w // s for s, w in zip(value.size[1:], want.size[1:])]
        base = (n.emit("resize", [base, other.base], [], size) if other.size[1:] == want.size[1:]
                else n.emit("resize", [base], [("scale", number(scale))], size))
    if size[0] != want.size[0] and not (sign == "*" and other.size == want.size):
        size[0] = want.size[0]
        base = n.emit("concat", [base] * want.size[0], size=size)
    return base

"""Rules of layers: convolutions, `linear`, normalisations, prelu.

Each names its weights by `n.layer`, which also says how the file calls them.  Zeros that wait around the input become part of
a convolution's own padding.
"""

from . import arranging, computed
from .axes import value_of_channels
from .points import of_two
from .sizes import normalised
from .table import after, given, listed, number, operator, plainly
from .values import Atom, Computed, Value, Weight, product



CONV = "input weight bias stride padding dilation groups"


@operator("conv2d conv3d conv2d.padding conv3d.padding conv1d conv1d.padding", CONV)
@operator("convolution", CONV + " transposed output_padding")
@operator("_convolution _convolution.deprecated", CONV + " transposed output_padding",
          "benchmark deterministic cudnn_enabled allow_tf32")
@operator("_convolution_mode", CONV)
def conv(n):
    if n.has("transposed") and n["transposed"]:
        return upconv(n)
    weight, bias = n.filter("weight"), n.filter("bias")
    weight, bias = all_folded(n, weight, bias)
    if bias is not None and n.is_fixed(bias) != n.is_fixed(weight):
        n.refuse("a weight that is learnt beside a bias that is not, or the other way round")
    out, _, *kernel = weight.shape
    if is_pointwise(n, kernel):
        return pointwise(n, weight, bias)
    if len(n.tensor("input").points) > len(kernel):
        return conv_along(n, weight, bias)
    dilation, padding = listed(n["dilation"], len(kernel)), n["padding"]
    zeros = (same_zeros if padding == "same" else no_zeros)(kernel, dilation) if isinstance(padding, str) else [
        (p, p) for p in listed(padding, len(kernel))]
    source, waiting = padded(n, "input", len(kernel))
    zeros = [(a + c, b + d) for (a, b), (c, d) in zip(zeros, waiting)]
    layer = n.layer({"weight": weight, "bias": bias})
    stride = number(listed(n["stride"], len(kernel)))
    return plainly(n, n.emit("conv", [source], [(None, out), (None, number(kernel))] + given("stride", stride, 1)
                             + zeros_given(zeros, kernel, dilation) + given("dilation", number(dilation), 1)
                             + given("groups", n["groups"], 1) + given("bias", bias is not None, True)
                             + n.weights_given(weight, bias), after(n), layer))


def conv_along(n, weight, bias):
    """A convolution along fewer axes than maps have: the axes that the network convolves along become rows and columns."""
    value = n.made("input")
    out, each, *kernel = weight.shape
    missing = len(value.points) - len(kernel)
    row = arranging.arranged(n, value, [value.axes[1], *[()] * missing, *value.axes[2:]]) if not value.axes[0] else None
    if row is None or isinstance(n["padding"], str):
        n.refuse("a convolution along %d of the %d axes of a map; unetc convolves along all of them" % (len(kernel), len(value.points)))
    one, none = [1] * missing, [0] * missing
    kernel, dilation = one + kernel, one + listed(n["dilation"], len(kernel))
    zeros = [(p, p) for p in none + listed(n["padding"], len(kernel) - missing)]
    layer = n.layer({"weight": weight, "bias": bias}, {"weight": (out, each, *kernel)})
    size = (out, *one, *n.shape()[2:])
    name = n.emit("conv", [row.base], [(None, out), (None, number(kernel))]
                  + given("stride", number(one + listed(n["stride"], len(kernel) - missing)), 1) + zeros_given(zeros, kernel, dilation)
                  + given("dilation", number(dilation), 1) + given("groups", n["groups"], 1) + given("bias", bias is not None, True)
                  + n.weights_given(weight, bias), size, layer)
    return Value(name, size).reshaped(n.shape())


def is_pointwise(n, kernel):
    """Does it compute each point by itself, of points that are in another order than a map's?"""
    still = all(k == 1 for k in kernel) and all(s == 1 for s in listed(n["stride"], 1)) and (
        n["padding"] in ("same", "valid") or not any(listed(n["padding"], 1)))
    value = n.tensor("input")
    return still and not value.pads and not value.is_plain() and n.made("input").whole_channels(1)


def pointwise(n, weight, bias):
    value = n.made("input")
    out, each, *_ = weight.shape
    layer = n.layer({"weight": weight, "bias": bias}, {"weight": (out, each, *[1] * len(value.points))})
    name = n.emit("conv", [value.base], [(None, out), (None, 1)] + given("groups", n["groups"], 1)
                  + given("bias", bias is not None, True) + n.weights_given(weight, bias), (out, *value.points), layer)
    return value_of_channels(value, name, out, 1)


def all_folded(n, weight, bias):
    """Weight and bias. If the file alone holds the numbers of one, it holds the numbers of the other."""
    folded, state = n.translation.folded, n.translation.program.tensors
    if bias is None or (weight.path in folded) == (bias.path in folded):
        return weight, bias
    return [other if other.path in folded else n.translation.folded_weight(
        n, name, state[other.path].detach().reshape(other.shape), other.path) for name, other in (("weight", weight), ("bias", bias))]


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
        n.refuse("a convolution along %d of the %d axes of a map; unetc convolves along all of them" % (
            spatial, len(value.points)))
    if value.pads and all(number >= 0 for pair in value.pads for number in pair):
        return value.base, value.pads
    return n.translation.forced(n, value), [(0, 0)] * spatial


@operator("conv_transpose2d.input conv_transpose3d.input conv_transpose1d",
          "input weight bias stride padding output_padding groups dilation")
def upconv(n):
    weight, groups = n.weight("weight"), n["groups"]
    _, of_group, *kernel = weight.shape
    count, out = len(kernel), of_group * groups
    if any(d != 1 for d in listed(n["dilation"], count)):
        n.refuse("a transposed convolution with a dilation; unetc has it without")
    kernel, stride = number(kernel), number(listed(n["stride"], count))
    source = n.plain("input")
    layer = n.layer({"weight": weight, "bias": n.weight("bias")})
    return plainly(n, n.emit(
        "upconv", [source], [(None, out)] + ([(None, kernel)] if kernel != 2 or stride != 2 else [])
        + given("stride", stride, kernel) + given("padding", number(listed(n["padding"], count)), 0)
        + given("output_padding", number(listed(n["output_padding"], count)), 0) + given("groups", groups, 1)
        + given("bias", n["bias"] is not None, True), after(n), layer))


@operator("linear", "input weight bias")
def linear(n):
    """Over whichever axis has the channels; of all points at once a convolution with their kernel."""
    made = bias_of_weights(n)
    value, weight, bias = n.made("input"), *all_folded(n, n.filter("weight"), None if made else n.filter("bias"))
    out, spatial = weight.shape[0], len(value.points)
    if not value.whole_channels(-1) and not (value.in_order() and product(n.shape()[:-1]) == 1):
        value = arranging.with_channels(n, value, -1) or value
    if n.is_fixed(weight) or n.is_fixed(bias):
        return fixed_linear(n, value, weight, bias)
    if value.whole_channels(-1):
        layer = n.layer({"weight": weight, "bias": bias})
        name = n.emit("linear", [value.base], [(None, out)] + given("bias", bias is not None, True), (out, *value.points), layer)
        result = value_of_channels(value, name, out, len(value.axes) - 1)
        return of_two(n, "+", result, made) if made else result
    bias = given("bias", n["bias"] is not None, True)
    if not value.in_order() or product(n.shape()[:-1]) != 1:
        n.refuse("a linear layer over an axis other than channels")
    layer = n.layer({"weight": weight, "bias": n.weight("bias")}, {"weight": (out, *value.size)})
    name = n.emit("conv", [value.base], [(None, out), (None, number(value.points)), ("padding", 0)] + bias,
                  (out,) + (1,) * spatial, layer)
    return Value(name, (out,) + (1,) * spatial).reshaped(n.shape())


def bias_of_weights(n):
    """The Value of a bias that is made of weights by operators, beside a weight that is learnt; else None."""
    bias, weight, value = (n.value(name) for name in ("bias", "weight", "input"))
    if not isinstance(bias, Computed) or not isinstance(weight, Weight) or n.is_fixed(weight) or not value.whole_channels(-1):
        return None
    return computed.tensor_of(n, bias)


@operator("embedding", "weight indices padding_idx", "sparse")
def embedding(n):
    """The rows of a table become channels, behind the axes of their numbers."""
    if n["padding_idx"] >= 0:
        n.refuse("an embedding with a `padding_idx`: training leaves this row as it is, and a file learns all rows")
    weight, value = n.weight("weight"), n.made("indices")
    if value.channels != 1:
        n.refuse("rows of a table by the numbers of several channels")
    count, channels = weight.shape
    name = n.emit("embedding", [value.base], [(None, count), (None, channels)], (channels, *value.points), n.layer({"weight": weight}))
    return Value(name, (channels, *value.points), [*value.axes, (Atom("C", channels),)])


def fixed_linear(n, value, weight, bias):
    """A convolution, which training may leave as it is."""
    if not value.whole_channels(-1) or bias is not None and n.is_fixed(bias) != n.is_fixed(weight):
        n.refuse("a linear layer that nobody learns, over an axis other than channels or beside a bias that is learnt")
    out, spatial = weight.shape[0], len(value.points)
    layer = n.layer({"weight": weight, "bias": bias}, {"weight": (*weight.shape, *[1] * spatial)})
    name = n.emit("conv", [value.base], [(None, out), (None, 1)] + given("bias", bias is not None, True)
                  + n.weights_given(weight, bias), (out, *value.points), layer)
    return value_of_channels(value, name, out, len(value.axes) - 1)


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
    if n["num_groups"] == 1 and n["weight"] is None:
        return normalised(n, value, list(range(1, len(value.axes))), n["eps"])
    if n["weight"] is None or n["bias"] is None:
        n.refuse("group_norm without weights")
    layer = n.layer({"weight": n.weight("weight"), "bias": n.weight("bias")})
    return value.with_base(n.emit("group_norm", [value.base], [(None, n["num_groups"])] + eps, layer=layer))


@operator("prelu", "self weight")
def prelu(n):
    weight = n.weight("weight")
    count = product(weight.shape)
    value = n.of_channels("self")
    return value.with_base(n.emit("prelu", [value.base], given(None, count, 1),
                                  layer=n.layer({"weight": weight}, {"weight": (count,)})))

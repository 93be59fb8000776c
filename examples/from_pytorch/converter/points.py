"""Rules of functions of a point, and of arithmetic.

They keep the axes of their argument, whatever these are.
Of two tensors that differ in size the smaller one is repeated, by `*` itself or by `resize` and `concat`.
"""

import collections
import math

from . import arranging, attention, computed, covariance, windows
from .axes import laid_out, narrowed, settled
from .learnt import constant, fits_scale, parameter, scale_by
from .table import given, operator, plainly
from .values import ChannelProducts, Computed, Products, Value, Weight, product


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


WORDS = {"hardsigmoid": "hard_sigmoid", "hardswish": "hard_swish"}


@operator("relu sigmoid tanh silu relu6 hardsigmoid hardswish selu mish sqrt exp log sin cos abs square", "self")
def map_of(n):
    word = n.name.partition(".")[0].rstrip("_")
    return of_points(n, lambda x: n.emit(WORDS.get(word, word), [x]))


@operator("leaky_relu", "self negative_slope")
def leaky_relu(n):
    return of_points(n, lambda x: n.emit("leaky_relu", [x], given("slope", n["negative_slope"], 0.01)))


@operator("gelu", "self approximate")
def gelu(n):
    return of_points(n, lambda x: n.emit("gelu", [x], given("tanh", n["approximate"] == "tanh", False)))


@operator("elu", "self alpha scale input_scale")
def elu(n):
    if n["input_scale"] != 1 or n["alpha"] < 0:
        n.refuse("an elu of a scaled input, or with a negative alpha")
    return of_points(n, lambda x: scaled(n, elu_of(n, x, n["alpha"]), n["scale"]))


@operator("celu", "self alpha")
def celu(n):
    if n["alpha"] != 1:
        n.refuse("a celu whose alpha is not 1")
    return of_points(n, lambda x: n.emit("elu", [x]))


def elu_of(n, x, alpha):
    return n.emit("elu", [x], given("alpha", alpha, 1))


@operator("softplus", "self beta threshold")
def softplus(n):
    return of_points(n, lambda x: n.emit("softplus", [x], given("beta", n["beta"], 1) + given("threshold", n["threshold"], 20)))


def clamped(n, x, low, high):
    bounds = [(word, bound) for word, bound in (("min", low), ("max", high)) if bound is not None]
    return n.emit("clamp", [x], bounds) if bounds else x


def finite(bound):
    return None if bound is None or math.isinf(bound) else bound


@operator("reciprocal rsqrt", "self")
def reciprocal(n):
    root = n.name.startswith("rsqrt")
    return of_points(n, lambda x: arithmetic(n, "/", 1, n.emit("sqrt", [x]) if root else x))


@operator("glu", "self dim")
def glu(n):
    value, axis = n.tensor("self"), n["dim"] % len(n.shape())
    half = n.shape()[axis]
    value, gate = (settled(n, narrowed(n, value, axis, begin, begin + half)) for begin in (0, half))
    return of_two(n, "*", value, gate.with_base(n.emit("sigmoid", [gate.base])))


@operator("log_sigmoid", "self")
def log_sigmoid(n):
    return of_points(n, lambda x: n.emit("-", [n.emit("softplus", [n.emit("-", [x])])]))


@operator("hardtanh", "self min_val max_val")
def hardtanh(n):
    return of_points(n, lambda x: clamped(n, x, n["min_val"], n["max_val"]))


@operator("clamp clip", "self min max")
def clamp(n):
    return of_points(n, lambda x: clamped(n, x, finite(n["min"]), finite(n["max"])))


@operator("clamp_min", "self min")
def clamp_min(n):
    result = of_points(n, lambda x: clamped(n, x, finite(n["min"]), None))
    norm = n.translation.norms.get(n.made("self").base)
    if norm and 0 < n["min"] <= 1:
        n.translation.norms[result.base] = norm._replace(eps=n["min"])
    return result


@operator("clamp_max", "self max")
def clamp_max(n):
    return of_points(n, lambda x: clamped(n, x, None, finite(n["max"])))


@operator("pow.Tensor_Scalar", "self exponent")
def power(n):
    exponent = n["exponent"]
    if exponent == 0.5:
        return of_points(n, lambda x: n.emit("sqrt", [x]))
    if exponent == -1:
        return of_points(n, lambda x: arithmetic(n, "/", 1, x))
    if exponent not in (1, 2, 3, 4):
        n.refuse("a power that is not 1/2, -1, 2, 3 or 4")

    def repeated(x):
        result = x
        for _ in range(int(exponent) - 1):
            result = arithmetic(n, "*", result, x)
        return result
    return of_points(n, repeated)


@operator("fill.Scalar fill.Tensor zero", "self value")
def fill(n):
    value = scalar(n, n["value"] if n.has("value") else 0)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        n.refuse("it fills a tensor with %s" % (value if isinstance(value, (int, float)) else "a tensor"))
    return of_points(n, lambda x: arithmetic(n, "+", scaled(n, x, 0), value) if value else scaled(n, x, 0))


@operator("neg", "self")
def negative(n):
    return of_points(n, lambda x: n.emit("-", [x]))


@operator("dropout feature_dropout", "input self p train")
def dropout(n):
    source = "input" if n.has("input") else "self"
    if n["train"]:
        n.refuse("it drops elements in evaluation, too; unetc's dropout only in training: take nn.Dropout, or pass "
                 "training = self.training")
    if n["p"] == 0:
        return n.value(source)
    name = "dropout_channels" if n.name.startswith("feature") else "dropout"
    if name == "dropout_channels":
        return plainly(n, n.emit(name, [n.plain(source)], given("p", n["p"], 0.5)))
    return of_points(n, lambda x: n.emit(name, [x], given("p", n["p"], 0.5)), source)


@operator("maximum minimum max.other min.other", "self other")
def extreme(n):
    left, right = n.value("self"), n.value("other")
    if not isinstance(left, Value) or not isinstance(right, Value):
        n.refuse("of a tensor and a weight, or a constant")
    return of_two(n, {"max": "maximum", "min": "minimum"}.get(n.name.partition(".")[0], n.name), left, right)


# ---- arithmetic ---------------------------------------------------------------------------------------------------


@operator("add.Tensor add.Scalar sub.Tensor sub.Scalar rsub.Scalar rsub.Tensor", "self other alpha")
@operator("mul.Tensor mul.Scalar div.Tensor div.Scalar true_divide.Tensor", "self other")
def operate(n):
    word = n.name.partition(".")[0].rstrip("_")
    sign = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rsub": "-", "true_divide": "/"}[word]
    left, right = n.value("self"), n.value("other")
    if isinstance(left, Products) or isinstance(right, Products):
        return scaled_products(n, sign, left, right)
    alpha = n["alpha"] if n.has("alpha") else 1
    left, right = (scalar(n, side) for side in (left, right))
    if alpha != 1:
        if isinstance(right, Value):
            right = settled(n, right)
            right = right.with_base(scaled(n, right.base, alpha))
        elif isinstance(right, Weight):
            n.refuse("`%s`, a weight of the network, as a summand times a number" % right.path)
        else:
            right = right * alpha
    if word == "rsub":
        left, right = right, left
    return combined(n, sign, left, right)


def combined(n, sign, left, right):
    """A sum, product or other of two tensors; one may be a weight, a number or a constant."""
    if isinstance(left, Value) and isinstance(right, Value):
        return (normalised_by(n, left, right) if sign == "/" else None) or of_two(n, sign, left, right)
    return with_other(n, sign, left, right)


# The lengths of VALUE along an axis, groups of its channels, as a tensor with axes of these keys, and of EPS at least.
Norm = collections.namedtuple("Norm", "value axis keys groups eps")


def key_of(value):
    return value.base, value.size, value.key()


def normalised_by(n, value, norm):
    """`normalize`: a tensor divided by the lengths of its channels, or of groups of them; else None."""
    known = n.translation.norms.get(norm.base)
    if known is None or not known.eps or value.pads or value.stack or key_of(value) != known.value:
        return None
    keys = [() if i == known.axis and all(atom.letter == "*" for atom in axis) else key
            for i, (axis, key) in enumerate(zip(norm.axes, norm.key()))]
    if keys != known.keys:
        return None
    return value.with_base(n.emit("normalize", [value.base], given("groups", known.groups, 1) + given("eps", known.eps, 1e-12)))


@operator("addcmul addcdiv", "self tensor1 tensor2 value")
def add_product(n):
    sign = "*" if "mul" in n.name else "/"
    first, second, summand = (scalar(n, n.value(name)) for name in ("tensor1", "tensor2", "self"))
    if not isinstance(first, Value) and not isinstance(second, Value):
        n.refuse("a product of two weights")
    made = settled(n, combined(n, sign, first, second))
    return combined(n, "+", summand, made.with_base(scaled(n, made.base, n["value"])))


def scaled_products(n, sign, left, right):
    """Products of queries and keys, or of channels, times a number, or a number for each head."""
    products, other = (left, right) if isinstance(left, Products) else (right, left)
    of_channels = isinstance(products, ChannelProducts)
    if sign == "+" and not isinstance(other, (Products, int, float)) and not of_channels:
        return windows.refuse(n) if isinstance(other, Value) else windows.biased(n, products, other)
    made = computed.tensor_of(n, other) if isinstance(other, Computed) and sign in "*/" else None
    factor = made or (scalar(n, other) if not isinstance(other, Products) else None)
    if sign not in "*/" or sign == "/" and products is right or products.shares or products.bias or products.shift:
        n.image(products)
    if made is not None or factor is not None and not isinstance(factor, (int, float, Value)):
        return (covariance if of_channels else attention).tempered(n, sign, products, factor)
    if not isinstance(factor, (int, float)):
        n.image(products)
    return products.times(factor if sign == "*" else 1 / factor)


def scalar(n, side):
    """A constant whose elements are equal is a number.  Computed weights become numbers of the file."""
    if isinstance(side, Weight) and side.path in n.translation.program.buffers:
        side = n.translation.program.tensors[side.path]
    if isinstance(side, (Value, Weight, bool, int, float)):
        return side
    if isinstance(side, Computed) and side.ids is None:
        return n.translation.folded_numbers(n, side.tensor.detach(), side.path)
    if isinstance(side, Computed):  # a weight that is learnt, with its elements moved
        n.refuse("a factor or summand that %s computes of `%s`, a weight" % (side.function, side.path))
    if not hasattr(side, "numel"):
        n.refuse("arithmetic with %s" % type(side).__name__)
    equal = side.numel() > 0 and bool((side == side.flatten()[0]).all())
    return side.flatten()[0].item() if equal else side


def with_other(n, sign, left, right):
    """Of a tensor and a number, or a weight."""
    value, other, first = (left, right, True) if isinstance(left, Value) else (right, left, False)
    value = settled(n, value)
    if isinstance(other, Weight) and not n.is_fixed(other) and sign == "*" and fits_scale(value, other) and value.shape() == n.shape():
        return scale_by(n, value, other)
    if isinstance(other, Weight) or hasattr(other, "numel"):
        other = parameter(n, value, other) if isinstance(other, Weight) else constant(n, value, other)
        return of_two(n, sign, *((value, other) if first else (other, value)))
    if value.shape() != n.shape():
        n.refuse("a tensor that a constant repeats along an axis")
    if isinstance(other, bool) or not isinstance(other, (int, float)):
        n.refuse("arithmetic with %s" % type(other).__name__)
    if first and sign == "/" and other == 0 or not math.isfinite(other):
        n.refuse("arithmetic with %s" % other)
    if sign in "+-" and first and other < 0:
        return value.with_base(shifted(n, value.base, other if sign == "+" else -other))
    return value.with_base(arithmetic(n, sign, *((value.base, other) if first else (other, value.base))))


def of_two(n, sign, left, right):
    """Of two tensors: of one size, or of which one is repeated along some axes."""
    hints = [v.base for v in (right, left) if not v.pads and not v.stack and v.is_plain()]
    left, right = settled(n, left, hints[0] if hints else None), settled(n, right, hints[-1] if hints else None)
    left, right = (plainly(n, n.translation.forced(n, v)) if any(
        a.letter == "*" for axis in v.axes if len(axis) > 1 for a in axis) else v for v in (left, right))
    if left.is_plain() != right.is_plain():
        left, right = (in_language_order(n, v) for v in (left, right))
    rank = max(len(left.axes), len(right.axes))
    left, right = (v.seen(((),) * (rank - len(v.axes)) + v.axes) for v in (left, right))
    want = joint(left, right)
    if why_not(left, want) or why_not(right, want):
        left, right = arranging.alike(n, (left, right)) or arranging.beside_fewer(n, left, right) or (left, right)
        want = joint(left, right)
    sides = [fitted(n, v, want) for v in (left, right)]
    return want.with_base(n.emit(sign, sides, size=want.size))


def joint(left, right):
    """What both are together, without a base: each axis as the one has it that repeats nothing."""
    axes = [a if product(x.size for x in a) >= product(x.size for x in b) else b
            for a, b in zip(unrepeated(left, right), unrepeated(right, left))]
    return Value(None, [max(a, b) for a, b in zip(left.size, right.size)], axes)


def in_language_order(n, value):
    """The value as a tensor with axes N C [D] H W, where an operator lays it out so."""
    if value.is_plain():
        return value
    repeated = [axis if any(atom.letter == "*" for atom in axis) else () for axis in value.axes]
    if not any(repeated):
        name = laid_out(n, value)
        return value if name is None else plainly(n, name)
    kept = value.seen([() if again else axis for again, axis in zip(repeated, value.axes)])
    moved = arranging.in_order_of_axes(n, kept) if all(len(again) < 2 for again in repeated) else None
    return value if moved is None else moved.seen([again or axis for again, axis in zip(repeated, moved.axes)])


def unrepeated(value, other):
    """Axes without repetitions that the other tensor has real elements for."""
    return [() if any(x.letter == "*" for x in a) and b and not any(x.letter == "*" for x in b)
            and product(x.size for x in a) == product(x.size for x in b) else a for a, b in zip(value.axes, other.axes)]


def why_not(value, want):
    """What keeps the language from repeating VALUE along axes of one point, as WANT has them; None: nothing does."""
    for atoms, mine in zip(want.axes, value.axes):
        keys = [a.key() for a in mine]
        if any(a.letter == "*" for a in atoms):
            return "both tensors are repeated along an axis"
        if keys and keys != [a.key() for a in atoms] and not any(a.letter == "*" for a in mine):
            return "of two tensors whose axes are in different orders"
    return "of two tensors of different sizes" if any(s not in (1, w) for s, w in zip(value.size, want.size)) else None


def fitted(n, value, want):
    """The name of VALUE, which the language repeats along axes of one point."""
    why = why_not(value, want)
    return n.refuse(why) if why else value.base

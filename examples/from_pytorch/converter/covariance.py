"""Attention of channels, as XCiT, EdgeNeXt, Restormer and DaViT have it: a channel sees the channels of its head.

    crossed(value)                              is this the left side of products of channels?
    tempered(n, sign, products, other)          products times a number for each head
    attended(n, products, v)                    the name of the tensor
    result(name, q, v, turned)                  the tensor with the axes of the network

Queries and keys that the network divides by their norms over the points are said by `normalize`.  If it divides one of
the two, the division stays spelt out.  A number that is a factor of queries or keys joins the scale.
"""

from .learnt import constant, parameter
from .table import given
from .values import Atom, Value, Weight, product

# The least divisor of torch.nn.functional.normalize.
LEAST = 1e-12
OTHERS = "a product of two tensors that is no attention over points or over channels"


def crossed(value):
    """Are the last two axes channels and points?"""
    rows, columns = ({atom.letter for atom in axis} for axis in value.axes[-2:])
    return not rows & set("DHW") and bool(columns & set("DHW") or "C" in rows)


# ---- a factor for each head ---------------------------------------------------------------------------------------


def numbers_of_heads(n, products, other):
    """The name of a tensor of one point with a channel for each head.  OTHER: a weight, a constant, or
    what is made of weights: one number, or one for each head."""
    heads, rank = products.left.heads, len(n.shape())
    shape = other.shape() if isinstance(other, Value) else list(other.shape)
    sizes = [1] * (rank - len(shape)) + shape
    wide = [(axis, size) for axis, size in enumerate(sizes) if size > 1]
    if len(wide) > 1 or any(axis > rank - 3 or size != heads for axis, size in wide):
        n.refuse("attention with a factor other than a number for each head")
    points = [1] * len(products.left.value.points)
    axes = [tuple(Atom("C", size) for _ in range(size > 1)) for size in sizes]
    if isinstance(other, Value):
        name = other.base if other.size == (product(sizes), *points) else n.refuse("attention with another factor")
    else:
        name = (parameter if isinstance(other, Weight) else constant)(n, Value(None, (product(sizes), *points), axes), other).base
    if product(sizes) < heads:
        name = n.emit("concat", [name] * heads, size=(heads, *points))
    return name


def tempered(n, sign, products, other):
    """Products of channels with a temperature."""
    if products.temperature:
        n.refuse("attention of channels with two factors for each head")
    name = numbers_of_heads(n, products, other)
    return products.changed(temperature=name if sign == "*" else n.emit("/", [name], [(0, 1)]))


# ---- queries and keys ---------------------------------------------------------------------------------------------


def maker(n, name, function):
    """The call that makes this tensor, if it is one of FUNCTION."""
    call = n.translation.maker.get(name)
    return call if call is not None and call.function == function else None


def without_factor(n, name):
    """A tensor that is multiplied by a number, and the number."""
    call = maker(n, name, "*") or maker(n, name, "/")
    if call is None or len(call.inputs) != 1:
        return name, 1
    (place, by), = call.arguments
    if call.function == "/":
        return (call.inputs[0], 1 / by) if place == 1 else (name, 1)
    return call.inputs[0], by


def before_norm(n, name):
    """The tensor that is divided by its norms over the points to make this one, or None."""
    call = maker(n, name, "/")
    if call is None or len(call.inputs) != 2:
        return None
    source, norm = call.inputs
    count = product(n.translation.size[source][1:])
    for function, arguments in (("clamp", [("min", LEAST)]), ("sqrt", []), ("*", [(1, count)]),
                                ("adaptive_avg_pool", [(None, 1)]), ("square", [])):
        call = maker(n, norm, function)
        if count == 1 and function in ("*", "adaptive_avg_pool"):
            continue
        if call is None or call.arguments != arguments:
            return None
        norm, = call.inputs
    return source if norm == source else None


def attended(n, products, v):
    """The language's scale is positive: a negative factor changes the sign of the queries."""
    q, k = products.left, products.right
    if not q.heads == k.heads == v.heads or k.value.channels != v.value.channels or any(
            side.window or side.value.points != q.value.points for side in (q, k, v)):
        n.refuse(OTHERS)
    (query, one), (key, two) = (without_factor(n, side.value.base) for side in (q, k))
    sources = [before_norm(n, name) for name in (query, key)]
    normalize = all(sources)
    query, key = sources if normalize else (query, key)
    scale = products.scale * one * two
    if scale < 0:
        query, scale = n.emit("-", [query]), -scale
    options = given("heads", q.heads, 1) + given("scale", scale, 1) + given("normalize", normalize, True)
    inputs = [query, key, v.value.base] + [products.temperature] * bool(products.temperature)
    return n.emit("channel_attention", inputs, options, q.value.size)


def result(name, q, v, turned):
    """The axes of v, with the channels of q; TURNED: behind the points."""
    own, theirs = q.value.channels // q.heads, v.value.channels // v.heads
    heads = [tuple(Atom("C", atom.size, atom.inner // theirs * own) for atom in axis) for axis in v.value.axes[:-2]]
    last = [(Atom("C", own),), q.place()]
    return Value(name, q.value.size, heads + (last[::-1] if turned else last))

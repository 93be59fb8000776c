"""Rules of attention: `scaled_dot_product_attention`, and the products, the softmax and the products that it is made of.

Products of queries and keys are no tensor of the language.  They wait in a `Products`, to which a softmax and a factor may
be added, until values are multiplied with them.  Products of channels are a `ChannelProducts`.
"""

import math

from . import arranging, covariance, windows
from .axes import settled
from .table import given, number, operator
from .covariance import OTHERS
from .values import Atom, ChannelProducts, Products, Side, Value, joined, letters, product


def same(atoms, *wanted):
    return [atom.key() for atom in joined(atoms)] == [atom.key() for atom in joined(wanted)]


def side_of(n, value, points, channels):
    """A Value whose last two axes have the points and the channels of a head; the axes before them have the heads, or anything."""
    value = settled(n, value)
    if len(value.axes) < 2:
        n.refuse(OTHERS)
    return plain_side(value, points, channels) or side_in_rows(n, value, points, channels) or n.refuse(OTHERS)


def side_in_rows(n, value, points, channels):
    """The points that see each other as one row, a window of the map; the axes before them have the rows."""
    lead, last = value.axes[:-2], value.axes[-2:]
    row = arranging.arranged(n, value, arranging.in_a_row(value, last[channels], (*lead, last[points])))
    if row is None:
        return None
    window = (*[1] * (len(row.points) - 1), product(atom.size for atom in last[points]))
    side = Side(row, 1, window if window != row.points else None)
    side.again = lambda n: side
    return side


def plain_side(value, points, channels):
    """A side whose heads are groups of channels, and whose points are all points of the map, or of a window; else None."""
    lead, last = [atom for axis in value.axes[:-2] for atom in axis], value.axes[-2:]
    of_head = product(atom.size for atom in last[channels])
    count = value.channels // of_head
    side = Side(value, count, window_of(value, last[points]))
    outer = [Atom(atom.letter, all_points // atom.size, atom.size) for atom, all_points in zip(side.place(), value.points)]
    if not (same(last[points], *side.place()) and same(last[channels], Atom("C", of_head)) and
            same(lead, *outer, Atom("C", count, of_head)) and count * of_head == value.channels):
        return None
    side.again = lambda n: side_in_rows(n, value, points, channels)
    return side


def window_of(value, atoms):
    """The points of a window, if these atoms are a part of the map's points alone."""
    found = {atom.letter: atom.size for atom in atoms if atom.inner == 1}
    window = tuple(found.get(letter, 1) for letter in letters(len(value.points))[1:])
    return None if window == value.points or any(extent % size for extent, size in zip(value.points, window)) else window


def spread(n, side, other):
    """A side of one head for all heads of another one."""
    if side.heads != 1 or other.heads == 1:
        return side
    of_head, own = side.value.channels, other.value.channels // other.heads
    size = (of_head * other.heads, *side.value.points)
    heads = [[Atom("C", atom.size, atom.inner // own * of_head) if atom.letter == "C" else atom for atom in axis]
             for axis in other.value.axes[:-2]]
    name = n.emit("concat", [side.value.base] * other.heads, size=size)
    wide = Side(Value(name, size, heads + list(side.value.axes[-2:])), other.heads, side.window)
    wide.again = side.again
    return wide


def fit(q, k, v):
    return (q.heads == k.heads == v.heads and q.value.channels == k.value.channels and k.value.points == v.value.points and
            q.window == k.window == v.window and (not q.window or q.value.points == k.value.points))


def fitting(n, products, v):
    """PRODUCTS and values, all in rows if they do not fit as they are."""
    if fit(products.left, products.right, v) or products.bias or products.shift:
        return products, v
    q, k, rows = (side.again(n) for side in (products.left, products.right, v))
    return (products.changed(left=q, right=k), rows) if q and k and rows else (products, v)


def attended(n, products, v, causal=False):
    """The name of the tensor; PRODUCTS as the queries see them."""
    q, k = products.left, products.right
    if not fit(q, k, v):
        n.refuse(OTHERS)
    usual = 1 / math.sqrt(q.value.channels // q.heads)
    scale, shift = products.scale, products.shift or ()
    options = given("heads", q.heads, 1) + ([] if abs(scale - usual) < 1e-6 * usual else [("scale", scale)])
    options += given("causal", causal, False)
    if q.window or (products.bias and not products.pairs):
        options.append(("window", number(list(q.extent()))))
    if shift:
        options.append(("shift", number(list(shift))))
    inputs = [windows.rolled(n, side.value.base, shift) for side in (q, k, v)] + [products.bias] * bool(products.bias)
    name = n.emit("attention", inputs, options, (v.value.channels, *q.value.points))
    return windows.rolled(n, name, [-step for step in shift])


def result(name, q, v, turned):
    """The axes of v, with the points of q; TURNED: behind the channels of a head."""
    size, last = (v.value.channels, *q.value.points), [q.place(), (Atom("C", v.value.channels // v.heads),)]
    return Value(name, size, list(v.value.axes[:-2]) + (last[::-1] if turned else last))


@operator("scaled_dot_product_attention", "query key value attn_mask is_causal scale")
def scaled_dot_product_attention(n):
    of_channels = covariance.crossed(settled(n, n.tensor("query")))
    q, k, v = (side_of(n, n.tensor(name), *(1, 0) if of_channels else (0, 1)) for name in ("query", "key", "value"))
    scale = n["scale"] if n.has("scale") else None
    if of_channels:
        if n["attn_mask"] is not None or n["is_causal"]:
            n.refuse(OTHERS)
        products = ChannelProducts(q, k, 1 / math.sqrt(product(q.value.points)) if scale is None else scale)
        return covariance.result(covariance.attended(n, products, v), q, v, False)
    k, v = spread(n, k, q), spread(n, v, q)
    products = Products(q, k, 1 / math.sqrt(q.value.channels // q.heads) if scale is None else scale)
    if n["attn_mask"] is not None:
        products = windows.biased(n, products, n.value("attn_mask"))
    products, v = fitting(n, products, v)
    return result(attended(n, products, v, n["is_causal"]), products.left, v, False)


# ---- spelt out ----------------------------------------------------------------------------------------------------


@operator("matmul", "self other")
@operator("bmm", "self mat2")
def multiply(n):
    return multiplied(n, n.value("self"), n.value("other" if n.has("other") else "mat2"))


@operator("baddbmm", "batch1 batch2 beta alpha", "self")
def add_multiplied(n):
    if n["beta"] != 0:
        windows.refuse(n)
    products = multiplied(n, n.value("batch1"), n.value("batch2"))
    return products.times(n["alpha"]) if isinstance(products, Products) else n.refuse(OTHERS)


def multiplied(n, left, right):
    if isinstance(left, Products) and left.shares == "right":
        return weighted(n, left, n.image(right), False)
    if isinstance(right, Products) and right.shares == "left":
        return weighted(n, right.turned(), n.image(left), True)
    if isinstance(left, ChannelProducts) and not left.shares:
        return linear(n, left, n.image(right), False)
    if isinstance(right, ChannelProducts) and not right.shares:
        return linear(n, right.turned(), n.image(left), True)
    if isinstance(left, Products) or isinstance(right, Products):
        n.refuse(OTHERS)
    left, right = settled(n, n.image(left)), settled(n, n.image(right))
    if len(left.axes) > 1 and covariance.crossed(left):
        return ChannelProducts(side_of(n, left, 1, 0), side_of(n, right, 0, 1))
    left, right = side_of(n, left, 0, 1), side_of(n, right, 1, 0)
    return Products(spread(n, left, right), spread(n, right, left))


def weighted(n, products, values, turned):
    """Sums of VALUES by the shares of PRODUCTS, as the queries see them.  TURNED: values stand on the left."""
    of_channels, q = isinstance(products, ChannelProducts), products.left
    v = side_of(n, values, *(1, 0) if turned != of_channels else (0, 1))
    if of_channels:
        return covariance.result(covariance.attended(n, products, v), q, v, turned)
    products, v = fitting(n, products, spread(n, v, q))
    return result(attended(n, products, v), products.left, v, turned)


def linear(n, products, queries, turned):
    """`linear_attention`: products of the channels of values and keys, times queries.  TURNED: these stand on the left."""
    v, k, q = products.left, products.right, side_of(n, queries, *(0, 1) if turned else (1, 0))
    if not v.heads == k.heads == q.heads or k.value.channels != q.value.channels or v.value.points != k.value.points or \
            v.window or k.window or q.window or products.temperature:
        n.refuse(OTHERS)
    query, scale = q.value.base, products.scale
    if scale < 0:
        query, scale = n.emit("-", [query]), -scale
    size = (v.value.channels, *q.value.points)
    name = n.emit("linear_attention", [query, k.value.base, v.value.base], given("heads", q.heads, 1) + given("scale", scale, 1), size)
    own, theirs = (side.value.channels // side.heads for side in (v, q))
    heads = [tuple(Atom("C", atom.size, atom.inner // theirs * own) for atom in axis) for axis in q.value.axes[:-2]]
    last = [(Atom("C", own),), q.place()]
    return Value(name, size, heads + (last[::-1] if turned else last))


@operator("einsum", "equation tensors", "path")
def einsum(n):
    """Two tensors that share leading axes and one more, by which they are multiplied."""
    terms, _, out = n["equation"].replace(" ", "").partition("->")
    values = [n.translation.value(raw) for raw in n["tensors"]]
    if len(values) != 2 or "." in terms:
        n.refuse(OTHERS)
    first, second = terms.split(",")
    lead = "".join(letter for letter in out if letter in first and letter in second)
    by = "".join(letter for letter in first if letter in second and letter not in out)
    rows, columns = ("".join(letter for letter in term if letter not in lead + by) for term in (first, second))
    if len(by) != 1 or len(rows) != 1 or len(columns) != 1:
        n.refuse(OTHERS)
    made = multiplied(n, ordered(n, values[0], first, lead + rows + by), ordered(n, values[1], second, lead + by + columns))
    return ordered(n, made, lead + rows + columns, out)


def ordered(n, value, letters_now, wanted):
    order = [letters_now.index(letter) for letter in wanted]
    return (value if isinstance(value, Products) else settled(n, n.image(value))).permuted(order)


def tempered(n, sign, products, other):
    """Products of points with a number for each head: each channel of the queries has the number of its head."""
    left, heads = products.left, products.left.heads
    value, each = left.value, left.value.channels // heads
    ones = [1] * len(value.points)
    size = (heads * each, *ones)
    copies = n.emit("concat", [covariance.numbers_of_heads(n, products, other)] * each, size=size)
    of_head, head = Atom("C", each, heads), Atom("C", heads)
    factor = arranging.arranged(n, Value(copies, size, [(of_head,), (head,)]), [(head, of_head), *[()] * len(ones)])
    scaled = value.with_base(n.emit(sign, [value.base, factor.base], size=value.size))
    return products.changed(left=Side(scaled, heads, left.window, lambda n: None))


def softmax_of(n, products, dim):
    if products.shares or dim not in (-1, -2, len(n.shape()) - 1, len(n.shape()) - 2):
        n.refuse(OTHERS)
    return products.softmax("right" if dim in (-1, len(n.shape()) - 1) else "left")

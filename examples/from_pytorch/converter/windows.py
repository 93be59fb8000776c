"""Attention in windows, as Swin has it: relative positions, the mask of a shifted map, and the rolled map.

    biased(n, products, other)      products of queries and keys plus a table of relative positions, or a mask
    rolled(n, name, by)             the name of a tensor that is rolled; a roll the other way before is left out

The language's `attention` shifts windows itself.  A network that rolls the map, and masks pairs of points that
come together by that, is said by the map before it was rolled.
"""

import itertools

from . import naming
from .table import number
from .values import Computed, Weight, product

# A mask adds less than this to pairs of points that do not see each other.
UNSEEN = -50
POINTWISE = ("linear", "layer_norm", "scale", "chunk", "dropout", "+", "-", "*", "/", "relu", "gelu", "silu")


# ---- the map that was rolled -------------------------------------------------------------------------------


def rolled(n, name, by):
    if not any(by):
        return name
    found = unrolled(n, name, list(by))
    return n.emit("roll", [name], [(None, number(list(by)))]) if found is None else found


def unrolled(n, name, by):
    """The name of the tensor before somebody rolled it the other way; functions of a point are applied to it."""
    call = n.translation.maker.get(name)
    if call is None or len(call.inputs) != 1:
        return None
    if call.function == "roll":
        amount = call.arguments[0][1]
        amount = amount if isinstance(amount, list) else [amount] * len(by)
        return call.inputs[0] if amount == [-step for step in by] else None
    inner = unrolled(n, call.inputs[0], by) if call.function in POINTWISE else None
    if inner is None:
        return None
    if call.function == "chunk":
        return n.translation.chunked(n.node, inner, len(call.outputs))[call.outputs.index(name)]
    return n.translation.applied_to(call, inner)


# ---- bias and mask -----------------------------------------------------------------------------------------


def biased(n, products, other):
    if isinstance(other, Weight) and other.path in n.translation.program.buffers:
        other = n.translation.program.tensors[other.path].detach().reshape(other.shape)
    picked = other.ids if isinstance(other, Computed) else None
    if products.shares or picked is None and (isinstance(other, Computed) or not hasattr(other, "numel")):
        refuse(n)
    if picked is not None:
        return products.with_bias(relative(n, products, other))
    mask = by_windows(n, products, other)
    if not bool(mask.any()):
        return products
    return products.with_shift(shift_of(n, products, mask))


def refuse(n):
    n.refuse("attention with a mask or a bias other than Swin's; `causal`, a table of relative positions and the "
             "mask of shifted windows are found here")


def by_windows(n, products, tensor):
    """TENSOR as windows, heads, queries, keys."""
    shape = n.shape()
    heads, count = products.left.heads, shape[-1]
    lead = product(shape[:-2])
    if shape[-2] != count or lead % heads:
        refuse(n)
    return tensor.expand(shape).reshape(lead // heads, heads, count, count)


def places(window):
    return list(itertools.product(*[range(size) for size in window]))


def relative(n, products, table):
    """The name of the `relative_bias` that holds this table, whose elements are where the language has them."""
    ids = by_windows(n, products, table.ids)
    heads, window = products.left.heads, products.left.extent()
    numbers = []
    for query in places(window):
        row = []
        for key in places(window):
            at = 0
            for q, k, size in zip(query, key, window):
                at = at * (2 * size - 1) + q - k + size - 1
            row.append(at)
        numbers.append(row)
    rows = product(2 * size - 1 for size in window)
    expected = ids.new_tensor(numbers)[None] * heads + ids.new_tensor(range(heads))[:, None, None]
    stored = n.translation.program.tensors[table.path]
    fits = list(stored.shape) == [rows, heads] and ids.shape[-1] == len(numbers)
    if products.bias or not fits or bool((ids != expected[None]).any()):
        refuse(n)
    made, name = n.translation.given, naming.weight_name(table.path)
    if table.path not in made:
        n.translation.tensor(n, name, table.path, stored.shape)
        made[table.path] = n.emit("relative_bias", [], [(None, heads), (None, number(list(window)))],
                                  (heads, *[2 * size - 1 for size in window]), name)
    return made[table.path]


def shift_of(n, products, mask):
    """By how much a map was rolled whose windows have this mask."""
    window, points = products.left.extent(), products.left.value.points
    unseen = mask[:, 0] < UNSEEN
    if products.shift or bool((mask != mask[:, :1]).any()) or bool((mask[:, 0][~unseen] != 0).any()):
        refuse(n)
    ranges = [range(size if size < extent else 1) for size, extent in zip(window, points)]
    for shift in itertools.product(*ranges):
        if any(shift) and regions_apart(window, points, shift, unseen):
            return shift
    return refuse(n)


def regions_apart(window, points, shift, unseen):
    """Is UNSEEN [window, query, key] what lies on different sides of the seam?"""
    for number_of, corner in enumerate(places([extent // size for extent, size in zip(points, window)])):
        sides = unseen.new_tensor([[at * size + step >= extent - by for at, size, step, extent, by in zip(
            corner, window, place, points, shift)] for place in places(window)])
        if bool(((sides[:, None] != sides[None]).any(-1) != unseen[number_of]).any()):
            return False
    return True

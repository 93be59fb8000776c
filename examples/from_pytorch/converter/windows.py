"""What is added to products of queries and keys, and attention in windows, as Swin has it: relative positions, the mask of a
shifted map, and the rolled map.

    biased(n, products, other)      products of queries and keys plus numbers of a table, or a mask
    rolled(n, name, by)             the name of a tensor that is rolled; a roll the other way before is left out

The language's `attention` shifts windows itself.  A network that rolls the map, and masks pairs of points that
come together by that, is said by the map before it was rolled.  Any other summand is a bias of pairs: numbers that nobody
learns, a weight, or a table in which each pair of points has a place.
"""

import itertools

from . import computed, naming
from .table import number
from .values import Atom, Computed, Value, Weight, every_point, product

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
    tensors = n.translation.program.tensors
    if products.shares:
        refuse(n)
    if isinstance(other, Weight) and other.path in n.translation.program.buffers:
        other = tensors[other.path].detach().reshape(other.shape)
    elif isinstance(other, Weight):
        numbered = tensors[other.path].detach().new_tensor(range(product(other.shape)))
        other = Computed(other.path, "", tensors[other.path], numbered.long().reshape(other.shape))
    if isinstance(other, Computed):
        return of_table(n, products, other)
    if not hasattr(other, "numel"):
        refuse(n)
    return masked(n, products, other)


def refuse(n):
    n.refuse("attention with a mask or a bias that depends on an input, or differs from window to window in another way than "
             "Swin's")


def by_windows(n, products, tensor):
    """TENSOR as windows, heads, queries, keys."""
    heads, lead = products.left.heads, n.shape()[:-2]
    if product(lead) % heads:
        refuse(n)
    return tensor.expand([*lead, *products.sizes()]).reshape(product(lead) // heads, heads, *products.sizes())


def masked(n, products, tensor):
    """A summand that is no weight: the mask of a shifted map, or numbers of the file."""
    if tensor.dtype.is_floating_point:
        mask = by_windows(n, products, tensor.detach())
    else:
        seen = by_windows(n, products, tensor)
        mask = seen.float().masked_fill(seen == 0, float("-inf")).masked_fill(seen != 0, 0)
    if not bool(mask.any()):
        return products
    shift = shift_of(n, products, mask)
    if shift:
        return products.with_shift(shift)
    numbers, tensors = same_everywhere(n, mask), n.translation.program.tensors
    buffers = [path for path in n.translation.program.buffers if path in tensors and tensors[path].data_ptr() == tensor.data_ptr() and
               tensors[path].flatten().tolist() == numbers.flatten().tolist()]
    weight = Weight(buffers[0], [products.left.heads]) if buffers else n.translation.folded_numbers(
        n, numbers.reshape(-1, *pairs_of(products)).clone(), None)
    return with_pairs(n, products, of_file(n, weight, products))


def of_table(n, products, table):
    """A summand of a weight's elements, or of numbers that the network computes of weights."""
    found = None if table.ids is not None else computed.looked_up(n, table)
    swin = found and differences(n, products, *found)
    if swin:
        return products.with_bias(swin)
    if table.ids is None:
        numbers = same_everywhere(n, by_windows(n, products, table.tensor.detach()))
        weight = n.translation.folded_numbers(n, numbers.reshape(-1, *pairs_of(products)).clone(), table.path)
        return with_pairs(n, products, of_file(n, weight, products))
    ids = by_windows(n, products, table.ids)
    swin = relative(n, products, table.path, ids)
    if swin:
        return products.with_bias(swin)
    return with_pairs(n, products, looked_up(n, products, table.path, same_everywhere(n, ids)))


# ---- a bias of pairs ---------------------------------------------------------------------------------------


def same_everywhere(n, tensor):
    """The heads, queries and keys of a tensor [window, head, query, key] that is the same in all windows."""
    return tensor[0] if bool((tensor == tensor[:1]).all()) else refuse(n)


def pairs_of(products):
    """The points of a bias of pairs: a row for each query, where maps have rows."""
    axes = len(products.left.value.points)
    return [product(products.sizes())] if axes == 1 else [1] * (axes - 2) + products.sizes()


def with_pairs(n, products, bias):
    """PRODUCTS and the bias of this name, beside another one if need be."""
    if products.bias and not products.pairs:
        refuse(n)
    if products.bias:
        bias = n.emit("+", [products.bias, bias], size=(products.left.heads, *pairs_of(products)))
    return products.changed(bias=bias, pairs=True)


def of_file(n, weight, products):
    """The name of a `parameter` of pairs, which is made once."""
    made, size = n.translation.given, [weight.shape[0], *pairs_of(products)]
    key = (weight.path, tuple(size))
    if key not in made:
        name = naming.weight_name(weight.path)
        n.translation.tensor(n, name, weight.path, size)
        made[key] = n.emit("parameter", [], [(None, size[0]), ("size", number(size[1:]))] + n.weights_given(weight), size, name)
    return made[key]


def looked_up(n, products, path, ids):
    """The name of a bias whose pairs have the elements IDS [head, query, key] of a weight: the weight itself, or an
    `embedding` of their rows in a table."""
    stored, heads = n.translation.program.tensors[path], ids.shape[0]
    rows, head = stored.numel() // heads, ids.new_tensor(range(heads))[:, None, None]
    if ids.numel() == stored.numel() and bool((ids.flatten() == ids.new_tensor(range(ids.numel()))).all()):
        return of_file(n, Weight(path, [heads, *pairs_of(products)]), products)
    if list(stored.shape) == [rows, heads]:
        row, of_head, moved = ids // heads, ids % heads, (None, None)
    elif list(stored.shape) == [heads, rows]:
        row, of_head, moved = ids % rows, ids // rows, ((heads, rows), (1, 0))
    else:
        return refuse(n)
    if bool((of_head != head).any()) or bool((row != row[:1]).any()):
        return refuse(n)
    made, name, size = n.translation.given, naming.weight_name(path), (heads, *pairs_of(products))
    key = (path, tuple(row[0].flatten().tolist()))
    if key not in made:
        places = n.translation.folded_numbers(n, row[:1].float().reshape(1, *size[1:]).clone(), None)
        n.translation.tensor(n, name + ".weight", path, (rows, heads), *moved)
        made[key] = n.emit("embedding", [of_file(n, places, products)], [(None, rows), (None, heads)], size, layer=name)
    return made[key]


# ---- Swin's ------------------------------------------------------------------------------------------------


def places(window):
    return list(itertools.product(*[range(size) for size in window]))


def differences(n, products, table, ids):
    """The name of a tensor with a point for each difference, if TABLE is one and IDS are where the language has them."""
    heads, window = products.left.heads, products.left.extent()
    size = (heads, *[2 * extent - 1 for extent in window])
    expected = Value(None, size, [every_point(Value(None, size)), (Atom("C", heads),)])
    return table.base if table.size == size and table.key() == expected.key() and ids_of_differences(n, products, by_windows(n, products, ids)) else None


def ids_of_differences(n, products, ids):
    """Has each pair of points the number of its difference, in a table with a row for each and a column for each head?"""
    heads, window = products.left.heads, products.left.extent()
    if products.left.value.points != products.right.value.points or products.bias:
        return False
    numbers = []
    for query in places(window):
        row = []
        for key in places(window):
            at = 0
            for q, k, size in zip(query, key, window):
                at = at * (2 * size - 1) + q - k + size - 1
            row.append(at)
        numbers.append(row)
    expected = ids.new_tensor(numbers)[None] * heads + ids.new_tensor(range(heads))[:, None, None]
    return ids.shape[-1] == len(numbers) and not bool((ids != expected[None]).any())


def relative(n, products, path, ids):
    """The name of the `relative_bias` that holds this table, whose elements IDS are where the language has them; else None."""
    heads, window = products.left.heads, products.left.extent()
    rows = product(2 * size - 1 for size in window)
    stored = n.translation.program.tensors[path]
    if list(stored.shape) != [rows, heads] or not ids_of_differences(n, products, ids):
        return None
    made, name = n.translation.given, naming.weight_name(path)
    if path not in made:
        n.translation.tensor(n, name, path, stored.shape)
        made[path] = n.emit("relative_bias", [], [(None, heads), (None, number(list(window)))],
                                  (heads, *[2 * size - 1 for size in window]), name)
    return made[path]


def shift_of(n, products, mask):
    """By how much a map was rolled whose windows have this mask; None: it was not."""
    window, points = products.left.extent(), products.left.value.points
    unseen = mask[:, 0] < UNSEEN
    if products.shift or bool((mask != mask[:, :1]).any()) or bool((mask[:, 0][~unseen] != 0).any()) or \
            products.left.value.points != products.right.value.points:
        return None
    ranges = [range(size if size < extent else 1) for size, extent in zip(window, points)]
    for shift in itertools.product(*ranges):
        if any(shift) and regions_apart(window, points, shift, unseen):
            return shift
    return None


def regions_apart(window, points, shift, unseen):
    """Is UNSEEN [window, query, key] what lies on different sides of the seam?"""
    for number_of, corner in enumerate(places([extent // size for extent, size in zip(points, window)])):
        sides = unseen.new_tensor([[at * size + step >= extent - by for at, size, step, extent, by in zip(
            corner, window, place, points, shift)] for place in places(window)])
        if bool(((sides[:, None] != sides[None]).any(-1) != unseen[number_of]).any()):
            return False
    return True

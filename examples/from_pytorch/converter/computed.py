"""What a network computes of weights alone, said by operators of the language, so that training learns the weights.

    tensor_of(n, computed)        the Value, or None where the language has no words
    looked_up(n, computed)        the Value whose elements are looked up, and the places of these; or None

A weight becomes a `parameter`, whose only long axis is that of the channels; of several axes the last one is.  The rules of
all operators are those that they have behind an input.  What works element by element may stand in front of a look-up.
"""

import copy

from . import Inexpressible, learnt
from .capture import Ref, each, mapped
from .table import find
from .values import Computed, Unfit, Value, Weight, letters, product

# What reads weights of its own: its input alone is a tensor.
LAYERS = {"linear": "input"}
LOOK_UPS = ("index.Tensor", "index_select")
BY_ELEMENT = ("mul.Tensor div.Tensor add.Tensor sub.Tensor sigmoid tanh exp log sqrt square abs relu neg clamp clamp_min clamp_max "
              "mul.Scalar div.Scalar").split()


def tensor_of(n, computed):
    try:
        return made(n, computed)
    except (Inexpressible, Unfit):
        return None


def made(n, value):
    if isinstance(value, Value):
        return value
    if not isinstance(value, Computed):
        return leaf(n, value)
    known = n.translation.of_weights_alone
    if value not in known:
        known[value] = replayed(n, value) if value.kept is None else partly(n, *value.kept)
    return known[value]


def partly(n, source, mask):
    """A weight, of which a part is zero."""
    source = made(n, source)
    zeros = learnt.constant(n, source, mask)
    return source.with_base(n.emit("*", [source.base, zeros.base], size=source.size))


def leaf(n, value):
    """A weight, or a tensor that nobody learns."""
    shape, points = list(value.shape), len(n.translation.inputs[0][1]) - 2
    wide = [i for i, size in enumerate(shape) if size > 1]
    if len(wide) > 1 + points:
        n.refuse("a weight of more axes than a tensor has")
    size, axes = [1] * (1 + points), [()] * len(shape)
    for at, i in enumerate(reversed(wide)):
        place = 0 if at == 0 else 1 + points - at
        size[place] = shape[i]
        axes[i] = Value(None, [s if k == place else 1 for k, s in enumerate(size)]).axes[1 + place]
    like = Value(None, size, axes)
    return learnt.parameter(n, like, value) if isinstance(value, Weight) else learnt.constant(n, like, value)


def replayed(n, value, source=None, shape=None):
    """The result of the operator that computed VALUE, of tensors in place of weights; SOURCE: of this one, in this SHAPE."""
    translation, node = n.translation, with_names(n, value.node)
    row = find(node.name) if node else None
    if row is None:
        n.refuse("a function of a weight")
    refs = tensors_of(node)
    before = {ref.name: translation.cells[ref.name] for ref in refs}
    values = {ref.name: translation.value(ref) for ref in refs}
    values.update([value.before] if value.before else [])
    given = {name: source if source is not None and is_learnt(other) else made_of(n, other) for name, other in values.items()}
    again = translation.node_of(node, row)
    if shape is not None:
        again.shape = lambda index=0: shape
    try:
        for name, tensor in given.items():
            translation.hold(name, tensor)
        result = row.rule(again)
    finally:
        translation.cells.update(before)
    results = result if isinstance(result, list) else [result]
    names = [ref.name for ref in each(node.outputs, Ref)]
    return results[names.index(value.ref)]


def with_names(n, node):
    """NODE, whose constant tensors are tensors of the file by names, as in a concatenation of weights and zeros."""
    if node is None:
        return node

    def named(leaf):
        if not hasattr(leaf, "numel") or leaf.numel() < 2:
            return leaf
        ref = Ref("constant%d" % len(n.translation.cells))
        n.translation.hold(ref.name, leaf)
        return ref
    again, word = copy.copy(node), LAYERS.get(node.name)
    again.arguments = {**node.arguments, word: named(node.arguments[word])} if word else mapped(node.arguments, named)
    return again


def made_of(n, value):
    """A number stays one."""
    return value if hasattr(value, "numel") and value.numel() == 1 else made(n, value)


def tensors_of(node):
    """The arguments that are tensors, not weights of a layer."""
    word = LAYERS.get(node.name)
    return [node.arguments[word]] if word else list(each(list(node.arguments.values()), Ref))


def sources_of(n, value):
    return [value.before[1]] if value.before else [n.translation.value(ref) for ref in tensors_of(value.node)]


def is_learnt(value):
    return isinstance(value, (Computed, Weight)) and getattr(value, "path", None) is not None


def has_numbers(node):
    """Is everything but one tensor a number?"""
    import torch
    leaves = list(each(list(node.arguments.values()), torch.Tensor))
    return len(tensors_of(node)) == 1 and all(leaf.numel() == 1 for leaf in leaves)


# ---- look-ups ---------------------------------------------------------------------------------------------------


def looked_up(n, computed):
    """The Value, with the shape of the table, and for each element of COMPUTED its place there."""
    try:
        behind, value = [], computed
        while isinstance(value, Computed) and value.node and value.node.name not in LOOK_UPS:
            behind.append(value)
            value, = [before for before in sources_of(n, value) if is_learnt(before)]
        return found(n, value, behind[::-1]) if isinstance(value, Computed) and value.node else None
    except (Inexpressible, Unfit, ValueError):
        return None


def found(n, look_up, behind):
    """The table in front of LOOK_UP, changed element by element as behind it; and places that are moved as behind it."""
    import torch
    table = look_up.node.arguments["self"]
    source = made(n, n.translation.value(table))
    shape, name = source.shape(), table.name
    places = torch.arange(product(shape)).reshape(shape)
    for value in [look_up, *behind]:
        if value.node.name in BY_ELEMENT and has_numbers(value.node):
            source = replayed(n, value, source, shape)
        elif value.node.name in n.translation.moves:
            node = n.translation.node_of(value.node, None)
            name = table.name if value is look_up else next(ref.name for ref in tensors_of(value.node))
            places = next(iter(n.translation.numbers_of(node, {name: places})))
        else:
            return None
    return source, places

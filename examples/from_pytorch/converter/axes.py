"""Rules of channels and axes: parts, concatenation, stacks, and what only moves letters.

    settled(n, value)                 without zeros or a stack that wait for a reader
    laid_out(n, value)                a tensor in the order of the language, where an operator can lay it out so
"""

import itertools
import math

from . import arranging, rows
from .capture import Ref
from .table import listed, number, operator, plainly
from .values import Atom, Products, Value, Weight, every_point, joined, product

MOST_PARTS = 64
TRACED_FLOATS = (5, 6, 7, 15)  # of 16, 32 and 64 bits, and bfloat16


@operator("cat concat concatenate", "tensors dim")
def cat(n):
    values = [n.translation.value(raw) for raw in n["tensors"] if not empty(n, raw)]
    values = with_learnt_tokens(n, values) if any(isinstance(v, Weight) for v in values) else [n.image(v) for v in values]
    rank = len(values[0].axes)
    axis = n["dim"] % rank
    hint = next((value.base for value in values if value.is_plain() and not value.pads), None)
    values = [copied(n, settled(n, v, hint)) for v in values]
    if not all(v.is_plain() for v in values) and all(rows.has_every_point(v, axis) for v in values):
        return rows.beside(n, values, axis)
    if any(atom.letter in "DHW" for value in values for atom in value.axes[axis]):
        values = [plainly(n, n.translation.forced(n, v)) for v in values]
        if axis > 1:
            return beside(n, values, axis)
    rest = [[tuple(a.key() for a in atoms) for i, atoms in enumerate(v.axes) if i != axis] for v in values]
    if any(r != rest[0] for r in rest) or not all(v.whole_channels(axis) for v in values):
        values = [arranging.with_channels(n, v, axis) for v in values]
        if not all(values) or any(v.points != values[0].points for v in values):
            n.refuse("concatenation along another axis than channels")
    channels = sum(value.channels for value in values)
    if len(values) == 1:
        return values[0]
    name = n.emit("concat", [value.base for value in values], size=(channels, *values[0].points))
    return value_of_channels(values[0], name, channels, axis)


def beside(n, values, axis):
    """Side by side along an axis of points."""
    first = values[0]
    if not 2 <= axis < 2 + len(first.points) or any(v.size[:axis - 1] + v.size[axis:] != first.size[:axis - 1] + first.size[axis:]
                                                    for v in values):
        n.refuse("concatenation of tensors of different sizes")
    size = list(first.size)
    size[axis - 1] = sum(v.size[axis - 1] for v in values)
    word = "dhw"[-len(first.points):][axis - 2]
    return Value(n.emit("concat", [v.base for v in values], [("axis", word)], size), size)


def with_learnt_tokens(n, values):
    """Weights beside tensors, along an axis of points."""
    like = next((v for v in values if isinstance(v, Value)), None)
    axis = n["dim"] % len(like.axes)
    if like.pads or like.stack or not rows.has_every_point(like, axis):
        return [n.image(v) for v in values]
    return [rows.learnt(n, v, like, axis) if isinstance(v, Weight) else n.image(v) for v in values]


def value_of_channels(value, name, channels, axis):
    """The axes of VALUE, for a tensor with other channels in axis AXIS."""
    axes = [tuple(a for a in atoms if a.letter != "C") for atoms in value.axes]
    axes[axis] = (Atom("C", channels),)
    return Value(name, (channels, *value.points), axes)


def empty(n, raw):
    """A tensor without elements, which a constant may be."""
    return not isinstance(raw, Ref) and raw.numel() == 0


def channel_part(n, value, axis, begin, end):
    """Channels BEGIN to END of a value whose axis AXIS has all of them."""
    if value.pads:
        value = plainly(n, n.translation.forced(n, value))
    value = copied(n, value)
    if value.stack and value.axes[axis] and value.axes[axis][0].key() == value.stack[0].key() and end == begin + 1:
        part = value.stack[1][begin]
        return Value(part.base, part.size, value.axes[:axis] + ((),) + value.axes[axis + 1:])
    if value.stack:
        value = stacked(n, value)
    atoms = value.axes[axis]
    if len(atoms) != 1 or atoms[0].letter != "C":
        value = arranging.in_order_of_axes(n, value) if axis == 1 else arranging.with_channels(n, value, axis)
        if value is None:
            n.refuse("a part of an axis other than channels, or of a group of them")
        return channel_part(n, value, axis, begin, end)
    inner = atoms[0].inner
    if atoms[0].inner * atoms[0].size != value.channels:
        return part_of_groups(n, value, axis, begin, end)
    begin, end = begin * inner, end * inner
    common = math.gcd(math.gcd(begin, end), value.channels)
    if common == value.channels:
        return value
    names = n.translation.chunked(n.node, value.base, value.channels // common)[begin // common:end // common]
    count = end - begin
    name = names[0] if len(names) == 1 else n.emit("concat", names, size=(count, *value.points))
    n.translation.part_of[name] = (value.base, begin)
    axes = list(value.axes)
    axes[axis] = joined([Atom("C", count // inner, inner)])
    return Value(name, (count, *value.points), axes)


def part_of_many_groups(n, value, axis, begin, end):
    """The same where the groups are many: the channels of all groups come to lie side by side, are cut, and go back."""
    cut, found = value.axes[axis][0], arranging.factors(value)
    if found is None:
        return None
    channels, points = found.pop("C"), [tuple(atoms) for atoms in found.values()]
    place = [atom.key() for atom in channels].index(cut.key())
    beside = arranging.arranged(n, value, [(cut, *channels[:place], *channels[place + 1:]), *points])
    part = channel_part(n, beside, axis, begin, end) if beside else None
    if part is None or not part.axes[axis]:
        return part
    channels = arranging.factors(part)["C"]
    return arranging.arranged(n, part, [(*channels[1:place + 1], channels[0], *channels[place + 1:]), *points])


def part_of_groups(n, value, axis, begin, end):
    """The same part of every group of channels, which are an axis of their own, such as heads."""
    atom = value.axes[axis][0]
    span, size = atom.inner * atom.size, end - begin
    step = math.gcd(math.gcd(begin, end), atom.size) * atom.inner
    if value.channels // step > MOST_PARTS:
        part = part_of_many_groups(n, value, axis, begin, end)
        return part or n.refuse("a part of each of %d groups of channels" % (value.channels // span))
    names = n.translation.chunked(n.node, value.base, value.channels // step)
    begin, end = begin * atom.inner, end * atom.inner
    chosen = [names[(group + at) // step] for group in range(0, value.channels, span) for at in range(begin, end, step)]
    channels = value.channels * size // atom.size
    name = n.emit("concat", chosen, size=(channels, *value.points))

    def kept(other):
        if other.letter != "C" or other.inner < atom.inner or other is atom:
            return Atom("C", size, atom.inner) if other is atom else other
        return Atom("C", other.size, other.inner // atom.size * size)
    return Value(name, (channels, *value.points), [tuple(kept(other) for other in part) for part in value.axes])


@operator("chunk unsafe_chunk split.Tensor split split_with_sizes split.sizes unsafe_split.Tensor tensor_split.sections",
          "self chunks split_size split_sizes sections dim")
def chunk(n):
    value = n.tensor("self")
    axis = n["dim"] % len(value.axes)
    parts, at = [], 0
    for i in range(len(n.node.outputs)):
        size = n.shape(i)[axis]
        parts.append(narrowed(n, value, axis, at, at + size))
        at += size
    return parts


@operator("unbind.int", "self dim")
def unbind(n):
    value = n.tensor("self")
    axis = n["dim"] % len(value.axes)
    return [without(narrowed(n, value, axis, i, i + 1), axis) for i in range(len(n.node.outputs))]


def without(value, axis):
    """A value without this axis, which has one element."""
    return value.seen(value.axes[:axis] + value.axes[axis + 1:])


@operator("select.int", "self dim index", "", True)
def select(n):
    value = n.tensor("self")
    axis = n["dim"] % len(value.axes)
    count = value.shape()[axis]
    index = n["index"] % count
    return without(value if count == 1 else narrowed(n, value, axis, index, index + 1), axis)


@operator("slice.Tensor", "self dim start end step", "", True)
def sliced(n):
    value = n.tensor("self")
    axis = n["dim"] % len(value.axes)
    count = value.shape()[axis]
    begin, end, _ = slice(n["start"], n["end"]).indices(count)
    if (begin, end) == (0, count) and n["step"] == 1:
        return value
    if n["step"] == 1:
        return narrowed(n, value, axis, begin, end)
    at = None if value.stack or value.pads else whole_axis(value, axis)
    if at is None:
        n.refuse("every other element of an axis that is not depth, height or width")
    steps = [n["step"] if i == at else 1 for i in range(len(value.points))]
    value = narrowed(n, value, axis, begin, end)
    if value.pads:
        value = plainly(n, n.translation.forced(n, value))
    name = every_other(n, value.base, [0] * len(steps), steps)
    size = n.translation.size[name]
    atoms = (Atom(every_point(value)[at].letter, size[1 + at]),)
    return Value(name, size, value.axes[:axis] + (atoms,) + value.axes[axis + 1:])


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
    at = None if value.stack or value.is_plain() or value.pads else whole_axis(value, axis)
    if at is not None:
        return cropped(n, value, axis, at, begin, end)
    if value.stack or not (value.is_plain() or value.pads) or axis < 2:
        return channel_part(n, value, axis, begin, end)
    pads = list(value.pads or [(0, 0)] * len(value.points))
    front, back = pads[axis - 2]
    pads[axis - 2] = (front - begin, back - (count - end))
    return Value(value.base, value.size, None, pads)


def every_other(n, base, front, steps):
    """The points of a tensor at a step along each axis, behind FRONT."""
    channels, *points = n.translation.size[base]
    left = [size - begin for size, begin in zip(points, front)]
    if any(front):
        base = n.emit("crop", [base], [(None, number(front)), (None, number(left))], (channels, *left))
    size = (channels, *[-(-count // step) for count, step in zip(left, steps)])
    return n.emit("avg_pool", [base], [(None, 1), ("stride", number(steps))], size) if any(s > 1 for s in steps) else base


def unshuffled(n, value):
    """A value one of whose axes has every other point beside the channels: these are channels, too."""
    mixed = [i for i, axis in enumerate(value.axes) if len(axis) > 1 and any(atom.letter == "C" for atom in axis)
             and all(atom.letter == "C" or atom.letter != "*" and atom.inner == 1 for atom in axis)]
    if len(mixed) != 1 or value.stack:
        return value
    atoms = value.axes[mixed[0]]
    channels = [atom for atom in atoms if atom.letter == "C"]
    inner = {atom.letter: atom.size for atom in atoms if atom.letter != "C"}
    names = [atom.letter for atom in every_point(value)]
    steps = [inner.get(letter, 1) for letter in names]
    axes = [tuple(Atom(a.letter, a.size) if a.inner == inner.get(a.letter) else a for a in axis) for axis in value.axes]
    size = [value.channels * product(steps), *[count // step for count, step in zip(value.points, steps)]]
    axes[mixed[0]] = (Atom("C", size[0]),)
    if len(channels) != 1 or channels[0].size != value.channels or channels[0] not in (atoms[0], atoms[-1]) or len(
            inner) != len(atoms) - 1 or Value(None, size, axes).shape() != value.shape():
        return value
    if channels[0] is atoms[-1]:
        fronts = itertools.product(*[range(atom.size) for atom in atoms[:-1]])
        places = [dict(zip([atom.letter for atom in atoms[:-1]], front)) for front in fronts]
        parts = [every_other(n, value.base, [place.get(letter, 0) for letter in names], steps) for place in places]
        return Value(n.emit("concat", parts, size=size), size, axes)
    if len(steps) == 2 and steps[0] == steps[1] and [atom.letter for atom in atoms[1:]] == names:
        return Value(n.emit("pixel_unshuffle", [value.base], [(None, steps[0])], size), size, axes)
    return value


def whole_axis(value, axis):
    """Which axis of points this one is, as a whole; None if it is none."""
    for at, atom in enumerate(every_point(value)):
        if atom.size > 1 and [a.key() for a in value.axes[axis]] == [atom.key()]:
            return at
    return None


def cropped(n, value, axis, at, begin, end):
    """Elements BEGIN to END of an axis that is the base's axis AT of points."""
    front, size = [0] * len(value.points), list(value.points)
    front[at], size[at] = begin, end - begin
    name = n.emit("crop", [value.base], [(None, number(front)), (None, number(size))], (value.channels, *size))
    atoms = (Atom(every_point(value)[at].letter, end - begin),)
    return Value(name, (value.channels, *size), value.axes[:axis] + (atoms,) + value.axes[axis + 1:])


@operator("stack", "tensors dim")
def stack(n):
    values = [n.image(n.translation.value(raw)) for raw in n["tensors"]]
    values = [settled(n, v) for v in values]
    first = values[0]
    if any(v.key() != first.key() or v.size != first.size for v in values):
        values = arranging.alike(n, values) or n.refuse("a stack of tensors whose axes are in different orders")
        first = values[0]
    axis = n["dim"] % (len(first.axes) + 1)
    atom = Atom("C", len(values), first.channels)
    size = (first.channels * len(values), *first.points)
    return Value(None, size, first.axes[:axis] + ((atom,),) + first.axes[axis:], None, (atom, values))


def settled(n, value, hint=None):
    """A value without anything that waits, its axes as they are."""
    if value.pads:
        return plainly(n, n.translation.forced(n, value, hint))
    return stacked(n, value) if value.stack else value


def copied(n, value):
    """A value whose repetitions are a tensor, where they can be."""
    if any(atom.letter == "*" for axis in value.axes for atom in axis):
        name = laid_out(n, settled(n, value))
        return value if name is None else plainly(n, name)
    return value


def stacked(n, value):
    """What torch.stack put together, as a tensor."""
    name = n.emit("concat", [v.base for v in value.stack[1]], size=value.size)
    return Value(name, value.size, value.axes)


def laid_out(n, value):
    """The name of a tensor that holds VALUE in the axes N C [D] H W, where operators can lay it out so; else None."""
    shape = value.shape()
    repeated = [i for i, axis in enumerate(value.axes) if any(a.letter == "*" for a in axis)]
    if repeated:
        name = repeat_axes(n, value, shape)
        value = arranging.copies(n, value) if name is None else None
        if value is None:
            return name
    if len(value.points) == 2 and len(shape) == 4 and shape[0] == 1 and is_shuffled(value):
        return n.emit("pixel_shuffle", [value.base], [(None, value.axes[2][1].size)], shape[1:])
    moved = arranging.in_order_of_axes(n, value)
    return None if moved is None else moved.base


def is_shuffled(value):
    """Have rows and columns, each, a part of the channels behind them, as pixel_shuffle makes them?"""
    channels, high, wide = value.axes[1:]
    return (len(high) == len(wide) == 2 and len(channels) < 2 and high[0].letter == "H" and wide[0].letter == "W"
            and high[1].letter == wide[1].letter == "C" and high[1].size == wide[1].size
            and wide[1].inner == 1 and high[1].inner == wide[1].size
            and product(a.size for a in channels) * high[1].size ** 2 == value.channels)


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
    return copied(n, plainly(n, n.translation.forced(n, value)) if value.pads else value)


@operator("view reshape flatten.using_ints unflatten.int squeeze squeeze.dim squeeze.dims unsqueeze _unsafe_view view_as "
          "reshape_as _reshape_copy", "self size shape start_dim end_dim dim sizes other", "", True)
def reshape(n):
    value = n.value("self")
    if isinstance(value, Products) and n.shape()[-2:] == value.sizes():
        return value
    return unshuffled(n, movable(n).reshaped(n.shape()))


@operator("permute", "self dims")
def permute(n):
    order = [axis % len(n["dims"]) for axis in n["dims"]]
    return in_order(n, order)


def in_order(n, order):
    value = n.value("self")
    return (value if isinstance(value, Products) else movable(n)).permuted(order)


@operator("transpose.int swapaxes", "self dim0 dim1 axis0 axis1")
def transpose(n):
    order = list(range(len(n.shape())))
    names = ("dim0", "dim1") if n.has("dim0") else ("axis0", "axis1")
    a, b = (n[name] % len(order) for name in names)
    order[a], order[b] = b, a
    return in_order(n, order)


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
    return copied(n, Value(value.base, value.size, [
        ((Atom("*", count),) if count > 1 else ()) + tuple(axis) for count, axis in zip(times, axes)]))


def is_floating(dtype):
    """The tracer has a number for each type."""
    return dtype in TRACED_FLOATS if isinstance(dtype, int) else dtype.is_floating_point


def whole_numbers(n, value):
    """An input may be made whole, and must then be whole: the numbers of rows of an embedding."""
    if not isinstance(value, Value) or value.base not in [name for name, _ in n.translation.inputs]:
        n.refuse("it makes whole numbers of a tensor that is no input")
    n.translation.whole.add(value.base)


@operator("clone contiguous", "self", "memory_format", True)
@operator("detach alias lift_fresh lift_fresh_copy resolve_conj", "self", "", True)
@operator("to.dtype _to_copy to.device to.dtype_layout type_as to.other", "self dtype other",
          "non_blocking copy memory_format device layout pin_memory", True)
def same(n):
    value = n.value("self")
    if n.raw("dtype") is not None and not is_floating(n.raw("dtype")):
        whole_numbers(n, value)
    return value if isinstance(value, (Weight, Products)) or hasattr(value, "numel") else n.tensor("self")


@operator("copy", "self src", "non_blocking")
def copy(n):
    value, other = n.tensor("self"), n.tensor("src")
    if value.shape() != other.shape():
        n.refuse("it copies into a tensor of another size")
    return other

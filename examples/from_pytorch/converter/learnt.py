"""Weights and numbers that stand by themselves beside a tensor: `scale`, `parameter` and `constant`."""

import struct

from . import naming
from .table import given, number
from .values import Atom, Value, Weight, letters, product

MOST_CONSTANTS = 64


def fits_scale(value, weight):
    """Has it a number for each channel?"""
    shape = aligned(value, weight.shape)
    axes = [i for i, size in enumerate(shape) if size != 1]
    count = product(shape)
    return len(shape) == len(value.axes) and count == value.channels and (
        count == 1 or len(axes) == 1 and value.whole_channels(axes[0]))


def aligned(value, shape):
    return [1] * (len(value.axes) - len(shape)) + list(shape)


def scale_by(n, value, weight):
    """`scale`: a weight for each channel."""
    count = product(weight.shape)
    n.translation.tensor(n, naming.weight_name(weight.path), weight.path, (count,))
    return value.with_base(n.emit("scale", [value.base], init_of(n, weight, 1), layer=naming.weight_name(weight.path)))


def init_of(n, weight, default):
    numbers = n.translation.program.tensors[weight.path].detach().flatten()
    first = numbers[0].item()
    return given("init", float(repr_of(first)), default) if bool((numbers == first).all()) else []


def with_channels(value, shape):
    """VALUE, if it has one channel, with as many as there are along the only axis of SHAPE that VALUE does not have."""
    wider = [i for i, (axis, size) in enumerate(zip(value.axes, shape)) if size > 1 and not axis]
    if value.channels != 1 or len(wider) != 1 or wider[0] == 0:
        return value
    axes = [(Atom("C", shape[i]),) if i in wider else axis for i, axis in enumerate(value.axes)]
    return Value(value.base, (shape[wider[0]], *value.points), axes)


def beside(n, value, shape, what):
    """The size of a tensor of this SHAPE beside VALUE, in the axes of the language, its own axes, and how its elements move to
    be in this order: sizes and order, or None twice."""
    shape = aligned(value, shape)
    if len(shape) != len(value.axes) or shape[0] != 1 and value.shape()[0] == 1:
        n.refuse("%s, which has more axes than the tensor beside it" % what)
    value = with_channels(value, shape)
    axes = [axis if size > 1 else () for axis, size in zip(value.axes, shape)]
    own = Value(None, value.size, axes)
    held = {atom.letter for axis in axes for atom in axis}
    size = [count if letter in held else 1 for letter, count in zip(letters(len(value.points)), value.size)]
    parts = [atom for axis in own.axes for atom in axis]
    order = sorted(range(len(parts)), key=lambda i: (letters(len(value.points)).find(parts[i].letter), -parts[i].inner))
    if own.shape() != shape or not Value(None, size, [[parts[i] for i in order]]).in_order():
        n.refuse("%s, whose axes are not channels, height and width of the tensor beside it" % what)
    if order == sorted(order):
        return size, axes, None, None
    return size, axes, tuple(atom.size for atom in parts), tuple(order)


def parameter(n, value, weight):
    """A weight by itself, of the axes of VALUE or of one element along some; it is made once.  Nobody learns a buffer."""
    size, axes, sizes, order = beside(n, value, weight.shape, "`%s`, a weight of the network" % weight.path)
    made = n.translation.given
    if (weight.path, tuple(size)) not in made:
        name = naming.weight_name(weight.path)
        n.translation.tensor(n, name, weight.path, size if any(count > 1 for count in size[1:]) else size[:1], sizes, order)
        points = given("size", number(size[1:]), 1)
        start = [] if n.is_fixed(weight) else init_of(n, weight, 0)
        made[weight.path, tuple(size)] = n.emit(
            "parameter", [], [(None, size[0])] + start + points + n.weights_given(weight), size, name)
    return Value(made[weight.path, tuple(size)], size, axes)


def constant(n, value, tensor):
    """Numbers of the file, one for each channel; more than a few, and maps, are numbers of the checkpoint."""
    size, axes, _, _ = beside(n, value, tensor.shape, "a constant of %s elements" % "x".join(map(str, tensor.shape)))
    if product(size[1:]) > 1 or size[0] > MOST_CONSTANTS:
        program, numbers = n.translation.program, tensor.detach() if tensor.is_floating_point() else tensor.float()
        buffers = [path for path in program.buffers if program.tensors.get(path) is tensor]
        weight = Weight(buffers[0], tensor.shape) if buffers else n.translation.folded_numbers(n, numbers, None)
        return parameter(n, value, weight)
    numbers = [float(repr_of(element.item())) for element in tensor.detach().flatten()]
    return Value(n.emit("constant", [], [(None, numbers)], size), size, axes)


def repr_of(number32):
    """The shortest decimal number that a float32 is."""
    for digits in range(1, 10):
        text = "%.*g" % (digits, number32)
        if struct.pack("f", float(text)) == struct.pack("f", number32):
            return text
    return repr(number32)

"""Tokens of a map in one row: tokens that stand beside them, such as class tokens, have no place in the map.

    in_row(n, value, axis)      the points of a value whose axis AXIS has all of them
    beside(n, values, axis)     tokens behind others, along an axis that has all of them
"""

from . import arranging
from .learnt import parameter
from .values import Atom, Value, every_point, joined


def keys(atoms):
    return [atom.key() for atom in joined(atoms)]


def has_every_point(value, axis):
    """Does this axis have all points in their order, and no other one any?"""
    return keys(value.axes[axis]) == keys(every_point(value))


def in_row(n, value, axis):
    plain = Value(value.base, value.size)
    row = arranging.arranged(n, plain, arranging.in_a_row(plain, plain.axes[1], plain.axes[2:]))
    return Value(row.base, row.size, with_axis(value, axis, row.size[-1]))


def with_axis(value, axis, count):
    """The axes of a value; axis AXIS gets COUNT columns of a row."""
    return value.axes[:axis] + ((Atom("W", count),),) + value.axes[axis + 1:]


def beside(n, values, axis):
    """Tokens behind others, along AXIS: of tensors that have every point there."""
    rows = [in_row(n, value, axis) for value in values]
    first = rows[0]
    alike = [(row.channels, keys_beside(row, axis)) for row in rows]
    if any(other != alike[0] for other in alike):
        n.refuse("tokens of different channels, one behind the other")
    size = (*first.size[:-1], sum(row.size[-1] for row in rows))
    name = n.emit("concat", [row.base for row in rows], [("axis", "w")], size)
    return Value(name, size, with_axis(first, axis, size[-1]))


def learnt(n, weight, like, axis):
    """A weight that is tokens beside LIKE."""
    count = weight.shape[axis]
    size = (like.channels, *[1] * (len(like.points) - 1), count)
    return parameter(n, Value(None, size, with_axis(like, axis, count)), weight)


def keys_beside(value, axis):
    return [keys(atoms) for i, atoms in enumerate(value.axes) if i != axis]

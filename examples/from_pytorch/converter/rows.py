"""Tokens of a map in one row: tokens that stand beside them, such as class tokens, have no place in the map.

    in_row(n, value, axis)      the points of a value whose axis AXIS has all of them
    of_row(n, value)            the name of a map, of a value that sees a row as one; None where it is none
"""

from .learnt import parameter
from .values import Atom, Value, every_point, joined

MOST = 256


def keys(atoms):
    return [atom.key() for atom in joined(atoms)]


def has_every_point(value, axis):
    """Does this axis have all points in their order, and no other one any?"""
    return keys(value.axes[axis]) == keys(every_point(value))


def in_row(n, value, axis):
    *outer, columns = value.points
    count = 1
    for size in outer:
        count *= size
    if count > MOST:
        n.refuse("tokens of %d rows of a map, with others beside them; a file has a row for each" % count)
    name, size = value.base, (value.channels, *[1] * len(outer), count * columns)
    if count > 1:
        one = [1] * len(outer) + [columns]
        parts = [n.emit("crop", [name], [(None, front_of(i, outer) + [0]), (None, one)], (value.channels, *one))
                 for i in range(count)]
        name = n.emit("concat", parts, [("axis", "w")], size)
    return Value(name, size, with_axis(value, axis, size[-1]))


def with_axis(value, axis, count):
    """The axes of a value; axis AXIS gets COUNT columns of a row."""
    return value.axes[:axis] + ((Atom("W", count),),) + value.axes[axis + 1:]


def front_of(index, outer):
    """The place of row INDEX on the axes before the last one."""
    place = []
    for size in outer[::-1]:
        place.insert(0, index % size)
        index //= size
    return place


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


def of_row(n, value):
    """A row whose columns are seen as rows and columns, as a map."""
    height, width = value.points[:-1], value.points[-1]
    shape = value.shape()
    if any(size > 1 for size in height) or len(shape) != len(value.points) + 2 or shape[0] != 1:
        return None
    atoms = [atom for axis in value.axes[2:] for atom in axis]
    if not value.whole_channels(1) or keys(atoms) != [("W", width, 1)] or len(shape) != 4 or shape[2] > MOST:
        return None
    one = [1, shape[3]]
    parts = [n.emit("crop", [value.base], [(None, [0, i * shape[3]]), (None, one)], (shape[1], *one))
             for i in range(shape[2])]
    return n.emit("concat", parts, [("axis", "h")], shape[1:]) if len(parts) > 1 else parts[0]

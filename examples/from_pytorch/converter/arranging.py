"""Tensors whose elements are in another order: `rearrange`, where axes of PyTorch's mix channels and points.

    arranged(n, value, groups)        a value whose base has these letters for its channels and its points
    in_order_of_axes(n, value)        a value whose base has the value's own axes, behind the axis of samples
    with_channels(n, value, axis)     a value whose channels are its axis AXIS, and whose points are all others in a row
    alike(n, values)                  values of one shape, whose bases have their elements in one order
    beside_fewer(n, left, right)      values of which one has one element along axes that are the channels of the other
    copies(n, value)                  a value whose repetitions are channels

Each gives None where axes repeat elements, or hold a part of a letter alone.
"""

from .values import Atom, Value, letters, product

MOST_COPIES = 64


def factors(value):
    """{letter: its parts, the outermost first}, if the axes have all of each letter."""
    atoms = [atom for axis in value.axes for atom in axis]
    found = {}
    for letter, size in zip(letters(len(value.points)), value.size):
        found[letter] = sorted((atom for atom in atoms if atom.letter == letter), key=lambda atom: -atom.inner)
        inner = [atom.inner for atom in found[letter]]
        if [atom.inner * atom.size for atom in found[letter]] + [1] != [size] + inner:
            return None
    return None if any(atom.letter == "*" for atom in atoms) else found


def axis_text(words):
    return "1" if not words else words[0] if len(words) == 1 else "(%s)" % " ".join(words)


def pattern(found, groups):
    """What `rearrange` is told, and what it would be told to change nothing."""
    names, left, same = {}, [], []
    for letter, atoms in found.items():
        words = [letter.lower() + (str(i) if len(atoms) > 1 else "") for i in range(len(atoms))]
        names.update({atom.key(): word for atom, word in zip(atoms, words)})
        left.append(axis_text(words[:1] + ["%s=%d" % (word, atom.size) for word, atom in zip(words[1:], atoms[1:])]))
        same.append(axis_text(words))
    right = " ".join(axis_text([names[atom.key()] for atom in group]) for group in groups)
    return None if right == " ".join(same) else "%s -> %s" % (" ".join(left), right)


def arranged(n, value, groups):
    found = factors(value)
    if found is None or value.pads or value.stack or len(groups) != len(value.size):
        return None
    told, size, at = pattern(found, groups), [product(atom.size for atom in group) for group in groups], {}
    if told is None:
        return value
    for letter, group in zip(letters(len(groups) - 1), groups):
        for i, atom in enumerate(group):
            at[atom.key()] = Atom(letter, atom.size, product(other.size for other in group[i + 1:]))
    name = n.emit("rearrange", [value.base], [(None, told)], size)
    return Value(name, size, [tuple(at[atom.key()] for atom in axis) for axis in value.axes])


def in_order_of_axes(n, value):
    shape = value.shape()
    return arranged(n, value, value.axes[1:]) if len(shape) == len(value.size) + 1 and shape[0] == 1 else None


def in_a_row(value, channels, axes):
    """Groups: these channels, and in the last axis of points all atoms of AXES."""
    return [channels, *[()] * (len(value.points) - 1), tuple(atom for axis in axes for atom in axis)]


def with_channels(n, value, axis):
    axis %= len(value.axes)
    return arranged(n, value, in_a_row(value, value.axes[axis], value.axes[:axis] + value.axes[axis + 1:]))


def with_reduced(n, value, dims):
    """The axes DIMS as channels."""
    channels = tuple(atom for dim in dims for atom in value.axes[dim])
    return arranged(n, value, in_a_row(value, channels, [axis for i, axis in enumerate(value.axes) if i not in dims]))


def is_whole(value):
    """Can its elements be put in another order?"""
    return not value.pads and not value.stack and factors(value) is not None


def alike(n, values):
    if any(value.shape() != values[0].shape() or not is_whole(value) for value in values):
        return None
    return [with_channels(n, value, -1) for value in values]


def beside_fewer(n, left, right):
    if len(left.axes) != len(right.axes):
        return None
    for wide, few in ((left, right), (right, left)):
        once = [i for i, axis in enumerate(few.axes) if all(atom.letter == "*" for atom in axis) and wide.axes[i]]
        bare = few.seen([() if i in once else axis for i, axis in enumerate(few.axes)])
        kept = [size for i, size in enumerate(wide.shape()) if i not in once]
        if is_whole(wide) and is_whole(bare) and kept == [size for i, size in enumerate(bare.shape()) if i not in once]:
            pair = [with_reduced(n, value, once) for value in (wide, bare)]
            return pair if wide is left else pair[::-1]
    return None


def copies(n, value):
    count = product(atom.size for axis in value.axes for atom in axis if atom.letter == "*")
    if value.pads or value.stack or count > MOST_COPIES:
        return None
    size, left = (count * value.channels, *value.points), count

    def as_channels(atom):
        nonlocal left
        if atom.letter != "*":
            return atom
        left //= atom.size
        return Atom("C", atom.size, left * value.channels)

    return Value(n.emit("concat", [value.base] * count, size=size), size, [tuple(map(as_channels, axis)) for axis in value.axes])

"""Tensors as the language has them, seen through the axes that PyTorch code gives them.

The language knows a tensor of channels and points, C [[D] H] W.  A `Value` is such a tensor, its base, and for each axis of
PyTorch's tensor a list of letters: flatten, permute, squeeze and view only move letters and compute nothing.  A letter
may be split: C of 12 into 3 groups of 4.  Axes of one element have no letters.  Rows of zeros, cut rows, and axes that
are only repeated wait in the value for their reader.
"""

import copy


class Atom:
    """A part of a letter: SIZE steps of INNER elements of the letter each.  Letter `*`: a repetition."""

    def __init__(self, letter, size, inner=1):
        self.letter, self.size, self.inner = letter, size, inner

    def key(self):
        return (self.letter, self.size, self.inner)


class Unfit(Exception):
    """The axes do not fit; the caller says of what."""


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def joined(atoms):
    """Neighbours that lie one behind the other in a letter are one."""
    out = []
    for atom in atoms:
        if atom.size == 1:
            continue
        if out and out[-1].letter == atom.letter != "*" and out[-1].inner == atom.inner * atom.size:
            out[-1] = Atom(atom.letter, out[-1].size * atom.size, atom.inner)
        else:
            out.append(atom)
    return tuple(out)


def letters(spatial):
    return "C" + "DHW"[3 - spatial:]


class Value:
    """base: the name of a tensor; size: its (channels, [[depth,] height,] width).  axes: a tuple of atoms per axis of
    PyTorch's.  pads: (front, back) zeros of each spatial axis, negative where rows are cut; only with plain axes.
    stack: (Atom, values) of what torch.stack put together and nobody has read yet."""

    def __init__(self, base, size, axes=None, pads=None, stack=None):
        self.base, self.size = base, tuple(size)
        self.axes = plain_axes(self.size) if axes is None else tuple(joined(axis) for axis in axes)
        self.pads = pads if pads is not None and any(any(pair) for pair in pads) else None
        self.stack = stack

    @property
    def channels(self):
        return self.size[0]

    @property
    def points(self):
        """The sizes of the base's spatial axes."""
        return self.size[1:]

    def key(self):
        return tuple(tuple(atom.key() for atom in axis) for axis in self.axes)

    def is_plain(self):
        return self.key() == Value(self.base, self.size).key()

    def shape(self):
        shape = [product(atom.size for atom in axis) for axis in self.axes]
        for i, (front, back) in enumerate(self.pads or []):
            shape[2 + i] += front + back
        return shape

    def seen(self, axes):
        return Value(self.base, self.size, axes, None, self.stack)

    def with_base(self, base, size=None):
        """The same axes of another tensor of this size."""
        return Value(base, size or self.size, self.axes)

    def whole_channels(self, axis):
        """Does this axis hold all channels, and no other one any?"""
        want = joined([Atom("C", self.channels)])
        return tuple(a.key() for a in self.axes[axis]) == tuple(a.key() for a in want)

    def in_order(self):
        """Are the elements in the order of the base?"""
        flat = joined([atom for axis in self.axes for atom in axis])
        want = joined([Atom(letter, size) for letter, size in zip(letters(len(self.points)), self.size)])
        return tuple(a.key() for a in flat) == tuple(a.key() for a in want)

    def permuted(self, order):
        return self.seen([self.axes[axis] for axis in order])

    def reshaped(self, shape):
        atoms = [atom for axis in self.axes for atom in axis]
        axes = []
        for size in shape:
            axis = []
            while size > 1:
                if not atoms:
                    raise Unfit
                atom = atoms.pop(0)
                if size % atom.size == 0:
                    axis.append(atom)
                    size //= atom.size
                elif atom.size % size == 0 and atom.letter != "*":
                    rest = atom.size // size
                    axis.append(Atom(atom.letter, size, atom.inner * rest))
                    atoms.insert(0, Atom(atom.letter, rest, atom.inner))
                    size = 1
                else:
                    raise Unfit
            axes.append(tuple(axis))
        if atoms:
            raise Unfit
        return self.seen(axes)


def plain_axes(size):
    return ((),) + tuple(joined([Atom(letter, number)]) for letter, number in zip(letters(len(size) - 1), size))


def every_point(value):
    """The points of a value in their order."""
    return tuple(Atom(letter, size) for letter, size in zip(letters(len(value.points))[1:], value.points))


class Weight:
    """A tensor of the state dict, whose elements are in the order of the state dict."""

    def __init__(self, path, shape):
        self.path, self.shape = path, list(shape)


class Computed:
    """A result of FUNCTION on weights alone, PATH and others, with its numbers.  ids: the place that each element comes from,
    as a number in PATH, if it is that weight's elements moved.  node, ref: the operator that made it, and the name of its
    output, or None.  before: of a change in place, the tensor's name and its value before.  kept: the tensor that it is a copy
    of, and zeros and ones that this is multiplied with."""

    def __init__(self, path, function, tensor, ids=None):
        self.path, self.function, self.tensor, self.ids = path, function, tensor, ids
        self.node, self.ref, self.before, self.kept = None, None, None, None


class Indices:
    """Where the maxima of a max_pool lie: of this tensor, with these windows."""

    def __init__(self, like, kernel, stride):
        self.like, self.kernel, self.stride = like, kernel, stride


class Side:
    """Queries, keys or values of attention: a Value without anything that waits, how many heads it has, and the points of a
    window, or None.  again(n): the same with its points in rows, or None."""

    def __init__(self, value, heads, window=None, again=None):
        self.value, self.heads, self.window, self.again = value, heads, window, again

    def extent(self):
        """The points of a window, or of the map."""
        return self.window or self.value.points

    def place(self):
        """The atoms of the points that see each other."""
        axis_letters = letters(len(self.value.points))[1:]
        return tuple(Atom(letter, size) for letter, size in zip(axis_letters, self.extent()))


class Products:
    """Products of the points of two Sides, times SCALE: rows are points of the left one, columns points of the right one.
    SHARES: None, or whose points their softmax is over.  BIAS: the name of a summand; PAIRS: it has a number for each pair.
    SHIFT: the shift of windows whose mask is added; None without."""

    def __init__(self, left, right, scale=1, shares=None, bias=None, shift=None):
        self.left, self.right, self.scale, self.shares = left, right, scale, shares
        self.bias, self.pairs, self.shift = bias, False, shift

    def changed(self, **fields):
        made = copy.copy(self)
        vars(made).update(fields)
        return made

    def sizes(self):
        """How many rows and columns there are."""
        return [product(side.extent()) for side in (self.left, self.right)]

    def times(self, factor):
        return self.changed(scale=self.scale * factor)

    def with_bias(self, bias):
        return self.changed(bias=bias)

    def with_shift(self, shift):
        return self.changed(shift=shift)

    def softmax(self, over):
        return self.changed(shares=over)

    def turned(self):
        """Rows and columns change places."""
        if self.bias or self.shift:
            raise Unfit
        shares = {None: None, "left": "right", "right": "left"}[self.shares]
        return self.changed(left=self.right, right=self.left, shares=shares)

    def permuted(self, order):
        first = list(range(len(order) - 2))
        if order == first + [len(order) - 2, len(order) - 1]:
            return self
        if order != first + [len(order) - 1, len(order) - 2]:
            raise Unfit
        return self.turned()


class ChannelProducts(Products):
    """Products of channels, summed over the points: rows are channels of a head of the left Side, columns channels of the
    right one.  temperature: the name of a factor for each head, or None."""

    temperature = None

    def sizes(self):
        return [side.value.channels // side.heads for side in (self.left, self.right)]

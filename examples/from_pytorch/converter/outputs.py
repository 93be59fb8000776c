"""Outputs whose axes are in another order than the axes of a map, such as tokens or channels at the end.

    layout(value) -> Layout or None     how a map holds such an output; None where the output is no map in another order
    notes(translation, names)           a line for each kind of such an output

The file has the map.  A note names the output, and the axes of both.
"""

import collections

from .values import letters, product

NAMES = {"C": "channels", "D": "depth", "H": "height", "W": "width"}
REFUSED = ("axes that are no axes of a map in another order: batch comes first, and channels, height and width are whole, "
           "each by itself or joined with others")


class Layout(collections.namedtuple("Layout", "sizes order size axes")):
    """The module's axes behind the batch, taken apart, have these SIZES.  In this ORDER they are the axes of a map of this
    SIZE.  AXES: the module's, in words."""

    def of(self, tensor):
        """The module's output as the map that the file has."""
        if product(tensor.shape[1:]) != product(self.size):
            return tensor
        count = len(tensor)
        moved = tensor.reshape(count, *self.sizes).permute(0, *[1 + axis for axis in self.order])
        return moved.reshape(count, *self.size)


def layout(value):
    """The Layout of VALUE, each of whose letters stands whole in one axis.  The first axis, the batch, has no letter."""
    atoms = [atom for axis in value.axes for atom in axis]
    names = letters(len(value.points))
    whole = {letter: count for letter, count in zip(names, value.size) if count > 1}
    if value.pads or value.stack or not value.axes or value.axes[0] or len(atoms) != len(whole) or any(
            whole.get(atom.letter) != atom.size for atom in atoms):
        return None
    order = sorted(range(len(atoms)), key=lambda i: names.index(atoms[i].letter))
    axes = ["batch"] + [" x ".join(NAMES[atom.letter] for atom in axis) or "1" for axis in value.axes[1:]]
    return Layout([atom.size for atom in atoms], order, value.size, axes)


def axes_of_map(spatial):
    return ["batch"] + [NAMES[letter] for letter in letters(spatial)]


def notes(translation, names):
    """A line for all outputs of the same axes.  NAMES: the file's names of the outputs."""
    kinds = collections.defaultdict(list)
    for name, made in zip(names, translation.layouts):
        if made is not None:
            kinds[", ".join(made.axes), ", ".join(axes_of_map(len(made.size) - 1))].append(name)
    return ["output%s %s: the module returns the axes (%s), the file has (%s)" % (
        "s" if len(same) > 1 else "", ", ".join("`%s`" % name for name in same), theirs, ours)
        for (theirs, ours), same in kinds.items()]

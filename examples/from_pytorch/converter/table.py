"""The table of operators: a row for each operator of PyTorch that a file can say.

    find(name) -> Row or None         name: `conv2d`, `add.Tensor`, as the schemas have it

A row says which arguments its rule reads and which make no difference.  An argument that is in neither list is refused
unless it has its default, so that what a newer PyTorch adds is never passed over; a test goes through PyTorch's schemas.
`relu_` has the row of `relu`: what it changes is the business of translate.py.

The rows stand with their rules: layers.py has what has weights, points.py functions of a point and arithmetic, sizes.py what
makes other sizes, axes.py channels and what moves axes.  A rule gets a translate.Node and returns a Value, or a list of them.
"""

from .values import Value

ROWS = {}


class Row:
    """keeps_order: the elements of the result are those of the first argument, in their order."""

    def __init__(self, rule, reads, harmless, keeps_order):
        self.rule, self.reads, self.harmless, self.keeps_order = rule, reads.split(), harmless.split(), keeps_order


def operator(names, reads, harmless="", keeps_order=False):
    def register(rule):
        for name in names.split():
            ROWS[name] = Row(rule, reads, harmless, keeps_order)
        return rule
    return register


def find(name):
    if name in ROWS:
        return ROWS[name]
    word, dot, overload = name.partition(".")
    return ROWS.get(word[:-1] + dot + overload) if word.endswith("_") and not word.endswith("__") else None


NO_OPERATOR = "unetc has no operator for it"


# ---- numbers, as files have them ----------------------------------------------------------------------------------


def listed(value, count):
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * count if len(values) == 1 else values


def number(values):
    """[3, 3] is 3."""
    return values[0] if all(value == values[0] for value in values) else list(values)


def given(keyword, value, default):
    return [(keyword, value)] if value != default else []


def after(n):
    """The size of the output, whose axes are N C [D] H W."""
    return n.shape()[1:]


def plainly(n, name):
    return Value(name, n.translation.size[name])

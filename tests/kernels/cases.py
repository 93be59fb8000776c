"""cases.py - random geometries for every operator, as instances.c reads them.

A case says which operators, on operands of which sizes, and their attributes.  It names operands as the row of the operator
in compiler/ir/ops.def does; the row says in which order a kernel takes them and what it does to them, the compiler how they
lie in memory and what the kernel is told.  For a new operator add such a case: one without is refused by name.

Usage: cases.py FILE SEED CONVOLUTIONS ROUNDS; ROUNDS: of the other operators."""
import itertools
import math
import random
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import rearranging  # noqa: E402

STAGED = ["staged", "bytes", "shorts"]  # what the loader may leave of an image
# Operators that the kernel `function` computes, in the order of UnetFunction (unet/functions.h), with numbers of their own.
FUNCTIONS = [("sqrt", 0, 0), ("exp", 0, 0), ("log", 0, 0), ("sin", 0, 0), ("cos", 0, 0), ("abs", 0, 0), ("square", 0, 0),
             ("reciprocal", 0, 0), ("clamp", -0.3, 0), ("clamp", 0.5, 0), ("clamp", -0.25, 0.5), ("relu6", 0, 0),
             ("hard_sigmoid", 0, 0), ("hard_swish", 0, 0), ("elu", 0.7, 1.3), ("softplus", 2, 1.5), ("mish", 0, 0),
             ("gelu_tanh", 0, 0)]


class Cases:
    def __init__(self):
        self.random, self.lines = None, []  # a case draws from numbers of its own

    def case(self, name, **settings):
        settings = {"samples": 2, **settings}
        self.lines += ["case " + name, "set " + " ".join("%s=%s" % item for item in settings.items())]

    def tensor(self, name, channels, size, before=(0, 0, 0), after=(0, 0, 0), kind="tensor"):
        self.lines.append(" ".join(map(str, ["value", name, kind, channels, *size, *before, *after])))

    def numbers(self, name, *shape, kind="numbers"):
        """Of a weight: by its output channels, then all others."""
        self.lines.append("value %s %s %s" % (name, kind, " ".join(map(str, shape))))

    def node(self, operator, operands, **attributes):
        """OPERANDS: for each the name of a value, those of the segments of a concat, or None: it is absent."""
        text = lambda x: "-" if x is None else "+".join(x) if isinstance(x, list) else x
        words = ["%s=%s" % (name, text(value)) for name, value in operands.items()]
        words += [";"] + ["%s=%s" % (name, ",".join(map(str, value)) if isinstance(value, list) else value)
                  for name, value in attributes.items()]
        self.lines.append(" ".join(["node", operator, *words]))

    def channels(self):
        return self.random.choice([1, 2, 3, 4, 5, 16, 16, 17, 32, 33, 48])

    def halo(self, most=2):
        """A halo that other readers might want, in front of the axes and behind."""
        return [[self.random.randint(0, most) for _ in range(3)] for _ in range(2)]


# ---- convolutions ----

MOST_PRODUCTS = 20_000_000  # of a sample: the reference computes them one by one, a few times


def window(r, three_d):
    """Kernel, stride, dilation, padding in front and behind, sampled extent, dense extent, for one axis."""
    while True:
        kind = r.randrange(4)
        k, s, l = ((3, 1, 1), (1, 1, 1), (2, 2, 1), (r.randint(1, 5), r.randint(1, 3), r.randint(1, 2)))[kind]
        reach = (k - 1) * l
        front = (reach // 2, 0, 0, r.randint(0, reach + 1))[kind]
        behind = (reach - front, 0, 0, r.randint(0, reach + 1))[kind]
        dense = r.randint(1, 6 if three_d else 20) if r.random() < 0.7 else r.choice([8, 16, 18])
        if three_d:
            dense = min(dense, 6)
        if dense + front + behind > reach:
            positions = (dense + front + behind - reach - 1) // s + 1
            return k, s, l, front, positions, dense


def window_attributes(axes):
    return {name: [a[column] for a in axes] for column, name in enumerate(("kernel", "stride", "dilation", "padding"))}


def axes_of(r, transposed, wide):
    """WIDE: in rows of more points than a gradient of weights takes at a time."""
    three_d = r.random() < 0.25
    axes = [window(r, three_d) if three_d or i > 0 else (1, 1, 1, 0, 1, 1) for i in range(3)]
    if transposed and r.random() < 0.5:
        axes = [(2, 2, 1, 0, a[4], 2 * a[4]) if three_d or i > 0 else a for i, a in enumerate(axes)]
    if wide:
        width = r.randint(129, 300)
        axes[1:] = [(2, 2, 1, 0, 1, 2), r.choice([(2, 2, 1, 0, width, 2 * width), (3, 2, 1, 1, width, 2 * width - 1)])]
    return axes


def tiled(r, points):
    """A window of 3 points that slides by one over enough of them."""
    front, behind = r.choice([(1, 1), (1, 1), (0, 0), (2, 0), (0, 1)] + [(2, 2)] * (points > 2))
    return 3, 1, 1, front, points, points + 2 - front - behind


def convolution(cases, operator, wide=False, tiles=None, planes=None):
    """The operator, with a ReLU behind it; its gradients, that by the input of one segment, masked.  TILES: of a 3x3 window
    over images of that size; PLANES: of a 3x3x3 window over so many of them."""
    r, transposed = cases.random, operator == "upconv"
    depth = (1, 1, 1, 0, 1, 1) if planes is None else tiled(r, planes)
    axes = axes_of(r, transposed, wide) if tiles is None else [depth, *(tiled(r, points) for points in tiles)]
    sampled, dense = [a[4] for a in axes], [a[5] for a in axes]
    x_size, y_size = (sampled, dense) if transposed else (dense, sampled)
    channels = cases.channels if tiles is None else lambda: r.choice([5, 16, 17, 32, 48] if planes is None else [5, 16, 17])
    taps, points = math.prod(a[0] for a in axes), math.prod(sampled)
    ins = [channels() for _ in range(r.choice([1, 1, 1, 2, 3] if planes is None else [1, 2]))]
    co = channels()
    while points * taps * sum(ins) * co > MOST_PRODUCTS:
        ins, co = [channels() for _ in ins], channels()
    ci, by, x = sum(ins), r.randrange(len(ins)), ["x%d" % i for i in range(len(ins))]
    count = ci * co * taps
    attributes, biased = window_attributes(axes), r.random() < 0.8
    if operator == "conv":
        attributes["phase"] = r.randrange(4)  # of tile rows, by Winograd's method
    name = "%s %s -> %d, x %s, y %s, kernel, stride, dilation, padding %s, phase %d" % (
        operator, "+".join(map(str, ins)), co, x_size, y_size, [a[:4] for a in axes if a != (1, 1, 1, 0, 1, 1)],
        attributes.get("phase", 0))

    def operands(what, **settings):
        cases.case(what + name, nearness="SUMS", **settings)
        cases.tensor("y", co, y_size)

    operands("")
    for segment, channels in zip(x, ins):
        cases.tensor(segment, channels, x_size, *cases.halo(1))
    cases.numbers("w", count)
    cases.numbers("b", co)
    fused = r.random() < 0.4
    if fused:
        cases.tensor("z", co, y_size)
    cases.node(operator, {"y": "y", "x": x, "w": "w", "b": "b" if biased else None}, **attributes)
    if fused:
        cases.node("relu", {"y": "z", "x": "y"})

    operands("dgrad of ")
    cases.tensor("dx", ins[by], x_size, *cases.halo())
    cases.numbers("w", count)
    fused = r.random() < 0.4
    if fused:
        cases.tensor("m", ins[by], x_size, *cases.halo())
        cases.tensor("dz", ins[by], x_size)
    cases.node(operator + "_dgrad", {"dx": "dx", "dy": "y", "w": "w", "m": None}, channel_begin=sum(ins[:by]), channels=ci,
               **attributes)
    if fused:
        cases.node("relu_grad", {"dx": "dz", "y": "m", "dy": "dx"})

    operands("wgrad of ", bands=r.choice([0, r.randint(1, 6)]))
    for segment, channels in zip(x, ins):
        cases.tensor(segment, channels, x_size)
    cases.numbers("dw", count)
    cases.numbers("db", co)
    cases.node(operator + "_wgrad", {"dw": "dw", "db": "db" if biased else None, "x": x, "dy": "y"}, **attributes)


def grouped_convolution(cases):
    """Each group of channels by itself: depthwise, or a few to a few."""
    r = cases.random
    axes = axes_of(r, False, r.random() < 0.2)
    y_size, x_size = [a[4] for a in axes], [a[5] for a in axes]
    groups, ins, outs = r.choice([(17, 1, 1), (33, 1, 1), (3, 1, 1), (16, 1, 1), (5, 1, 2), (2, 9, 8), (4, 2, 3), (3, 1, 16)])
    ci, co, count = groups * ins, groups * outs, groups * outs * ins * axes[0][0] * axes[1][0] * axes[2][0]
    attributes, biased = {**window_attributes(axes), "groups": groups}, r.random() < 0.7
    name = "conv of %d to %d channels in %d groups, %s to %s, %s" % (ci, co, groups, x_size, y_size, [a[:4] for a in axes])
    bias = "b" if biased else None
    cases.case(name, nearness="SUMS")
    cases.tensor("y", co, y_size, *cases.halo(1))
    cases.tensor("x", ci, x_size, *cases.halo(1))
    cases.numbers("w", count)
    cases.numbers("b", co)
    cases.node("conv_groups", {"y": "y", "x": "x", "w": "w", "b": bias}, **attributes)
    cases.case("dgrad of " + name, nearness="SUMS")
    cases.tensor("dx", ci, x_size, *cases.halo(1))
    cases.tensor("dy", co, y_size, *cases.halo(1))
    cases.numbers("w", count)
    cases.numbers("b", ci)
    cases.node("conv_groups_dgrad", {"dx": "dx", "dy": "dy", "w": "w", "b": bias}, **attributes)
    cases.case("wgrad of " + name, nearness="SUMS")
    cases.tensor("x", ci, x_size, *cases.halo(1))
    cases.tensor("dy", co, y_size, *cases.halo(1))
    cases.numbers("dw", count)
    cases.numbers("db", co)
    cases.node("conv_groups_wgrad", {"dw": "dw", "db": "db" if biased else None, "scratch": None, "x": "x", "dy": "dy"}, **attributes)
    cases.case("transposed " + name, nearness="SUMS")
    cases.tensor("y", ci, x_size, *cases.halo(1))
    cases.tensor("x", co, y_size, *cases.halo(1))
    cases.numbers("w", count)
    cases.numbers("b", ci)
    cases.node("upconv_groups", {"y": "y", "x": "x", "w": "w", "b": bias}, **attributes)


def pooled_convolution(cases):
    """Of 3x3 windows, at times with a ReLU, and the maxima of 2x2 points: one kernel where it can do both."""
    r = cases.random
    axes = [(1, 1, 1, 0, r.choice([1, 1, 2]), 1), tiled(r, r.randint(2, 40)), tiled(r, r.randint(2, 40))]
    axes[0] = axes[0][:5] + (axes[0][4],)
    y_size, x_size = [a[4] for a in axes], [a[5] for a in axes]
    out, ci, co, relu = [y_size[0], y_size[1] // 2, y_size[2] // 2], r.choice([5, 16, 33]), r.choice([5, 16, 17, 48]), r.random() < 0.7
    phase = r.choice([0, 0, 2, 1])
    cases.case("conv and max_pool %d -> %d, %s to %s to %s, phase %d" % (ci, co, x_size, y_size, out, phase), nearness="SUMS")
    cases.tensor("pooled", co, out, *cases.halo(1))
    cases.tensor("y", co, y_size, *cases.halo(1))
    cases.tensor("z", co, y_size, *cases.halo(1))
    cases.tensor("x", ci, x_size, *cases.halo(1))
    cases.numbers("w", ci * co * 9)
    cases.numbers("b", co)
    cases.node("conv", {"y": "y", "x": "x", "w": "w", "b": "b"}, phase=phase, **window_attributes(axes))
    if relu:
        cases.node("relu", {"y": "z", "x": "y"})
    cases.node("max_pool", {"y": "pooled", "x": "z" if relu else "y"},
               **window_attributes([(1, 1, 1, 0), (2, 2, 1, 0), (2, 2, 1, 0)]))


# ---- what is exact ----


def pooling(cases):
    r = cases.random
    c, size, axes = cases.channels(), [1, r.randint(3, 14), r.randint(3, 14)], [(1, 1, 1, 0)]
    if r.random() < 0.4:
        size[0], axes = 4, [(2, 2, 1, 0)]
    for _ in range(2):
        k = r.choice([2, 2, 3])
        axes.append((k, r.choice([2, 2, 1, 3]), 1, r.randint(0, k // 2)))
    out, above = pool_sizes(size, axes), pool_sizes(size, axes, ceil=True)
    attributes = {**window_attributes(axes), "inside": r.randint(0, 1)}
    for operator in ("max_pool", "avg_pool"):
        name = "%s of %d channels, %s to %s, %s" % (operator, c, size, out, axes)
        cases.case(name, nearness="EXACT", values="COARSE")
        cases.tensor("y", c, out, *cases.halo(1))
        cases.tensor("x", c, size, *cases.halo(1))
        cases.node(operator, {"y": "y", "x": "x"}, **attributes)
    cases.case("gradient of " + name, nearness="EXACT")
    cases.tensor("dx", c, size, *cases.halo(1))
    cases.tensor("dy", c, out, *cases.halo(1))
    cases.node("avg_pool_grad", {"dx": "dx", "dy": "dy"}, **attributes)
    for more in ((), ("add",), ("add", "relu_grad"), ("relu_grad",)):
        maximum_gradient(cases, c, size, out, attributes, more)
    if min(size[1:]) > 4:  # windows with gaps, and one that reaches beyond the padding
        axes = axes[:1] + [(k, s, 2, p) for k, s, _, p in axes[1:]]
        above = pool_sizes(size, axes, ceil=True)
    attributes = window_attributes(axes)
    cases.case("max_pool of %d channels, %s to %s, %s" % (c, size, above, axes), nearness="EXACT", values="COARSE")
    cases.tensor("y", c, above, *cases.halo(1))
    cases.tensor("x", c, size, *cases.halo(1))
    cases.node("max_pool", {"y": "y", "x": "x"}, **attributes)
    maximum_gradient(cases, c, size, above, attributes, r.choice([(), ("add", "relu_grad")]))


def pool_sizes(size, axes, ceil=False):
    """CEIL: a last window counts that begins inside."""
    out = []
    for s, (k, stride, l, p) in zip(size, axes):
        room = s + 2 * p - (k - 1) * l - 1
        last = -(-room // stride) if ceil else room // stride
        out.append(last + (last * stride < s + p))
    return out


def maximum_gradient(cases, c, size, out, attributes, more):
    """MORE: what stands behind it, and becomes one kernel with it."""
    cases.case("max_pool_grad of %d channels, %s to %s, %s, then %s" % (c, size, out, attributes, more), nearness="EXACT",
               values="COARSE")
    halo = cases.halo(1)
    cases.tensor("dx", c, size, *halo)
    cases.tensor("x", c, size, *halo)
    cases.tensor("dy", c, out)
    cases.node("max_pool_grad", {"dx": "dx", "x": "x", "dy": "dy", "a": None}, **attributes)
    last = "dx"
    if "add" in more:
        cases.tensor("a", c, size)
        cases.tensor("sum", c, size)
        cases.node("add", {"y": "sum", "a": "a", "b": last})
        last = "sum"
    if "relu_grad" in more:
        cases.tensor("dz", c, size)
        cases.node("relu_grad", {"dx": "dz", "y": "x", "dy": last})


def resizing(cases):
    """What the nearest point is, or those around it; what is cropped or padded; and the gradients."""
    r = cases.random
    c, size = cases.channels(), [r.choice([1, 1, 3]), r.randint(1, 9), r.randint(1, 9)]
    for how in ("nearest", "linear", "corners", "pad", "repeat"):
        axes = [resized_axis(r, how, extent) for extent in size]
        if size[0] == 1:
            axes[0] = (1, 1, 0, 1)
        out = [a[0] for a in axes]
        attributes = {name: [a[1 + k] for a in axes] for k, name in enumerate(("step", "offset", "unit"))}
        attributes.update(linear=int(how in ("linear", "corners")), zero=int(how == "pad"))
        for operator, operands in ((("match", "resize")[how in ("nearest", "linear", "corners")], {"y": "y", "x": "x"}),
                                   ("resize_grad", {"dx": "x", "dy": "y"})):
            cases.case("%s %s of %d channels, %s and %s, %s" % (operator, how, c, size, out, axes), nearness="SUMS")
            for name in operands.values():
                cases.tensor(name, c, size if name == "x" else out, *cases.halo(1))
            cases.node(operator, operands, **attributes)


def resized_axis(r, how, extent):
    """Extent afterwards, step, offset, unit."""
    if how in ("pad", "repeat"):
        front = r.randint(-min(2, extent - 1) if how == "pad" else 0, 3)  # what repeats its edge is not cut
        return max(1, extent + front + r.randint(0, 3)), 1, -front, 1
    out = r.choice([extent, 2 * extent, r.randint(1, 2 * extent)])
    if how == "corners":
        return out, extent - 1 or 1, 0, out if extent == 1 else out - 1 or 1
    return out, 2 * extent, extent if how == "nearest" else extent - out, 2 * out


def across(cases):
    """Products with smaller factors; what sees all channels of a point, or all points of a part of the image."""
    r = cases.random
    c, size = cases.channels(), [r.choice([1, 1, 3]), r.randint(1, 9), r.randint(1, 9)]
    parts = [r.randint(1, s) for s in size]
    whole, one, map_ = ("x", c, size), ("b", c, [1, 1, 1]), ("b", 1, size)

    def case(operator, operands, shapes, **more):
        cases.case("%s, %d channels, %s, %s" % (operator, c, size, shapes), **{"nearness": "SUMS", **more})
        for (name, channels, extents) in shapes:
            cases.tensor(name, channels, extents, *cases.halo(1))
        cases.node(operator, operands, channel_begin=min(2, c - 1), factor=-1.5, term=0.25)

    for factor in (one, map_, ("b", c, size)):
        case("multiply", {"y": "y", "a": "x", "b": "b"}, [("y", c, size), whole, factor])
    for operator in ("dropout", "dropout_channels"):
        cases.case("%s, %d channels, %s" % (operator, c, size), nearness="EXACT")
        for name in "yx":
            cases.tensor(name, c, size, *cases.halo(1))
        cases.node(operator, {"y": "y", "x": "x"}, rate=r.choice([0.1, 0.5]), number=r.randint(0, 9))
    case("divide", {"y": "y", "a": "x", "b": "b"}, [("y", c, size), whole, ("b", c, size)], values="POSITIVE")
    for largest, operator in enumerate(("minimum", "maximum")):
        cases.case("%s, %d channels, %s" % (operator, c, size), nearness="EXACT", values="COARSE")
        for name in "yab":
            cases.tensor(name, c, size, *cases.halo(1))
        cases.node(operator, {"y": "y", "a": "a", "b": "b"}, parameter=largest)
        cases.case("gradient of %s, %d channels, %s" % (operator, c, size), nearness="EXACT", values="COARSE")
        for name in ("dx", "a", "b", "dy"):
            cases.tensor(name, c, size, *cases.halo(1))
        cases.node("maximum_grad", {"dx": "dx", "a": "a", "b": "b", "dy": "dy"}, parameter=largest)
    repeating(cases, c, size)
    bordering(cases, c, size)
    case("subtract", {"y": "y", "a": "x", "b": "b"}, [("y", c, size), whole, ("b", c, size)])
    case("affine", {"y": "y", "x": "x"}, [("y", c, size), whole])
    case("map_factor_grad", {"db": "b", "dy": "x", "a": "a"}, [map_, whole, ("a", c, size)])
    case("channel_factor_grad", {"db": "b", "scratch": None, "dy": "x", "a": "a"}, [one, whole, ("a", c, size)])
    case("channel_mean", {"y": "b", "x": "x"}, [map_, whole])
    case("channel_mean_grad", {"dx": "x", "dy": "b"}, [whole, map_])
    case("channel_max", {"y": "b", "x": "x"}, [map_, whole], nearness="EXACT", values="COARSE")
    case("channel_max_grad", {"dx": "dx", "x": "x", "dy": "b"}, [("dx", c, size), whole, map_], nearness="EXACT",
         values="COARSE")
    small, fold = [1, r.randint(1, 5), r.randint(1, 5)], r.choice([1, 2, 2, 3])
    large = [1, small[1] * fold, small[2] * fold]
    for operator, channels in (("pixel_shuffle", {"y": (c, large), "x": (c * fold * fold, small)}),
                               ("pixel_unshuffle", {"y": (c * fold * fold, small), "x": (c, large)})):
        cases.case("%s by %d, %s" % (operator, fold, channels), nearness="EXACT")
        for name, (count, extents) in channels.items():
            cases.tensor(name, count, extents, *cases.halo(1))
        cases.node(operator, {"y": "y", "x": "x"}, parameter=fold)
    for flat in (True, False):
        x, y, split = rearranging.rearranged(r, 3000, flat)
        cases.case("rearrange of %s to %s, %s" % (x, y, split), nearness="EXACT")
        for name, (count, *extents) in (("y", y), ("x", x)):
            cases.tensor(name, count, extents, *cases.halo(1))
        cases.node("rearrange", {"y": "y", "x": "x"}, split=split)
    case("adaptive_avg_pool", {"y": "y", "x": "x"}, [("y", c, parts), whole])
    case("adaptive_avg_pool_grad", {"dx": "x", "dy": "y"}, [whole, ("y", c, parts)])
    cut = max(1, c - 2 - r.randint(0, 2))
    case("slice_grad", {"dx": "x", "dy": "y", "a": None}, [whole, ("y", cut if c > 2 else 1, size)])
    cases.tensor("a", c, size)
    cases.tensor("sum", c, size)
    cases.node("add", {"y": "sum", "a": "x", "b": "a"})


def repeating(cases, c, size):
    """A tensor that has one of some of the channels, planes, rows and points."""
    r = cases.random
    small = [r.choice([1, n]) for n in (c, *size)]
    for operator, operands in (("repeat", {"y": "large", "x": "small"}), ("repeat_grad", {"dx": "small", "dy": "large"}),
                               ("repeat_row_grad", {"dx": "small", "dy": "large"})):
        if operator == "repeat_row_grad":
            small[1:3] = size[:2]
        cases.case("%s %s of %d channels, %s" % (operator, small, c, size), nearness="SUMS")
        cases.tensor("large", c, size, *cases.halo(1))
        cases.tensor("small", small[0], small[1:], *cases.halo(1))
        cases.node(operator, operands)


def bordering(cases, c, size):
    """Points around a tensor: numbers, reflected, from the other end; or the other way round."""
    r = cases.random
    border = [r.randint(0, 3) for _ in size]
    most = [(3, n - 1, n, 0)[how] for how, n in zip(border, size)]
    before, after = [r.randint(0, m) for m in most], [r.randint(0, m) for m in most]
    large = [n + a + b for n, a, b in zip(size, before, after)]
    for operator, operands in (("border", {"y": "large", "x": "small"}), ("border_grad", {"dx": "small", "dy": "large"})):
        cases.case("%s of %d channels, %s by %s around %s" % (operator, c, border, [before, after], size), nearness="SUMS")
        cases.tensor("large", c, large, *cases.halo(1))
        cases.tensor("small", c, size, *cases.halo(1))
        cases.node(operator, operands, step=[1, 1, 1], unit=[1, 1, 1], offset=[-n for n in before], border=border, beyond=0.75)


def mapping(cases):
    """Point by point."""
    r = cases.random
    c, size = cases.channels(), [r.choice([1, 1, 3]), r.randint(1, 9), r.randint(1, 9)]
    one, two = {"y": "r", "x": "s"}, {"dx": "r", "y": "s", "dy": "t"}
    alike = cases.halo()
    for operator, operands, more in (
            ("relu", one, {"zero_halo": 1}), ("relu", one, {"values": "ANY"}), ("relu_grad", two, {}),
            ("add", {"y": "r", "a": "s", "b": "t"}, {}), ("leaky_relu", one, {}), ("leaky_relu_grad", two, {}),
            ("sigmoid", one, {"values": "WIDE", "nearness": "RELATIVE"}), ("sigmoid_grad", two, {}),
            ("silu", one, {"values": "WIDE", "nearness": "SUMS"}),
            ("silu_grad", {"dx": "r", "x": "s", "dy": "t"}, {"nearness": "SUMS"}),
            ("tanh", one, {"values": "WIDE", "nearness": "SUMS"}), ("tanh_grad", two, {"nearness": "SUMS"}),
            ("gelu", one, {"nearness": "SUMS"}), ("gelu_grad", {"dx": "r", "x": "s", "dy": "t"}, {"nearness": "SUMS"}),
            ("cast", one, {}), ("cast", one, {"values": "ANY"})):
        cases.case("%s, %d channels, %s" % (operator, c, size), **{"nearness": "EXACT", "values": "COARSE", **more})
        same = r.random() < 0.5  # so that a result may take the place of an operand
        for name in sorted(set(operands.values())):
            kind = r.choice(STAGED) if operator == "cast" and name == "s" else "tensor"
            cases.tensor(name, c, size, *(alike if same else cases.halo()), kind=kind)
        cases.node(operator, operands, parameter=0.3)
    functions(cases, c, size)
    count = 16 * r.randint(1, 40)  # whole blocks, as the plan stores them
    cases.case("gradients of %d numbers added" % count, nearness="EXACT")
    for name in "rst":
        cases.numbers(name, count)
    cases.node("add", {"y": "r", "a": "s", "b": "t"})
    cases.case("zeros", nearness="EXACT")
    cases.numbers("sum", count)
    cases.node("zero", {"sum": "sum"})


def functions(cases, c, size):
    """All of them, and their gradients.  Numbers are such that no value is infinite."""
    for number, operator, first, second in [(i, *function) for i, function in enumerate(FUNCTIONS)] + [(14, "selu", 1.6, 1.05)]:
        for name, operands in ((operator, {"y": "y", "x": "x"}), ("function_grad", {"dx": "y", "x": "x", "dy": "dy"})):
            values = {"exp": "FINE", "sqrt": "POSITIVE", "log": "POSITIVE", "reciprocal": "POSITIVE"}.get(operator)
            cases.case("%s by %s, %d channels, %s" % (operator, name, c, size), nearness="SUMS",
                       values=values or cases.random.choice(["COARSE", "WIDE"]))
            for value in sorted(operands.values()):
                cases.tensor(value, c, size, *cases.halo(1))
            cases.node(name, operands, function=number, parameter=first, second=second)


def joining(cases):
    r = cases.random
    size, ins = [1, r.randint(1, 6), r.randint(1, 6)], [cases.channels() for _ in range(r.randint(1, 3))]
    by, x = r.randrange(len(ins)), ["x%d" % i for i in range(len(ins))]
    cases.case("concat of %s, %s" % (ins, size), nearness="EXACT")
    cases.tensor("y", sum(ins), size, *cases.halo(1))
    for segment, channels in zip(x, ins):
        cases.tensor(segment, channels, size, *cases.halo(1))
    cases.node("concat", {"y": "y", "x": x})
    cases.case("slice %d of %s, %s" % (by, ins, size), nearness="EXACT")
    cases.tensor("y", ins[by], size, *cases.halo(1))
    cases.tensor("x", sum(ins), size, *cases.halo(1))
    cases.node("slice", {"y": "y", "x": "x"}, channel_begin=sum(ins[:by]))


# ---- a weight for each channel, or one for all; what is normalised across channels; maxima brought back ----


def scaling(cases):
    r = cases.random
    c, size, halo = cases.channels(), [r.choice([1, 1, 2]), r.randint(1, 40), r.randint(1, 40)], cases.halo(1)
    count = r.choice([1, c])

    def case(operator, operands, numbers=(), **more):
        cases.case("%s of %d channels by %d, %s" % (operator, c, count, size), nearness="SUMS", **more)
        for name in sorted({name for name in operands.values() if name in ("y", "x", "dx", "dy")}):
            cases.tensor(name, c, size, *halo)
        for name in numbers:
            cases.numbers(name, c if name in ("b", "db") else count)
        cases.node(operator, operands, epsilon=0.01)

    biased = "b" if count == c and r.random() < 0.7 else None
    case("scale", {"y": "y", "x": "x", "w": "w", "b": biased}, ("w", "b"))
    case("prelu", {"y": "y", "x": "x", "w": "w", "b": None}, ("w",), values="COARSE")
    case("prelu_grad", {"dx": "dx", "x": "x", "dy": "dy", "w": "w"}, ("w",), values="COARSE")
    case("scale_wgrad", {"dw": "dw" if not biased or r.random() < 0.7 else None, "db": biased and "db", "scratch": None, "x": "x", "dy": "dy"}, ("dw", "db"))
    case("prelu_wgrad", {"dw": "dw", "db": None, "scratch": None, "x": "x", "dy": "dy"}, ("dw",))
    case("layer_norm", {"y": "y", "x": "x"})
    case("layer_norm_grad", {"dx": "dx", "x": "x", "dy": "dy"})


def grouping(cases):
    """Groups that begin anywhere in a vector, and points as a group: of channels, lengths below epsilon, too."""
    r = cases.random
    groups = r.choice([1, 1, 2, 3, 4])
    c, size, alike = groups * r.choice([1, 2, 3, 5, 8, 16, 17, 24]), [r.choice([1, 1, 2]), r.randint(1, 30), r.randint(1, 30)], cases.halo(1)
    forward, by_x, by_y = {"y": "r", "x": "s"}, {"dx": "r", "x": "s", "dy": "t"}, {"dx": "r", "y": "s", "dy": "t"}
    for operator, operands in (("softmax", forward), ("softmax_grad", by_y), ("point_softmax", forward), ("point_softmax_grad", by_y),
                               ("normalize", forward), ("normalize_grad", by_x)):
        attributes = {"groups": groups, "epsilon": r.choice([1e-12, 0.01, 0.9]), "root_mean": r.choice([0, 1])}
        cases.case("%s of %d channels, %s, %s" % (operator, c, attributes, size), nearness="SUMS", values=r.choice(["FINE", "COARSE"]))
        same = r.random() < 0.5  # so that a result may take the place of an operand
        for name in sorted(operands.values()):
            cases.tensor(name, c, size, *(alike if same else cases.halo(1)))
        cases.node(operator, operands, **attributes)


def giving(cases):
    """Tensors that no other tensor makes."""
    r = cases.random
    c, size, halo = cases.channels(), [r.choice([1, 1, 2]), r.randint(1, 9), r.randint(1, 9)], cases.halo(1)
    weight = [math.prod(size), c] if cases.random.random() < 0.5 else [c * math.prod(size)]
    cases.case("parameter of %d channels, %s, %d axes" % (c, size, len(weight)), nearness="EXACT")
    cases.tensor("y", c, size, *halo)
    cases.numbers("w", *weight)
    cases.node("parameter", {"y": "y", "w": "w"})
    cases.case("gradient of a parameter of %d channels, %s, %d axes" % (c, size, len(weight)), nearness="SUMS")
    cases.tensor("dy", c, size, *halo)
    cases.numbers("dw", *weight)
    cases.node("parameter_grad", {"dw": "dw", "dy": "dy"})
    cases.case("constant of %d channels" % c, nearness="EXACT")
    cases.tensor("y", c, [1, 1, 1], *halo)
    cases.node("constant", {"y": "y"}, count=c)


def waving(cases):
    """Sines and cosines of a number at each point, which the loader may have left."""
    r = cases.random
    c, size = 2 * r.choice([1, 2, 3, 8, 9, 17]), [r.choice([1, 1, 2]), r.randint(1, 9), r.randint(1, 9)]
    for operator, operands in (("sinusoid", {"y": "y", "x": "x"}), ("sinusoid_grad", {"dx": "dx", "x": "x", "dy": "y"})):
        cases.case("%s of %d channels, %s" % (operator, c, size), nearness="SUMS")
        cases.tensor("x", 1, size, *cases.halo(1), kind=r.choice(["tensor", *STAGED]))
        cases.tensor("y", c, size, *cases.halo(1))
        if "dx" in operands:
            cases.tensor("dx", 1, size, *cases.halo(1))
        cases.node(operator, operands, count=c // 2, cosines_first=r.randint(0, 1))


def diffusing(cases):
    """Times and noise; a mixture as a tensor, or, what losses compare with, as the loader would leave it."""
    r = cases.random
    c, size = cases.channels(), [r.choice([1, 1, 2]), r.randint(1, 9), r.randint(1, 9)]
    for makes, name in enumerate(("picture", "noise", "velocity")):
        cases.case("diffused %s of %d channels, %s" % (name, c, size), nearness="SUMS")
        cases.tensor("y", c, size, *cases.halo(1), kind="tensor" if makes == 0 else "staged")
        cases.tensor("x", c, size, *cases.halo(1), kind=r.choice(STAGED))
        cases.node("diffuse", {"y": "y", "x": None if makes == 1 else "x"}, times=r.choice([2, 7, 100]), makes=makes,
                   evaluates=r.randint(0, 1))
    cases.case("diffusion times", nearness="EXACT")
    cases.tensor("y", c, [1, 1, 1], kind="staged")
    cases.node("diffuse_time", {"y": "y"}, times=r.choice([2, 1000]), evaluates=r.randint(0, 1), weighted=r.randint(0, 1))


def coding(cases):
    """A tensor in codes, and out of them: of numbers around zero, or of a ReLU, so that half of them are zero."""
    r = cases.random
    c, size = r.choice([5, 16, 17, 32, 40]), [r.choice([1, 1, 2]), r.randint(1, 5), r.choice([1, 7, 16, 17, 40])]
    for bits, signs in itertools.product((8, 4, 2), range(3)):
        row = (c + 15) // 16 * ((size[2] + 15) // 16) * (8 + 32 * bits)
        cases.case("%d channels, %s, in codes of %d bits, signs %d" % (c, size, bits, signs), nearness="EXACT")
        cases.tensor("x", c, size, *cases.halo(1))
        cases.tensor("codes", 1, [*size[:2], row], kind="codes")
        cases.tensor("y", c, size, *cases.halo(1))
        cases.node("compress", {"codes": "codes", "x": "x"}, bits=bits, signs=signs, number=r.randint(0, 9))
        cases.node("decompress", {"y": "y", "codes": "codes"}, bits=bits, signs=signs)
        if signs == 0:
            continue
        cases.tensor("dx", c, size, *cases.halo(1))
        cases.tensor("dy", c, size, *cases.halo(1))
        cases.node("sign_grad", {"dx": "dx", "codes": "codes", "dy": "dy"}, bits=bits, signs=signs, slope=r.choice([0, 0.3]))


def embedding(cases):
    """Rows of a table: numbers of rows lie between -1 and 1, so some are below the first row and some points share one."""
    r = cases.random
    c, size, rows = cases.channels(), [r.choice([1, 1, 2]), r.randint(1, 9), r.randint(1, 9)], r.randint(1, 5)
    x = {"kind": r.choice(["tensor", *STAGED])}
    cases.case("embedding of %d channels in %d rows, %s" % (c, rows, size), nearness="EXACT")
    cases.tensor("y", c, size, *cases.halo(1))
    cases.tensor("x", 1, size, *cases.halo(1), **x)
    cases.numbers("w", rows, c)
    cases.node("embedding", {"y": "y", "x": "x", "w": "w"})
    cases.case("gradient of an embedding of %d channels in %d rows, %s" % (c, rows, size), nearness="SUMS")
    cases.numbers("dw", rows, c)
    cases.tensor("x", 1, size, *cases.halo(1), **x)
    cases.tensor("dy", c, size, *cases.halo(1))
    cases.node("embedding_wgrad", {"dw": "dw", "x": "x", "dy": "dy"})


def windows_of(r):
    """The extents of a window, of a map of some windows, and how far it is rolled."""
    window = [r.choice([1, 1, 2, 3]), r.randint(1, 8), r.randint(1, 8)]
    return window, [extent * r.randint(1, 3) for extent in window], [r.choice([0, r.randrange(extent)]) for extent in window]


def attending(cases, windowed=False):
    """Few points and many, heads that begin within a vector, keys as many as queries or not."""
    r = cases.random
    heads, causal = r.choice([1, 1, 2, 3]), not windowed and r.random() < 0.4
    c, cv = (heads * r.choice([1, 2, 3, 5, 8, 16, 17, 24]) for _ in range(2))
    size = lambda: [r.choice([1, 1, 2]), r.randint(1, r.choice([3, 9])), r.randint(1, 11)]
    queries = size()
    keys = queries if causal or r.random() < 0.3 else size()
    attributes = {"heads": heads, "scale": r.choice([1, 0.3, 2]), "causal": int(causal)}
    biased, in_pairs = r.random() < (0.7 if windowed else 0.5), not windowed or r.random() < 0.3
    if windowed:
        window, queries, shift = windows_of(r)
        keys, of_bias = queries, [2 * extent - 1 for extent in window]
        attributes.update(window=window, shift=shift)
    if biased and in_pairs:
        of_bias = [1, math.prod(window), math.prod(window)] if windowed else [1, math.prod(queries), math.prod(keys)]
        attributes.update(pairs=of_bias[2])
    rows = heads * math.prod(queries)
    for what in ("attention", "attention without numbers of rows", "gradient of attention"):
        gradient, given = what.startswith("gradient"), {"q": "q", "k": "k", "v": "v"}
        lse, bias = None if what.endswith("rows") else "lse", "b" if biased else None
        cases.case("%s of %d and %d channels, %s and %s, %s%s" % (what, c, cv, queries, keys, attributes, ", with a bias" * biased), nearness="SUMS",
                   values=r.choice(["FINE", "COARSE"]))
        for name, channels, points in (("y", cv, queries), ("q", c, queries), ("k", c, keys), ("v", cv, keys)):
            cases.tensor(name, channels, points, *cases.halo(1))
            if gradient:
                cases.tensor("d" + name, channels, points, *cases.halo(1))
        if biased:
            cases.tensor("b", heads, of_bias, *cases.halo(1))
            if gradient:
                cases.tensor("db", heads, of_bias, *cases.halo(1))
        if lse:
            cases.numbers("lse", rows, kind="vectors")
        if gradient:
            cases.node("attention_grad", {"dq": "dq", "dk": "dk", "dv": "dv", "db": bias and "db", "scratch": None, **given, "y": "y",
                                          "lse": "lse", "dy": "dy", "b": bias}, **attributes)
        else:
            cases.node("attention", {"y": "y", "lse": lse, "scratch": None, **given, "b": bias}, **attributes)


def attending_channels(cases):
    """Heads that begin within a vector, tables of several panels, maps of one point and of many, one band and several."""
    r = cases.random
    heads = r.choice([1, 1, 2, 3])
    c, cv = (heads * r.choice([1, 2, 3, 5, 8, 16, 17, 24, 40]) for _ in range(2))
    size = r.choice([[1, 1, 1], [r.choice([1, 1, 2]), r.randint(1, 9), r.randint(1, 11)], [1, r.randint(50, 60), r.randint(60, 70)]])
    of_v = size if r.random() < 0.6 else [r.choice([1, 1, 2]), r.randint(1, 9), r.randint(1, 40)]
    attributes = {"heads": heads, "scale": r.choice([1, 0.3, 2]), "normalize": r.choice([0, 1]), "linear": r.choice([0, 0, 1])}
    tempered = r.random() < 0.6
    for gradient in False, True:
        cases.case("%s over %d and %d channels, %s and %s, %s%s" % ("gradient of attention" if gradient else "attention", c, cv, size, of_v, attributes,
                                                            ", with a temperature" * tempered), nearness="SUMS", values="FINE")
        for name, channels, points in ("q", c, size), ("k", cv, size), ("v", cv, of_v):
            cases.tensor(name, channels, points, *cases.halo(1))
            if gradient:
                cases.tensor("d" + name, channels, points, *cases.halo(1))
        cases.tensor("dy" if gradient else "y", c, of_v, *cases.halo(1))
        if tempered:
            cases.tensor("t", heads, [1, 1, 1], *cases.halo(1))
        if tempered and gradient:
            cases.tensor("dt", heads, [1, 1, 1], *cases.halo(1))
        cases.numbers("products", c * (cv // heads) + c + cv, kind="vectors")
        given = {"scratch": None, "q": "q", "k": "k", "v": "v"}
        t = "t" if tempered else None
        if gradient:
            cases.node("channel_attention_grad", {"dq": "dq", "dk": "dk", "dv": "dv", "dt": t and "dt", **given, "products": "products",
                                                  "dy": "dy", "t": t}, **attributes)
        else:
            cases.node("channel_attention", {"y": "y", "products": "products", **given, "t": t}, **attributes)


def unpooling(cases):
    r = cases.random
    c, size, axes = cases.channels(), [r.choice([1, 4]), r.randint(3, 14), r.randint(3, 14)], [(1, 1, 1, 0)]
    if size[0] > 1:
        axes = [(2, 2, 1, 0)]
    axes += [r.choice([(2, 2, 1, 0), (2, 3, 1, 0), (3, 3, 1, 0)]) for _ in range(2)]
    out = pool_sizes(size, axes)
    for operator, operands, small in (("max_unpool", {"y": "y", "like": "like", "x": "x", "a": None}, "x"),
                                      ("max_unpool_grad", {"dx": "dx", "like": "like", "dy": "dy"}, "dx")):
        cases.case("%s of %d channels, %s of %s, %s" % (operator, c, size, out, axes), nearness="EXACT", values="COARSE")
        for name in filter(None, operands.values()):
            cases.tensor(name, c, out if name == small else size, *cases.halo(1))
        cases.node(operator, operands, **window_attributes(axes))


# ---- normalisation ----


def normalising(cases, operator):
    r = cases.random
    c, size = cases.channels(), [r.choice([1, 1, 2]), r.randint(2, 40), r.randint(2, 40)]
    batch, halo = int(operator == "batch_norm"), cases.halo(1)
    groups = r.choice([g for g in range(1, c + 1) if c % g == 0]) if operator == "group_norm" else c
    affine = operator != "instance_norm" or r.random() < 0.5
    points = size[0] * size[1] * size[2]
    attributes = {"groups": groups, "batch": batch, "epsilon": 1e-5, "momentum": 0.1, "points": points}
    weight = "w" if affine else None
    # with a ReLU behind it: none, leaky, not leaky, with a learnt slope for each channel or for all
    leaky, learnt = r.choice([({}, 0), ({"leaky": 1, "slope": 0.1}, 0), ({"leaky": 1, "slope": 0}, 0), ({"leaky": 1}, c), ({"leaky": 1}, 1)])
    bias, slopes = "b" if affine and leaky else None, "slopes" if learnt else None

    def normalised(what, **settings):
        cases.case("%s of %d channels in %d groups, %s" % (what, c, groups, size), nearness="SUMS",
                   whole=batch, **settings)
        cases.tensor("x", c, size, *cases.halo(1))

    def statistics(count, *names):
        for name in names:
            cases.numbers(name, count, kind="numbers" if batch else "vectors")

    def learnt_slopes(*names):
        for name in names if learnt else ():
            cases.numbers(name, learnt)

    normalised(operator)
    cases.tensor("y", c, size, *halo)
    statistics(groups, "mean", "variance")
    cases.numbers("w", c)
    cases.numbers("b", c)
    learnt_slopes("slopes")
    cases.node(operator, {"y": "y", "x": "x", "mean": "mean", "variance": "variance", "w": weight,
                          "b": "b" if affine else None, "slopes": slopes}, **attributes, **leaky)
    prefix = "batch" if batch else "norm"
    normalised("statistics")
    statistics(groups, "mean", "variance")
    cases.node(prefix + "_statistics", {"mean": "mean", "variance": "variance", "scratch": None, "x": "x"}, **attributes)
    normalised("wgrad of " + operator)
    cases.tensor("dy", c, size, *cases.halo(1))
    statistics(groups, "mean", "variance")
    statistics(2 * groups, "sums")
    for name in ("w", "b", "dw", "db"):
        cases.numbers(name, c)
    learnt_slopes("slopes", "dslopes")
    cases.node("batch_norm_wgrad" if batch else "norm_wgrad",
               {"dw": "dw" if affine else None, "db": "db" if affine else None, "scratch": None, "sums": "sums",
                "dslopes": r.choice(["dslopes", "dslopes", None]) if learnt else None, "x": "x", "dy": "dy", "mean": "mean",
                "variance": "variance", "w": weight, "b": bias, "slopes": slopes}, **attributes, **leaky)
    normalised("dgrad of " + operator)
    cases.tensor("dx", c, size, *halo)
    cases.tensor("dy", c, size, *halo)
    statistics(groups, "mean", "variance")
    statistics(2 * groups, "sums")
    cases.numbers("w", c)
    cases.numbers("b", c)
    learnt_slopes("slopes")
    cases.node("norm_dgrad", {"dx": "dx", "x": "x", "dy": "dy", "mean": "mean", "variance": "variance", "w": weight,
                              "sums": "sums", "b": bias, "slopes": slopes}, **attributes, **leaky)


def running(cases):
    """What becomes of running statistics, and of the weights of a convolution in front of a batch_norm."""
    r = cases.random
    c, inner, biased, transposed = r.randint(1, 40), r.randint(1, 30), r.random() < 0.5, r.randint(0, 1)
    cases.case("running statistics of %d channels" % c, nearness="SUMS")
    for name in ("running_mean", "running_var", "mean", "variance"):
        cases.numbers(name, c)
    cases.node("norm_track", {"running_mean": "running_mean", "running_var": "running_var", "mean": "mean",
                              "variance": "variance"}, momentum=0.2, points=r.randint(1, 9), groups=c, batch=1)
    cases.case("statistics as factors, %d channels" % c, nearness="SUMS")
    for name in ("folded", "shift", "mean", "variance"):
        cases.numbers(name, c)
    cases.node("norm_fold", {"folded": "folded", "shift": "shift", "w": None, "b": None, "mean": "mean", "variance": "variance",
                             "gamma": None, "beta": None}, epsilon=1e-3, groups=c, batch=1)
    cases.case("weights folded, %d channels, %d each" % (c, inner), nearness="SUMS")
    for name, shape in (("folded", [c, inner]), ("shift", [c]), ("w", [c, inner]), ("b", [c]), ("mean", [c]), ("variance", [c]),
                        ("gamma", [c]), ("beta", [c])):
        cases.numbers(name, *shape)
    cases.node("norm_fold", {"folded": "folded", "shift": "shift", "w": "w", "b": "b" if biased else None, "mean": "mean",
                             "variance": "variance", "gamma": "gamma", "beta": "beta"}, epsilon=1e-3, groups=c, batch=1)


# ---- losses and updates ----


def losses(cases):
    r = cases.random
    c, size = r.choice([1, 3, 4, 16, 17]), [r.choice([1, 1, 2]), r.randint(2, 9), r.randint(2, 30)]
    staged = r.choice(["tensor", *STAGED])

    def compared(operator, values="COARSE", **settings):
        cases.case("%s, %d channels, %s" % (operator, c, size), nearness="SUMS", values=values, **settings)
        cases.tensor("p", c, size, *cases.halo(1))
        cases.tensor("t", c, size, *cases.halo(1), kind=staged)

    for counts in (0, 1):
        for operator, result in (("mse", "loss"), ("l1", "loss"), ("charbonnier", "loss"), ("smooth_l1", "loss"), ("psnr", "psnr")):
            compared(operator, counts=counts, bands=r.choice([0, r.randint(1, 4)]))
            cases.numbers("result", 1, kind="doubles")
            cases.node(operator, {result: "result", "prediction": "p", "truth": "t"}, eps=0.25, beta=0.75)
        compared("psnr_loss", counts=counts)
        cases.numbers("result", 1, kind="doubles")
        cases.numbers("errors", 1, kind="sums")
        cases.node("psnr_loss", {"loss": "result", "errors": "errors", "prediction": "p", "truth": "t"})
    for operator in ("mse_grad", "l1_grad", "charbonnier_grad", "smooth_l1_grad", "psnr_loss_grad"):
        compared(operator, "FINE" if operator == "psnr_loss_grad" else "COARSE")  # no error is 0
        cases.tensor("dp", c, size, *cases.halo(1))
        cases.numbers("scale", 4, kind="doubles")
        errors = {}
        if operator == "psnr_loss_grad":
            cases.numbers("errors", 1, kind="sums")
            errors = {"errors": "errors"}
        cases.node(operator, {"dp": "dp", "p": "p", "t": "t", **errors, "scale": r.choice(["scale", None])}, weight=0.7, eps=0.25, beta=0.75)


def similarities(cases):
    """Windows of 11 x 11 points; rows as long as those that are compared in several parts, when the reference has few channels."""
    r = cases.random
    c = r.choice([1, 3, 4, 17])
    size = [1, r.randint(11, 40 if c < 4 else 20), r.choice([11, r.randint(12, 40), 150] if c < 4 else [11, 19])]
    staged, data_range = r.choice(["tensor", *STAGED]), r.choice([1, 255])

    def compared(operator, **settings):
        cases.case("%s, %d channels, %s, range %d" % (operator, c, size, data_range), nearness="SUMS", values="COARSE", **settings)
        cases.tensor("p", c, size, *cases.halo(1))
        cases.tensor("t", c, size, *cases.halo(1), kind=staged)

    for counts in (0, 1):
        for operator, result in (("ssim_loss", "loss"), ("ssim", "ssim")):
            compared(operator, counts=counts)
            cases.numbers("result", 1, kind="doubles")
            cases.node(operator, {result: "result", "prediction": "p", "truth": "t"}, range=data_range)
    compared("ssim_loss_grad")
    cases.tensor("dp", c, size, *cases.halo(1))
    cases.numbers("scale", 4, kind="doubles")
    cases.node("ssim_loss_grad", {"dp": "dp", "p": "p", "t": "t", "scale": r.choice(["scale", None])}, weight=0.7, range=data_range)


def class_losses(cases):
    """Cross entropy of a channel for each class, and of one channel for two classes."""
    r = cases.random
    size = [r.choice([1, 1, 2]), r.randint(2, 5), r.randint(2, 37)]
    some = r.choice([2, 3, 4, 5, 16, 19])
    for operator, channels, classes in (("cross_entropy", some, 0), ("bce_with_logits", 1, 2), ("focal_loss", some, 0), ("focal_loss", 1, 2)):
        attributes = {"classes": classes or channels, "ignore": r.choice([0, 0, 1]), "weighted": r.randint(0, 1), "weight": 0.7}
        if operator == "cross_entropy":
            attributes["smoothing"] = r.choice([0, 0.1])
        if operator == "focal_loss":
            attributes["gamma"] = r.choice([0, 0.5, 1, 2, 3.5])
        grad = "bce_with_logits_grad" if operator == "bce_with_logits" else "cross_entropy_grad"

        mapped = {"map": r.choice(["map", None])}

        def compared(name, **settings):
            cases.case("%s, %d channels, %s, %s, %s" % (name, channels, size, attributes, "a map" if mapped["map"] else "no map"),
                       values=r.choice(["FINE", "COARSE", "WIDE"]), **settings)
            cases.tensor("x", channels, size, *cases.halo(1))
            cases.tensor("t", 1, size, kind="labels")
            if mapped["map"]:
                cases.tensor("map", 1, size, *cases.halo(1), kind=r.choice(["tensor", *STAGED]))

        for counts in (0, 1):
            compared(operator, nearness="RELATIVE", counts=counts, bands=r.choice([0, r.randint(1, 4)]))
            cases.numbers("result", 1, kind="doubles")
            cases.node(operator, {"loss": "result", "logits": "x", "labels": "t", **mapped}, **attributes)
        compared(grad, nearness="SUMS")
        cases.tensor("dx", channels, size, *cases.halo(1))
        cases.numbers("scale", 4, kind="doubles")
        cases.node(grad, {"dx": "dx", "x": "x", "labels": "t", **mapped, "scale": r.choice(["scale", None])}, **attributes)


def vocabulary(cases):
    """Numbers of few classes and of many: groups without a class, and groups of several blocks; points of one part and of several."""
    r = cases.random
    c, classes = r.choice([2, 4, 5, 16, 17, 40, 48]), r.choice([2, 3, 23, 70, 1100])
    size = [1, 1, r.randint(1, 40)] if classes > 70 else [1, r.choice([1, 1, 3]), r.randint(1, 150)]
    attributes = {"classes": classes, "numbers": 1, "weight": 0.7}
    biased, halo = r.choice(["b", None]), cases.halo(1)
    wanted = r.choice([("dx", "dw", "db"), ("dx", "dw", "db"), ("dx",), ("dw",), ("db",)])
    for what in ("vocabulary_loss", "vocabulary_loss without numbers of points", "vocabulary_accuracy", "vocabulary_loss_grad"):
        gradient = what.endswith("grad")
        lse = None if what.endswith(("points", "accuracy")) else "lse"
        cases.case("%s, %d classes, %d channels, %s, %s" % (what, classes, c, size, biased), nearness="SUMS" if gradient else "OF_FLOATS")
        cases.tensor("x", c, size, *halo)
        cases.tensor("class", 1, size, *halo, kind="staged")
        cases.numbers("w", classes, c)
        cases.numbers("b", classes)
        if lse:
            cases.numbers("lse", math.prod(size), kind="vectors")
        given = {"scratch": None, "x": "x", "truth": "class"}
        if not gradient:
            cases.numbers("result", 1, kind="doubles")
            cases.node(what.split()[0], {"loss": "result", "lse": lse, **given, "w": "w", "b": biased}, **attributes)
            continue
        cases.tensor("dx", c, size, *cases.halo(1))
        cases.numbers("dw", classes, c)
        cases.numbers("db", classes)
        cases.numbers("scale", 4, kind="doubles")
        results = {name: name if name in wanted and (name != "db" or biased) else None for name in ("dx", "dw", "db")}
        if not any(results.values()):
            results["dx"] = "dx"
        cases.node("vocabulary_loss_grad", {**results, **given, "lse": "lse", "w": "w", "b": biased, "scale": r.choice(["scale", None])},
                   **attributes)


def overlaps(cases):
    """Dice and Tversky's index, of a channel for each class, or of one channel; of the batch, or of each sample."""
    r = cases.random
    channels, size = r.choice([1, 2, 3, 4, 17]), [r.choice([1, 2]), r.randint(2, 5), r.randint(2, 37)]
    for loss in ("dice_loss", "tversky_loss", "overlap_loss"):
        batch = int(loss != "overlap_loss")
        smooth = r.choice([1e-6, 1])  # no more than epsilon: a quotient near 1 would leave little of the loss but rounding
        attributes = {"classes": max(channels, 2), "ignore": r.choice([0, 1]), "weight": 0.7, "background": r.randint(0, 1),
                      "smooth": smooth, "epsilon": r.choice([smooth, 1]), "batch": batch, "joint": r.randint(0, 1),
                      "squared": int(loss != "tversky_loss" and r.random() < 0.5), "over": 2 if loss == "dice_loss" else 1,
                      "predicted": 1 if loss == "dice_loss" else 0.3, "truly": 1 if loss == "dice_loss" else 0.6,
                      "both": 0 if loss == "dice_loss" else 0.1}
        for name, counts in ((loss, 0), (loss, 1), ("dice_loss_grad", 0)):
            cases.case("%s, %d channels, %s, %s" % (name, channels, size, attributes), counts=counts,
                       values=r.choice(["FINE", "COARSE"]), whole=batch,
                       nearness="RELATIVE" if name == loss else "SUMS")
            cases.tensor("x", channels, size, *cases.halo(1))
            cases.tensor("t", 1, size, kind="labels")
            cases.numbers("all", 3 * attributes["classes"], kind="doubles" if batch else "sums")
            if name == loss:
                cases.numbers("result", 1, kind="doubles")
                cases.node(name, {"loss": "result", "sums": "all", "logits": "x", "labels": "t"}, **attributes)
                continue
            cases.tensor("dx", channels, size, *cases.halo(1))
            cases.numbers("scale", 4, kind="doubles")
            cases.node(name, {"dx": "dx", "x": "x", "labels": "t", "sums": "all", "scale": r.choice(["scale", None])}, **attributes)


def ohem(cases):
    """The hardest points; logits without ties, for of equal terms that last kept none counts."""
    r = cases.random
    channels, size = r.choice([1, 2, 3, 4, 17]), [r.choice([1, 2]), r.randint(2, 5), r.randint(2, 37)]
    points = size[0] * size[1] * size[2]
    attributes = {"classes": max(channels, 2), "ignore": r.choice([0, 1]), "weight": 0.7, "threshold": r.choice([0.05, 0.3, 0.7, 1]),
                  "share": r.choice([0, 0.1, 0.5, 1]), "least": r.choice([-1, -1, 0, points // 3, 2 * points])}
    terms = "value terms vectors %d" % points
    for counts in (0, 1):
        cases.case("ohem_cross_entropy, %d channels, %s, %s" % (channels, size, attributes), counts=counts, values="FINE", whole=1,
                   nearness="RELATIVE")
        cases.tensor("x", channels, size, *cases.halo(1))
        cases.tensor("t", 1, size, kind="labels")
        cases.numbers("result", 1, kind="doubles")
        cases.numbers("bounds", 2, kind="doubles")
        cases.lines.append(terms)
        cases.node("ohem_cross_entropy", {"loss": "result", "bounds": "bounds", "terms": "terms", "logits": "x", "labels": "t"}, **attributes)
    cases.case("ohem_cross_entropy_grad, %d channels, %s, %s" % (channels, size, attributes), values="FINE", nearness="SUMS",
               whole=1)
    cases.tensor("x", channels, size, *cases.halo(1))
    cases.tensor("t", 1, size, kind="labels")
    cases.numbers("bounds", 2, kind="doubles")
    cases.lines.append(terms)
    cases.tensor("dx", channels, size, *cases.halo(1))
    cases.numbers("scale", 4, kind="doubles")
    cases.node("ohem_cross_entropy_grad", {"dx": "dx", "x": "x", "labels": "t", "bounds": "bounds", "terms": "terms",
                                           "scale": r.choice(["scale", None])}, **attributes)


def lovasz(cases):
    """Logits without ties: of points alike but for rounding, one of the class and one not, another order has other slopes."""
    r = cases.random
    channels, size = r.choice([1, 2, 3, 4, 17]), [r.choice([1, 2]), r.randint(2, 4), r.randint(2, 19)]
    points = size[0] * size[1] * size[2]
    attributes = {"classes": max(channels, 2), "ignore": r.choice([0, 1]), "weight": 0.7, "sorts": 1}
    slopes = "value slopes vectors %d" % (points * channels)
    for counts in (0, 1):
        cases.case("lovasz_loss, %d channels, %s, %s" % (channels, size, attributes), counts=counts, values="FINE", whole=1,
                   nearness="RELATIVE")
        cases.tensor("x", channels, size, *cases.halo(1))
        cases.tensor("t", 1, size, kind="labels")
        cases.numbers("result", 1, kind="doubles")
        cases.numbers("present", 1, kind="doubles")
        cases.lines.append(slopes)
        cases.node("lovasz_loss", {"loss": "result", "present": "present", "slopes": "slopes", "logits": "x", "labels": "t"}, **attributes)
    cases.case("lovasz_loss_grad, %d channels, %s, %s" % (channels, size, attributes), values="FINE", nearness="SUMS",
               whole=1)
    cases.tensor("x", channels, size, *cases.halo(1))
    cases.tensor("t", 1, size, kind="labels")
    cases.numbers("present", 1, kind="doubles")
    cases.lines.append(slopes)
    cases.tensor("dx", channels, size, *cases.halo(1))
    cases.numbers("scale", 4, kind="doubles")
    cases.node("lovasz_loss_grad", {"dx": "dx", "x": "x", "labels": "t", "present": "present", "slopes": "slopes",
                                    "scale": r.choice(["scale", None])}, **attributes)


def classes(cases):
    """The class of each point, and how often pairs of these meet."""
    r = cases.random
    c, size = r.choice([1, 2, 3, 4, 5, 16, 19, 33]), [r.choice([1, 1, 2]), r.randint(2, 9), r.randint(2, 30)]
    for values in ("FINE", "COARSE", "ANY"):
        cases.case("argmax, %d channels, %s" % (c, size), nearness="EXACT", values=values)
        cases.tensor("y", 1, size, kind="labels")
        cases.tensor("x", c, size, *cases.halo(1))
        cases.node("argmax", {"y": "y", "x": "x"})
    steps = [min(r.randint(1, 4), extent) for extent in size]
    few = [extent // step for extent, step in zip(size, steps)]
    for offset in (0, 1):
        cases.case("labels of %s resized to %s" % (size, few), nearness="EXACT")
        cases.tensor("few", 1, few, kind="labels")
        cases.tensor("t", 1, size, kind="labels")
        cases.node("resize_labels", {"y": "few", "x": "t"}, step=[2 * step for step in steps],
                   offset=[step * offset for step in steps], unit=[2, 2, 2], linear=0, zero=0)
    for counts, metric in enumerate(["accuracy", "miou", "iou", "dice", "precision", "recall"]):
        cases.case("%s, %s" % (metric, size), nearness="EXACT", counts=counts % 2)
        cases.tensor("p", 1, size, kind="labels")
        cases.tensor("t", 1, size, kind="labels")
        cases.numbers("result", 25, kind="doubles")
        cases.node(metric, {"counts": "result", "prediction": "p", "labels": "t"}, classes=5, ignore=r.choice([0, 2]))


def head(cases):
    """The last convolution, and all that reads what it predicts: one kernel, of rows that are not short."""
    r = cases.random
    ci, co, size = r.choice([5, 16, 17, 48]), r.randint(1, 4), [1, r.randint(1, 4), r.choice([64, 100, 128, 131, 257])]
    loss, masked, biased, measured = r.choice(["mse", "l1"]), r.random() < 0.6, r.random() < 0.8, r.random() < 0.7
    attributes, halo = window_attributes([(1, 1, 1, 0)] * 3), cases.halo(1)
    cases.case("%s behind a convolution of %d -> %d, %s" % (loss, ci, co, size), nearness="SUMS", values="COARSE",
               counts=r.randint(0, 1))
    cases.tensor("dx", ci, size, *halo)
    cases.tensor("x", ci, size, *halo)
    cases.tensor("t", co, size, *cases.halo(1), kind=r.choice(["tensor", *STAGED]))
    for name in ("p", "dp"):
        cases.tensor(name, co, size)
    for name, count in (("w", ci * co), ("b", co), ("dw", ci * co), ("db", co)):
        cases.numbers(name, count)
    for name, count in (("loss", 1), ("psnr", 1), ("scale", 4)):
        cases.numbers(name, count, kind="doubles")
    if masked:
        cases.tensor("dz", ci, size, *halo)
    cases.node("conv", {"y": "p", "x": "x", "w": "w", "b": "b" if biased else None}, **attributes)
    cases.node(loss, {"loss": "loss", "prediction": "p", "truth": "t"}, weight=0.7)
    if measured:
        cases.node("psnr", {"psnr": "psnr", "prediction": "p", "truth": "t"}, weight=1)
    cases.node(loss + "_grad", {"dp": "dp", "p": "p", "t": "t", "scale": r.choice(["scale", None])}, weight=0.7)
    cases.node("conv_wgrad", {"dw": "dw", "db": "db" if biased else None, "x": "x", "dy": "dp"}, **attributes)
    cases.node("conv_dgrad", {"dx": "dx", "dy": "dp", "w": "w", "m": None}, channel_begin=0, channels=ci, **attributes)
    if masked:
        cases.node("relu_grad", {"dx": "dz", "y": "x", "dy": "dx"})


def updates(cases, variant):
    count, scale = (5000, 17, 8192)[variant], "scale" if variant > 0 else None
    attributes = {"nesterov": variant & 1, "weight_decay": 0.01, "beta1": 0.9, "beta2": 0.999, "alpha": 0.9,
                  "amsgrad": variant & 1, "centered": int(variant == 0), "clip": 0.3 * (variant == 1), "average": 0.9,
                  "epsilon": 1e-8, "momentum": (0.9, 0.9, 0)[variant], "dampening": (0.1, 0, 0)[variant]}
    momentum = "m" if variant < 2 else None
    for operator, optimizer, state in (("sgd", 0, {"momentum": momentum}),
                                       ("adam", 1 + (variant & 1), {"m": "m", "v": "v", "most": "w" if variant & 1 else None}),
                                       ("rmsprop", 3, {"square": "v", "mean": "w" if variant == 0 else None, "momentum": momentum})):
        cases.case("%s, variant %d" % (operator, variant), nearness="SUMS", steps=5)
        state["average"] = "average" if variant != 1 else None
        for name in ["p", "g"] + [v for v in state.values() if v]:
            cases.numbers(name, count)
        if scale:
            cases.numbers("scale", 4, kind="doubles")
            cases.node("loss_scale", {"scale": "scale", "g": "g"})
        if variant != 1:
            cases.numbers("norm", 2, kind="doubles")
            cases.node("gradient_norm", {"norm": "norm", "g": "g", "scale": scale}, limit=0.5)
        norm = "norm" if variant != 1 else None
        cases.node(operator, {"p": "p", "g": "g", **state, "scale": scale, "norm": norm}, **{**attributes, "optimizer": optimizer})


def main():
    file, seed, convolutions, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    begin, every = map(int, sys.argv[5:7]) if len(sys.argv) > 5 else (0, 1)  # of all cases the one at BEGIN and each EVERY-th behind it
    cases, count, numbers = Cases(), {}, itertools.count()

    def draw(case, *arguments, **options):
        """Each from a seed of its own, so that one case more or less leaves the others as they are."""
        count[case] = count.get(case, -1) + 1
        cases.random = random.Random("%d %s %d" % (seed, case.__name__, count[case]))
        if next(numbers) % every == begin:
            case(cases, *arguments, **options)

    for i in range(convolutions):
        draw(convolution, "upconv" if i % 3 == 2 else "conv")
    draw(convolution, "upconv", wide=True)
    sizes = random.Random("%d sizes" % seed)
    for tiles in ((1, 1), (sizes.randint(2, 40), sizes.randint(2, 40)), (70, 61)):
        draw(convolution, "conv", tiles=tiles)
    # few tiles in a plane, so that planes are computed together; many, for one after the other; for threads' own columns
    for planes, tiles in ((sizes.randint(1, 9), (sizes.randint(1, 9), sizes.randint(1, 9))), (2, (33, 37)), (5, (34, 33))):
        draw(convolution, "conv", tiles=tiles, planes=planes)
    for _ in range(max(1, convolutions // 4)):
        draw(pooled_convolution)
        draw(pooling)
    for _ in range(rounds):
        for case in (mapping, resizing, across, joining):
            draw(case)
        for operator in ("batch_norm", "instance_norm", "group_norm"):
            draw(normalising, operator)
        for case in (scaling, grouping, giving, waving, embedding, diffusing, coding, attending):
            draw(case)
        draw(attending, windowed=True)
        for case in (attending_channels, unpooling, running, losses, similarities, class_losses, vocabulary, overlaps, ohem, lovasz, classes, head):
            draw(case)
    for variant in range(3):
        draw(updates, variant)
    for _ in range(rounds):
        draw(grouped_convolution)
    with open(file, "w") as f:
        f.write("\n".join(cases.lines) + "\n")


if __name__ == "__main__":
    main()

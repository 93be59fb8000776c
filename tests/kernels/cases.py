"""cases.py - random geometries for every operator, as instances.c reads them.

A case says which operators, on operands of which sizes, and their attributes.  It names operands as the row of the operator
in compiler/ir/ops.def does; the row says in which order a kernel takes them and what it does to them, the compiler how they
lie in memory and what the kernel is told.  For a new operator add such a case: one without is refused by name.

Usage: cases.py FILE SEED CONVOLUTIONS."""
import random
import sys


class Cases:
    def __init__(self, seed):
        self.random, self.lines = random.Random(seed), []

    def case(self, name, **settings):
        settings = {"samples": 2, **settings}
        self.lines += ["case " + name, "set " + " ".join("%s=%s" % item for item in settings.items())]

    def tensor(self, name, channels, size, before=(0, 0, 0), after=(0, 0, 0), kind="tensor"):
        self.lines.append(" ".join(map(str, ["value", name, kind, channels, *size, *before, *after])))

    def numbers(self, name, count, kind="numbers"):
        self.lines.append("value %s %s %d" % (name, kind, count))

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


def convolution(cases, operator, wide=False, tiles=None):
    """The operator, with a ReLU behind it; its gradients, that by the input of one segment, masked.  TILES: of a 3x3 window
    over images of that size."""
    r, transposed = cases.random, operator == "upconv"
    axes = axes_of(r, transposed, wide) if tiles is None else [(1, 1, 1, 0, 1, 1), *(tiled(r, points) for points in tiles)]
    sampled, dense = [a[4] for a in axes], [a[5] for a in axes]
    x_size, y_size = (sampled, dense) if transposed else (dense, sampled)
    channels = cases.channels if tiles is None else lambda: r.choice([5, 16, 17, 32, 48])
    ins = [channels() for _ in range(r.choice([1, 1, 1, 2, 3]))]
    ci, co, by = sum(ins), channels(), r.randrange(len(ins))
    count, x = ci * co * axes[0][0] * axes[1][0] * axes[2][0], ["x%d" % i for i in range(len(ins))]
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
    out = [(s + 2 * p - k) // st + 1 for s, (k, st, _, p) in zip(size, axes)]
    attributes = window_attributes(axes)
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
            ("cast", one, {}), ("cast", one, {"values": "ANY"})):
        cases.case("%s, %d channels, %s" % (operator, c, size), **{"nearness": "EXACT", "values": "COARSE", **more})
        same = r.random() < 0.5  # so that a result may take the place of an operand
        for name in sorted(set(operands.values())):
            staged = operator == "cast" and name == "s"
            cases.tensor(name, c, size, *(alike if same else cases.halo()), kind="staged" if staged else "tensor")
        cases.node(operator, operands, parameter=0.3)
    count = 16 * r.randint(1, 40)  # whole blocks, as the plan stores them
    cases.case("gradients of %d numbers added" % count, nearness="EXACT")
    for name in "rst":
        cases.numbers(name, count)
    cases.node("add", {"y": "r", "a": "s", "b": "t"})
    cases.case("zeros", nearness="EXACT")
    cases.numbers("sum", count)
    cases.node("zero", {"sum": "sum"})


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


# ---- losses and updates ----


def losses(cases):
    r = cases.random
    c, size = r.choice([1, 3, 4, 16, 17]), [r.choice([1, 1, 2]), r.randint(2, 9), r.randint(2, 30)]
    staged = r.choice(["tensor", "staged"])

    def compared(operator, **settings):
        cases.case("%s, %d channels, %s" % (operator, c, size), nearness="SUMS", values="COARSE", **settings)
        cases.tensor("p", c, size, *cases.halo(1))
        cases.tensor("t", c, size, *cases.halo(1), kind=staged)

    for counts in (0, 1):
        for operator, result in (("mse", "loss"), ("l1", "loss"), ("psnr", "psnr")):
            compared(operator, counts=counts, bands=r.choice([0, r.randint(1, 4)]))
            cases.numbers("result", 1, kind="doubles")
            cases.node(operator, {result: "result", "prediction": "p", "truth": "t"})
    for operator in ("mse_grad", "l1_grad"):
        compared(operator)
        cases.tensor("dp", c, size, *cases.halo(1))
        cases.numbers("scale", 4, kind="doubles")
        cases.node(operator, {"dp": "dp", "p": "p", "t": "t", "scale": r.choice(["scale", None])}, weight=0.7)


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
    cases.tensor("t", co, size, *cases.halo(1), kind=r.choice(["tensor", "staged"]))
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
    attributes = {"optimizer": 1, "nesterov": variant & 1, "weight_decay": 0.01, "beta1": 0.9, "beta2": 0.999,
                  "epsilon": 1e-8, "momentum": (0.9, 0.9, 0)[variant], "dampening": (0.1, 0, 0)[variant]}
    for operator, optimizer, state in (("sgd", 0, {"momentum": "m" if variant < 2 else None}),
                                       ("adam", 1 + (variant & 1), {"m": "m", "v": "v"})):
        cases.case("%s, variant %d" % (operator, variant), nearness="SUMS", steps=5)
        for name in ["p", "g"] + [v for v in state.values() if v]:
            cases.numbers(name, count)
        if scale:
            cases.numbers("scale", 4, kind="doubles")
            cases.node("loss_scale", {"scale": "scale", "g": "g"})
        cases.node(operator, {"p": "p", "g": "g", **state, "scale": scale}, **{**attributes, "optimizer": optimizer})


def main():
    file, seed, convolutions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cases = Cases(seed)
    for i in range(convolutions):
        convolution(cases, "upconv" if i % 3 == 2 else "conv")
    convolution(cases, "upconv", wide=True)
    for tiles in ((1, 1), (cases.random.randint(2, 40), cases.random.randint(2, 40)), (70, 61)):
        convolution(cases, "conv", tiles=tiles)
    for _ in range(convolutions // 4):
        pooled_convolution(cases)
        pooling(cases)
    for _ in range(4):
        mapping(cases)
        joining(cases)
        losses(cases)
        head(cases)
    for variant in range(3):
        updates(cases, variant)
    with open(file, "w") as f:
        f.write("\n".join(cases.lines) + "\n")


if __name__ == "__main__":
    main()

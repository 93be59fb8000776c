"""cases.py - random geometries, and instances of the kernel templates for them, made as the compiler makes them.

Writes fast.c (instances of templates/cpu), reference.c (of templates/reference) and cases.c (the table that
joins them, see kernels.h).  Usage: cases.py FOLDER SEED CONVOLUTIONS."""
import os
import random
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def body(path):
    text = open(os.path.join(ROOT, "templates", path)).read()
    return text[text.index("/* BEGIN */") + 11:text.index("/* END */")]


class Tensor:
    def __init__(self, channels, size, before=(0, 0, 0), after=(0, 0, 0)):
        before, after = [max(0, b) for b in before], [max(0, a) for a in after]
        self.channels, self.size = channels, list(size)
        block = self.block = channels if channels <= 4 else 16
        blocks = self.blocks = -(-channels // block)
        depth, height, width = (b + s + a for b, s, a in zip(before, size, after))
        row = width * block
        plane = depth * height * row
        sample = self.sample = -(-blocks * plane // 16) * 16
        origin = before[0] * height * row + before[1] * row + before[2] * block
        self.layout = "{%d, %d, %d, %d, %d, %d, %d, %d}" % (
            channels, block, blocks, origin, sample, plane, height * row, row)

    def c(self):
        return "{%s, {%d, %d, %d}}" % (self.layout, *self.size)


class Instances:
    """The text of one folder's file."""

    def __init__(self, folder):
        self.folder = folder
        self.text = ["#define _POSIX_C_SOURCE 200809L\n"]
        prologue = open(os.path.join(ROOT, "templates", folder, "prologue.c")).read()
        self.text.append(prologue.replace("/* BEGIN */", "").replace("/* END */", ""))
        self.names = []

    def add(self, template, numbers, layouts, reals=()):
        name = "%s%d_%s" % (self.folder[0], len(self.names), template)
        sizes = "enum { %s };" % ", ".join("%s = %d" % i for i in numbers.items())
        sizes += "".join(" UNUSED static const double %s = %.17g;" % i for i in dict(reals).items())
        for key, tensor in layouts.items():
            many = isinstance(tensor, list)
            value = "{%s}" % ", ".join(t.layout for t in tensor) if many else tensor.layout
            sizes += " UNUSED static const Layout %s%s = %s;" % (key, "[SEGMENTS]" if many else "", value)
        text = body(self.folder + "/" + template + ".c")
        text = re.sub(r"\bSIZES;", lambda _: sizes, text)
        text = re.sub(r"\bKERNEL", name, text)
        self.text.append(text.replace("static void " + name + "(", "void " + name + "("))
        self.names.append(name)
        return name


class Cases:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.fast, self.reference, self.rows = Instances("cpu"), Instances("reference"), []

    def both(self, template, numbers, layouts, reals=()):
        return [i.add(template, numbers, layouts, reals) for i in (self.fast, self.reference)]

    def row(self, name, kind, fast, reference, **fields):
        functions = lambda names: "{%s}" % ", ".join(
            "[%s] = (Function)%s" % item for item in names.items())
        values = ["\"%s\"" % name, kind] + [".%s = %s" % item for item in fields.items()]
        values += [".fast = " + functions(fast), ".reference = " + functions(reference)]
        self.rows.append("    {%s}," % ", ".join(values))

    def write(self, folder):
        for instances in (self.fast, self.reference):
            with open(os.path.join(folder, "%s.c" % ("fast" if instances is self.fast else "reference")), "w") as f:
                f.write("\n".join(instances.text))
        with open(os.path.join(folder, "cases.c"), "w") as f:
            f.write('#include "kernels.h"\n\n')
            f.write("".join("void %s(void);\n" % n for i in (self.fast, self.reference) for n in i.names))
            f.write("\nconst Case cases[] = {\n%s\n};\nconst int case_count = %d;\n" %
                    ("\n".join(self.rows), len(self.rows)))


def channels(r):
    return r.choice([1, 2, 3, 4, 5, 16, 16, 17, 32, 33, 48])


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


def letters(axes):
    """The letters of the three axes of a window, without the extents."""
    return {"%s%s" % (name, axis): axes[i][column]
            for column, name in enumerate("KSLP") for i, axis in enumerate("DHW")}


def sliding_halo(axes):
    return ([a[3] for a in axes], [(a[4] - 1) * a[1] + (a[0] - 1) * a[2] - a[3] - (a[5] - 1) for a in axes])


def transposed_halo(axes):
    return ([((a[0] - 1) * a[2] - a[3]) // a[1] for a in axes], [(a[5] - 1 + a[3]) // a[1] - (a[4] - 1) for a in axes])


def extents(prefix, size):
    return {prefix + "D": size[0], prefix + "H": size[1], prefix + "W": size[2]}


def convolution(cases, kind, wide=False):
    """WIDE: in rows of more points than a kernel has sums for beside tensors of 16 bits."""
    r = cases.random
    three_d = r.random() < 0.25
    axes = [window(r, three_d) if three_d or i > 0 else (1, 1, 1, 0, 1, 1) for i in range(3)]
    if kind == "UPCONV" and r.random() < 0.5:
        axes = [(2, 2, 1, 0, a[4], 2 * a[4]) if three_d or i > 0 else a for i, a in enumerate(axes)]
    if wide:
        width = r.randint(1025, 2100)
        axes[1:] = [(2, 2, 1, 0, 1, 2), r.choice([(2, 2, 1, 0, width, 2 * width), (3, 2, 1, 1, width, 2 * width - 1)])]
    sampled, dense = [a[4] for a in axes], [a[5] for a in axes]
    ins = [channels(r) for _ in range(r.choice([1, 1, 1, 2, 3]))]
    ci, co, by = sum(ins), channels(r), r.randrange(len(ins))
    conv = kind == "CONV"
    x_size, y_size = (dense, sampled) if conv else (sampled, dense)
    x_halo, dy_halo = (sliding_halo, transposed_halo) if conv else (transposed_halo, sliding_halo)
    x = [Tensor(c, x_size, *x_halo(axes)) for c in ins]
    if not conv:  # upconv_wgrad reads no halo of x, conv_wgrad none of dy
        x = [Tensor(c, x_size, *transposed_halo(axes)) for c in ins]
    y = Tensor(co, y_size, *dy_halo(axes))
    dx = Tensor(ins[by], x_size, [r.randint(0, 2) for _ in range(3)], [1, 0, 1])
    m = Tensor(ins[by], x_size, [0, 1, 0], [0, 0, 2])
    rows = sampled[0] * sampled[1]
    bands = r.randint(1, min(rows, 6))
    numbers = {"CI": ci, "CO": co, "SEGMENTS": len(x), "BIAS": int(r.random() < 0.8), "RELU": 0, "MASK": 0, "ACCUMULATE": 0,
               "TRANSPOSED": int(not conv), "C0": sum(ins[:by]), "CS": ins[by], "BANDS": bands,
               **letters(axes), **extents("I", x_size),
               **extents("", y_size)}
    forward, backward = {"X": x, "Y": y}, {"DX": dx, "DY": y, "M": m}
    low = kind.lower()
    fast, reference = {}, {}
    for role, template, layouts in (("FORWARD", low, forward), ("DGRAD", low + "_dgrad", backward),
                                    ("WGRAD", "conv_wgrad", {"X": x, "DY": y})):
        fast[role], reference[role] = cases.both(template, numbers, layouts)
    if conv:
        fast["FORWARD_PACK"] = cases.fast.add("conv_pack", numbers, forward)
        fast["DGRAD_PACK"] = cases.fast.add("conv_dgrad_pack", numbers, backward)
    if r.random() < 0.4:
        fused = {**numbers, "RELU": 1, "MASK": 1, "ACCUMULATE": 1}
        fast["WGRAD_MORE"] = cases.fast.add("conv_wgrad", fused, {"X": x, "DY": y})
        fast["FORWARD_RELU"] = cases.fast.add(low, fused, forward)
        fast["DGRAD_MASK"] = cases.fast.add(low + "_dgrad", fused, backward)
    taps = axes[0][0] * axes[1][0] * axes[2][0]
    name = "%s %s -> %d, x %s, y %s, kernel, stride, dilation, padding %s, bands %d" % (
        low, "+".join(map(str, ins)), co, x_size, y_size, [a[:4] for a in axes if a != (1, 1, 1, 0, 1, 1)], bands)
    cases.row(name, kind, fast, reference, segments=len(x), x="{%s}" % ", ".join(t.c() for t in x), y=y.c(),
              dx=dx.c(), m=m.c(), by=by, channels_in=ci, channels_out=co, taps=taps, bands=bands)


def pooling(cases):
    r = cases.random
    c = channels(r)
    size, axes = [1, r.randint(3, 14), r.randint(3, 14)], [(1, 1, 0)]
    if r.random() < 0.4:
        size[0] = 4
        axes = [(2, 2, 0)]
    for _ in range(2):
        k = r.choice([2, 2, 3])
        axes.append((k, r.choice([2, 2, 1, 3]), r.randint(0, k // 2)))
    out = [(s + 2 * p - k) // st + 1 for s, (k, st, p) in zip(size, axes)]
    halo = [r.randint(0, 1) for _ in range(3)]
    x, y, dx, a = (Tensor(c, s, h, h) for s, h in ((size, halo), (out, [0, 1, 1]), (size, [0, 0, 1]), (size, halo)))
    numbers = {"C": c, "ACCUMULATE": 0, "MASK": 0, **extents("I", size), **extents("", out)}
    for i, axis in enumerate("DHW"):
        numbers.update(dict(zip(("K" + axis, "S" + axis, "P" + axis), axes[i])))
    fast, reference = {}, {}
    fast["FORWARD"], reference["FORWARD"] = cases.both("max_pool", numbers, {"X": x, "Y": y})
    layouts = {"DX": dx, "X": x, "DY": y, "A": a}
    fast["POOL_GRAD"], reference["POOL_GRAD"] = cases.both("max_pool_grad", numbers, layouts)
    fused = {**numbers, "ACCUMULATE": 1, "MASK": 1}
    fast["POOL_GRAD_FUSED"], reference["POOL_GRAD_FUSED"] = cases.both("max_pool_grad", fused, layouts)
    fast["AVG_POOL"], reference["AVG_POOL"] = cases.both("avg_pool", numbers, {"X": x, "Y": y})
    fast["AVG_POOL_GRAD"], reference["AVG_POOL_GRAD"] = cases.both("avg_pool_grad", numbers, {"DX": dx, "DY": y})
    cases.row("pools of %d channels, %s to %s, kernel, stride, padding %s" % (c, size, out, axes), "POOL",
              fast, reference, segments=1, x="{%s}" % x.c(), y=y.c(), dx=dx.c(), m=a.c(), channels_in=c)


def mapping(cases):
    r = cases.random
    c, size = channels(r), [r.choice([1, 1, 3]), r.randint(1, 9), r.randint(1, 9)]
    y, a, b = (Tensor(c, size, [r.randint(0, 2) for _ in range(3)], [0, r.randint(0, 1), 1]) for _ in range(3))
    numbers = {"C": c, "PARAMETERS": 0, **extents("", size)}
    fast, reference = {}, {}
    for role, layouts in (("RELU", {"Y": y, "X": a}), ("RELU_GRAD", {"DX": y, "Y": a, "DY": b}),
                          ("ADD", {"Y": y, "A": a, "B": b}), ("ZERO_HALO", {"Y": y}), ("CAST", {"Y": y, "X": a}),
                          ("LEAKY_RELU", {"Y": y, "X": a}), ("LEAKY_RELU_GRAD", {"DX": y, "Y": a, "DY": b}),
                          ("SIGMOID", {"Y": y, "X": a}), ("SIGMOID_GRAD", {"DX": y, "Y": a, "DY": b})):
        fast[role], reference[role] = cases.both(role.lower(), numbers, layouts, {"SLOPE": 0.3})
    parameters = {**numbers, "PARAMETERS": 1}
    fast["ADD_PARAMETERS"], reference["ADD_PARAMETERS"] = cases.both("add", parameters, {"Y": y, "A": a, "B": b})
    cases.row("point by point, %d channels, %s" % (c, size), "MAP", fast, reference, segments=2,
              x="{%s, %s}" % (a.c(), b.c()), y=y.c())


def joining(cases):
    r = cases.random
    size, ins = [1, r.randint(1, 6), r.randint(1, 6)], [channels(r) for _ in range(r.randint(1, 3))]
    x = [Tensor(c, size, [0, r.randint(0, 1), 1]) for c in ins]
    y, by = Tensor(sum(ins), size, [0, 1, 0]), r.randrange(len(ins))
    dx = Tensor(ins[by], size, [0, 0, 1])
    numbers = {"C": sum(ins), "SEGMENTS": len(x), **extents("", size)}
    fast, reference = {}, {}
    fast["CONCAT"], reference["CONCAT"] = cases.both("concat", numbers, {"X": x, "Y": y})
    numbers.update({"C": ins[by], "C0": sum(ins[:by])})
    fast["SLICE"], reference["SLICE"] = cases.both("slice", numbers, {"X": y, "Y": dx})
    cases.row("concat and slice of %s, %s" % (ins, size), "JOIN", fast, reference, segments=len(x),
              x="{%s}" % ", ".join(t.c() for t in x), y=y.c(), dx=dx.c(), by=by)


def losses(cases):
    r = cases.random
    c, size = r.choice([1, 3, 4, 16, 17]), [r.choice([1, 1, 2]), r.randint(2, 9), r.randint(2, 30)]
    p, t, dp = (Tensor(c, size, [0, r.randint(0, 1), r.randint(0, 2)], [0, 0, 1]) for _ in range(3))
    bands, staged = r.randint(1, min(4, size[0] * size[1])), r.randint(0, 1)
    numbers = {"C": c, "BANDS": bands, "ACCUMULATE": 0, "SCALED": 1, "P_STAGED": 0, "T_STAGED": staged, **extents("", size)}
    fast, reference = {}, {}
    for role in ("MSE", "L1", "PSNR", "MSE_GRAD", "L1_GRAD"):
        fast[role], reference[role] = cases.both(role.lower(), numbers, {"P": p, "T": t, "DP": dp}, {"WEIGHT": 0.7})
    cases.row("losses over %d channels, %s, %d bands" % (c, size, bands), "LOSS", fast, reference, segments=2,
              x="{%s, %s}" % (p.c(), t.c()), dx=dp.c(), bands=bands, channels_in=c, staged=staged)


def updates(cases, variant):
    numbers = {"COUNT": (5000, 17, 8192)[variant], "DECOUPLED": variant & 1, "NESTEROV": variant & 1,
               "SCALED": int(variant > 0), "GROWTH_INTERVAL": 2, "BANDS": 7}
    reals = {"WEIGHT_DECAY": 0.01, "BETA1": 0.9, "BETA2": 0.999, "EPSILON": 1e-8,
             "MOMENTUM": (0.9, 0.9, 0)[variant], "DAMPENING": (0.1, 0, 0)[variant]}
    fast, reference = {}, {}
    for role in ("SGD", "ADAM"):
        fast[role], reference[role] = cases.both(role.lower(), numbers, {}, reals)
    if numbers["SCALED"]:
        fast["JUDGE"], reference["JUDGE"] = cases.both("loss_scale", numbers, {}, reals)
    cases.row("updates, variant %d" % variant, "UPDATE", fast, reference, count=numbers["COUNT"])


def main():
    folder, seed, convolutions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cases = Cases(seed)
    for i in range(convolutions):
        convolution(cases, "UPCONV" if i % 3 == 2 else "CONV")
    convolution(cases, "UPCONV", wide=True)
    for _ in range(convolutions // 4):
        pooling(cases)
    for _ in range(4):
        mapping(cases)
        joining(cases)
        losses(cases)
    for variant in range(3):
        updates(cases, variant)
    cases.write(folder)


if __name__ == "__main__":
    main()

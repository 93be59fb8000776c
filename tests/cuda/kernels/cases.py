"""cases.py - random geometries, and instances of the CUDA kernel templates for them, made as the compiler makes them.

With --wide, tensors have more than 2^16 points and less than 2^18 vectors, of 16 bits more than 2^18 elements, and lists
of parameters have more than 2^16 numbers; with --only=CASE,..., there are only the kernels of these cases.

Writes kernels.cu (instances of templates/cuda), reference.c (of templates/reference) and cases.cpp (one function
a case, which calls both and compares, see test.h).  Usage: cases.py FOLDER SEED TYPE ROUNDS ROWS [--wide] [--only=CASE,...]; TYPE is float,
__nv_bfloat16 or __half, ROWS the program that prints the rows of the operators.

A case names the operands of a kernel.  The row of the operator (rows.py) says in which order the kernel
takes them, and which are poisoned before a call, compared behind it, or must be what they were (Cases.run).  For a new
operator add such a case: one without is refused by name."""
import itertools
import math
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import rearranging  # noqa: E402
from rows import Rows, WRITTEN

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
BYTES = {"float": 4, "__nv_bfloat16": 2, "__half": 2}
NARROW = 1 << 18  # an `unsigned` of narrow.h holds less


def template(path):
    folder = os.path.join(ROOT, "templates")
    if not os.path.exists(os.path.join(folder, path)):  # a kernel that the reference has in common with the processor
        path = path.replace("reference/", "cpu/")
    return open(os.path.join(folder, path)).read()


def body(text):
    return text[text.index("/* BEGIN */") + 11:text.index("/* END */")]


def device_head(stored, *shared):
    """What stands in front of the kernels of a program for a GPU: the prologue, and files that templates share."""
    prologue = template("cuda/prologue.cuh").replace("/* BEGIN */", "").replace("/* END */", "")
    return "#define UNET_STORED %s\n%s%s" % (stored, prologue, "".join(body(template("cuda/%s.cuh" % name)) for name in shared))


def padded(channels, lanes):
    return -(-channels // lanes) * lanes


class Shape:
    """A tensor of N samples, packed, `block` channels a point."""

    def __init__(self, channels, n, size, block):
        self.channels, self.n, self.size, self.block, self.ring = channels, n, list(size), block, 0

    def layout(self):
        depth, height, width = self.size
        row = width * self.block
        plane = (self.ring or height) * row
        return "{%d, %d, 1, 0, %d, %d, %d, %d, %d}" % (
            self.channels, self.block, depth * plane, depth * plane, plane, row, self.ring)

    def cpp(self):
        return "{%d, %d, %d, {%d, %d, %d}}" % (self.channels, self.block, self.n, *self.size)


class Instances:
    """The text of one folder's file. The constants that a function names replace the statement SIZES."""

    def __init__(self, folder, head):
        self.cuda, self.text, self.names = folder == "cuda", [head], []
        self.folder = folder

    def constants(self, numbers, layouts, reals, arrays):
        real, layout = ("constexpr double", "constexpr Layout") if self.cuda else (
            "UNUSED static const double", "UNUSED static const Layout")
        found = [(name, "%s %s = %.17g;" % (real, name, value)) for name, value in reals.items()]
        for name, value in layouts.items():
            many = isinstance(value, list)
            text = "{%s}" % ", ".join(s.layout() for s in value) if many else value.layout()
            found.append((name, "%s%s %s%s = %s;" % ("static " if many and self.cuda else "", layout, name, "[%d]" % len(value) if many else "", text)))
        for name, (kind, values) in arrays.items():
            found.append((name, "%s %s %s[%d] = {%s};" % ("static constexpr" if self.cuda else "UNUSED static const", kind, name, len(values),
                                                          ", ".join(values))))
        return found

    def add(self, name, numbers, layouts=None, reals=None, arrays=None):
        instance = "%s%d_%s" % (self.folder[0], len(self.names), name)
        text = body(template("%s/%s.%s" % (self.folder, name, "cu" if self.cuda else "c")))
        others = self.constants(numbers, layouts or {}, reals or {}, arrays or {})

        numbers = {"SCRATCH": 2**31 - 1, **numbers}  # the compiler's plan has what a template asks for

        def sizes(match):
            function = match.group(2)
            named = lambda name: not self.cuda or re.search(r"\b%s\b" % name, function)
            used = ["%s = %d" % item for item in numbers.items() if named(item[0])]
            lines = ["enum { %s };" % ", ".join(used)] if used else []
            return "\n    ".join(lines + [line for name, line in others if named(name)]) + function

        text = re.sub(r"(\bSIZES;)(.*?\n}\n)", sizes, text, flags=re.S)
        text = re.sub(r"\bKERNEL", instance, text)
        self.text.append(text.replace("static void " + instance + "(", "void " + instance + "("))
        self.names.append(instance)
        return instance

    def declarations(self):
        """Of the launchers, or of the reference kernels, for cases.cpp."""
        found = []
        for text in self.text[1:]:
            if not self.cuda:  # the reference stores what it computes with
                text = re.sub(r"\bstored\b", "real", text)
            for match in re.finditer(r"\n(LAUNCHER|UNUSED) (void [a-z0-9_]+\((?:[^()]|\([^()]*\))*\)) \{", text):
                found.append(match.group(2))
        return found


def names(operands):
    """The variables that stand for operands, those of each segment."""
    return [name for o in operands if o["is"] for name in (o["is"] if o["segments"] else [o["is"]])]


class Cases:
    def __init__(self, seed, stored, rows, wide=False):
        self.random, self.stored, self.rows, self.wide = random.Random(seed), stored, rows, wide
        self.tested = set()
        self.lanes = 16 // BYTES[stored]
        head = device_head(stored, "rows", "draws", "filters", "tiles", "comparisons", "labels", "similarity", "moments", "functions", "borders", "attentions", "channel_tables", "codes", "coded", "vocabulary")
        self.cuda = Instances("cuda", head)
        prologue = template("reference/prologue.c")
        self.reference = Instances("reference", prologue.replace("/* BEGIN */", "").replace("/* END */", "") +
                                   body(template("reference/similarity.c")) + body(template("reference/labels.c")) + body(template("reference/positions.c")) +
                                   body(template("reference/functions.c")) + body(template("reference/borders.c")) +
                                   body(template("reference/windows.c")) + body(template("reference/draws.c")) +
                                   body(template("reference/codes.c")) + body(template("reference/coded.c")) +
                                   body(template("reference/vocabulary.c")))
        self.functions, self.convolutions = [], []

    # ---- pieces ----

    def shape(self, channels, n, size):
        assert self.fits(channels, n, size), "%d x %s of %d channels: too many vectors for narrow.h" % (n, size, channels)
        return Shape(channels, n, size, padded(channels, self.lanes))

    def fits(self, channels, n, size):
        """Whether an `unsigned` counts the vectors of such a tensor; no net has more of them than that."""
        return not self.wide or n * math.prod(size) * -(-channels // self.lanes) < NARROW

    def fewer(self, channels, n, size):
        """N, or as many samples as fit."""
        while not self.fits(channels, n, size):
            n -= 1
        return n

    def staged(self, channels, n, size):
        """As the loader leaves an image: padded as it likes."""
        return Shape(channels, n, size, self.random.choice([channels, padded(channels, 4)]))

    def channels(self):
        return self.random.choice([1, 3, 5] if self.wide else [1, 2, 3, 4, 5, 8, 16, 17, 24, 33])

    def few(self, *some):
        """So many classes; of many the reference takes long."""
        return self.random.choice([k for k in some if k < 4] if self.wide else some)

    def samples(self, most):
        """So many, and of large tensors one, where there are several vectors at a point."""
        return 1 if self.wide else self.random.randint(1, most)

    def extent(self, least, most):
        return self.random.randint(257, 263) if self.wide else self.random.randint(least, most)

    def bands(self, *some):
        """In how many bands a sum is split; many take long where there are many rows."""
        return 3 if self.wide else self.random.choice(some)

    def size(self, most=9):
        return [1, self.extent(1, most), self.extent(1, most)] if self.wide else self.small_size(most)

    def small_size(self, most):
        r = self.random
        return [r.choice([1, 1, 3]), r.randint(1, most), r.randint(1, most)]

    def both(self, name, numbers, layouts=None, reals=None, arrays=None):
        """Here the loader leaves `real` for the reference, whatever it leaves for the device."""
        of_reference = {key: min(value, 1) if key.endswith("_STAGED") else value for key, value in numbers.items()}
        return (self.cuda.add(name, numbers, layouts, reals, arrays),
                self.reference.add(name, of_reference, layouts, reals, arrays))

    def by_exponents(self, *results):
        """How near results come that are sums of exponentials: in 16 bits these are floats."""
        return {} if self.stored == "float" else {name: ["1e-6"] for name in results}

    # ---- calls ----

    def arguments(self, operator, folder, given):
        """The operands as a kernel of FOLDER takes them."""
        member = "device" if folder == "cuda" else "host"
        def text(o):
            if o["is"] is None:
                return "NULL"
            if o["segments"]:
                return "%ss({%s}).data()" % (member, ", ".join("&" + name for name in o["is"]))
            return "%s.%s()" % (o["is"], member)
        if folder == "reference" and operator.endswith("conv_wgrad"):
            given = {**given, "sums": None}  # only a processor's kernels may leave them there
        return [text(o) for o in self.rows.operands(operator, given)]

    def device_call(self, operator, kernel, given, rows=None, behind=()):
        self.tested.add(operator)
        first = ["test.at()"] + (["{%d, %d}" % rows] if rows else [])
        return "%s(%s);" % (kernel, ", ".join([*first, *self.arguments(operator, "cuda", given), *behind]))

    def reference_call(self, operator, kernel, given, before=(), behind=()):
        return "%s(%s);" % (kernel, ", ".join(
            [*map(str, before), *self.arguments(operator, "reference", given), *behind]))

    def before(self, operator, given, adds):
        """Outputs and scratch are poisoned, unless what they hold counts; what is only read is watched."""
        operands = self.rows.operands(operator, given)
        read = names(o for o in operands if o["access"] in ("read", "parameter"))
        written = names(o for o in operands if o["access"] in WRITTEN)
        poisoned = names(o for o in operands if o["access"] in ("write", "scratch") or o["access"] == "sum" and not adds)
        watched = [name for name in read if name not in written]
        return ["test.poison(%s);" % name for name in poisoned if name not in read] + [
            "test.watch({%s});" % ", ".join('{"%s", &%s.device()}' % (name, name) for name in watched)]

    def after(self, what, operator, given, tolerance):
        written = [o for o in self.rows.operands(operator, given) if o["access"] in WRITTEN and o["is"]]
        called = lambda o: what if len(written) == 1 else "%s, %s" % (what, o["name"])
        return ['test.compare("%s", %s);' % (called(o), ", ".join([o["is"], *map(str, tolerance.get(o["name"], ()))]))
                for o in written]

    def run(self, what, operator, kernels, given, cuda=None, rows=None, adds=False, before=(), behind=(), tolerance=None,
            between=(), parts=None, last=()):
        """Both kernels on the operands GIVEN, on the device on those of CUDA instead; then what was written is compared.
        ROWS: of the whole tensor; PARTS: of the calls on the device, else one for all.  LAST: numbers behind the operands.
        BEFORE, BEHIND: what only the reference is told.  BETWEEN: lines before the watch ends."""
        on_device = {**given, **(cuda or {})}
        parts = parts or [None if rows is None else (0, rows)]
        told = [*before] if rows is None else [*before, "{0, %d}" % rows]
        return [*self.before(operator, on_device, adds),
                *[self.device_call(operator, kernels[0], on_device, part, last) for part in parts],
                self.reference_call(operator, kernels[1], given, told, [*last, *behind]),
                *self.after(what, operator, given, tolerance or {}), *between,
                'test.unchanged("%s");' % what]

    def parts(self, operator, kernel, rows, given, cuts=None):
        """Calls of a CUDA kernel over the rows of a tensor in three parts, of which some may be empty: cut at random, or
        where CUTS says."""
        a, b = cuts or sorted(self.random.randint(0, rows) for _ in range(2))
        return [self.device_call(operator, kernel, given, part) for part in ((b, rows), (0, a), (a, b))]

    def by_rows(self, what, operator, kernels, rows, given, cuda=None, before=(), behind=()):
        """A run over a whole tensor; the same bits by parts, in the tensor same_NAME; and the run in place, where the row
        of the operator allows that."""
        output = self.rows.row[operator]["operands"][0]
        result, on_device = given[output["name"]], {**given, **(cuda or {})}
        parts = self.parts(operator, kernels[0], rows, {**on_device, output["name"]: "same_" + result})
        lines = self.run(what, operator, kernels, given, cuda, rows, before=before, behind=behind, between=[
            *parts, 'test.same("%s by rows", same_%s, %s);' % (what, result, result)])
        place = given.get(output["in_place"])
        if place is None:
            return lines
        shared = {**given, output["name"]: "place", output["in_place"]: "place"}
        return lines + ["{", "    Tensor place = test.copy(%s);" % place, *("    " + line for line in self.run(
            what + " in place", operator, kernels, shared, cuda, rows, before=before)), "}"]

    def function(self, name, lines):
        self.functions.append("static void case_%d(Test &test) {\n    test.begin(\"%s\");\n%s\n}\n" % (
            len(self.functions), name, "\n".join("    " + line for line in lines)))

    def write(self, folder):
        table = "const UnetConvolution convolutions[] = {\n%s\n};" % "\n".join(
            "    {%s}," % c for c in self.convolutions or ["UNET_FORWARD"])
        calls = "void run_cases(Test &test) {\n%s\n}" % "\n".join(
            "    case_%d(test);" % i for i in range(len(self.functions)))
        files = {
            "kernels.cu": "\n".join(self.cuda.text),
            "reference.c": "\n".join(self.reference.text),
            "cases.cpp": "\n".join(
                ["#define UNET_STORED %s" % self.stored, '#include "test.h"\n', 'extern "C" {'] +
                [d + ";" for d in self.cuda.declarations() + self.reference.declarations()] +
                ["}\n", table] + self.functions + [calls])}
        for name, text in files.items():
            with open(os.path.join(folder, name), "w") as f:
                f.write(text + "\n")


def extents(prefix, size):
    return {prefix + "D": size[0], prefix + "H": size[1], prefix + "W": size[2]}


# ---- point by point ----


def mapping(cases):
    c, n, size = cases.channels(), cases.random.randint(1, 3), cases.size()
    shape = cases.shape(c, n, size)
    numbers = {"C": c, "N": n, "PARAMETERS": 0, **extents("", size)}
    relu = cases.both("relu", numbers, {"Y": shape, "X": shape})
    relu_grad = cases.both("relu_grad", numbers, {"DX": shape, "Y": shape, "DY": shape})
    add = cases.both("add", numbers, {"Y": shape, "A": shape, "B": shape})
    leaky_relu = cases.both("leaky_relu", numbers, {"Y": shape, "X": shape}, {"SLOPE": 0.3})
    leaky_relu_grad = cases.both("leaky_relu_grad", numbers, {"DX": shape, "Y": shape, "DY": shape}, {"SLOPE": 0.3})
    sigmoid = cases.both("sigmoid", numbers, {"Y": shape, "X": shape})
    sigmoid_grad = cases.both("sigmoid_grad", numbers, {"DX": shape, "Y": shape, "DY": shape})
    silu = cases.both("silu", numbers, {"Y": shape, "X": shape})
    silu_grad = cases.both("silu_grad", numbers, {"DX": shape, "X": shape, "DY": shape})
    more = [(name, cases.both(name, numbers, {"Y": shape, "X": shape}), cases.both(
        name + "_grad", numbers, {"DX": shape, "X" if name == "gelu" else "Y": shape, "DY": shape}))
        for name in ("tanh", "gelu")]
    rows = size[0] * size[1]
    forward, backward = {"y": "y", "x": "a"}, {"dx": "y", "y": "a", "dy": "b"}
    check = lambda what, kernels, given: cases.by_rows(what, what, kernels, rows, given, before=[n])
    cases.function("point by point, %d channels, %d x %s" % (c, n, size), [
        "const Shape shape = %s;" % shape.cpp(),
        "Tensor a = test.coarse(shape, true), b = test.numbers(shape), y = test.output(shape), same_y = test.output(shape);",
        *check("relu", relu, forward),
        *check("relu_grad", relu_grad, backward),
        *check("add", add, {"y": "y", "a": "a", "b": "b"}),
        *check("leaky_relu", leaky_relu, forward),
        *check("leaky_relu_grad", leaky_relu_grad, backward),
        *check("sigmoid", sigmoid, forward),
        *check("sigmoid_grad", sigmoid_grad, backward),
        *check("silu", silu, forward),
        *check("silu_grad", silu_grad, {"dx": "y", "x": "a", "dy": "b"}),
        *[line for name, kernels, _ in more for line in check(name, kernels, forward)],
        *[line for name, _, kernels in more for line in check(
            name + "_grad", kernels, {"dx": "y", "x" if name == "gelu" else "y": "a", "dy": "b"})]])


# Operators that the kernel `function` computes, in the order of UnetFunction (unet/functions.h), with numbers of their own.
FUNCTIONS = [("sqrt", 0, 0), ("exp", 0, 0), ("log", 0, 0), ("sin", 0, 0), ("cos", 0, 0), ("abs", 0, 0), ("square", 0, 0),
             ("reciprocal", 0, 0), ("clamp", -0.3, 0), ("clamp", 0.5, 0), ("clamp", -0.25, 0.5), ("relu6", 0, 0),
             ("hard_sigmoid", 0, 0), ("hard_swish", 0, 0), ("elu", 0.7, 1.3), ("softplus", 2, 1.5), ("mish", 0, 0),
             ("gelu_tanh", 0, 0), ("selu", 1.6, 1.05)]


def functions(cases):
    c, n, size = cases.channels(), cases.samples(2), cases.size()
    shape = cases.shape(c, n, size)
    lines = ["const Shape shape = %s;" % shape.cpp(),
             "Tensor a = test.numbers(shape), b = test.numbers(shape), y = test.output(shape), same_y = test.output(shape);"]
    for number, (operator, first, second) in enumerate(FUNCTIONS):
        numbers = {"C": c, "N": n, "PARAMETERS": 0, "WHICH": 14 if operator == "selu" else number, **extents("", size)}
        reals = {"FIRST_NUMBER": first, "SECOND_NUMBER": second}
        value = cases.both("function", numbers, {"Y": shape, "X": shape}, reals)
        slope = cases.both("function_grad", numbers, {"DX": shape, "X": shape, "DY": shape}, reals)
        lines += cases.by_rows(operator, operator, value, size[0] * size[1], {"y": "y", "x": "a"}, before=[n])
        lines += cases.by_rows(operator + " gradient", "function_grad", slope, size[0] * size[1], {"dx": "y", "x": "a", "dy": "b"},
                               before=[n])
    cases.function("functions, %d channels, %d x %s" % (c, n, size), lines)


def pairs(cases):
    """Of two numbers."""
    c, n, size = cases.channels(), cases.samples(2), cases.size()
    shape, rows = cases.shape(c, n, size), size[0] * size[1]
    numbers = {"C": c, "N": n, "PARAMETERS": 0, **extents("", size)}
    operands = {name: shape for name in ("Y", "A", "B")}
    gradient = {name: shape for name in ("DX", "A", "B", "DY")}
    lines = cases.by_rows("divide", "divide", cases.both("divide", numbers, operands), rows, {"y": "y", "a": "dy", "b": "other"},
                          before=[n])
    for larger, name in enumerate(("minimum", "maximum")):
        numbers["LARGER"] = larger
        lines += cases.by_rows(name, name, cases.both("maximum", numbers, operands), rows, {"y": "y", "a": "a", "b": "b"}, before=[n])
        lines += cases.by_rows(name + " gradient", "maximum_grad", cases.both("maximum_grad", numbers, gradient), rows,
                               {"dx": "y", "a": "a", "b": "b", "dy": "dy"}, before=[n])
    cases.function("two numbers, %d channels, %d x %s" % (c, n, size), [
        "const Shape shape = %s;" % shape.cpp(),
        "Tensor a = test.coarse(shape), b = test.coarse(shape), dy = test.numbers(shape), other = test.numbers(shape);",
        "Tensor y = test.output(shape), same_y = test.output(shape);", *lines])


def repeating(cases):
    """A tensor that has one of some of the channels, planes, rows and points."""
    c, n, size = cases.channels(), cases.samples(2), cases.size(13)
    few = [cases.random.choice([1, extent]) for extent in (c, *size)]
    large, small = cases.shape(c, n, size), cases.shape(few[0], n, few[1:])
    numbers = {"C": c, "CB": few[0], "N": n, **extents("", size), **extents("B", few[1:])}
    forward = cases.both("repeat", numbers, {"Y": large, "X": small})
    backward = cases.both("repeat_grad", numbers, {"DX": small, "DY": large})
    rows = few[1] * few[2]
    cases.function("%s repeated as %d x %s" % (few, c, size), [
        "Tensor x = test.numbers(%s), y = test.output(%s), same_y = test.output(%s);" % (small.cpp(), large.cpp(), large.cpp()),
        "Tensor dy = test.numbers(%s), dx = test.output(%s), same_dx = test.output(%s);" % (large.cpp(), small.cpp(), small.cpp()),
        *cases.by_rows("repeat", "repeat", forward, size[0] * size[1], {"y": "y", "x": "x"}, before=[n]),
        *cases.by_rows("repeat_row_grad", "repeat_row_grad", backward, rows, {"dx": "dx", "dy": "dy"}, before=[n]),
        *cases.run("repeat_grad", "repeat_grad", backward, {"dx": "dx", "dy": "dy"}, rows=rows, before=[n])])


def bordering(cases):
    """Points around a tensor: numbers, reflected, from the other end; or the other way round."""
    r, c, n, size = cases.random, cases.channels(), cases.samples(2), cases.size(7)
    border = [r.randint(0, 3) for _ in size]
    most = [(3, extent - 1, extent, 0)[how] for how, extent in zip(border, size)]
    before, after = [min(r.randint(0, m), 5) for m in most], [min(r.randint(0, m), 5) for m in most]
    if cases.wide:  # no more planes than there are
        before[0] = after[0] = 0
    around = [extent + a + b for extent, a, b in zip(size, before, after)]
    large, small = cases.shape(c, n, around), cases.shape(c, n, size)
    numbers = {"C": c, "N": n, **extents("", around), **extents("I", size)}
    numbers.update({name + axis: value for name, values in (("BEFORE_", before), ("BORDER_", border))
                    for axis, value in zip("DHW", values)})
    forward = cases.both("border", numbers, {"Y": large, "X": small}, {"BEYOND": 0.75})
    backward = cases.both("border_grad", numbers, {"DX": small, "DY": large})
    cases.function("border %s of %d channels, %s around %s" % (border, c, [before, after], size), [
        "Tensor x = test.numbers(%s), y = test.output(%s);" % (small.cpp(), large.cpp()),
        "Tensor dy = test.numbers(%s), dx = test.output(%s);" % (large.cpp(), small.cpp()),
        *cases.run("border", "border", forward, {"y": "y", "x": "x"}, rows=around[0] * around[1], before=[n]),
        *cases.run("border_grad", "border_grad", backward, {"dx": "dx", "dy": "dy"}, rows=size[0] * size[1], before=[n])])


def giving(cases):
    """Tensors that no other tensor makes."""
    c, n, size = cases.channels(), cases.samples(3), cases.size()
    shape, point = cases.shape(c, n, size), cases.shape(c, n, [1, 1, 1])
    numbers = {"C": c, "N": n, "ACCUMULATE": cases.random.randint(0, 1), "BY_POINT": cases.random.randint(0, 1),
               **extents("", size)}
    values = ("double", ["%.17g" % (0.5 - i / 4) for i in range(c)])
    count = c * math.prod(size)
    cases.function("given, %d channels, %d x %s" % (c, n, size), [
        "Tensor y = test.output(%s), dy = test.numbers(%s), constants = test.output(%s);" % (shape.cpp(), shape.cpp(), point.cpp()),
        "Tensor w = test.weights(%d), dw = test.gradient(%d);" % (count, count),
        *cases.run("parameter", "parameter", cases.both("parameter", numbers, {"Y": shape}), {"y": "y", "w": "w"}, before=[n]),
        *cases.run("parameter_grad", "parameter_grad", cases.both("parameter_grad", numbers, {"DY": shape}),
                   {"dw": "dw", "dy": "dy"}, adds=numbers["ACCUMULATE"], before=[n]),
        *cases.run("constant", "constant", cases.both("constant", {"C": c, "N": n}, {"Y": point}, arrays={"VALUES": values}),
                   {"y": "constants"}, before=[n])])


def waving(cases):
    """Sines and cosines of a number at each point: of a tensor, or as the loader left it."""
    r, n, size = cases.random, cases.samples(3), cases.size()
    half = r.choice([1, 2] if cases.wide else [1, 2, 3, 8, 17])
    wide, one = cases.shape(2 * half, n, size), cases.shape(1, n, size)
    numbers = {"C": 2 * half, "N": n, "COSINES_FIRST": r.randint(0, 1), **extents("", size)}
    values = {"VALUES": ("double", ["%.17g" % (0.5 - i / 4) for i in range(half)])}
    lines = ["Tensor y = test.output(%s), same_y = test.output(%s), dy = test.numbers(%s);" % (3 * (wide.cpp(),)),
             "Tensor dx = test.output(%s), same_dx = test.output(%s);" % (2 * (one.cpp(),))]
    for name, staged, shape in (("x", 0, one), ("left", 1, cases.staged(1, n, size))):
        lines.append("Tensor %s = test.%s;" % (name, "staged(%s)" % shape.cpp() if staged else "numbers(%s)" % shape.cpp()))
        told = {**numbers, "X_STAGED": staged}
        lines += [*cases.by_rows("sinusoid", "sinusoid", cases.both("sinusoid", told, {"Y": wide, "X": shape}, arrays=values),
                                 size[0] * size[1], {"y": "y", "x": name}, before=[n]),
                  *cases.by_rows("sinusoid_grad", "sinusoid_grad",
                                 cases.both("sinusoid_grad", told, {"DX": one, "X": shape, "DY": wide}, arrays=values),
                                 size[0] * size[1], {"dx": "dx", "x": name, "dy": "dy"}, before=[n])]
    cases.function("waves of %d channels, %d x %s" % (2 * half, n, size), lines)


def diffusing(cases):
    """Times and noise; a mixture as a tensor, or, what losses compare with, as the loader would leave it."""
    r, c, n, size = cases.random, cases.channels(), cases.samples(3), cases.size()
    x, start, times = cases.staged(c, n, size), r.randint(0, 3), r.choice([2, 7, 100])
    numbers = {"C": c, "N": n, "X_STAGED": 1, "NUMBER": 1 << 30, "COUNT": times, "EVALUATION": r.randint(0, 1), **extents("", size)}
    values = {"VALUES": ("double", ["%.17g" % (1 - (i + 1) / (times + 1)) for i in range(times)])}
    told = [n, start, "test.at().control->step", "test.at().control->seed"]
    lines = ["Tensor x = test.staged(%s);" % x.cpp(),
             "static const int32_t all[3] = {};", "test.control(%d, &all, 0, %d);" % (n, start)]
    for makes, name in enumerate(("picture", "noise", "velocity")):
        y = cases.shape(c, n, size) if makes == 0 else cases.staged(c, n, size)
        kernels = cases.both("diffuse", {**numbers, "WHICH": makes, "Y_STAGED": int(makes > 0)}, {"Y": y, "X": x}, arrays=values)
        lines += ["Tensor {0} = test.{1}({2}), same_{0} = test.{1}({2});".format(name, "output" if makes == 0 else "staged", y.cpp()),
                  *cases.by_rows(name, "diffuse", kernels, size[0] * size[1], {"y": name, "x": None if makes == 1 else "x"},
                                 before=told)]
    y = cases.staged(c, n, [1, 1, 1])
    lines += ["Tensor times = test.staged(%s);" % y.cpp(),
              *cases.run("diffuse_time", "diffuse_time", cases.both("diffuse_time", {**numbers, "WEIGHTED": r.randint(0, 1)}, {"Y": y}, arrays=values), {"y": "times"}, before=told)]
    cases.function("diffusion of %d channels, %d x %s" % (c, n, size), lines)


def embedding(cases):
    """Rows of a table, by numbers between -1 and 1 of a tensor, or as the loader left them."""
    r, n, size = cases.random, cases.samples(3), cases.size()
    c, rows = cases.channels(), r.randint(1, 5)
    wide, one = cases.shape(c, n, size), cases.shape(1, n, size)
    numbers = {"C": c, "N": n, "COUNT": rows, "ACCUMULATE": r.randint(0, 1), **extents("", size)}
    lines = ["Tensor y = test.output(%s), same_y = test.output(%s), dy = test.numbers(%s);" % (3 * (wide.cpp(),)),
             "Tensor w = test.weights(%d), dw = test.gradient(%d);" % (rows * c, rows * c)]
    for name, staged, shape in (("x", 0, one), ("left", 1, cases.staged(1, n, size))):
        lines.append("Tensor %s = test.%s;" % (name, "staged(%s)" % shape.cpp() if staged else "numbers(%s)" % shape.cpp()))
        told = {**numbers, "X_STAGED": staged}
        lines += [*cases.by_rows("embedding", "embedding", cases.both("embedding", told, {"Y": wide, "X": shape}),
                                 size[0] * size[1], {"y": "y", "x": name, "w": "w"}, before=[n]),
                  *cases.run("embedding_wgrad", "embedding_wgrad", cases.both("embedding_wgrad", told, {"X": shape, "DY": wide}),
                             {"dw": "dw", "x": name, "dy": "dy"}, adds=numbers["ACCUMULATE"], before=[n])]
    cases.function("embedding of %d channels in %d rows, %d x %s" % (c, rows, n, size), lines)


def coding(cases):
    """A tensor in codes, by three ranges of rows, and out of them: the same bytes and numbers as the reference's."""
    r, n, size = cases.random, cases.samples(2), cases.size()
    c, size[2] = 5 if cases.wide else r.choice([5, 8, 16, 17, 33]), size[2] if cases.wide else r.choice([1, 7, 16, 17, 35])
    shape, rows, start = cases.shape(c, n, size), size[0] * size[1], r.randint(0, 3)
    lines = ["Tensor x = test.numbers(%s), dy = test.numbers(%s), y = test.output(%s), same_y = test.output(%s);" % (4 * (shape.cpp(),)),
             "static const int32_t all[3] = {};", "test.control(%d, &all, 0, %d);" % (n, start)]
    for bits, signs in [(8, 1)] if cases.wide else [(8, 0), (8, 1), (8, 2), (4, 0), (4, 1), (2, 0), (2, 1), (2, 2)]:
        groups = Shape(1, n, [*size[:2], -(-c // 16) * -(-size[2] // 16) * (8 + 32 * bits)], 1)
        told = {"C": c, "N": n, "CODE_BITS": bits, "ZEROS": int(signs == 1), "SIGNED": int(signs == 2), "NUMBER": r.randint(0, 9),
                **extents("", size)}
        into = cases.both("compress", told, {"X": shape, "CODES": groups})
        out = cases.both("decompress", told, {"Y": shape, "CODES": groups})
        cut = sorted(r.randint(0, rows) for _ in range(2))
        lines += ["{", "Bytes codes(%d);" % (n * rows * groups.size[2]),
                  *cases.run("compress", "compress", into, {"codes": "codes", "x": "x"}, rows=rows,
                             parts=list(zip([cut[1], 0, cut[0]], [rows, cut[0], cut[1]])),
                             before=[n, start, "test.at().control->step", "test.at().control->seed"]),
                  *cases.by_rows("decompress", "decompress", out, rows, {"y": "y", "codes": "codes"}, before=[n])]
        if signs > 0:
            gradient = cases.both("sign_grad", told, {"DX": shape, "DY": shape, "CODES": groups}, {"SLOPE": r.choice([0, 0.3])})
            lines += cases.by_rows("sign_grad", "sign_grad", gradient, rows, {"dx": "y", "codes": "codes", "dy": "dy"}, before=[n])
        lines.append("}")
    cases.function("%d channels in codes, %d x %s" % (c, n, size), lines)


def attending(cases, windowed=False):
    """Few points and many, heads of some channels; the gradient reads what the kernel in front of it leaves.  A
    gradient of one point alone would be nothing but rounding."""
    r, heads, causal = cases.random, cases.random.choice([1, 2, 3]), not windowed and cases.random.random() < 0.4
    c, cv = (heads * r.choice([1, 3] if cases.wide else [1, 2, 5, 8, 17, 33]) for _ in range(2))
    n, points = cases.samples(2), lambda: [r.choice([1, 1, 2]), r.randint(1, r.choice([3, 9])), r.randint(2, 11)]
    asking = points()
    answering = asking if causal else points()
    if cases.wide:  # as many queries as make large tensors, and few keys
        asking, answering, causal = cases.size(), [1, 2, 3], False
    window, shift, biased = [asking, answering], [0, 0, 0], r.random() < (0.8 if windowed else 0.4) and not (cases.wide and not windowed)
    if windowed:
        extents_of_one = [r.choice([1, 1, 2, 3]), r.randint(1, 8), r.randint(2, 8)]
        counts = [1, 93, 91] if cases.wide else [r.randint(1, 3), r.randint(1, 2), r.randint(1, 2)]
        if cases.wide:
            extents_of_one = [1, 3, 3]
        asking = answering = [extent * count for extent, count in zip(extents_of_one, counts)]
        window, shift = [extents_of_one] * 2, [r.choice([0, r.randrange(extent)]) for extent in extents_of_one]
    of_bias, pairs, bands = [2 * extent - 1 for extent in window[0]] if biased else [1, 1, 1], 0, cases.bands(1, 2, 3)
    if biased and (not windowed or r.random() < 0.3):
        of_bias, pairs, bands = [1, math.prod(window[0]), math.prod(window[1])], math.prod(window[1]), 1
    of_b = cases.shape(heads, n, of_bias)
    queries, keys = math.prod(asking), math.prod(answering)
    of_q, of_k, of_v, of_y = (cases.shape(*pair) for pair in ((c, n, asking), (c, n, answering), (cv, n, answering), (cv, n, asking)))
    lse = Shape(heads * queries, 1, [1, 1, 1], heads * queries)
    numbers = {"C": c, "CV": cv, "N": n, "HEADS": heads, "CAUSAL": int(causal), "BANDS": bands,
               "BIAS": int(biased), "PAIRS": pairs, "QUERIES": math.prod(window[0]), "KEYS": math.prod(window[1]),
               "WINDOWS": queries // math.prod(window[0]), **extents("", asking), **extents("I", answering), **extents("B", of_bias)}
    numbers.update({name + axis: value for name, values in (("QUERY_", window[0]), ("KEY_", window[1]), ("SHIFT_", shift))
                    for axis, value in zip("DHW", values)})
    layouts = {"QUERY": of_q, "DQ": of_q, "KEY": of_k, "DK": of_k, "VALUE": of_v, "DV": of_v, "Y": of_y, "DY": of_y, "LSE": lse,
               "B": of_b, "DB": of_b}
    both = lambda name: cases.both(name, numbers, layouts, {"TIMES": r.choice([1, 0.3])})
    given = {"scratch": "scratch", "q": "q", "k": "k", "v": "v", "y": "y", "lse": "lse",
             "b": "b" if biased else None}
    kernels = both("attention")
    cases.function("attention of %d and %d channels in %d heads, %d x %s and %s, causal %d, windows %s, shift %s, bias %d, pairs %d" % (
        c, cv, heads, n, asking, answering, causal, window[0], shift, biased, pairs), [
        "Tensor q = test.numbers(%s), k = test.numbers(%s), v = test.numbers(%s), dy = test.numbers(%s);" % tuple(
            shape.cpp() for shape in (of_q, of_k, of_v, of_y)),
        "Tensor dq = test.output(%s), dk = test.output(%s), dv = test.output(%s), y = test.output(%s);" % tuple(
            shape.cpp() for shape in (of_q, of_k, of_v, of_y)),
        "Tensor b = test.numbers(%s), db = test.output(%s);" % (of_b.cpp(), of_b.cpp()),
        "Tensor lse = test.real_output(%d);" % (n * heads * queries),
        "Result scratch = test.result(%d);" % (n * heads * (keys + 2 * queries + bands * math.prod(of_bias))),
        *cases.run("attention without lse", "attention", kernels, {**given, "lse": None}, {"scratch": None}, before=[n]),
        *cases.run("attention", "attention", kernels, given, {"scratch": None}, before=[n]),
        *cases.run("attention_grad", "attention_grad", both("attention_grad"), {**given, "dq": "dq", "dk": "dk", "dv": "dv", "dy": "dy",
                                                                                      "db": "db" if biased else None},
                   before=[n])])


def attending_channels(cases):
    """Tables of several tiles, one band and several; the gradient reads what the kernel in front of it leaves."""
    r, heads = cases.random, cases.random.choice([1, 2, 3])
    c, cv = (heads * r.choice([1, 3] if cases.wide else [1, 2, 5, 8, 17, 33]) for _ in range(2))
    n, size, bands, tempered = cases.samples(2), cases.size(), cases.bands(1, 2, 5), r.random() < 0.6
    more = size if cases.wide or r.random() < 0.6 else cases.size()
    of_q, of_k, of_v, of_y, of_t = (cases.shape(channels, n, extent) for channels, extent in (
        (c, size), (cv, size), (cv, more), (c, more), (heads, [1, 1, 1])))
    count = c * (cv // heads) + c + cv
    numbers = {"C": c, "CV": cv, "N": n, "HEADS": heads, "BANDS": bands, "NORMALIZE": r.choice([0, 1]), "TEMPERED": int(tempered),
               "SOFTMAX": r.choice([0, 1, 1]), **extents("I", size), **extents("", more)}
    layouts = {"QUERY": of_q, "DQ": of_q, "KEY": of_k, "DK": of_k, "VALUE": of_v, "DV": of_v, "Y": of_y, "DY": of_y,
               "PRODUCTS": Shape(count, 1, [1, 1, 1], count), "T": of_t, "DT": of_t}
    both = lambda name: cases.both(name, numbers, layouts, {"TIMES": r.choice([1, 0.3])})
    given = {"scratch": "scratch", "q": "q", "k": "k", "v": "v", "products": "products", "t": "t" if tempered else None}
    table = (c // heads) * (cv // heads) + c // heads + cv // heads
    names = {"attention of %d and %d channels over channels" % (c, cv): "channel_attention", "its gradient": "channel_attention_grad"}
    first, second = names
    cases.function("%s in %d heads, %d x %s and %s, %d bands, normalized %d, softmax %d, temperature %d" % (
        first, heads, n, size, more, bands, numbers["NORMALIZE"], numbers["SOFTMAX"], tempered), [
        "Tensor q = test.numbers(%s), k = test.numbers(%s), v = test.numbers(%s), dy = test.numbers(%s);" % tuple(
            shape.cpp() for shape in (of_q, of_k, of_v, of_y)),
        "Tensor dq = test.output(%s), dk = test.output(%s), dv = test.output(%s), y = test.output(%s);" % tuple(
            shape.cpp() for shape in (of_q, of_k, of_v, of_y)),
        "Tensor t = test.numbers(%s), dt = test.output(%s);" % (of_t.cpp(), of_t.cpp()),
        "Tensor products = test.real_output(%d);" % (n * count),
        "Result scratch = test.result(%d);" % (n * heads * (bands + 2) * table),
        *cases.run(first, names[first], both(names[first]), {**given, "y": "y"}, {"scratch": "scratch"}, before=[n]),
        *cases.run(second, names[second], both(names[second]), {**given, "dq": "dq", "dk": "dk", "dv": "dv", "dy": "dy",
                                                               "dt": "dt" if tempered else None}, before=[n])])


def parameters(cases):
    count = 70000 if cases.wide else cases.random.randint(1, 600)
    shape = Shape(count, 1, [1, 1, 1], count)
    numbers = {"C": count, "N": 1, "PARAMETERS": 1, **extents("", [1, 1, 1])}
    add = cases.both("add", numbers, {"Y": shape, "A": shape, "B": shape})
    cases.function("gradients of %d numbers added" % count, [
        "Tensor a = test.reals(%d), b = test.reals(%d), y = test.gradient(%d);" % (count, count, count),
        *cases.run("add", "add", add, {"y": "y", "a": "a", "b": "b"}, rows=1, before=[1])])


def joining(cases):
    r = cases.random
    n, size = cases.samples(2), cases.size(6)
    ins = [cases.channels() for _ in range(3 if cases.wide else r.randint(1, 4))]
    by = r.randrange(len(ins))
    x = [cases.shape(c, n, size) for c in ins]
    y, part = cases.shape(sum(ins), n, size), cases.shape(ins[by], n, size)
    numbers = {"C": sum(ins), "N": n, "SEGMENTS": len(ins), **extents("", size)}
    concat = cases.both("concat", numbers, {"Y": y, "X": x})
    numbers.update({"C": ins[by], "C0": sum(ins[:by])})
    slice_ = cases.both("slice", numbers, {"Y": part, "X": y})
    lines = ["Tensor x%d = test.numbers(%s);" % (i, s.cpp()) for i, s in enumerate(x)]
    lines += [
        "Tensor y = test.output(%s), part = test.output(%s);" % (y.cpp(), part.cpp()),
        "Tensor same_y = test.output(%s), same_part = test.output(%s);" % (y.cpp(), part.cpp()),
        *cases.by_rows("concat", "concat", concat, size[0] * size[1],
                       {"y": "y", "x": ["x%d" % i for i in range(len(x))]}, before=[n]),
        *cases.by_rows("slice", "slice", slice_, size[0] * size[1], {"y": "part", "x": "y"}, before=[n])]
    cases.function("concat and slice of %s, %d x %s" % (ins, n, size), lines)


def casting(cases):
    c, n, size = cases.channels(), cases.random.randint(1, 3), cases.size()
    x, y, staged = cases.staged(c, n, size), cases.shape(c, n, size), cases.random.choice([1, 2])
    cast = cases.both("cast", {"C": c, "N": n, "X_STAGED": staged, **extents("", size)}, {"X": x, "Y": y})
    cases.function("cast of %d channels, stored as %d, %d x %s" % (c, x.block, n, size), [
        "Tensor x = test.%s(%s), y = test.output(%s);" % (("staged", "bytes")[staged - 1], x.cpp(), y.cpp()),
        "Tensor same_y = test.output(%s);" % y.cpp(),
        *cases.by_rows("cast", "cast", cast, size[0] * size[1], {"y": "y", "x": "x"}, before=[n]),
        "Tensor together = test.output(%s);" % y.cpp(), "test.poison(same_y);", "test.poison(together);", "test.more = 1;",
        cases.device_call("cast", cast[0], {"y": "same_y", "x": "x"}, (0, size[0] * size[1])), "test.more = 0;",
        cases.device_call("cast", cast[0], {"y": "together", "x": "x"}, (0, size[0] * size[1])),
        'test.same("cast with others", same_y, y);', 'test.same("cast, the last of several", together, y);'])


def argmax_bits(taps):
    return 2 if taps <= 4 else 4 if taps <= 16 else 8


def pooling(cases, variant):
    """Kernel, stride and padding of each axis: the usual ones; taps that take a byte; those of chance."""
    r = cases.random
    c, n = cases.channels(), cases.samples(2)
    size, axes = [1, cases.extent(3, 9), cases.extent(3, 9)], [(1, 1, 0)] + 2 * [(2, 2, 0)]
    if cases.wide:
        c = 17  # so that windows have that many vectors, too
    if variant == 1:
        size[0], axes = r.randint(3, 4), 3 * [(3, 2, 1)]
    elif variant == 0:
        size[1:] = [r.choice([258, 260, 262] if cases.wide else [4, 6, 8]) for _ in range(2)]
    else:
        if r.random() < 0.4:
            size[0], axes[0] = r.randint(3, 4), (2, 2, 0)
        for axis in (1, 2):
            k = r.choice([2, 2, 3])
            axes[axis] = (k, r.choice([2, 2, 1, 3]), r.randint(0, k // 2))
    dilation, beyond = r.choice([1, 1, 2]) if variant > 0 and min(size[1:]) > 4 else 1, r.randint(0, 1)
    gaps = [1, dilation, dilation]
    room = [s + 2 * p - (k - 1) * l - 1 for s, (k, st, p), l in zip(size, axes, gaps)]
    out = [(room[i] + beyond * (st - 1)) // st for i, (_, st, _) in enumerate(axes)]
    out = [o + (o * st < s + p) for o, s, (_, st, p) in zip(out, size, axes)]
    x, y = cases.shape(c, n, size), cases.shape(c, n, out)
    numbers = {"C": c, "N": n, "ACCUMULATE": 0, "MASK": 0, "ARGMAX_BITS": 0, "SUM_BANDS": 0, "INSIDE": c % 2, **extents("I", size),
               **extents("", out)}
    for i, axis in enumerate("DHW"):
        numbers.update(dict(zip(("K" + axis, "S" + axis, "P" + axis, "L" + axis), (*axes[i], gaps[i]))))
    bits = argmax_bits(axes[0][0] * axes[1][0] * axes[2][0])
    pool = cases.both("max_pool", numbers, {"X": x, "Y": y, "ARGMAX": y})
    keeping = cases.cuda.add("max_pool", {**numbers, "ARGMAX_BITS": bits}, {"X": x, "Y": y, "ARGMAX": y})
    layouts = {"DX": x, "X": x, "DY": y, "A": x, "Y": y, "ARGMAX": y}
    grad = cases.both("max_pool_grad", numbers, layouts)
    fused = cases.both("max_pool_grad", {**numbers, "ACCUMULATE": 1, "MASK": 1}, layouts)
    added = cases.both("max_pool_grad", {**numbers, "ACCUMULATE": 1}, layouts)
    masked = cases.both("max_pool_grad", {**numbers, "MASK": 1}, layouts)
    told = [cases.cuda.add("max_pool_grad", {**numbers, "ARGMAX_BITS": bits, **variant}, layouts)
            for variant in ({}, {"ACCUMULATE": 1}, {"MASK": 1})]
    cells = axes == [(1, 1, 0), (2, 2, 0), (2, 2, 0)] and dilation == 1 and size == [out[0], 2 * out[1], 2 * out[2]]
    marks = {**numbers, "ARGMAX_BITS": 8, "ACCUMULATE": 1, "MASK": 1}
    average = cases.both("avg_pool", numbers, {"X": x, "Y": y})
    average_grad = cases.both("avg_pool_grad", numbers, {"DX": x, "DY": y})
    rows = size[0] * size[1]
    gradient = lambda a, dx="dx": {"dx": dx, "x": "x", "dy": "dy", "a": a}
    told_by = lambda a, y, dx="same_dx": {"dx": dx, "sums": None, "x": None, "dy": "dy", "a": a, "y": y, "argmax": "argmax"}
    no_argmax = {"sums": None, "y": None, "argmax": None}
    with_marks = [] if not cells else [
        "const Device marks(%d);" % (n * out[0] * out[1] * out[2] * y.block),
        *cases.parts("max_pool", cases.cuda.add("max_pool", marks, {"X": x, "Y": y, "ARGMAX": y}), out[0] * out[1],
                     {"y": "same_y", "argmax": "marks", "x": "x"}),
        "test.same(\"max_pool that keeps marks\", same_y, y);"]
    by_marks = [] if not cells else [
        *cases.parts("max_pool_grad", cases.cuda.add("max_pool_grad", marks, layouts), rows,
                     {"dx": "same_dx", "sums": None, "x": None, "dy": "dy", "a": "a", "y": None, "argmax": "marks"}, None),
        "test.same(\"max_pool_grad by marks, added and masked\", same_dx, dx);",
        "Tensor sums = test.real_output(%d);" % (3 * x.block),
        cases.device_call("max_pool_grad", cases.cuda.add("max_pool_grad", {**numbers, "ACCUMULATE": 1, "MASK": 1, "SUM_BANDS": 3}, layouts),
                          {"dx": "same_dx", "sums": "sums", "x": "x", "dy": "dy", "a": "a", "y": None, "argmax": None}, (0, rows)),
        "test.same(\"max_pool_grad that sums\", same_dx, dx);",
        "test.sum_cells(sums, dx, 3);", "test.compare(\"max_pool_grad, sums\", sums);"]
    pooled = lambda what, kernels, a: cases.by_rows(what, "max_pool_grad", kernels, rows, gradient(a), no_argmax, [n])
    parts = lambda kernel, given, cuts=None: cases.parts("max_pool_grad", kernel, rows, given, cuts)
    cases.function("pools of %d channels, %d x %s to %s, %s" % (c, n, size, out, axes), [
        "const Shape in = %s, out = %s;" % (x.cpp(), y.cpp()),
        "Tensor x = test.coarse(in, true), y = test.output(out), dy = test.numbers(out), dx = test.output(in);",
        "Tensor same_y = test.output(out), same_dx = test.output(in);",
        "const Device argmax(%d);" % (n * out[0] * out[1] * out[2] * y.block * bits // 8),
        *cases.by_rows("max_pool", "max_pool", pool, out[0] * out[1], {"y": "y", "x": "x"}, {"argmax": None}, [n]),
        *cases.parts("max_pool", keeping, out[0] * out[1], {"y": "same_y", "argmax": "argmax", "x": "x"}),
        "test.same(\"max_pool that keeps the argmax\", same_y, y);",
        *with_marks,
        *pooled("max_pool_grad", grad, None),
        *parts(told[0], told_by(None, None)),
        "test.same(\"max_pool_grad by argmax\", same_dx, dx);",
        *pooled("max_pool_grad, masked", masked, None),
        *parts(told[2], told_by(None, "y")),
        "test.same(\"max_pool_grad by argmax, masked\", same_dx, dx);",
        *cases.by_rows("avg_pool", "avg_pool", average, out[0] * out[1], {"y": "y", "x": "x"}, before=[n]),
        *cases.by_rows("avg_pool_grad", "avg_pool_grad", average_grad, rows, {"dx": "dx", "dy": "dy"}, before=[n]),
        "Tensor a = test.numbers(in), b = test.numbers(in);",
        *pooled("max_pool_grad, added", added, "a"),
        *parts(told[1], told_by("a", None)),
        "test.same(\"max_pool_grad by argmax, added\", same_dx, dx);",
        cases.reference_call("max_pool_grad", added[1], gradient("b", "b"), [n, "{0, %d}" % rows]),
        *parts(told[1], told_by("b", None, "b"), (1, 2)),
        "test.compare(\"max_pool_grad by argmax, added, in place\", b);",
        *pooled("max_pool_grad, added and masked", fused, "a"),
        *by_marks])


def resizing_long_rows(cases):
    """Rows of more vectors than a block of resize_grad adds up at a time."""
    resizing(cases, 3 * cases.lanes, [1, 2, cases.random.randint(350, 450)], ("linear", "nearest", "pad"))


def resizing(cases, c=None, size=None, ways=("nearest", "linear", "corners", "pad", "repeat")):
    """What the nearest point is, or those around it; what is cropped or padded; and the gradients."""
    r = cases.random
    c, n, size = c or cases.channels(), r.randint(1, 2), size or cases.size()
    for how in ways:
        axes, out = resized_axes(cases, how, size)
        while not cases.fits(c, n, out):
            axes, out = resized_axes(cases, how, size)
        x, y = cases.shape(c, n, size), cases.shape(c, n, out)
        numbers = {"C": c, "N": n, "LINEAR": int(how in ("linear", "corners")), "ZERO": int(how == "pad"),
                   **extents("I", size), **extents("", out)}
        for i, axis in enumerate("DHW"):
            numbers.update(dict(zip(("STEP_" + axis, "OFFSET_" + axis, "UNIT_" + axis), axes[i][1:])))
        forward = cases.both("resize", numbers, {"X": x, "Y": y})
        backward = cases.both("resize_grad", numbers, {"DX": x, "DY": y})
        cases.function("%s: %d channels, %d x %s to %s, %s" % (how, c, n, size, out, axes), [
            "const Shape in = %s, out = %s;" % (x.cpp(), y.cpp()),
            "Tensor x = test.numbers(in), y = test.output(out), dy = test.numbers(out), dx = test.output(in);",
            "Tensor same_y = test.output(out), same_dx = test.output(in);",
            *cases.by_rows("resize", ("match", "resize")[how in ("nearest", "linear", "corners")], forward, out[0] * out[1],
                           {"y": "y", "x": "x"}, before=[n]),
            *cases.by_rows("resize_grad", "resize_grad", backward, size[0] * size[1], {"dx": "dx", "dy": "dy"}, before=[n])])


def resized_axes(cases, how, size):
    """What resized_axis() draws for each axis, and the extents afterwards."""
    axes = [resized_axis(cases.random, how, extent) for extent in size]
    if size[0] == 1:
        axes[0] = (1, 1, 0, 1)
    return axes, [axis[0] for axis in axes]


def resized_axis(r, how, extent):
    """Extent afterwards, step, offset, unit."""
    if how in ("pad", "repeat"):
        front = r.randint(-min(2, extent - 1), 3)
        return max(1, extent + front + r.randint(0, 3)), 1, -front, 1
    out = r.choice([extent, 2 * extent, r.randint(1, 2 * extent)])
    if how == "corners":
        return out, extent - 1 or 1, 0, out if extent == 1 else out - 1 or 1
    return out, 2 * extent, extent if how == "nearest" else extent - out, 2 * out


def across(cases):
    """Products with smaller factors; what sees all channels of a point, or all points of a part of the image."""
    r = cases.random
    c, n, size = cases.channels(), r.randint(1, 2), cases.size()
    parts, cut = [r.randint(1, min(s, 9)) for s in size], max(1, c - 2)
    whole, one, map_ = cases.shape(c, n, size), cases.shape(c, n, [1, 1, 1]), cases.shape(1, n, size)
    pooled, part = cases.shape(c, n, parts), cases.shape(cut, n, size)
    shapes = {"x": whole, "z": whole, "y": whole, "one": one, "map": map_, "pooled": pooled, "part": part}
    numbers = {"C": c, "N": n, "CB": c, **extents("", size), **extents("B", size)}
    reals = {"TIMES": -1.5, "TERM": 0.25}
    lines = []
    for name, shape in shapes.items():
        lines += ["const Shape shape_%s = %s;" % (name, shape.cpp()), "Tensor %s = test.%s(shape_%s);" % (
            name, "coarse" if name == "x" else "numbers", name)]
        lines += ["Tensor out_%s = test.output(shape_%s), same_out_%s = test.output(shape_%s);" % (4 * (name,))]

    def check(operator, output, inputs, layouts, more=None, rows=size[0] * size[1], arrays=None):
        """INPUTS: operands by name; LAYOUTS: for each layout the name of a tensor."""
        kernels = cases.both(operator, {**numbers, **(more or {})}, {k: shapes[v] for k, v in layouts.items()}, reals, arrays)
        first = cases.rows.row[operator]["operands"][0]["name"]
        given = {first: "out_" + output, **inputs}
        if rows:
            lines.extend(cases.by_rows(operator, operator, kernels, rows, given, before=[n]))
        else:
            lines.extend(cases.run(operator, operator, kernels, given, before=[n], tolerance={first: [8]}))

    for factor, channels, of in (("one", c, [1, 1, 1]), ("map", 1, size), ("z", c, size)):
        check("multiply", "y", {"a": "x", "b": factor}, {"Y": "y", "A": "x", "B": factor},
              {"CB": channels, **extents("B", of)})
    start, rate = r.randint(0, 3), r.choice([0.1, 0.5])
    lines.append("static const int32_t all[3] = {};\n    test.control(%d, &all, 0, %d);" % (n, start))
    for operator in ("dropout", "dropout_channels"):
        told = {**numbers, "NUMBER": r.randint(0, 9), "BY_CHANNEL": int(operator == "dropout_channels")}
        kernels = cases.both("dropout", told, {"Y": whole, "X": whole}, {"RATE": rate})
        lines += cases.by_rows(operator, operator, kernels, size[0] * size[1], {"y": "out_y", "x": "x"},
                               before=[n, start, "test.at().control->step", "test.at().control->seed"])
    check("subtract", "y", {"a": "x", "b": "z"}, {"Y": "y", "A": "x", "B": "z"})
    check("affine", "y", {"x": "x"}, {"Y": "y", "X": "x"})
    check("map_factor_grad", "map", {"dy": "z", "a": "x"}, {"DB": "map", "DY": "z", "A": "x"})
    bands = cases.bands(1, 2, 200)
    lines.append("Result scratch = test.result(%d);" % (n * bands * 2 * shapes["x"].block))
    check("channel_factor_grad", "one", {"scratch": "scratch", "dy": "z", "a": "x"}, {"DB": "one", "DY": "z", "A": "x"}, {"BANDS": bands}, rows=None)
    check("channel_mean", "map", {"x": "x"}, {"Y": "map", "X": "x"})
    check("channel_mean_grad", "y", {"dy": "map"}, {"DX": "y", "DY": "map"})
    check("channel_max", "map", {"x": "x"}, {"Y": "map", "X": "x"})
    check("channel_max_grad", "y", {"x": "x", "dy": "map"}, {"DX": "y", "X": "x", "DY": "map"})
    fold, small = (2, [1, 130, 131]) if cases.wide else (r.choice([1, 2, 3]), [1, r.randint(1, 4), r.randint(1, 4)])
    large = [1, small[1] * fold, small[2] * fold]
    shapes.update(few=cases.shape(c, n, large), many=cases.shape(c * fold * fold, n, small))
    for name in ("few", "many"):
        lines += ["const Shape shape_%s = %s;" % (name, shapes[name].cpp()), "Tensor %s = test.numbers(shape_%s);" % (name, name)]
        lines += ["Tensor out_%s = test.output(shape_%s), same_out_%s = test.output(shape_%s);" % (4 * (name,))]
    for operator, output, x, channels, extent in (("pixel_shuffle", "few", "many", c, large),
                                                  ("pixel_unshuffle", "many", "few", c * fold * fold, small)):
        check(operator, output, {"x": x}, {"Y": output, "X": x}, {"C": channels, "FOLD": fold, **extents("", extent)},
              rows=extent[1])
    for flat in (True, False):
        x, y, split = rearranging.rearranged(r, 40000 if cases.wide else 1000, flat)
        suffix = "flat" if flat else "deep"
        shapes.update({name + suffix: cases.shape(shape[0], n, shape[1:]) for name, shape in (("to_", y), ("from_", x))})
        for name in ("to_" + suffix, "from_" + suffix):
            lines += ["const Shape shape_%s = %s;" % (name, shapes[name].cpp()), "Tensor %s = test.numbers(shape_%s);" % (name, name),
                      "Tensor out_%s = test.output(shape_%s), same_out_%s = test.output(shape_%s);" % (4 * (name,))]
        check("rearrange", "to_" + suffix, {"x": "from_" + suffix}, {"Y": "to_" + suffix, "X": "from_" + suffix},
              {"C": y[0], "SPLITS": len(split) // 5, **extents("", y[1:]), **extents("I", x[1:])},
              arrays={"SPLIT": ("long", list(map(str, split)))}, rows=y[1] * y[2])
    pools = {**extents("I", size), **extents("", parts)}
    check("adaptive_avg_pool", "pooled", {"x": "x"}, {"Y": "pooled", "X": "x"}, pools, rows=None)
    check("adaptive_avg_pool_grad", "y", {"dy": "pooled"}, {"DX": "y", "DY": "pooled"}, pools, rows=None)
    for adds in (0, 1):
        check("slice_grad", "y", {"dy": "part", "a": "z" if adds else None}, {"DX": "y", "DY": "part", "A": "z"},
              {"C": cut, "C0": min(2, c - cut), "ACCUMULATE": adds})
    cases.function("across %d channels, %d x %s, %s parts" % (c, n, size, parts), lines)
# ---- a weight for each channel, or one for all; what is normalised across channels; maxima brought back ----


def scaling(cases):
    r = cases.random
    c, n, size = cases.channels(), cases.samples(3), cases.size()
    shape, rows, count = cases.shape(c, n, size), size[0] * size[1], r.choice([1, c])
    bands = cases.bands(1, 2, 70)
    numbers = {"C": c, "N": n, "SHARED": int(count < c), "BIAS": 0, "BELOW_ZERO": 0, "BANDS": bands, "ACCUMULATE": r.randint(0, 1), **extents("", size)}
    both = lambda name, **more: cases.both(name, {**numbers, **more}, {k: shape for k in ("X", "Y", "DX", "DY")}, {"EPSILON": 0.01})
    cancels = {"dw": [8]}  # of either sign, so that the sum may be far smaller than its terms
    lines = ["const Shape shape = %s;" % shape.cpp(),
             "Tensor x = test.numbers(shape), dy = test.numbers(shape), y = test.output(shape), same_y = test.output(shape);",
             "Tensor w = test.reals(%d), b = test.reals(%d), dw = test.gradient(%d), db = test.gradient(%d);" % (count, c, count, c),
             "Result scratch = test.result(%d);" % (n * bands * 2 * shape.block),
             "static const int32_t valid[][3] = {%s};" % ", ".join(["{1, 1, 1}"] * n), "test.control(%d, valid, %d, 0);" % (n, n),
             *cases.by_rows("prelu", "prelu", both("scale", BELOW_ZERO=1), rows, {"y": "y", "x": "x", "w": "w", "b": None}, before=[n]),
             *cases.by_rows("prelu_grad", "prelu_grad", both("prelu_grad"), rows, {"dx": "y", "x": "x", "dy": "dy", "w": "w"},
                            before=[n]),
             *cases.by_rows("layer_norm", "layer_norm", both("layer_norm"), rows, {"y": "y", "x": "x"}, before=[n]),
             *cases.by_rows("layer_norm_grad", "layer_norm_grad", both("layer_norm_grad"), rows,
                            {"dx": "y", "x": "x", "dy": "dy"}, before=[n]),
             *cases.run("prelu_wgrad", "prelu_wgrad", both("scale_wgrad", BELOW_ZERO=1),
                        {"dw": "dw", "db": None, "scratch": "scratch", "x": "x", "dy": "dy"}, adds=numbers["ACCUMULATE"], before=[n],
                        tolerance=cancels)]
    biased = int(count == c)
    lines += [*cases.by_rows("scale", "scale", both("scale", BIAS=biased), rows,
                             {"y": "y", "x": "x", "w": "w", "b": "b" if biased else None}, before=[n]),
              *cases.run("scale_wgrad", "scale_wgrad", both("scale_wgrad", BIAS=biased),
                         {"dw": "dw" if not biased or r.random() < 0.7 else None, "db": "db" if biased else None, "scratch": "scratch",
                          "x": "x", "dy": "dy"}, adds=numbers["ACCUMULATE"], before=[n], tolerance=cancels)]
    cases.function("scales of %d channels by %d, %d x %s" % (c, count, n, size), lines)


def grouping(cases):
    """Groups that begin with a vector and others, and points as a group: of channels, lengths below epsilon, too."""
    r = cases.random
    groups = r.choice([1, 1, 2, 3])
    c, n, size = groups * r.choice([1, 3] if cases.wide else [1, 2, 3, 5, 8, 16]), cases.samples(3), cases.size()
    shape, rows = cases.shape(c, n, size), size[0] * size[1]
    numbers = {"C": c, "N": n, "GROUPS": groups, "RMS": r.randint(0, 1), "PARAMETERS": 0, **extents("", size)}
    epsilon = r.choice([1e-12, 0.01, 0.9])
    both = lambda name: cases.both(name, numbers, {k: shape for k in ("X", "Y", "DX", "DY")}, {"EPSILON": epsilon})
    forward, by_y = {"y": "y", "x": "x"}, {"dx": "y", "y": "x", "dy": "dy"}
    check = lambda name, given: cases.by_rows(name, name, both(name), rows, given, before=[n])
    cases.function("%d groups of %d channels, %d x %s, by the mean %d, epsilon %g" % (groups, c, n, size, numbers["RMS"], epsilon), [
        "const Shape shape = %s;" % shape.cpp(),
        "Tensor x = test.numbers(shape), dy = test.numbers(shape), y = test.output(shape), same_y = test.output(shape);",
        *check("softmax", forward), *check("softmax_grad", by_y), *check("normalize", forward),
        *check("normalize_grad", {"dx": "y", "x": "x", "dy": "dy"}),
        *cases.run("point_softmax", "point_softmax", both("point_softmax"), forward, before=[n]),
        *cases.run("point_softmax_grad", "point_softmax_grad", both("point_softmax_grad"), by_y, before=[n])])


def unpooling(cases):
    """Where the maxima were, the kernel is told or finds again."""
    r = cases.random
    c, n, size = cases.channels(), cases.samples(2), [1 if cases.wide else r.choice([1, 4]), cases.extent(3, 9), cases.extent(3, 9)]
    c = 17 if cases.wide else c
    axes = [(2, 2) if size[0] > 1 else (1, 1)] + [r.choice([(2, 2), (2, 3), (3, 3)]) for _ in range(2)]
    out = [(s - k) // stride + 1 for s, (k, stride) in zip(size, axes)]
    like, x = cases.shape(c, n, size), cases.shape(c, n, out)
    numbers = {"C": c, "N": n, "ACCUMULATE": 0, "MASK": 0, "ARGMAX_BITS": 0, "SUM_BANDS": 0, **extents("I", size), **extents("", out)}
    for axis, (k, stride) in zip("DHW", axes):
        numbers.update({"K" + axis: k, "S" + axis: stride, "P" + axis: 0, "L" + axis: 1})
    bits = argmax_bits(axes[0][0] * axes[1][0] * axes[2][0])
    layouts = {"DX": like, "X": like, "DY": x, "A": like, "Y": x, "ARGMAX": x}
    unpool, backward = cases.both("max_pool_grad", numbers, layouts), {"DX": x, "X": like, "DY": like, "ARGMAX": x}
    grad, told = cases.both("max_unpool_grad", numbers, backward), cases.cuda.add(
        "max_unpool_grad", {**numbers, "ARGMAX_BITS": bits}, backward)
    keeping = cases.cuda.add("max_pool", {**numbers, "ARGMAX_BITS": bits}, {"X": like, "Y": x, "ARGMAX": x})
    rows, pooled = size[0] * size[1], out[0] * out[1]
    cases.function("unpooling of %d channels, %d x %s to %s, %s" % (c, n, size, out, axes), [
        "const Shape in = %s, out = %s;" % (like.cpp(), x.cpp()),
        "Tensor like = test.coarse(in, true), x = test.numbers(out), y = test.output(in), same_y = test.output(in);",
        "Tensor dy = test.numbers(in), dx = test.output(out), same_dx = test.output(out), maxima = test.output(out);",
        "const Device argmax(%d);" % (n * out[0] * out[1] * out[2] * x.block * bits // 8),
        *cases.by_rows("max_unpool", "max_unpool", unpool, rows, {"y": "y", "like": "like", "x": "x", "a": None},
                       {"sums": None, "pooled": None, "argmax": None}, [n]),
        *cases.by_rows("max_unpool_grad", "max_unpool_grad", grad, pooled, {"dx": "dx", "like": "like", "dy": "dy"},
                       {"argmax": None}, [n]),
        cases.device_call("max_pool", keeping, {"y": "maxima", "x": "like", "argmax": "argmax"}, (0, pooled)),
        cases.device_call("max_unpool_grad", told, {"dx": "same_dx", "like": None, "dy": "dy", "argmax": "argmax"}, (0, pooled)),
        'test.same("max_unpool_grad by argmax", same_dx, dx);'])


# ---- normalisation ----


def normalising(cases, operator):
    """Of a batch, not all samples count."""
    r = cases.random
    c, n, size, batch = cases.channels(), r.randint(2, 3), cases.size(), int(operator == "batch_norm")
    groups = r.choice([g for g in range(1, c + 1) if c % g == 0]) if operator == "group_norm" else c
    affine = int(operator != "instance_norm" or r.random() < 0.5)
    shape, rows = cases.shape(c, n, size), size[0] * size[1]
    numbers = {"C": c, "N": n, "GROUPS": groups, "BATCH": batch, "AFFINE": affine, "BANDS": 3 if cases.wide else r.randint(1, r.choice([rows, rows * size[2]])), "CO": c,
               "POINTS": size[0] * size[1] * size[2], "ACCUMULATE": r.randint(0, 1), "LEAKY": r.randint(0, 1), "GROUP": 0, "SYNC": 0,
               **extents("", size)}
    learnt = r.choice([0, 1, c]) if numbers["LEAKY"] else 0  # slopes below zero
    numbers.update({"LEARNT": int(learnt > 0), "SHARED": int(0 < learnt < c)})
    reals = {"EPSILON": 1e-3, "MOMENTUM": 0.2, "SLOPE": r.choice([0, 0.3])}
    vector, double = Shape(groups, 1, [1, 1, 1], groups), Shape(2 * groups, 1, [1, 1, 1], 2 * groups)
    layouts = {"X": shape, "Y": shape, "DX": shape, "DY": shape, "MEAN": vector, "SUMS": double}
    both = lambda name: cases.both(name, numbers, layouts, reals)
    sets, valid = 1 if batch else n, n - batch
    start = r.choice([0, n]) if batch else 0
    w, b, dw, db = [name if affine else None for name in ("w", "b", "dw", "db")]
    given = {"x": "x", "mean": "mean", "variance": "variance", "w": w, "slopes": "slopes" if learnt else None}
    prefix = "batch" if batch else "norm"
    shift = b if numbers["LEAKY"] else None
    dgrad, backward = both("norm_dgrad"), {**given, "dx": "y", "dy": "dy", "sums": "sums", "b": shift}
    lines = ["const Shape shape = %s;" % shape.cpp(),
             "static const int32_t valid[][3] = {%s};" % ", ".join(["{1, 1, 1}"] * (start + n)),
             "Tensor x = test.numbers(shape), dy = test.numbers(shape), y = test.output(shape), same_y = test.output(shape);",
             "Tensor mean = test.reals(%d), variance = test.reals(%d), sums = test.reals(%d);" % (
                 sets * groups, sets * groups, 2 * sets * groups),
             "Tensor w = test.reals(%d), b = test.reals(%d), dw = test.gradient(%d), db = test.gradient(%d);" % (c, c, c, c),
             *(["Tensor slopes = test.reals(%d), dslopes = test.gradient(%d);" % (learnt, learnt)] if learnt else []),
             "for (long i = 0; i < variance.count(); i++)",
             "    variance.set(i, 0.1f + fabsf(variance.get(i)));",
             "Result scratch = test.result(%d);" % (n * numbers["BANDS"] * (3 if learnt else 2) * shape.block),
             "test.control(%d, valid, %d, %d);" % (start + n, start + n, start),
             *cases.by_rows(operator, operator, both("norm"), rows, {**given, "y": "y", "b": b}, before=[n]),
             *cases.by_rows("norm_dgrad", "norm_dgrad", dgrad, rows, backward, before=[n]),
             "test.control(%d, valid, %d, %d);" % (start + valid, start + n, start),
             *cases.run("norm_dgrad of fewer", "norm_dgrad", dgrad, backward, rows=rows, before=[valid]),
             *cases.run("wgrad", "batch_norm_wgrad" if batch else "norm_wgrad", both("norm_wgrad"),
                        {**given, "dw": dw, "db": db, "scratch": "scratch", "sums": "sums",
                         "dslopes": r.choice(["dslopes", "dslopes", None]) if learnt else None, "dy": "dy", "b": shift},
                        adds=numbers["ACCUMULATE"], before=[valid]),
             *cases.run("statistics", prefix + "_statistics", both("norm_statistics"),
                        {"mean": "mean", "variance": "variance", "scratch": "scratch", "x": "x"}, before=[valid])]
    if batch:
        lines += ["Tensor running_mean = test.reals(%d), running_var = test.reals(%d);" % (c, c),
                  *cases.run("norm_track", "norm_track", both("norm_track"),
                             {"running_mean": "running_mean", "running_var": "running_var", "mean": "mean",
                              "variance": "variance"}, before=[valid]),
                  *cases.run("norm_track of all", "norm_track", cases.both("norm_track", {**numbers, "SYNC": 1, "GROUP": 1}, layouts, reals),
                             {"running_mean": "running_mean", "running_var": "running_var", "mean": "mean",
                              "variance": "variance"}, before=[start + valid])]
    cases.function("%s of %d channels in %d groups, %d x %s, %s" % (operator, c, groups, n, size, numbers), lines)


def merging(cases, variances):
    """Of numbers of each sample those of all, in groups of which the last ones are short or empty."""
    r = cases.random
    c, group, ranks = 20000 if cases.wide else r.randint(1, 40), r.randint(1, 3), r.choice([2, 4, 8])
    n = r.randint(group + 1, group * ranks)
    kernels = cases.both("norm_merge", {"NUMBERS": c, "VARIANCES": variances, "GROUP": group, "RANKS": ranks},
                         {"MEANS": Shape(c, n, [1, 1, 1], padded(c, 4))})
    cases.function("%d numbers of %d samples merged, %d groups of %d" % (c, n, ranks, group), [
        "static const int32_t all[3] = {};",
        "Tensor means = test.reals(%d), variances = test.reals(%d);" % (n * padded(c, 4), n * padded(c, 4)),
        "Tensor mean = test.real_output(%d), variance = test.real_output(%d);" % (c, c),
        "Result groups = test.result(%d);" % (ranks * c * 2),
        "for (long i = 0; i < variances.count(); i++)",
        "    variances.set(i, 0.1f + fabsf(variances.get(i)));",
        "test.control(%d, &all, 1, 0, %d);" % (n, n),
        *cases.run("norm_merge", "norm_merge", kernels,
                   {"mean": "mean", "variance": "variance" if variances else None, "scratch": "groups", "means": "means",
                    "variances": "variances" if variances else None}, before=["NULL", "NULL", "0", str(n), str(n)])])


def folding(cases):
    r = cases.random
    co, inner, outer = (300, 9, 30) if cases.wide else (r.randint(1, 20), r.randint(1, 9), r.randint(1, 4))
    fold(cases, {"COUNT": co * inner * outer, "CO": co, "INNER": inner, "AFFINE": 1, "BIAS": r.randint(0, 1)})
    fold(cases, {"COUNT": co, "CO": co, "INNER": 1, "AFFINE": 0, "BIAS": 0})


def fold(cases, numbers):
    """Into weights, or, without AFFINE, a factor and a summand for each channel."""
    names = ("b", "mean", "gamma", "beta", "variance")
    given = lambda constant, *names: {name: name if numbers[constant] else None for name in names}
    cases.function("weights folded, %s" % numbers, [
        "Tensor w = test.reals(%d), folded = test.real_output(%d), shift = test.real_output(%d);" % (
            numbers["COUNT"], numbers["COUNT"], numbers["CO"]),
        "Tensor %s;" % ", ".join("%s = test.reals(%d)" % (name, numbers["CO"]) for name in names),
        "for (long i = 0; i < variance.count(); i++)",
        "    variance.set(i, 0.1f + fabsf(variance.get(i)));",
        *cases.run("norm_fold", "norm_fold", cases.both("norm_fold", numbers, {}, {"EPSILON": 1e-3}),
                   {"folded": "folded", "shift": "shift", **given("AFFINE", "w"), **given("BIAS", "b"), "mean": "mean",
                    "variance": "variance", **given("AFFINE", "gamma", "beta")})])


# ---- losses ----


def losses(cases, some_count):
    """SOME_COUNT: not all samples of the batch count; sums come row by row."""
    r = cases.random
    c, size, n = r.choice([1, 2, 3, 5, 16, 17]), cases.size(14), r.randint(1, 4)
    n = cases.fewer(c, n, size)
    start = r.choice([0, 0, 2])
    valid = start + r.randint(0 if start else 1, n)  # of the whole batch
    if some_count:
        n, valid = 3, start + 1
        size[1] += 2  # so that each part has rows
    staged = {"P": r.choice([0, 0, 1, 2]), "T": r.choice([0, 1, 2])}
    shapes = {k: cases.staged(c, n, size) if staged[k] else cases.shape(c, n, size) for k in "PT"}
    rows = size[0] * size[1]
    dp, bands = cases.shape(c, n, size), rows if some_count else cases.bands(1, 2, 5, rows)
    middle = rows // 2
    parts = [(0, middle), (middle, middle), (middle, rows)] if bands == rows else None
    numbers = {"C": c, "N": n, "BANDS": bands, "ACCUMULATE": int(r.random() < 0.5), "P_STAGED": staged["P"],
               "T_STAGED": staged["T"], "SCALED": int(r.random() < 0.7), **extents("", size)}
    layouts = {**shapes, "DP": dp}
    some = [[r.randint(1, s) for s in size] for _ in range(start + n)]
    here = min(max(valid - start, 0), n)
    lines = ["static const int32_t valid[][3] = {%s};" % ", ".join("{%d, %d, %d}" % tuple(v) for v in some),
             "test.control(%d, valid, %d, %d);" % (valid, start + n, start)]
    for k in "PT":
        lines.append("Tensor %s = test.%s(%s);" % (k.lower(), ("numbers", "staged", "bytes")[staged[k]], shapes[k].cpp()))
    lines += ["Result result = test.result(), scratch = test.result(%d);" % (n * max(bands, size[0] * size[1]))]
    reals = {"WEIGHT": 0.7, "EPSILON": 0.25, "BETA": 0.75}
    for name in ("mse", "l1", "charbonnier", "smooth_l1", "psnr"):
        measured = {cases.rows.row[name]["operands"][0]["name"]: "result", "scratch": "scratch", "prediction": "p", "truth": "t"}
        lines += cases.run(name, name, cases.both(name, numbers, layouts, reals), measured, rows=rows, parts=parts,
                           adds=numbers["ACCUMULATE"], before=[here], behind=["valid + %d" % start])
    lines.append("Tensor dp = test.output(%s), same_dp = test.output(%s);" % (dp.cpp(), dp.cpp()))
    lines.append("Result scale = test.result(4);")
    some = [(name, cases.cuda.add(name, {**numbers, "ACCUMULATE": 0}, layouts, reals)) for name in ("mse", "psnr", "smooth_l1")]
    for name, kernel in some:  # one by one, and in one launch, as a section of a plan
        lines += ["Result %s_alone = test.result(), %s_parts = test.result(%d);" % (name, name, n * max(bands, rows))]
        lines.append(cases.device_call(name, kernel, {cases.rows.row[name]["operands"][0]["name"]: name + "_alone", "scratch": name + "_parts",
                                                      "prediction": "p", "truth": "t"}, (0, rows)))
    for k, (name, kernel) in enumerate(some):
        lines += ["Result %s_together = test.result();" % name, "test.more = %d;" % (k < len(some) - 1)]
        lines.append(cases.device_call(name, kernel, {cases.rows.row[name]["operands"][0]["name"]: name + "_together", "scratch": name + "_parts",
                                                      "prediction": "p", "truth": "t"}, (0, rows)))
    lines += ['test.same("%s with others", %s_together, %s_alone);' % (name, name, name) for name, _ in some]
    sum_bands = cases.bands(1, 3)
    lines.append("Tensor sums = test.real_output(%d);" % (sum_bands * dp.block))
    slopes = {"p": "p", "t": "t", "scale": "scale" if numbers["SCALED"] else None}

    def gradient(name, given):
        """By rows, and of all rows, with sums."""
        numbers["SUM_BANDS"] = 0
        found = cases.by_rows(name, name, cases.both(name, numbers, layouts, reals), rows, {"dp": "dp", **given}, {"sums": None}, [here, valid])
        summing = cases.cuda.add(name, {**numbers, "SUM_BANDS": sum_bands}, layouts, reals)
        return found + ["test.poison(sums);", cases.device_call(name, summing, {"dp": "same_dp", "sums": "sums", **given}, (0, rows)),
                        'test.same("%s that sums", same_dp, dp);' % name, "test.sum_bands(sums, dp, %d);" % sum_bands,
                        'test.compare("%s, sums", sums);' % name]

    for name in ("mse_grad", "l1_grad", "charbonnier_grad", "smooth_l1_grad"):
        lines += gradient(name, slopes)
    layouts["ERRORS"] = Shape(1, n, [1, 1, 1], 1)
    lines.append("Result errors = test.result(%d);" % n)
    lines += cases.run("psnr_loss", "psnr_loss", cases.both("psnr_loss", numbers, layouts), {
        "loss": "result", "errors": "errors", "scratch": "scratch", "prediction": "p", "truth": "t"}, adds=numbers["ACCUMULATE"],
        before=[here], behind=["valid + %d" % start])
    lines += gradient("psnr_loss_grad", {**slopes, "errors": "errors"})
    cases.function("losses over %d channels, %d of %d x %s from %d on, %d bands, %s" % (
        c, valid, n, size, start, bands, {k: v for k, v in numbers.items() if k.endswith("STAGED")}), lines)


def similarities(cases):
    """Windows of 11 x 11 points; a row longer than a block of threads is compared in parts."""
    r = cases.random
    c, size, n, start = r.choice([1, 2, 3, 5]), [1, cases.extent(11, 30), r.choice([11, 25, 300])], r.randint(1, 2), r.choice([0, 2])
    if cases.wide:
        c, n, size[2] = 1, 1, 263
    elif size[2] == 300:
        c, n, size[1] = 1, 1, 13
    valid, rows = start + r.randint(1, n), size[1]
    staged = {"P": r.choice([0, 0, 1]), "T": r.choice([0, 1, 2])}
    shapes = {k: cases.staged(c, n, size) if staged[k] else cases.shape(c, n, size) for k in "PT"}
    dp, here = cases.shape(c, n, size), min(valid - start, n)
    numbers = {"C": c, "N": n, "BANDS": rows, "ACCUMULATE": int(r.random() < 0.5), "P_STAGED": staged["P"], "T_STAGED": staged["T"],
               "SCALED": int(r.random() < 0.7), **extents("", size)}
    layouts, reals = {**shapes, "DP": dp}, {"WEIGHT": 0.7, "RANGE": r.choice([1, 255])}
    some = [[1, r.randint(9, size[1]), r.randint(9, size[2])] for _ in range(start + n)]
    middle = rows // 2
    parts = r.choice([None, [(0, middle), (middle, middle), (middle, rows)]])
    lines = ["static const int32_t valid[][3] = {%s};" % ", ".join("{%d, %d, %d}" % tuple(v) for v in some),
             "test.control(%d, valid, %d, %d);" % (valid, start + n, start)]
    for k in "PT":
        lines.append("Tensor %s = test.%s(%s);" % (k.lower(), ("numbers", "staged", "bytes")[staged[k]], shapes[k].cpp()))
    lines += ["Result result = test.result(), scratch = test.result(%d), scale = test.result(4);" % (n * rows)]
    for name, result in (("ssim_loss", "loss"), ("ssim", "ssim")):
        lines += cases.run(name, name, cases.both(name, numbers, layouts, reals), {
            result: "result", "scratch": "scratch", "prediction": "p", "truth": "t"}, rows=rows, parts=parts,
            adds=numbers["ACCUMULATE"], before=[here], behind=["valid + %d" % start])
    lines.append("Tensor dp = test.output(%s), same_dp = test.output(%s);" % (dp.cpp(), dp.cpp()))
    lines += cases.by_rows("ssim_loss_grad", "ssim_loss_grad", cases.both("ssim_loss_grad", numbers, layouts, reals), rows, {
        "dp": "dp", "p": "p", "t": "t", "scale": "scale" if numbers["SCALED"] else None}, before=[here, valid])
    cases.function("windows over %d channels, %d of %d x %s from %d on, %s" % (c, valid, n, size, start, staged), lines)


def class_losses(cases):
    """Cross entropy of a channel for each class, and of one channel for two classes."""
    r = cases.random
    c, size, n = cases.few(1, 2, 3, 5, 17), cases.size(9), r.randint(1, 3)
    start = r.choice([0, 2])
    valid, classes, rows = start + r.randint(1, n), max(c, 2), size[0] * size[1]
    x, t, bands = cases.shape(c, n, size), Shape(1, n, size, 1), cases.bands(1, 3, rows)
    middle = rows // 2
    parts = [(0, middle), (middle, middle), (middle, rows)] if bands == rows else None
    numbers = {"C": c, "N": n, "BANDS": bands, "ACCUMULATE": int(r.random() < 0.5), "SCALED": int(r.random() < 0.7),
               "CLASSES": classes, "IGNORE": r.choice([-1, 0]), "WEIGHTED": int(r.random() < 0.5), "COUNTED": 0, "MAPPED": int(r.random() < 0.5), "MAP_STAGED": r.choice([0, 1, 2]), **extents("", size)}
    reals, layouts = {"SMOOTHING": r.choice([0, 0.1]), "GAMMA": r.choice([0, 0, 0.5, 1, 2, 3.5]), "WEIGHT": 0.7}, {"X": x, "T": t, "DX": x}
    layouts["MAP"] = cases.staged(1, n, size) if numbers["MAP_STAGED"] else cases.shape(1, n, size)
    mapped = "m" if numbers["MAPPED"] else None
    weights = {"CLASS_WEIGHT": ("double", [str(0.5 + k / 4) for k in range(classes)])}
    some = [[r.randint(1, s) for s in size] for _ in range(start + n)]
    here = min(valid - start, n)
    lines = ["static const int32_t valid[][3] = {%s};" % ", ".join("{%d, %d, %d}" % tuple(v) for v in some),
             "test.control(%d, valid, %d, %d);" % (valid, start + n, start),
             "Tensor x = test.numbers(%s), dx = test.output(%s), same_dx = test.output(%s);" % (x.cpp(), x.cpp(), x.cpp()),
             "Tensor m = test.%s(%s);" % (("numbers", "staged", "bytes")[numbers["MAP_STAGED"]], layouts["MAP"].cpp()),
             "Labels t(%d, %d);" % (n * rows * size[2], classes),
             "Result result = test.result(), scratch = test.result(%d), scale = test.result(4);" % (n * max(bands, rows))]
    for name in ("cross_entropy", "cross_entropy_grad"):
        kernels = cases.both(name, numbers, layouts, reals, weights)
        if name == "cross_entropy":
            lines += cases.run(name, name, kernels, {"loss": "result", "scratch": "scratch", "logits": "x", "labels": "t", "map": mapped}, rows=rows,
                               parts=parts, adds=numbers["ACCUMULATE"], before=[here, valid], behind=["LABELLED", "valid + %d" % start],
                               tolerance=cases.by_exponents("loss"))
        else:
            lines += cases.by_rows(name, name, kernels, rows, {"dx": "dx", "x": "x", "labels": "t", "map": mapped, "scale": "scale" if numbers["SCALED"] else None},
                                   before=[here], behind=["LABELLED"])
    cases.function("losses over %d classes, %d channels, %d of %d x %s from %d on, %s" % (classes, c, valid, n, size, start, {
        k: numbers[k] for k in ("BANDS", "IGNORE", "WEIGHTED", "SCALED")}), lines)


def vocabulary(cases):
    """Numbers of few classes and of many, groups without a class; the gradient reads what the loss in front of it leaves."""
    r, n, start = cases.random, cases.samples(3), cases.random.choice([0, 2])
    c, classes = cases.few(2, 5, 17, 33), 3 if cases.wide else r.choice([2, 3, 23, 70, 600])
    size = cases.size() if cases.wide else [1, r.choice([1, 2]), r.randint(1, 12 if classes > 70 else 40)]
    size[0] = 1
    valid, points = start + (n if cases.wide else r.randint(1, n)), size[1] * size[2]
    x, t, here = cases.shape(c, n, size), cases.staged(1, n, size), min(valid - start, n)
    biased, wanted = r.choice(["b", None]), r.choice([("dx", "dw", "db"), ("dx", "dw", "db"), ("dx",), ("dw",)])
    numbers = {"C": c, "N": n, "ACCUMULATE": int(r.random() < 0.5), "SCALED": int(r.random() < 0.7), "CLASSES": classes, "COUNTED": 0,
               "LEARNT": 1, "RIGHT": 0, "BIAS": int(biased is not None), "T_STAGED": 1, "BY_INPUT": int("dx" in wanted), "BY_WEIGHT": int("dw" in wanted),
               "BY_BIAS": int("db" in wanted and biased is not None), **extents("", size)}
    layouts = {"X": x, "T": t, "DX": x, "LSE": Shape(points, 1, [1, 1, 1], points)}
    both = lambda name, **more: cases.both(name, {**numbers, **more}, layouts, {"WEIGHT": 0.7})
    loss, right, slope = both("vocabulary_loss"), both("vocabulary_loss", RIGHT=1, LEARNT=0), both("vocabulary_loss_grad")
    given = {"scratch": "scratch", "x": "x", "truth": "t", "lse": "lse", "w": "w", "b": biased}
    results = {"d" + name: "d" + name if numbers[told] else None for name, told in (("x", "BY_INPUT"), ("w", "BY_WEIGHT"), ("b", "BY_BIAS"))}
    cases.function("%d classes of %d channels, %d of %d x %s from %d on, %s" % (classes, c, valid, n, size, start, {
        k: numbers[k] for k in ("BIAS", "SCALED", "BY_INPUT", "BY_WEIGHT", "ACCUMULATE")}), [
        "static const int32_t all[%d][3] = {};" % (start + n), "test.control(%d, all, %d, %d);" % (valid, start + n, start),
        "Tensor x = test.numbers(%s), dx = test.output(%s), t = test.classes(%s, %d);" % (x.cpp(), x.cpp(), t.cpp(), classes),
        "Tensor w = test.weights(%d), b = test.weights(%d), lse = test.real_output(%d);" % (classes * c, classes, n * points),
        "Tensor dw = test.gradient(%d), db = test.gradient(%d);" % (classes * c, classes),
        "Result result = test.result(), scale = test.result(4), scratch = test.result(%d);" % (n * points * (classes + c + 36) + 8),
        *cases.run("vocabulary_loss", "vocabulary_loss", loss, {**given, "loss": "result"}, {"scratch": "scratch"}, adds=numbers["ACCUMULATE"],
                   before=[here, valid], behind=["LABELLED"], tolerance={"loss": ["1e-6"]}),
        *cases.run("vocabulary_accuracy", "vocabulary_accuracy", right, {**given, "lse": None, "loss": "result"}, {"scratch": "scratch"},
                   adds=numbers["ACCUMULATE"], before=[here, valid], behind=["LABELLED"], tolerance={"loss": ["1e-6"]}),
        *cases.run("vocabulary_loss_grad", "vocabulary_loss_grad", slope, {**given, **results, "scale": "scale" if numbers["SCALED"] else None},
                   {"scratch": "scratch"}, adds=numbers["ACCUMULATE"], before=[here], behind=["LABELLED"])])


def overlaps(cases, loss):
    """Dice and Tversky's index, of a channel for each class, or of one channel; of the batch, or of each sample."""
    r = cases.random
    c, size, n, start = cases.few(1, 2, 3, 17), cases.size(9), r.randint(1, 3), r.choice([0, 2])
    valid, classes, rows = start + r.randint(1, n), max(c, 2), size[0] * size[1]
    x, t, bands, middle = cases.shape(c, n, size), Shape(1, n, size, 1), cases.bands(1, 3, rows, rows), rows // 2
    batch, parts = int(loss != "overlap_loss"), [(0, middle), (middle, middle), (middle, rows)] if bands == rows else None
    numbers = {"C": c, "N": n, "BANDS": bands, "ACCUMULATE": int(r.random() < 0.5), "SCALED": int(r.random() < 0.7), "FIRST": int(c == 1 or r.random() < 0.5),
               "CLASSES": classes, "IGNORE": r.choice([-1, 0]), "BATCH": batch, "JOINT": int(r.random() < 0.5),
               "SQUARED": int(loss != "tversky_loss" and r.random() < 0.5), **extents("", size)}
    weights = (2, 0, 1, 1) if loss == "dice_loss" else (1, 0.1, 0.3, 0.6)
    reals = {"SMOOTH": r.choice([1e-6, 1]), "EPSILON": r.choice([1e-6, 1]), "WEIGHT": 0.7,
             **dict(zip(("OVER_BOTH", "UNDER_BOTH", "UNDER_PREDICTED", "UNDER_TRULY"), weights))}
    layouts = {"X": x, "T": t, "DX": x, "SUMS": Shape(3 * classes, n, [1, 1, 1], 3 * classes)}
    some, here = [[r.randint(1, s) for s in size] for _ in range(start + n)], min(valid - start, n)
    both, slope = (cases.both(name, numbers, layouts, reals) for name in ("dice_loss", "dice_loss_grad"))
    cases.tested.add("dice_loss")
    sums = 3 * classes * (1 if batch else n)
    # of samples that do not count there are sums, which nobody reads
    cases.function("%s of %d channels, %d of %d x %s from %d on, %s" % (loss, c, valid, n, size, start, {
        k: numbers[k] for k in ("BANDS", "IGNORE", "FIRST", "SCALED", "JOINT", "SQUARED")}), [
        "static const int32_t valid[][3] = {%s};" % ", ".join("{%d, %d, %d}" % tuple(v) for v in some),
        "test.control(%d, valid, %d, %d);" % (valid, start + n, start),
        "Tensor x = test.numbers(%s), dx = test.output(%s), same_dx = test.output(%s);" % (x.cpp(), x.cpp(), x.cpp()),
        "Labels t(%d, %d);" % (n * rows * size[2], classes), "Result result = test.result(), scale = test.result(4);",
        "Result sums = test.result(%d), scratch = test.result(%d);" % (sums, 3 * classes * n * max(bands, rows)),
        *cases.run(loss, loss, both, {"loss": "result", "sums": "sums", "scratch": "scratch", "logits": "x", "labels": "t"}, rows=rows,
                   parts=parts, adds=numbers["ACCUMULATE"], before=[here], behind=["valid + %d" % start], tolerance=cases.by_exponents("loss", "sums")),
        *cases.by_rows("dice_loss_grad", "dice_loss_grad", slope, rows,
                       {"dx": "dx", "x": "x", "labels": "t", "sums": "sums", "scale": "scale" if numbers["SCALED"] else None}, before=[here, valid])])


def ohem(cases):
    """The hardest points; all samples count, for of others the reference has no terms."""
    r = cases.random
    c, size, n, start = cases.few(1, 2, 3, 17), cases.size(9), r.randint(1, 3), r.choice([0, 2])
    valid, classes, rows, bands = start + n, max(c, 2), size[0] * size[1], r.choice([1, 3])
    points, middle = rows * size[2], rows // 2
    x, t, terms = cases.shape(c, n, size), Shape(1, n, size, 1), Shape(points, n, [1, 1, 1], points)
    numbers = {"C": c, "N": n, "BANDS": bands, "ACCUMULATE": int(r.random() < 0.5), "SCALED": int(r.random() < 0.7),
               "CLASSES": classes, "IGNORE": r.choice([-1, 0]), **extents("", size)}
    reals = {"THRESHOLD": r.choice([0.05, 0.3, 0.7, 1]), "SHARE": r.choice([0, 0.1, 0.5, 1]), "WEIGHT": 0.7,
             "LEAST": r.choice([-1, -1, 0, points // 3, 9 * points])}
    layouts = {"X": x, "T": t, "DX": x, "TERMS": terms}
    some, here = [[r.randint(1, s) for s in size] for _ in range(start + n)], min(valid - start, n)
    loss, slope = (cases.both(name, numbers, layouts, reals) for name in ("ohem_cross_entropy", "ohem_cross_entropy_grad"))
    cases.function("hardest points of %d channels, %d of %d x %s from %d on, %s, %s" % (c, valid, n, size, start, reals, {
        k: numbers[k] for k in ("BANDS", "IGNORE", "SCALED")}), [
        "static const int32_t valid[][3] = {%s};" % ", ".join("{%d, %d, %d}" % tuple(v) for v in some),
        "test.control(%d, valid, %d, %d);" % (valid, start + n, start),
        "Tensor x = test.numbers(%s), dx = test.output(%s), same_dx = test.output(%s);" % (x.cpp(), x.cpp(), x.cpp()),
        "Labels t(%d, %d);" % (n * points, classes), "Result result = test.result(), scale = test.result(4);",
        "Tensor terms = test.weights(%d);" % (n * points),
        "Result bounds = test.result(2), scratch = test.result(%d);" % (260 + 2 * bands),
        *cases.run("ohem_cross_entropy", "ohem_cross_entropy", loss,
                   {"loss": "result", "bounds": "bounds", "terms": "terms", "scratch": "scratch", "logits": "x", "labels": "t"},
                   rows=rows, parts=[(0, middle), (middle, middle), (middle, rows)], adds=numbers["ACCUMULATE"], before=[here],
                   behind=["valid + %d" % start], tolerance=cases.by_exponents("loss", "bounds")),
        *cases.by_rows("ohem_cross_entropy_grad", "ohem_cross_entropy_grad", slope, rows,
                       {"dx": "dx", "x": "x", "labels": "t", "bounds": "bounds", "terms": "terms",
                        "scale": "scale" if numbers["SCALED"] else None}, before=[here, valid])])


def lovasz(cases):
    """All samples count, for of others the reference has no slopes, and for each point that is valid it looks at all."""
    r = cases.random
    c, size, n, start = 5 if cases.wide else r.choice([1, 2, 3, 5]), cases.size(7), cases.samples(3), r.choice([0, 2])
    classes, rows = max(c, 2), size[0] * size[1]
    points = rows * size[2]
    x, t, slopes = cases.shape(c, n, size), Shape(1, n, size, 1), Shape(points * c, n, [1, 1, 1], points * c)
    numbers = {"C": c, "N": n, "ACCUMULATE": int(r.random() < 0.5), "SCALED": int(r.random() < 0.7),
               "CLASSES": classes, "IGNORE": r.choice([-1, 0]), **extents("", size)}
    layouts = {"X": x, "T": t, "DX": x, "SLOPES": slopes}
    some = [[1, 5, 9] if cases.wide else [r.randint(1, s) for s in size] for _ in range(start + n)]
    loss, slope = (cases.both(name, numbers, layouts, {"WEIGHT": 0.7}) for name in ("lovasz_loss", "lovasz_loss_grad"))
    cases.function("Lovasz loss of %d channels, %d x %s from %d on, %s" % (c, n, size, start, {
        k: numbers[k] for k in ("IGNORE", "SCALED")}), [
        "static const int32_t valid[][3] = {%s};" % ", ".join("{%d, %d, %d}" % tuple(v) for v in some),
        "test.control(%d, valid, %d, %d);" % (start + n, start + n, start),
        "Tensor x = test.numbers(%s), dx = test.output(%s), same_dx = test.output(%s);" % (x.cpp(), x.cpp(), x.cpp()),
        "Labels t(%d, %d);" % (n * points, classes), "Result result = test.result(), scale = test.result(4);",
        "Tensor slopes = test.weights(%d);" % (n * points * c),
        "Result present = test.result(), scratch = test.result(%d);" % (2048 + 3 + 17 * 1024 + 2 * n * points),
        *cases.run("lovasz_loss", "lovasz_loss", loss,
                   {"loss": "result", "present": "present", "slopes": "slopes", "scratch": "scratch", "logits": "x", "labels": "t"},
                   adds=numbers["ACCUMULATE"], before=[n], behind=["valid + %d" % start], tolerance=cases.by_exponents("loss")),
        *cases.by_rows("lovasz_loss_grad", "lovasz_loss_grad", slope, rows,
                       {"dx": "dx", "x": "x", "labels": "t", "present": "present", "slopes": "slopes",
                        "scale": "scale" if numbers["SCALED"] else None}, before=[n, start + n])])


def classes(cases):
    """The class of each point, and how often pairs of these meet."""
    r = cases.random
    c, size, n, start = r.choice([1, 2, 5, 17]), cases.size(9), r.randint(1, 3), r.choice([0, 2])
    n = cases.fewer(c, n, size)
    valid, rows = start + r.randint(1, n), size[0] * size[1]
    x, t = cases.shape(c, n, size), Shape(1, n, size, 1)
    numbers = {"C": c, "N": n, "CLASSES": 5, "IGNORE": r.choice([-1, 1]), "ACCUMULATE": int(r.random() < 0.5), **extents("", size)}
    some = [[r.randint(1, s) for s in size] for _ in range(start + n)]
    argmax, confusion = cases.both("argmax", numbers, {"X": x, "Y": t}), cases.both("confusion", numbers, {"P": t, "T": t})
    count, middle = n * rows * size[2], rows // 2
    cases.tested |= {"confusion"}
    cases.function("classes of %d channels, %d of %d x %s from %d on" % (c, valid, n, size, start), [
        "static const int32_t valid[][3] = {%s};" % ", ".join("{%d, %d, %d}" % tuple(v) for v in some),
        "test.control(%d, valid, %d, %d);" % (valid, start + n, start),
        "Tensor x = test.coarse(%s, true);" % x.cpp(), "Labels y(%d, 5), own(%d, 5);" % (count, count),
        *[cases.device_call("argmax", argmax[0], {"y": "y", "x": "x"}, part) for part in ((middle, rows), (0, middle))],
        cases.reference_call("argmax", argmax[1], {"y": "own", "x": "x"}, [n, "{0, %d}" % rows]),
        'test.same("argmax", y, own);', "Labels p(%d, 5, false), t(%d, 5);" % (count, count), "Result result = test.result(25);",
        *cases.run("confusion", "miou", confusion, {"counts": "result", "prediction": "p", "labels": "t"}, rows=rows,
                   parts=[(0, middle), (middle, rows)], adds=numbers["ACCUMULATE"], before=[min(valid - start, n)],
                   behind=["valid + %d" % start])])


def resized_labels(cases):
    """Every so many points along each axis, from one on."""
    r = cases.random
    n, size = r.randint(1, 3), cases.size(9)
    steps = [min(r.randint(1, 4), extent) for extent in size]
    few = [extent // step for extent, step in zip(size, steps)]
    numbers = {"C": 1, "N": n, **extents("I", size), **extents("", few)}
    for axis, step in zip("DHW", steps):
        numbers.update({"STEP_" + axis: 2 * step, "OFFSET_" + axis: step, "UNIT_" + axis: 2})
    rows, count, points = few[0] * few[1], math.prod(few) * n, math.prod(size) * n
    kernel, reference = cases.both("resize_labels", numbers, {"X": Shape(1, n, size, 1), "Y": Shape(1, n, few, 1)})
    cases.function("labels of %d x %s resized to %s" % (n, size, few), [
        "Labels x(%d, 5), y(%d, 5), own(%d, 5);" % (points, count, count),
        *[cases.device_call("resize_labels", kernel, {"y": "y", "x": "x"}, part) for part in ((rows // 2, rows), (0, rows // 2))],
        cases.reference_call("resize_labels", reference, {"y": "own", "x": "x"}, [n, "{0, %d}" % rows]),
        'test.same("labels", y, own);'])


# ---- optimisers ----


def updates(cases, variant):
    count = 70000 if cases.wide else (5000, 17, 3)[variant]
    numbers = {"COUNT": count, "DECOUPLED": variant & 1, "NESTEROV": variant & 1,
               "AMSGRAD": variant & 1, "CENTERED": int(variant == 0), "CLIPS": int(variant < 2), "AVERAGED": int(variant > 0),
               "RUNS": 2, "TENSORS": 0, "SHARDED": int(variant == 1), "PROCESSES": 1,
               "SCALED": int(variant > 0), "GROWTH_INTERVAL": 2, "BANDS": 5}
    reals = {"WEIGHT_DECAY": 0.01, "BETA1": 0.9, "BETA2": 0.999, "EPSILON": 1e-8, "LEAST_SQUARE": 0.0189, "ALPHA": 0.9, "CLIP": 0.3 * (variant == 2), "LIMIT": 0.5, "AVERAGE": 0.9,
             "MOMENTUM": (0.9, 0.9, 0)[variant], "DAMPENING": (0.1, 0, 0)[variant]}
    no_codes = {"TENSOR": ("long", ["0"] * 4)}
    sgd, adam, rmsprop = (cases.both(name, numbers, {}, reals, no_codes) for name in ("sgd", "adam", "rmsprop"))
    # between them lies padding; the second may lie anywhere
    runs = {"RUN": ("long", [str(at) for at in (0, count // 3, count // 2, count)]), "AT": ("long", ["0", str(-(count // 8))])}
    judge = cases.both("loss_scale", numbers, {}, reals, runs) if numbers["SCALED"] else None
    measure = cases.both("gradient_norm", numbers, {}, reals, runs) if numbers["CLIPS"] else None
    scale, norm = "state" if judge else None, "norm" if measure else None
    average = lambda p: {"average": "average_" + p if numbers["AVERAGED"] else None, "scale": scale, "norm": norm}
    told, last = ["0.01 / step", "step", "0", str(count)], [str((count, 8, 0)[variant])]
    steps = cases.run("sgd", "sgd", sgd, {"p": "p", "g": "g", "momentum": "momentum" if reals["MOMENTUM"] else None,
                                          **average("p")}, behind=told, last=last)
    steps += cases.run("adam", "adam", adam, {"p": "q", "g": "g", "m": "m", "v": "v", "most": "most" if numbers["AMSGRAD"] else None,
                                              **average("q")}, behind=told, last=last)
    steps += cases.run("rmsprop", "rmsprop", rmsprop, {
        "p": "r", "g": "g", "square": "square", "mean": "mean" if numbers["CENTERED"] else None,
        "momentum": "buffer" if reals["MOMENTUM"] else None, **average("r")}, behind=told, last=last)
    if measure:
        steps = [*cases.run("gradient_norm", "gradient_norm", measure, {"norm": "norm", "scratch": "scratch", "g": "g", "scale": scale}), *steps]
    if judge:
        steps = ["if (step == 2)", "    g.set(%d, INFINITY);" % (count - 1 - count // 8),
                 *cases.run("loss_scale", "loss_scale", judge, {"scratch": "scratch", "scale": "state", "g": "g"}), *steps]
    cases.function("updates, variant %d" % variant, [
        *("Tensor %s = test.reals(%d);" % (name, count) for name in "pqr"),
        "Tensor momentum = test.real_output(%d);" % count,
        *("Tensor %s = test.real_zeros(%d);" % (name, count) for name in ("m", "v", "most", "square", "mean", "buffer", "average_p", "average_q", "average_r")),
        "Result norm = test.result(2);",
        "Result state = test.result(4), scratch = test.result(5);",
        "for (int i = 0; i < 4; i++)",
        "    state.device().as<double>()[i] = state.host()[i] = i == 0 ? 2 : 0;",
        "for (int step = 1; step <= 5; step++) {",
        "    test.step(0.01 / step, step, %s, %s);" % ((0, 0) if judge else (reals["BETA1"], reals["BETA2"])),
        "    Tensor g = test.reals(%d);" % count, *("    " + line for line in steps), "}"])


def coded_updates(cases):
    """Two tensors whose state is in codes, with padding behind them, and one whose state is in reals."""
    elements, rest = [600, 300], 37
    table, block, begin, byte = [], 0, 0, 0
    for count in elements:
        table += [block, begin, count, byte]
        block, begin = block + -(-count // 256), begin + padded(count, 4)
        byte += padded(padded(count, 16) + 4 * -(-count // 256), 16)
    arrays = {"TENSOR": ("long", [str(x) for x in (*table, block, begin, 0, byte)])}
    count = begin + rest
    numbers = {"COUNT": count, "TENSORS": 2, "DECOUPLED": 1, "NESTEROV": 1, "AMSGRAD": 1, "CENTERED": 0, "CLIPS": 0, "AVERAGED": 1,
               "SHARDED": 0, "PROCESSES": 1, "SCALED": 0}
    reals = {"WEIGHT_DECAY": 0.01, "BETA1": 0.9, "BETA2": 0.999, "EPSILON": 1e-8, "ALPHA": 0.9, "CLIP": 0.9, "AVERAGE": 0.9,
             "LEAST_SQUARE": 0.0189,
             "MOMENTUM": 0.9, "DAMPENING": 0}
    sgd, adam, rmsprop = (cases.both(name, numbers, {}, reals, arrays) for name in ("sgd", "adam", "rmsprop"))
    given = lambda p, **states: {"p": p, "g": "g", **states, "average": "average_" + p, "scale": None, "norm": None}
    told, last = ["0.01 / step", "step", "0", str(count)], [str(begin + 8)]
    states = ("momentum", "m", "v", "most", "square", "buffer")
    cases.function("updates, state in codes", [
        *("Tensor %s = test.reals(%d);" % (name, count) for name in "pqr"),
        *("Codes %s({%s}, %d);" % (name, ", ".join(map(str, elements)), rest) for name in states),
        *("Tensor average_%s = test.real_zeros(%d);" % (name, count) for name in "pqr"),
        "for (int step = 1; step <= 4; step++) {",
        "    test.step(0.01 / step, step, 0.9, 0.999);",
        "    Tensor g = test.reals(%d);" % count,
        "    for (int i = 0; i < %d; i += 3) // their second moments have the code of 0" % count,
        "        g.set(i, g.get(i) * 1e-5f);",
        *("    " + line for line in [
            *cases.run("sgd in codes", "sgd", sgd, given("p", momentum="momentum"), behind=told, last=last),
            *cases.run("adam in codes", "adam", adam, given("q", m="m", v="v", most="most"), behind=told, last=last),
            *cases.run("rmsprop in codes", "rmsprop", rmsprop, given("r", square="square", mean=None, momentum="buffer"), behind=told,
                       last=last)]), "}"])


def ranks(cases):
    """Of groups of two samples group 2 ends, as the last one or not; its sums are those of a node of the tree."""
    count, apart = 300, 304
    sizes = {"COUNT": count, "LEVELS": 3, "APART": apart, "PLACE": 0, "DOUBLES": 0, "GROUP": 2}
    group = cases.cuda.add("group_sum", {**sizes, "N": 1}), cases.reference.add("group_sum", sizes)
    total = cases.cuda.add("rank_sum", {"COUNT": count, "LEVELS": 3, "BUCKET": -1, "PLACE": 0, "SHARDED": 0})
    gather = cases.cuda.add("rank_gather", {"COUNT": count, "AVERAGED": 0})
    given = {"sums": "sums", "levels": "levels"}
    lines = ["Tensor sums = test.reals(%d), levels = test.reals(%d);" % (count, 3 * apart), "static const int32_t all[3] = {};"]
    for number, start, last in (0, 1, 20), (1, 3, 20), (2, 5, 6), (5, 11, 20), (3, 7, 8):
        lines += ["test.control(%d, &all, 1, %d, %d);" % (last, start, last),
                  *cases.run("group_sum", "group_sum", group, given, adds=True, before=[number, int(start + 1 == last)])]
    cases.function("groups and ranks", [
        *lines, cases.device_call("rank_sum", total, given),
        cases.device_call("rank_gather", gather, {"whole": None, "p": "sums", "average": None, "g": "levels"}), *cases.after("rank_sum", "rank_sum", given, {})])


def zeroing(cases):
    zero = cases.cuda.add("zero", {})
    cases.function("zero", [
        "Tensor x = test.reals(6);",
        *cases.before("zero", {"sum": "x"}, False),
        cases.device_call("zero", zero, {"sum": "x"}, behind=["24"]),
        *cases.after("zero", "zero", {"sum": "x"}, {})])


# ---- convolutions ----


def window(cases, most_stride=3):
    """Kernel, stride, dilation, padding in front and behind, sampled extent, dense extent, for one axis."""
    r = cases.random
    while True:
        kind = r.randrange(4)
        k, s, l = ((3, 1, 1), (1, 1, 1), (2, 2, 1), (r.randint(1, 3), r.randint(1, 3), r.randint(1, 2)))[kind]
        reach = (k - 1) * l
        front = (reach // 2, 0, 0, r.randint(0, reach))[kind]
        behind = (reach - front, 0, 0, r.randint(0, reach))[kind]
        dense = cases.extent(1, 6)
        if dense + front + behind > reach and s <= most_stride:
            return k, s, l, front, behind, (dense + front + behind - reach - 1) // s + 1, dense


def braces(values):
    return "{%s}" % ", ".join(map(str, values))


class Convolution:
    """A convolution over segments, or the transposed one, with its table entries and filters.  AXES: as of window()."""

    def __init__(self, cases, transposed, axes=None):
        r = cases.random
        three_d = r.random() < 0.25 and not cases.wide
        one = (1, 1, 1, 0, 0, 1, 1)
        self.cases, self.transposed = cases, transposed
        self.axes = axes or [window(cases) if three_d or i > 0 else one for i in range(3)]
        self.taps = self.axes[0][0] * self.axes[1][0] * self.axes[2][0]
        self.n = r.randint(1, 2)
        self.ins = [cases.channels() for _ in range(r.choice([1, 1, 2, 3]))]
        self.co, self.ci, self.by = cases.channels(), sum(self.ins), r.randrange(len(self.ins))
        sampled, dense = [a[5] for a in self.axes], [a[6] for a in self.axes]
        self.x_size, self.y_size = (sampled, dense) if transposed else (dense, sampled)
        self.x = [cases.shape(c, self.n, self.x_size) for c in self.ins]
        self.y = cases.shape(self.co, self.n, self.y_size)
        self.variants = {"BIAS": int(r.random() < 0.8), "RELU": int(r.random() < 0.5), "MASK": int(r.random() < 0.5), "ADDED": int(r.random() < 0.5),
                         "ACCUMULATE": int(r.random() < 0.5), "BANDS": r.randint(1, 5)}
        self.variants["SUMMED"] = self.variants["BIAS"] * r.randint(0, 1)
        self.variants["SUM_BANDS"] = self.variants["MASK"] * r.choice([0, 1, 3])

    def numbers(self):
        letters = {"%s%s" % (name, axis): self.axes[i][column]
                   for column, name in enumerate("KSLP") for i, axis in enumerate("DHW")}
        return {"N": self.n, "CI": self.ci, "CO": self.co, "SEGMENTS": len(self.ins), "C0": sum(self.ins[:self.by]),
                "CS": self.ins[self.by], "TRANSPOSED": int(self.transposed), **letters, **extents("I", self.x_size), **extents("", self.y_size), **self.variants}

    def filters(self):
        """Those of all segments, one behind the other, and the elements they take."""
        found, first, offset = [], 0, 0
        out = padded(self.co, self.cases.lanes)
        for c in self.ins:
            by_in, by_out = (first, c, padded(c, self.cases.lanes)), (0, self.co, out)
            k, ch = (by_in, by_out) if self.transposed else (by_out, by_in)
            found.append("{%d, %d, %d, %d, %d, %d, %d}" % (*k, *ch, offset))
            offset += k[2] * self.taps * ch[2]
            first += c
        return found, offset

    # ---- the gradient by an input, which may be added to another before it is masked; the reference adds nothing ----

    def gradient_layouts(self):
        return {"DX": self.x[self.by], "DY": self.y, "M": self.x[self.by], "A": self.x[self.by]}

    def gradient_operands(self):
        return {"dx": "dx", "dy": "dy", "w": "w", "m": "m" if self.variants["MASK"] else None, "a": "a" if self.variants["ADDED"] else None}

    def masks_first(self):
        return self.variants["MASK"] * (1 - self.variants["ADDED"])

    def gradient(self, what, operator, kernels, cuda, rows, before, between):
        added = "dx.host()[i] + a.host()[i]"
        masked = "m.host()[i] > 0 ? %s : 0" % added if self.variants["MASK"] else added
        given = self.gradient_operands()
        lines = self.cases.run(what, operator, kernels, given, cuda, rows, before=before, between=between)
        call = next(i for i, line in enumerate(lines) if line.startswith(kernels[1] + "("))
        told = before if rows is None else [*before, "{0, %d}" % rows]
        lines[call] = self.cases.reference_call(operator, kernels[1], {name: of for name, of in given.items() if name != "a"}, told)
        if self.variants["ADDED"]:
            lines.insert(call + 1, "for (long i = 0; i < dx.count(); i++)\n        dx.host()[i] = %s;" % masked)
        return lines

    def in_place(self, name, kernel, cuda):
        """The sum in the place of its other term has the same bits."""
        if not self.variants["ADDED"]:
            return []
        given = {**self.gradient_operands(), **cuda, "dx": "place", "a": "place"}
        return ["Tensor place = test.copy(a);", self.cases.device_call(name + "_dgrad", kernel, given),
                'test.same("%s_dgrad in place", place, dx);' % name]

    def graph(self, kind, segment, **more):
        """Index of a new table entry, in the forward direction of cuDNN: from dense points to sampled ones."""
        c, out = self.x[segment].block, self.y.block
        columns = [[a[i] for a in self.axes] for i in range(7)]
        dense, sampled = (out, c) if self.transposed else (c, out)
        values = {"kind": kind, "batch": self.n, "in_channels": dense, "out_channels": sampled, "in": braces(columns[6]),
                  "out": braces(columns[5]), "kernel": braces(columns[0]), "stride": braces(columns[1]),
                  "dilation": braces(columns[2]), "before": braces(columns[3]), "after": braces(columns[4]), **more}
        order = ["kind", "accumulate", "bias", "relu", "axes", "batch", "in_channels", "out_channels", "in", "out", "kernel",
                 "stride", "dilation", "before", "after"]
        values.setdefault("axes", 3)
        self.cases.convolutions.append(", ".join(".%s = %s" % (k, values[k]) for k in order if k in values))
        return str(len(self.cases.convolutions) - 1)

    def arrays(self, filters, graphs):
        return {"FILTER": ("Filter", filters), "GRAPH": ("int", graphs)}


def packing(cases, filters, dense, biases, bias_at, bias):
    """Dense weights w, a bias b and, from them, filters for cuDNN, and BIAS numbers behind them."""
    rows, columns, taps = dense
    numbers = {"K": rows, "C": columns, "TAPS": taps, "SEGMENTS": len(filters), "BIAS": int(bias > 0), "BIAS_AT": bias_at, "PBIAS": bias}
    pack = cases.cuda.add("filter_pack", numbers, {}, {}, {"FILTER": ("Filter", filters)})
    given = {"packed": "packed", "w": "w", "b": "b" if bias else None}
    lines = ["static const Filter filters[] = {%s};" % ", ".join(filters),
             "Tensor w = test.weights(%d), b = test.weights(%d), packed = test.flat_output(%d);" % (
                 rows * columns * taps, biases, bias_at + bias),
             *cases.before("filter_pack", given, False),
             cases.device_call("filter_pack", pack, given),
             "for (const Filter &f : filters)",
             "    test.pack(packed.host(), w.host(), f, %d, %d);" % (columns, taps)]
    if bias:
        lines += ["for (int i = 0; i < %d; i++)" % bias,
                  "    packed.host()[%d + i] = i < %d ? b.host()[i] : 0;" % (bias_at, biases)]
    return lines + [*cases.after("filter_pack", "filter_pack", given, {}), 'test.unchanged("filter_pack");']


def banded(cases):
    """What is around a convolution that cuDNN computes a few rows at a time, in windows of a fixed height (rows.cuh)."""
    r = cases.random
    height, width = cases.extent(4, 9), cases.extent(2, 9)
    c = Convolution(cases, False, [(1, 1, 1, 0, 0, 1, 1)] + [(3, 1, 1, 1, 1, extent, extent) for extent in (height, width)])
    c.n = 1  # or the gradient by weights is no part of a loop over bands
    c.x, c.y = [cases.shape(x.channels, 1, x.size) for x in c.x], cases.shape(c.co, 1, c.y.size)
    rows, segments = 256 if cases.wide else r.randint(1, 3), range(len(c.ins))
    filters, elements = c.filters()
    x, by, has_bias = ["x%d" % i for i in segments], c.by, c.variants["BIAS"]
    size, widest = BYTES[cases.stored], max(shape.block for shape in [*c.x, c.y])
    packed = padded(elements * size, 16)
    bands = packed + 4 * c.variants["BANDS"] * c.y.block

    def kernel(name, kind, layouts, sampled, filters, of):
        """An instance for windows of SAMPLED positions, whose workspace has place for them behind packed gradients and sums."""
        dense = sampled + 2
        graphs = [c.graph(kind, s, accumulate=int(kind == "UNET_FORWARD" and s > 0), **{"in": braces([1, dense, width]), "out": braces([1, sampled, width]),
                                      "before": braces([0, 0, 1]), "after": braces([0, 0, 1])}) for s in of]
        at = padded(bands, 256)
        numbers = {**c.numbers(), "ACCUMULATE": 0, "FINISHED": 0, "SLIDES": 0, "ROWS": rows, "DENSE": dense, "SAMPLED": sampled, "BIAS_AT": elements,
                   "BANDS_AT": packed // 4, "WORKSPACE_AT": 0, "DENSE_AT": at, "SAMPLED_AT": at + padded(dense * width * widest * size, 256)}
        return cases.cuda.add(name, numbers, layouts, {}, c.arrays(filters, graphs))

    reference = lambda name, layouts: cases.reference.add(name, {**c.numbers(), "ACCUMULATE": 0}, layouts)
    layouts, back = {"X": c.x, "Y": c.y}, c.gradient_layouts()
    forward = kernel("conv_rows", "UNET_FORWARD", layouts, rows, filters, segments), reference("conv", layouts)
    backward = (kernel("conv_dgrad_rows", "UNET_BACKWARD_DATA", back, rows + 2, [filters[by]], [by]),
                cases.reference.add("conv_dgrad", {**c.numbers(), "MASK": c.masks_first()}, back))
    layouts = {"X": c.x, "DY": c.y}
    by_weights = kernel("conv_wgrad_rows", "UNET_BACKWARD_FILTER", layouts, rows, filters, segments), reference("conv_wgrad", layouts)
    weights, space = c.co * c.ci * c.taps, bands + 3 * 256 + (2 * rows + 8) * width * widest * size
    told = [1, "{0, %d}" % height]
    given = {"y": "y", "x": x, "w": "w", "b": "b" if has_bias else None}
    on_device = {"workspace": "space", "w": "packed"}
    gradient = c.gradient_operands()
    result = {"dw": "dw", "db": "db" if has_bias else None, "scratch": "space", "x": x, "dy": "dy"}
    parts = lambda name, kernels, given, output: cases.parts(name, kernels[0], height, {**given, **on_device, output: "same_" + output})
    cases.function("conv in bands of %d rows, %s to %d, %d x %d, %s" % (rows, c.ins, c.co, height, width, c.variants), [
        *packing(cases, filters, (c.co, c.ci, c.taps), c.co, elements, 0),
        *["Tensor x%d = test.numbers(%s);" % (i, s.cpp()) for i, s in enumerate(c.x)],
        "Tensor y = test.output(%s), same_y = test.output(%s), dy = test.numbers(%s), space = test.real_output(%d);" % (
            c.y.cpp(), c.y.cpp(), c.y.cpp(), space // 4),
        *cases.run("conv_rows", "conv", forward, given, on_device, height, before=[1], tolerance={"y": [len(c.ins) + 2]},
                   between=[*parts("conv", forward, given, "y"), 'test.same("conv_rows, others", same_y, y);']),
        "Tensor dx = test.output({0}), same_dx = test.output({0}), m = test.coarse({0}), a = test.numbers({0});".format(c.x[by].cpp()),
        *c.gradient("conv_dgrad_rows", "conv_dgrad", backward, on_device, height, [1], [
            *parts("conv_dgrad", backward, gradient, "dx"), 'test.same("conv_dgrad_rows, others", same_dx, dx);']),
        "Tensor dw = test.gradient(%d), db = test.gradient(%d);" % (weights, c.co), "Result sums = test.result(%d);" % (weights + c.co),
        *cases.before("conv_wgrad", result, False), cases.device_call("conv_wgrad", by_weights[0], result, (0, height)),
        cases.reference_call("conv_wgrad", by_weights[1], {**result, "scratch": "sums"}, told),
        *cases.after("conv_wgrad_rows", "conv_wgrad", result, {"dw": [-(-height // rows), "true"]}), 'test.unchanged("conv_wgrad_rows");'])


def large_filters(cases):
    """More weights than 2^16: packed, and unpacked again."""
    rows, columns = 500, 261
    filters = ["{0, %d, %d, 0, %d, %d, 0}" % (rows, rows, columns, padded(columns, cases.lanes))]
    numbers = {"K": rows, "C": columns, "TAPS": 1, "SEGMENTS": 1, "BIAS": 0, "ACCUMULATE": 0, "SUMMED": 0, "BANDS": 0, "BANDS_AT": 0, "CO": 1}
    unpack = cases.cuda.add("filter_unpack", numbers, {"DY": cases.shape(1, 1, [1, 1, 1])}, {}, {"FILTER": ("Filter", filters)})
    given = {"dw": "dw", "db": None, "packed": "packed", "summed": None}
    cases.function("filters of %d x %d" % (rows, columns), [
        *packing(cases, filters, (rows, columns, 1), 1, rows * padded(columns, cases.lanes), 0),
        "Tensor dw = test.gradient(%d);" % (rows * columns),
        *cases.before("filter_unpack", given, False), cases.device_call("filter_unpack", unpack, given),
        "for (long i = 0; i < dw.count(); i++)", "    dw.host()[i] = w.host()[i];",
        *cases.after("filter_unpack", "filter_unpack", given, {}), 'test.unchanged("filter_unpack");'])


def convolution(cases, transposed):
    c = Convolution(cases, transposed)
    name, numbers, segments = "upconv" if transposed else "conv", c.numbers(), range(len(c.ins))
    forward, backward = ("UNET_BACKWARD_DATA", "UNET_FORWARD") if transposed else ("UNET_FORWARD", "UNET_BACKWARD_DATA")
    filters, bias_at = c.filters()
    bias = int(numbers["BIAS"] and not transposed)
    rows, columns = (c.ci, c.co) if transposed else (c.co, c.ci)
    lines = packing(cases, filters, (rows, columns, c.taps), c.co, bias_at, bias * c.y.block)
    # forward
    lines += ["Tensor x%d = test.numbers(%s);" % (i, s.cpp()) for i, s in enumerate(c.x)]
    lines.append("Tensor y = test.output(%s), dy = test.numbers(%s);" % (c.y.cpp(), c.y.cpp()))
    x, has_bias = ["x%d" % i for i in segments], numbers["BIAS"]
    by_cudnn = {"workspace": None, "w": "packed"}
    finished = int(not transposed and numbers["BIAS"] and (len(c.ins) == 1 or c.co % 2))  # by cuDNN, for the last segment
    graphs = [c.graph(forward, s, accumulate=int(s > 0), bias=finished * (s == segments[-1]),
                      relu=finished * (s == segments[-1]) * numbers["RELU"]) for s in segments]
    told = lambda size: [c.n, "{0, %d}" % (size[0] * size[1])]
    kernels = (cases.cuda.add("conv", {**numbers, "BIAS_AT": bias_at, "FINISHED": finished}, {"X": c.x, "Y": c.y}, {}, c.arrays(filters, graphs)),
               cases.reference.add(name, numbers, {"X": c.x, "Y": c.y}))
    lines += cases.run(name, name, kernels, {"y": "y", "x": x, "w": "w", "b": "b" if has_bias else None}, by_cudnn,
                       before=told(c.y_size), tolerance={"y": [len(c.ins) + 2]})
    # backward, by the input
    layouts = c.gradient_layouts()
    kernels = (cases.cuda.add("conv_dgrad", numbers, layouts, {}, c.arrays([filters[c.by]], [c.graph(backward, c.by, accumulate=numbers["ADDED"])])),
               cases.reference.add(name + "_dgrad", {**numbers, "MASK": c.masks_first()}, layouts))
    lines.append("Tensor dx = test.output({0}), same_dx = test.output({0}), m = test.coarse({0}), a = test.numbers({0});".format(c.x[c.by].cpp()))
    sum_bands = numbers["SUM_BANDS"]
    if sum_bands:
        lines.append("Tensor sums_of_dx = test.real_output(%d);" % (sum_bands * c.x[c.by].block))
    lines += c.gradient(name + "_dgrad", name + "_dgrad", kernels, {**by_cudnn, "sums": "sums_of_dx" if sum_bands else None}, None,
                        told(c.x_size), c.in_place(name, kernels[0], {**by_cudnn, "sums": "sums_of_dx" if sum_bands else None}))
    if sum_bands:
        lines += ["test.sum_bands(sums_of_dx, dx, %d);" % sum_bands, 'test.compare("%s_dgrad, sums", sums_of_dx);' % name]
    # backward, by the weights: packed, and sums for the bias; then unpacked, with those of who masked dy in their place
    bands_at, bands = bias_at, numbers["BANDS"] * c.y.block
    graphs = [c.graph("UNET_BACKWARD_FILTER", s) for s in segments]
    gradient = {**numbers, "K": rows, "C": columns, "TAPS": c.taps, "BANDS_AT": bands_at}
    by_cudnn = cases.cuda.add("conv_wgrad", {**gradient, "BANDS": has_bias * (1 - numbers["SUMMED"]) * numbers["BANDS"]},
                              {"DY": c.y}, {}, c.arrays(filters, graphs))
    unpack = cases.cuda.add("filter_unpack", gradient, {"DY": c.y}, {}, c.arrays(filters, graphs))
    wgrad = cases.reference.add("conv_wgrad", numbers, {"X": c.x, "DY": c.y})
    weights = rows * columns * c.taps
    lines.append("Tensor dw = test.gradient(%d), db = test.gradient(%d), packed_dw = test.real_output(%d), scratch = test.real_output(64);" % (
        padded(weights, 4), padded(c.co, 4), bands_at + bands))
    lines.append("Result sums = test.result(%d);" % (weights + c.co))
    if numbers["SUMMED"]:
        lines += ["Tensor summed_dy = test.real_output(%d);" % bands, "test.sum_bands(summed_dy, dy, %d);" % numbers["BANDS"],
                  "Tensor summed = test.copy(summed_dy);"]
    on_device = {"dw": None, "db": None, "scratch": "scratch", "sums": None, "packed": "packed_dw", "x": x, "dy": "dy"}
    lines += [*cases.before(name + "_wgrad", on_device, False), cases.device_call(name + "_wgrad", by_cudnn, on_device),
              'test.unchanged("%s_wgrad");' % name]
    result = {"dw": "dw", "db": "db" if has_bias else None}
    unpacked = {**result, "packed": "packed_dw", "summed": "summed" if numbers["SUMMED"] else None}
    lines += [*cases.before("filter_unpack", unpacked, numbers["ACCUMULATE"]), cases.device_call("filter_unpack", unpack, unpacked),
              cases.reference_call(name + "_wgrad", wgrad, {**result, "scratch": "sums", "x": x, "dy": "dy"},
                                   told(c.x_size if transposed else c.y_size)),
              "for (long i = %d; i < dw.count(); i++)" % weights, "    dw.host()[i] = 0;",
              "for (long i = %d; i < db.count(); i++)" % c.co, "    db.host()[i] = 0;",
              *cases.after(name + "_wgrad", "filter_unpack", unpacked, {"dw": [1, "true"]}), 'test.unchanged("filter_unpack");']
    cases.function("%s %s to %d, x %d x %s, y %s, kernel, stride, dilation, padding %s, %s" % (
        name, c.ins, c.co, c.n, c.x_size, c.y_size, [a[:5] for a in c.axes if a != (1, 1, 1, 0, 0, 1, 1)],
        c.variants), lines)


def cells(cases, deep):
    """A transposed convolution whose windows do not overlap, by tensor cores: of 16 bits on a device, of any type here.  DEEP:
    over more terms than a tile takes at a time."""
    r = cases.random
    kernel = [1, 2, 2] if cases.wide else r.choice([[1, 2, 2], [1, 2, 2], [2, 2, 2], [1, 3, 2]])
    ci, co = (17, cases.channels()) if cases.wide else (r.choice([33, 70] if deep else [1, 8, 24]), r.choice([1, 8, 16, 17, 33, 40]))
    n, taps, x_size = cases.samples(2), kernel[0] * kernel[1] * kernel[2], [1, 180, 179] if cases.wide else cases.size(11)
    if kernel[0] == 1:
        x_size[0] = 1
    y_size = [size * k for size, k in zip(x_size, kernel)]
    x, y = cases.shape(ci, n, x_size), cases.shape(co, n, y_size)
    filters = ["{0, %d, %d, 0, %d, %d, 0}" % (ci, x.block, co, y.block)]
    numbers = {"N": n, "CI": ci, "CO": co, "SEGMENTS": 1, "BIAS": r.randint(0, 1), "RELU": r.randint(0, 1), "TRANSPOSED": 1,
               **{name + axis: value for name, values in (("K", kernel), ("S", kernel), ("L", [1] * 3), ("P", [0] * 3))
                  for axis, value in zip("DHW", values)}, **extents("I", x_size), **extents("", y_size)}
    kernels = (cases.cuda.add("upconv_cells", numbers, {"X": [x], "Y": y}, {}, {"FILTER": ("Filter", filters)}),
               cases.reference.add("upconv", numbers, {"X": [x], "Y": y}))
    given = {"y": "y", "x": ["x0"], "w": "w", "b": "b" if numbers["BIAS"] else None}
    on_device, rows = {"workspace": None, "w": "packed"}, y_size[0] * y_size[1]
    cuts = sorted(r.randint(0, x_size[1]) * kernel[1] for _ in range(2)) if x_size[0] == 1 and kernel[0] == 1 else (0, rows)
    parts = cases.parts("upconv", kernels[0], rows, {**given, **on_device, "y": "same_y"}, cuts)
    cases.function("upconv of cells %s, %d to %d, x %d x %s, %s" % (kernel, ci, co, n, x_size, [numbers[k] for k in ("BIAS", "RELU")]), [
        *packing(cases, filters, (ci, co, taps), co, x.block * taps * y.block, 0),
        "Tensor x0 = test.numbers(%s), y = test.output(%s), same_y = test.output(%s);" % (x.cpp(), y.cpp(), y.cpp()),
        *cases.run("upconv of cells", "upconv", kernels, given, on_device, rows, before=[n], between=[
            *parts, 'test.same("upconv of cells by rows", same_y, y);'])])


def grouped_convolution(cases):
    """Each group of channels by itself: depthwise, or a few to a few."""
    r, one = cases.random, (1, 1, 1, 0, 0, 1, 1)
    axes = [window(cases, 1 if cases.wide else 3) if r.random() < 0.25 and not cases.wide or i > 0 else one for i in range(3)]
    groups, ins, outs = r.choice([(17, 1, 1), (3, 1, 1), (5, 1, 2), (2, 9, 8), (4, 2, 3)])
    n, y_size, x_size = cases.samples(2), [a[5] for a in axes], [a[6] for a in axes]
    ci, co, taps = groups * ins, groups * outs, axes[0][0] * axes[1][0] * axes[2][0]
    x, y = cases.shape(ci, n, x_size), cases.shape(co, n, y_size)
    letters = {"%s%s" % (name, axis): axes[i][column] for column, name in enumerate("KSLP") for i, axis in enumerate("DHW")}
    numbers = {"N": n, "CI": ci, "CO": co, "GROUPS": groups, "BIAS": r.randint(0, 1), "ACCUMULATE": r.randint(0, 1), **letters,
               **extents("I", x_size), **extents("", y_size)}
    depthwise = groups == ci == co
    numbers["BANDS"] = cases.bands(1, 2, 60) if depthwise else 0
    both = lambda name: cases.both(name, numbers, {"X": x, "Y": y, "DX": x, "DY": y})
    bias = lambda name: name if numbers["BIAS"] else None
    weights = co * ins * taps
    cases.function("conv of %d to %d channels in %d groups, %d x %s to %s, %s" % (ci, co, groups, n, x_size, y_size, letters), [
        "const Shape in = %s, out = %s;" % (x.cpp(), y.cpp()),
        "Tensor x = test.numbers(in), dx = test.output(in), same_dx = test.output(in);",
        "Tensor dy = test.numbers(out), y = test.output(out), same_y = test.output(out);",
        "Tensor w = test.weights(%d), dw = test.gradient(%d), b = test.weights(%d), db = test.gradient(%d);" % (weights, weights, co, co),
        "Tensor first = test.weights(%d);" % ci,
        *(["Result scratch = test.result(%d);" % (n * numbers["BANDS"] * (taps + 1) * y.block)] if depthwise else []),
        *cases.by_rows("conv_groups", "conv_groups", both("conv_groups"), y_size[0] * y_size[1],
                       {"y": "y", "x": "x", "w": "w", "b": bias("b")}, before=[n]),
        *cases.by_rows("conv_groups_dgrad", "conv_groups_dgrad", both("conv_groups_dgrad"), x_size[0] * x_size[1],
                       {"dx": "dx", "dy": "dy", "w": "w", "b": bias("first")}, before=[n]),
        *cases.run("conv_groups_wgrad", "conv_groups_wgrad", both("conv_groups_wgrad"),
                   {"dw": "dw", "db": bias("db"), "scratch": "scratch" if depthwise else None, "x": "x", "dy": "dy"},
                   adds=numbers["ACCUMULATE"], before=[n])])


def make(seed, stored, rounds, rows, wide=False, only=(), share=(0, 1)):
    """ONLY: the names of some cases, in place of all.  SHARE: the case at the first number, and each second-number-th behind it."""
    cases = Cases(seed, stored, Rows(rows), wide)

    def draw(case, *arguments):
        """Each from a seed of its own, so that one case more or less leaves the others as they are."""
        count[case] = count.get(case, -1) + 1
        cases.random = random.Random("%d %s %d" % (seed, case.__name__, count[case]))
        if next(numbers) % share[1] == share[0] and (not only or case.__name__ in only):
            case(cases, *arguments)

    count, numbers = {}, itertools.count()
    for i in range(rounds):
        kind = 1 if rounds == 1 and stored == "__half" else i  # of two kinds, one round of one type has the other
        for case in (mapping, functions, pairs, repeating, bordering, giving, waving, embedding, diffusing, coding, attending, attending_channels, vocabulary, joining, casting):
            draw(case)
        draw(attending, True)
        draw(pooling, kind)
        draw(resizing)
        draw(across)
        for operator in ("batch_norm", "instance_norm", "group_norm"):
            draw(normalising, operator)
        draw(folding)
        draw(merging, kind % 2)
        draw(losses, i == 0 and not wide)
        draw(similarities)
        draw(class_losses)
        for loss in ("dice_loss", "tversky_loss", "overlap_loss"):
            draw(overlaps, loss)
        for case in (ohem, lovasz, classes, grouped_convolution):
            draw(case)
        draw(convolution, False)
        draw(convolution, True)
        for variant in (0, 1) if cases.wide else range(i, 3, rounds):
            draw(updates, variant)
        for case in (resized_labels, scaling, grouping, unpooling, banded):
            draw(case)
    if wide:
        draw(large_filters)
    else:
        draw(resizing_long_rows)
    for case in (parameters, zeroing, ranks, coded_updates):
        draw(case)
    for i in range(rounds if cases.wide or cases.lanes == 8 else 0): # nvcc knows no tensor cores of this kind for f32
        draw(cells, i == 0)
    if not only and share[1] == 1:
        cases.rows.check_tested(cases.tested)
    return cases


if __name__ == "__main__":
    some = [word[len("--only="):].split(",") for word in sys.argv if word.startswith("--only=")]
    share = next((tuple(map(int, word[len("--share="):].split("/"))) for word in sys.argv if word.startswith("--share=")), (0, 1))
    make(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5], "--wide" in sys.argv, some[0] if some else (), share).write(sys.argv[1])

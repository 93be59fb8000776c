"""kernels.py - speed of the kernels of templates/cpu, one layer at a time, beside the processor's own limit.

Usage: kernels.py [--cc=gcc] [--flags="-O2 -march=native ..."] [--threads=1]
                  [--precision=f32|bf16|f16] [LAYER...]
Prints GFLOP/s (two for each multiplication of the operator's definition; pools: GB/s) and the fraction of the
peak that a loop of nothing but fused multiply-adds reaches in the same process."""
import argparse
import os
import re
import subprocess
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FLAGS = "-O2 -march=native -fno-math-errno -fno-trapping-math -ffp-contract=fast -fopenmp -std=gnu11"
# name: kind, channels in, channels out, size of the input, kernel, batch
LAYERS = {
    "first 3->16 @256": ("conv", [3], 16, 256, 3, 2),
    "16->16 @256": ("conv", [16], 16, 256, 3, 2),
    "16+16->16 @256": ("conv", [16, 16], 16, 256, 3, 2),
    "32->32 @128": ("conv", [32], 32, 128, 3, 2),
    "64->64 @64": ("conv", [64], 64, 64, 3, 4),
    "64->64 @256": ("conv", [64], 64, 256, 3, 1),
    "128->128 @32": ("conv", [128], 128, 32, 3, 4),
    "256->256 @16": ("conv", [256], 256, 16, 3, 4),
    "512->512 @16": ("conv", [512], 512, 16, 3, 2),
    "128->128 @8": ("conv", [128], 128, 8, 3, 16),
    "1x1 64->64 @64": ("conv", [64], 64, 64, 1, 4),
    "final 16->3 @256": ("conv", [16], 3, 256, 1, 2),
    "up 32->16 @128": ("upconv", [32], 16, 128, 2, 2),
    "up 128->64 @32": ("upconv", [128], 64, 32, 2, 4),
    "up 128->64 @128": ("upconv", [128], 64, 128, 2, 1),
    "up 512->256 @16": ("upconv", [512], 256, 16, 2, 4),
    "pool 16 @256": ("pool", [16], 16, 256, 2, 2),
    "loss 3 @256": ("loss", [3], 3, 256, 0, 2),
    "add 16 @256": ("add", [16], 16, 256, 0, 2),
    "adam 1 million": ("adam", [0], 0, 1000000, 0, 0),
}

MAIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static real *make(long elements) {
    real *p = aligned_alloc(64, (size_t)((elements + 15) / 16 * 16) * sizeof(real));
    for (long i = 0; i < elements; i++)
        p[i] = (real)(i % 17 - 8) / 8;
    return p;
}
static stored *tensor(long elements) {
    stored *p = aligned_alloc(64, (size_t)((elements + 31) / 32 * 32) * sizeof(stored));
    for (long i = 0; i < elements; i++)
        store_some(p + i, (Vector){0} + (real)(i % 17 - 8) / 8, 1);
    return p;
}
static real sink;
static void multiply_add(long steps) {
    Tile t = {0};
    Vector b = load_real((const real[16]){0.5, 0.25}), c = load_real((const real[16]){1, 2});
#define START(r) t.a.v##r += r, t.b.v##r += r + ROWS;
    EACH_ROW(START)
    for (long i = 0; i < steps; i++) {
#define STEP(r) if (r < ROWS) t.a.v##r = t.a.v##r * b + c, t.b.v##r = t.b.v##r * b + c;
        EACH_ROW(STEP)
    }
#define SUM(r) sink += t.a.v##r[0] + t.b.v##r[0];
    EACH_ROW(SUM)
}
/* Seconds of one run of RUN, the best of several, and the peak in GFLOP/s between them: other work on the machine
 * slows both. */
#define BEST(took, run) do {                                                     \
    double start = now();                                                        \
    long runs = 0;                                                               \
    do {                                                                         \
        _Pragma("omp parallel")                                                  \
        run;                                                                     \
        runs++;                                                                  \
    } while (now() - start < 0.03);                                              \
    double each = (now() - start) / (double)runs;                                \
    took = each < took ? each : took;                                            \
} while (0)
#define TIME(what, work, call) do {                                              \
    double best = 1e30, peak = 1e30;                                             \
    for (int round = 0; round < 6; round++) {                                    \
        BEST(peak, multiply_add(1000000));                                       \
        BEST(best, call);                                                        \
    }                                                                            \
    double rate = work / best / 1e9;                                             \
    peak = 1e-3 * 2 * ROWS * LANES * 2 * THREADS / peak;                         \
    printf("%-32s %7.1f  %3.0f %% of %4.0f  %8.3f ms\n", what, rate, 100 * rate / peak, peak, best * 1e3); \
    fflush(stdout);                                                              \
} while (0)
int main(void) {
"""


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


def letters(axes):
    """The letters of the three axes of a window, without the extents."""
    return {"%s%s" % (name, axis): axes[i][column]
            for column, name in enumerate("KSLP") for i, axis in enumerate("DHW")}


def extents(prefix, size):
    return {prefix + "D": size[0], prefix + "H": size[1], prefix + "W": size[2]}


def convolution(instances, name, layer, width):
    kind, ins, co, size, k, batch = layer
    conv = kind == "conv"
    edge = (k, 1, 1, k // 2) if conv else (2, 2, 1, 0)
    dense, sampled = (size, size) if conv else (2 * size, size)
    axes = [(1, 1, 1, 0, 1, 1)] + [edge + (sampled, dense)] * 2
    halo = [0, k // 2, k // 2] if conv else [0, 0, 0]
    out = size if conv else 2 * size
    x = [Tensor(c, [1, size, size], halo, halo) for c in ins]
    y, dx = Tensor(co, [1, out, out], halo, halo), Tensor(ins[0], [1, size, size], halo, halo)
    stored = sum(t.block * t.blocks for t in x)
    numbers = {"CI": sum(ins), "CO": co, "SEGMENTS": len(x), "BIAS": 1, "RELU": 1, "MASK": 1, "C0": 0, "CS": ins[0],
               "ACCUMULATE": 0, "TRANSPOSED": int(not conv), **letters(axes), **extents("I", [1, size, size]), **extents("", [1, out, out])}
    taps = k * k
    wide = -(-co // 16) * 16
    weights = max(sum(ins), 16) * max(co, 16) * taps * 4
    code = ["{"]
    code += ["stored *x%d = tensor(%d);" % (i, batch * t.sample) for i, t in enumerate(x)]
    code += ["const stored *x[] = {%s};" % ", ".join("x%d" % i for i in range(len(x)))]
    code += ["stored *y = tensor(%d), *dx = tensor(%d);" % (batch * y.sample, batch * dx.sample)]
    code += ["real *w = make(%d), *packed = make(%d), *b = make(%d);" % (weights, weights, wide)]
    code += ["real *dw = make(%d), *scratch = make(%d);" % (weights, 2 * wide * (stored * taps + 1))]
    flops = 2.0 * sum(ins) * co * taps * size * size * batch
    def time(what, work, call):
        code.append('TIME("%s %s", %g, %s);' % (name, what, work, call))
    time("pack (G/s)", 1.0 * sum(ins) * co * taps, "%s(packed, w)" % instances.add("conv_pack", numbers, {"X": x, "Y": y}))
    time("forward", flops, "%s(%d, (Rows){0, %d}, y, x, packed, b)" % (instances.add(kind, numbers, {"X": x, "Y": y}), batch, out))
    time("dgrad", flops * ins[0] / sum(ins), "%s(%d, (Rows){0, %d}, dx, y, packed, x0)" % (
        instances.add(kind + "_dgrad", numbers, {"DX": dx, "DY": y, "M": dx}), batch, size))
    time("wgrad", flops, "%s(%d, (Rows){0, %d}, dw, b, scratch, x, y)" % (
        instances.add("conv_wgrad", numbers, {"X": x, "DY": y}), batch, size))
    return code + ["}"]


def pool(instances, name, layer, width):
    _, (c,), _, size, _, batch = layer
    x, y = Tensor(c, [1, size, size]), Tensor(c, [1, size // 2, size // 2])
    numbers = {"C": c, "ACCUMULATE": 1, "MASK": 1, **letters([(1, 1, 1, 0), (2, 2, 1, 0), (2, 2, 1, 0)]),
               **extents("I", x.size), **extents("", y.size)}
    bytes_moved = width * c * batch * size * size
    return ["{stored *x = tensor(%d), *y = tensor(%d), *dx = tensor(%d);" % (
                batch * x.sample, batch * y.sample, batch * x.sample),
            'TIME("%s forward (GB/s)", %g, %s(%d, (Rows){0, %d}, y, x));' % (
                name, 1.25 * bytes_moved, instances.add("max_pool", numbers, {"X": x, "Y": y}), batch, size // 2),
            'TIME("%s gradient (GB/s)", %g, %s(%d, (Rows){0, %d}, dx, x, y, dx));}' % (
                name, 3.25 * bytes_moved,
                instances.add("max_pool_grad", numbers, {"DX": x, "X": x, "DY": y, "A": x}), batch, size)]


def simple(instances, name, layer, width):
    kind, (c,), _, size, _, batch = layer
    if kind == "adam":
        reals = {"WEIGHT_DECAY": 0, "BETA1": 0.9, "BETA2": 0.999, "EPSILON": 1e-8}
        adam = instances.add("adam", {"COUNT": size, "DECOUPLED": 0, "SCALED": 0}, {}, reals)
        return ["{real *p = make(%d), *g = make(%d), *m = make(%d), *v = make(%d);" % ((size,) * 4),
                "memset(m, 0, %d), memset(v, 0, %d);" % (4 * size, 4 * size),
                'TIME("%s (GB/s)", %g, %s(p, g, m, v, NULL, 1e-3, 10));}' % (name, 28.0 * size, adam)]
    t = Tensor(c, [1, size, size])
    numbers = {"C": c, "BANDS": 16, "ACCUMULATE": 0, "SCALED": 0, "PARAMETERS": 0,
               "P_STAGED": 0, "T_STAGED": 0, **extents("", t.size)}
    code = ["{double result[2], *scratch = (double *)make(%d);" % (64 * batch),
            "stored *y = tensor(%d), *a = tensor(%d), *b = tensor(%d);" % ((batch * t.sample,) * 3)]
    moved = width * batch * c * size * size
    three = (name, 3 * moved)
    if kind == "add":
        add = instances.add("add", numbers, {"Y": t, "A": t, "B": t})
        return code + ['TIME("%s (GB/s)", %g, %s(%d, (Rows){0, %d}, y, a, b));}' % (*three, add, batch, size)]
    mse = instances.add("mse", numbers, {"P": t, "T": t})
    gradient = instances.add("mse_grad", numbers, {"DP": t, "P": t, "T": t}, {"WEIGHT": 1})
    return code + ['TIME("%s mse (GB/s)", %g, %s(%d, result, scratch, a, b, NULL));' % (name, 2 * moved, mse, batch),
                   'TIME("%s gradient (GB/s)", %g, %s(%d, %d, (Rows){0, %d}, y, a, b, NULL));}' % (*three, gradient, batch, batch, size)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--flags", default=FLAGS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", default="f32", choices=["f32", "bf16", "f16"])
    parser.add_argument("layers", nargs="*", help="parts of the names of layers; all by default")
    options = parser.parse_args()
    instances, code = Instances("cpu"), []
    for name, layer in LAYERS.items():
        if not options.layers or any(part in name for part in options.layers):
            measure = convolution if layer[0].endswith("conv") else pool if layer[0] == "pool" else simple
            code += measure(instances, name, layer, 4.0 if options.precision == "f32" else 2.0)
    stored = [] if options.precision == "f32" else ["-DUNET_STORED_" + options.precision.upper()]
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "bench.c"), os.path.join(folder, "bench")
        with open(source, "w") as f:
            f.write("\n".join(instances.text + ["#define THREADS %d" % options.threads, MAIN] + code + ["}\n"]))
        subprocess.run([options.cc, *options.flags.split(), *stored, source, "-o", program, "-lm"], check=True)
        subprocess.run([program], env={**os.environ, "OMP_NUM_THREADS": str(options.threads)}, check=True)


main()

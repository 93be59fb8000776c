"""large.py - instances of the CUDA templates for tensors as large as those of real nets, which are compiled but not run.

Writes FOLDER/large.cu and, for types of 16 bits, FOLDER/tiles.cu: what multiplies matrices on tensor cores.
Usage: large.py FOLDER TYPE."""
import os
import sys

from cases import Cases, Shape, argmax_bits, device_head, extents

N = 8


def pooling(cases, kernel, stride, padding, size):
    out = [(s + 2 * p - k) // t + 1 for s, k, t, p in zip(size, kernel, stride, padding)]
    x, y = cases.shape(64, N, size), cases.shape(64, N, out)
    numbers = {"C": 64, "N": N, "ACCUMULATE": 1, "MASK": 1, "ARGMAX_BITS": 0, "SUM_BANDS": 0, "INSIDE": 1, **extents("I", size), **extents("", out)}
    for name, values in (("K", kernel), ("S", stride), ("P", padding), ("L", (1, 1, 1))):
        numbers.update({name + axis: value for axis, value in zip("DHW", values)})
    keeping = {**numbers, "ARGMAX_BITS": argmax_bits(kernel[0] * kernel[1] * kernel[2])}
    for pool in (numbers, keeping):
        cases.cuda.add("max_pool", pool, {"X": x, "Y": y, "ARGMAX": y})
    cases.cuda.add("avg_pool", numbers, {"X": x, "Y": y})
    cases.cuda.add("avg_pool_grad", numbers, {"DX": x, "DY": y})
    for gradient in (numbers, {**keeping, "MASK": 0}, {**keeping, "ACCUMULATE": 0}, {**numbers, "SUM_BANDS": 256}):
        cases.cuda.add("max_pool_grad", gradient, {"DX": x, "X": x, "DY": y, "A": x, "Y": y, "ARGMAX": y})


def losses(cases, channels, staged, size):
    p = cases.shape(channels, N, size)
    t = Shape(channels, N, size, channels) if staged else p
    numbers = {"C": channels, "N": N, "BANDS": 64, "ACCUMULATE": 1, "SCALED": 1, "P_STAGED": 0, "T_STAGED": staged, **extents("", size)}
    for name in ("mse", "l1", "psnr", "mse_grad", "l1_grad"):
        for bands in (0, 256) if name.endswith("_grad") else (0,):
            cases.cuda.add(name, {**numbers, "SUM_BANDS": bands}, {"P": p, "T": t, "DP": p}, {"WEIGHT": 0.5})


def joining(cases, channels, segments, size):
    x, y = cases.shape(channels, N, size), cases.shape(channels * segments, N, size)
    numbers = {"C": channels * segments, "N": N, "SEGMENTS": segments, **extents("", size)}
    cases.cuda.add("concat", numbers, {"Y": y, "X": [x] * segments})
    cases.cuda.add("slice", {**numbers, "C": channels, "C0": channels}, {"Y": x, "X": y})


def convolving(cases, ins, out, size, taps):
    """Two halves of a concat, with what is around a convolution by cuDNN; transposed, they have the most kernels."""
    half, x, y = ins // 2, cases.shape(ins // 2, N, size), cases.shape(out, N, size)
    numbers = {"N": N, "K": out, "C": ins, "TAPS": taps, "CI": ins, "CO": out, "SEGMENTS": 2, "BIAS": 1, "RELU": 1, "MASK": 1, "ADDED": 1,
               "ACCUMULATE": 1, "TRANSPOSED": 1, "BANDS": 256, "SUM_BANDS": 256, "SUMMED": 0, "FINISHED": 0, "PBIAS": y.block, "BIAS_AT": 0, "BANDS_AT": 0, "WORKSPACE_AT": 0,
               **{"K" + axis: k for axis, k in zip("DHW", (1, taps, 1))}, **extents("I", size), **extents("", size)}
    filters = ["{0, %d, %d, %d, %d, %d, 0}" % (out, y.block, s * half, half, x.block) for s in range(2)]
    arrays = {"FILTER": ("Filter", filters), "GRAPH": ("int", ["0", "1"])}
    for name in ("filter_pack", "conv", "conv_dgrad", "conv_wgrad", "filter_unpack"):
        cases.cuda.add(name, numbers, {"X": [x, x], "Y": y, "DX": x, "DY": y, "M": x, "A": x}, {}, arrays)
    if size[0] > 1:
        return
    for shape in (x, y):
        shape.ring = 35
    numbers.update({"SLIDES": 0, "ROWS": 32, "DENSE": 34, "SAMPLED": 33, "DENSE_AT": 0, "SAMPLED_AT": 0, "SH": 1, "PH": 1, "LH": 1})
    for name in ("conv_rows", "conv_dgrad_rows", "conv_wgrad_rows"):
        cases.cuda.add(name, numbers, {"X": [x, x], "Y": y, "DX": x, "DY": y, "M": x, "A": x}, {}, arrays)


def tiling(cases, ins, out, size, kernel):
    """An upconv by cells of KERNEL points."""
    y_size, taps = [s * k for s, k in zip(size, kernel)], kernel[0] * kernel[1] * kernel[2]
    numbers = {"N": N, "CI": ins, "CO": out, "BIAS": 1, "RELU": 1, **{"K" + axis: k for axis, k in zip("DHW", kernel)}, **extents("I", size),
               **extents("", y_size)}
    x, y = cases.shape(ins, N, size), cases.shape(out, N, y_size)
    filters = ["{0, %d, %d, 0, %d, %d, 0}" % (ins, x.block, out, y.block)]
    cases.cuda.add("upconv_cells", numbers, {"X": [x], "Y": y}, {}, {"FILTER": ("Filter", filters)})
    if taps == 4:
        x.ring, y.ring = 35, 70
        cases.cuda.add("upconv_cells", numbers, {"X": [x], "Y": y}, {}, {"FILTER": ("Filter", filters)})


def updating(cases, count):
    numbers = {"COUNT": count, "BANDS": 528, "SCALED": 1, "GROWTH_INTERVAL": 2000, "DECOUPLED": 1,
               "NESTEROV": 1, "AMSGRAD": 1, "CENTERED": 1, "CLIPS": 1, "AVERAGED": 1, "SHARDED": 0, "PROCESSES": 1, "RUNS": 2, "TENSORS": 1}
    reals = {"BETA1": 0.9, "BETA2": 0.999, "EPSILON": 1e-8, "WEIGHT_DECAY": 0.01, "MOMENTUM": 0.9, "DAMPENING": 0.1,
             "ALPHA": 0.99, "CLIP": 0.5, "LIMIT": 1, "AVERAGE": 0.999, "LEAST_SQUARE": 0.0189}
    runs = {"RUN": ("long", ["0", str(count // 3), str(count // 2), str(count)]), "AT": ("long", ["0", "-%d" % (count // 6)])}
    coded, blocks = count // 2, -(-count // 512)
    runs["TENSOR"] = ("long", [str(x) for x in (0, 0, coded, 0, blocks, coded, 0, coded + 4 * blocks)])
    for name in ("loss_scale", "gradient_norm", "adam", "sgd", "rmsprop"):
        cases.cuda.add(name, numbers, {}, reals, runs)


def merging(cases, numbers):
    cases.cuda.add("norm_merge", {"NUMBERS": numbers, "VARIANCES": 1, "GROUP": 8, "RANKS": 1024}, {"MEANS": cases.shape(numbers, N, [1, 1, 1])})


def main():
    folder, stored = sys.argv[1:]
    cases = Cases(1, stored, None)
    pooling(cases, (1, 2, 2), (1, 2, 2), (0, 0, 0), [1, 512, 512])
    pooling(cases, (2, 2, 2), (2, 2, 2), (0, 0, 0), [64, 64, 64])
    pooling(cases, (3, 3, 3), (2, 2, 2), (1, 1, 1), [64, 64, 64])
    pooling(cases, (1, 5, 5), (1, 5, 5), (0, 0, 0), [1, 510, 510])
    losses(cases, 3, 1, [1, 512, 512])
    losses(cases, 1024, 0, [1, 64, 64])
    joining(cases, 64, 2, [1, 512, 512])
    joining(cases, 10, 20, [1, 64, 64])
    convolving(cases, 1024, 512, [1, 64, 64], 9)
    convolving(cases, 24, 2, [64, 64, 64], 27)
    updating(cases, 31000000)
    merging(cases, 2048)
    with open(os.path.join(folder, "large.cu"), "w") as f:
        f.write("\n".join(cases.cuda.text))
    if cases.lanes == 4:
        return
    cases = Cases(1, stored, None)
    cases.cuda.text = [device_head(stored, "tiles")]
    tiling(cases, 512, 256, [1, 64, 64], [1, 2, 2])
    tiling(cases, 32, 16, [1, 128, 128], [1, 2, 2])
    tiling(cases, 320, 256, [8, 8, 8], [2, 2, 2])
    with open(os.path.join(folder, "tiles.cu"), "w") as f:
        f.write("\n".join(cases.cuda.text))


main()

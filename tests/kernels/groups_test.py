"""groups_test.py - activations in codes: what the reference kernels make of a tensor is what unet/groups.h says.

In exact fractions: the lowest number and the step of each group; a code is one of the two beside the number, with the sign on the
number's own side where that is asked; a decoded number is low + step * code; the mean over many steps is the number.  The fast kernels
and those for a GPU are held against the reference by run.py of this folder and of cuda/kernels.

Usage: groups_test.py.  CC names the compiler."""
import fractions
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
PLAIN, ZEROS, SIGNS = range(3)
CHANNELS, WIDTH, STEPS = 21, 19, 400  # two blocks of channels and two columns of points, the last ones not whole


def body(path):
    text = open(os.path.join(ROOT, "templates", "reference", path)).read()
    return text[text.index("/* BEGIN */"):text.index("/* END */")]


def instance(kernel, bits, signs):
    row = 2 * 2 * (8 + 32 * bits)
    sizes = ("enum { C = %d, D = 1, H = 1, W = %d, CODE_BITS = %d, ZEROS = %d, SIGNED = %d, NUMBER = 7 };" %
             (CHANNELS, WIDTH, bits, signs == ZEROS, signs == SIGNS))
    dense = "UNUSED static const Layout %s = {%d, 1, %d, 0, %d, %d, %d, %d, 0};"
    layouts = " ".join(dense % (name, channels, channels, channels * points, points, points, points) for name, channels, points in
                       (("X", CHANNELS, WIDTH), ("Y", CHANNELS, WIDTH), ("CODES", 1, row)))
    text = body(kernel + ".c").replace("SIZES;", sizes + layouts)
    return re.sub(r"\bKERNEL", "%s_%d_%d" % (kernel, bits, signs), text)


MAIN = """
#include <stdio.h>
int main(void) {
    static float x[%(count)d], y[%(count)d];
    static uint8_t codes[4 * (8 + 32 * 8)];
    char name[16];
    int bits, signs, steps;
    while (scanf("%%15s %%d %%d %%d", name, &bits, &signs, &steps) == 4) {
        for (int i = 0; i < %(count)d; i++) {
            unsigned word;
            if (scanf("%%x", &word) != 1)
                return 1;
            x[i] = of_bits(word);
        }
        for (int step = 0; step < steps; step++) {
%(calls)s
            for (int i = 0; i < 4 * (8 + 32 * bits); i++)
                printf("%%02x", codes[i]);
            printf(" ");
            for (int i = 0; i < %(count)d; i++)
                printf("%%08x", bits_of(y[i]));
            printf("\\n");
        }
    }
    return 0;
}
"""


def program():
    variants = [(bits, signs) for bits in (8, 4, 2) for signs in (PLAIN, ZEROS, SIGNS)]
    kernels = [instance(kernel, *variant) for variant in variants for kernel in ("compress", "decompress")]
    calls = "\n".join("            if (bits == %d && signs == %d) {\n                compress_%d_%d(1, 3, step, 5, (Rows){0, 1}, codes, x);\n"
                      "                decompress_%d_%d(1, (Rows){0, 1}, y, codes);\n            }" % (3 * variant) for variant in variants)
    prologue = "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n#define UNET_REAL float\n" + body("prologue.c")
    return prologue + body("draws.c") + body("coded.c") + "".join(kernels) + MAIN % {"count": CHANNELS * WIDTH, "calls": calls}


def to_bits(x):
    return struct.unpack("I", struct.pack("f", x))[0]


def of_bits(word):
    return struct.unpack("f", struct.pack("I", word))[0]


def single(x):
    return of_bits(to_bits(float(x)))


def groups():
    """For each group the indices of its numbers in x, by point and channel."""
    for block in range(2):
        for column in range(2):
            yield [[(16 * block + c) * WIDTH + 16 * column + p for c in range(min(16, CHANNELS - 16 * block))]
                   for p in range(min(16, WIDTH - 16 * column))]


def step_between(low, high, top):
    step = single(single(high - low) / top)
    return max(2.0**-100, of_bits((to_bits(step) & ~0xff) + 0x200))


def check_group(group, text, x, y, bits, signs):
    """What is wrong with one group, in words."""
    said = bytes.fromhex(text)
    low, step = struct.unpack("ff", said[:8])
    top, apart, numbers = 2**bits - 1, 2 * bits, [x[i] for point in group for i in point]
    if not all(math.isfinite(number) for number in numbers):
        zero = lambda i: signs == ZEROS and not x[i] > 0
        return [] if math.isnan(step) and all(y[i] == 0 if zero(i) else math.isnan(y[i]) for p in group for i in p) else ["is no NaN"]
    counted = [number for number in numbers if signs != ZEROS or number > 0] or [0.0]
    least = (min(counted), step_between(min(counted), max(counted), top - (signs == ZEROS)))
    wrong = [] if (low, step) == least else ["%r and %r, not %r" % (low, step, least)]
    for p, point in enumerate(group):
        for c, i in enumerate(point):
            code = said[8 + p % apart * 16 + c] >> p // apart * bits & top
            if signs == ZEROS:
                wrong += [] if (code == 0) == (x[i] <= 0) else ["code %d of %r" % (code, x[i])]
                if code == 0:
                    wrong += [] if y[i] == 0 else ["a zero is %r" % y[i]]
                    continue
            at = fractions.Fraction(x[i] - low if x[i] == low else fractions.Fraction(x[i]) - fractions.Fraction(low))
            place = at / fractions.Fraction(step) + (signs == ZEROS)
            beside = abs(code - place) < 1 + fractions.Fraction(1, 4096)
            moved = signs == SIGNS and (y[i] > 0) == (x[i] > 0) and abs(code - place) <= 2
            wrong += [] if beside or moved else ["code %d for %g" % (code, place)]
            exact = fractions.Fraction(low) + fractions.Fraction(step) * (code - (signs == ZEROS))
            wrong += [] if y[i] == single(exact) else ["%r decoded as %r" % (x[i], y[i])]
            wrong += [] if signs == PLAIN or (y[i] > 0) == (x[i] > 0) else ["the sign of %r" % x[i]]
    return wrong


def tensors(draw):
    """Name, and a function of an index."""
    yield "uniform", lambda i: draw.uniform(-1, 1)
    yield "rectified", lambda i: max(0.0, draw.gauss(0, 1))
    yield "leaky", lambda i: (lambda z: z if z > 0 else 0.01 * z)(draw.gauss(0, 1))
    yield "alike", lambda i: 0.3
    yield "zero", lambda i: 0.0
    yield "negative", lambda i: -draw.random()
    yield "wide", lambda i: draw.choice([-1, 1]) * 10**draw.uniform(-30, 30)
    yield "tiny", lambda i: draw.uniform(-1, 1) * 1e-42
    yield "near_zero", lambda i: draw.choice([-1.0, 1e-12, 1e-30, -1e-30, 0.5])
    yield "with_nan", lambda i: math.nan if i == 40 else draw.uniform(-1, 1)
    yield "infinite", lambda i: -math.inf if i == 40 else draw.uniform(-1, 1)


def check_mean(lines, x, bits, signs, name):
    """The mean of the decoded numbers over all steps, in standard deviations, over all numbers that no sign moves."""
    sums = [0.0] * len(x)
    for line in lines:
        y = [of_bits(int(word, 16)) for word in re.findall(".{8}", line.split()[1])]
        sums = [a + b for a, b in zip(sums, y)]
    spread = (max(x) - min(x)) / (2**bits - 2)
    off = [(total / len(lines) - number) / (spread / 2 / math.sqrt(len(lines))) for total, number in zip(sums, x)]
    rms = math.sqrt(sum(o * o for o in off) / len(off))
    mean = sum(off) / math.sqrt(len(off))
    return [] if rms < 1.3 and abs(mean) < 5 else ["%s, %d bits, signs %d: means off by %.2f, in all %.2f deviations" % (
        name, bits, signs, rms, mean)]


def main():
    draw, failures, jobs = random.Random("groups"), [], []
    for bits in (8, 4, 2):
        for signs in (PLAIN, ZEROS, SIGNS):
            for name, number in tensors(draw):
                x = [single(number(i)) for i in range(CHANNELS * WIDTH)]
                steps = STEPS if (name, signs) in (("uniform", PLAIN), ("rectified", ZEROS)) else 2
                jobs.append((name, bits, signs, steps, x))
    with tempfile.TemporaryDirectory() as folder:
        source, binary = os.path.join(folder, "groups.c"), os.path.join(folder, "groups")
        with open(source, "w") as out:
            out.write(program())
        subprocess.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O2", "-w", "-I" + os.path.join(ROOT, "runtime/include"), source, "-o",
                        binary, "-lm"], check=True)
        given = "".join("%s %d %d %d\n%s\n" % (*job[:4], " ".join("%08x" % to_bits(number) for number in job[4])) for job in jobs)
        said = subprocess.run([binary], input=given, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    for name, bits, signs, steps, x in jobs:
        lines, said = said[:steps], said[steps:]
        for line in lines[:2]:
            codes, numbers = line.split()
            y, size = [of_bits(int(word, 16)) for word in re.findall(".{8}", numbers)], 2 * (8 + 32 * bits)
            for k, group in enumerate(groups()):
                failures += ["%s, %d bits, signs %d: %s" % (name, bits, signs, words)
                             for words in check_group(group, codes[k * size:(k + 1) * size], x, y, bits, signs)][:3]
        failures += check_mean(lines, x, bits, signs, name) if steps == STEPS else []
    for failure in failures[:20]:
        print("FAILED: " + failure)
    print("%d tensors of four groups, %d failures" % (len(jobs), len(failures)))
    sys.exit(1 if failures or said else 0)


main()

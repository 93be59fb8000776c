#!/usr/bin/env python3
"""python.py UNETC [--size=N] [--steps=N] [--rounds=N] - one small training three ways, in turns: the program on a folder, the C
library on arrays in memory, and Python on the same arrays; and a step of `bench`, which brings no samples.

Prints the median time of a step, and the largest resident memory of the process with and without what Python takes before a model
is there.  TinyUNet with batch 6, f32.  The program reads its samples from files while it computes."""

import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NET = os.path.join(ROOT, "examples", "denoise", "tiny_unet.unet")
BATCH = 6

LIBRARY = r"""
#include "tiny_unet.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    enum { POINTS = 3 * TINY_UNET_HEIGHT * TINY_UNET_WIDTH * TINY_UNET_BATCH };
    float *x = malloc(2 * POINTS * sizeof *x);
    void *buffer = aligned_alloc(64, TINY_UNET_BUFFER_BYTES);
    UnetError error;
    double loss;
    for (int i = 0; i < 2 * POINTS; i++)
        x[i] = (float)(rand() % 1000) / 1000;
    if (tiny_unet_init(buffer, TINY_UNET_BUFFER_BYTES, 0, 0, &error) != UNET_OK)
        return 1;
    for (int step = argc > 1 ? atoi(argv[1]) : 1; step > 0; step--) {
        const double start = seconds();
        if (tiny_unet_train_step(buffer, TINY_UNET_BATCH, x, x + POINTS, 5e-4, &loss, &error) != UNET_OK)
            return 1;
        printf("%.9f\n", seconds() - start);
    }
    return 0;
}
"""

PYTHON = """
import sys, time, unetc
size, steps, with_numpy = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "numpy"
shape = (6, 3, size, size)
if with_numpy:
    import numpy
    x, y = (numpy.random.default_rng(k).random(shape, "f4") for k in range(2))
else:
    import array, random
    def some():
        values = array.array("f", (random.random() for _ in range(6 * 3 * size * size)))
        return memoryview(values).cast("B").cast("f", shape)
    x, y = some(), some()
before = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))
model = unetc.compile(sys.argv[4], size=(size, size))
print("before", before << 10)
for _ in range(steps):
    start = time.perf_counter()
    model.train_step(x, y, lr=5e-4)
    print("%.9f" % (time.perf_counter() - start))
"""


def run(words, folder, **environment):
    """Standard output and the largest resident bytes."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT, cwd=folder, env={**os.environ, **environment})
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        text = out.read().decode()
        if os.waitstatus_to_exitcode(status):
            raise SystemExit("%s fails: %s" % (words, text))
        return text, usage.ru_maxrss * 1024


def median(text, skip=2):
    times = [float(word) for word in re.findall(r"^(\d+\.\d{9})$", text, re.M)]
    return statistics.median(times[skip:]) * 1e3


def pictures(folder, size):
    """BATCH pairs of 8 bits, as PPM."""
    for name in ("noisy", "clean"):
        os.makedirs(os.path.join(folder, name))
        for k in range(BATCH):
            with open(os.path.join(folder, name, "%d.ppm" % k), "wb") as file:
                file.write(b"P6 %d %d 255\n" % (size, size) + os.urandom(3 * size * size))


def build(unetc, folder, size):
    with open(NET) as file, open(os.path.join(folder, "tiny_unet.unet"), "w") as out:
        out.write(file.read().replace("*.png", "*.ppm"))
    options = ["--size=%dx%d" % (size, size), "--staging=f32"]
    subprocess.check_call([unetc, *options, "tiny_unet.unet"], cwd=folder)
    subprocess.check_call([unetc, *options, "-S", "sources", "tiny_unet.unet"], cwd=folder)
    with open(os.path.join(folder, "library.c"), "w") as out:
        out.write(LIBRARY)
    home = subprocess.check_output([unetc, "--runtime"], universal_newlines=True).strip()
    with open(os.path.join(home, "libraries")) as file:
        libraries = file.read().split()
    sources = sorted(os.path.join("sources", name) for name in os.listdir(os.path.join(folder, "sources"))
                     if name.endswith(".c") and name != "main.c")
    subprocess.check_call(["cc", "-std=gnu11", "-O2", "-march=native", "-fopenmp", "-ffp-contract=fast", "-fno-math-errno",
                           "-fno-trapping-math", "-w", "-Isources", "-I" + os.path.join(home, "include"), "library.c", *sources,
                           os.path.join(home, "libunet_runtime.a"), *libraries, "-o", "library"], cwd=folder)


def measure(unetc, folder, size, steps):
    """{way: (milliseconds of a step, resident bytes)}"""
    spin = {"GOMP_SPINCOUNT": "2000"}
    found = {}
    text, _ = run(["./tiny_unet", "bench", "--steps=%d" % steps], folder)
    found["bench"] = float(re.search(r"^train .* median +([\d.]+) ms", text, re.M).group(1)), 0
    text, resident = run(["./tiny_unet", "train", "--steps=%d" % steps, "--out=run", "--overwrite"], folder)
    with open(os.path.join(folder, "run", "log.csv")) as file:
        rate = float(next(csv.DictReader(file))["images_per_s"])
    found["program"] = BATCH / rate * 1e3, resident
    text, resident = run(["./library", str(steps)], folder, **spin)
    found["C library"] = median(text), resident
    environment = {"UNETC": unetc, "PYTHONPATH": os.path.join(ROOT, "runtime", "python"), "XDG_CACHE_HOME": folder}
    for way in ("numpy", "plain"):
        words = [sys.executable, "-B", "-c", PYTHON, str(size), str(steps), way, os.path.join(folder, "tiny_unet.unet")]
        try:
            run(words[:5] + ["1"] + words[6:], folder, **environment)  # compiles
            text, resident = run(words, folder, **environment)
        except SystemExit:
            if way == "plain":
                raise
            continue
        found["Python, NumPy" if way == "numpy" else "Python alone"] = median(text), resident
        found["of it before a model, " + way] = 0, int(re.search(r"before (\d+)", text).group(1))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unetc")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    unetc = os.path.abspath(options.unetc)
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        pictures(folder, options.size)
        build(unetc, folder, options.size)
        for _ in range(options.rounds):
            rounds.append(measure(unetc, folder, options.size, options.steps))
        plan = json.loads(subprocess.check_output([unetc, "mem", "--format=json", "--staging=f32", "--size=%dx%d" % (options.size, options.size),
                                                   "tiny_unet.unet"], cwd=folder))
    print("arena %.1f MiB" % (plan["arena"]["bytes"] / 2**20))
    print("| | ms a step | MiB |\n|---|---|---|")
    for way in rounds[0]:
        times, resident = zip(*(found[way] for found in rounds))
        print("| %s | %s | %s |" % (way, "%.1f" % statistics.median(times) if times[0] else "", "%.0f" % (
            statistics.median(resident) / 2**20) if resident[0] else ""))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The steps of a program in functions of their own train the same weights, bit for bit.

    parts.py --unetc=UNETC

One net with groups of samples and sums of labels, which stops where a step touches what it may not (--poison), and one in
bands of rows with samples in turns, whose loops have bodies of many steps, for several levels of processors, are compiled
as they are and with `--steps-per-file=3`: a file for every three steps.  CMake has the same files.  And a net of 15,000 steps is many files, none of which lists more than 512.  Standard library only."""

import argparse
import glob
import hashlib
import os
import random
import re
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STEPS_PER_FILE = 512  # of compiler/cpu/parts.h

NET = """
input  x     : image(1, 24, 32)
target truth : labels(3)
a      = relu(%s(conv(x, 6, 3)))
b      = relu(conv(max_pool(a), 8, 3))
logits = conv(concat(upconv(b, 6), a), 3, 3)
output y = argmax(logits)
data {
    x     = images("x/*.pgm")
    truth = labels("truth/*.pgm")
}
train {
    loss cross_entropy(logits, truth, weight = [1, 2, 3]) + dice_loss(logits, truth, batch = false)
    batch 4
    steps 4
    %s
}
"""
NETS = {"groups": NET % ("batch_norm", "ranks 2"), "loops": NET % ("", "")}
LOOPS = ["--bands=3", "--micro-batches=2", "--isa=portable"]
PROGRAMS = [("groups", ["--poison"]), ("loops", LOOPS)]


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode != 0:
        raise SystemExit("%s exits %d:\n%s" % (" ".join(command), done.returncode, done.stdout))
    return done.stdout


def make_data():
    rng = random.Random(5)
    for folder, most in (("x", 255), ("truth", 2)):
        os.makedirs(folder)
        for number in range(8):
            with open("%s/p%d.pgm" % (folder, number), "wb") as file:
                file.write(b"P5\n32 24\n255\n" + bytes(rng.randint(0, most) for _ in range(24 * 32)))


def weights(program, name):
    run(program, "train", "--out=run", "--overwrite")
    with open("run/%s.safetensors" % name, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    shutil.rmtree("run")
    return digest


def check_bits(unetc):
    for name, options in PROGRAMS:
        run(unetc, *options, "-o", "plain", name + ".unet")
        run(unetc, *options, "--steps-per-file=3", "-o", "parts", name + ".unet")
        if weights("./plain", name) != weights("./parts", name):
            raise SystemExit("%s %s: other weights in parts" % (name, options))


def check_cmake(unetc):
    run(unetc, *LOOPS, "--steps-per-file=3", "-S", "sources", "loops.unet")
    with open("sources/CMakeLists.txt", encoding="utf-8") as file:
        listed = sorted(re.findall(r"loops_steps_[0-9]+\.c", file.read()))
    if listed != sorted(os.path.basename(path) for path in glob.glob("sources/loops_steps_*.c")) or len(listed) < 10:
        raise SystemExit("CMake compiles %s" % listed)


def check_long(unetc):
    run(unetc, "-S", "long", "-D", "middle=200", "--size=64x64", os.path.join(ROOT, "examples", "nafnet", "nafnet.unet"))
    steps = 0
    for path in glob.glob("long/nafnet_steps_*.c") + ["long/nafnet.c"]:
        with open(path, encoding="utf-8") as file:
            listed = len(re.findall(r"^ *begin\(step, ", file.read(), re.MULTILINE))
        steps += listed
        if listed > STEPS_PER_FILE:
            raise SystemExit("%s lists %d steps" % (path, listed))
    if steps < 15000:
        raise SystemExit("%d steps in all" % steps)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unetc", required=True)
    unetc = os.path.abspath(parser.parse_args().unetc)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_data()
        for name, text in NETS.items():
            with open(name + ".unet", "w", encoding="utf-8") as file:
                file.write(text)
        check_bits(unetc)
        check_cmake(unetc)
        check_long(unetc)


main()

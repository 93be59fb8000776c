#!/usr/bin/env python3
"""One program predicts images of any height: the pictures of the program that was compiled for that height.

    any_height.py --unetc=UNETC [--long]

Each net is compiled once for bands of rows, and for some heights without; images of these heights, and a few rows less,
go through both, and the files are the same, byte by byte (16 bits a channel): by each method, in 16 bits, with reference
kernels, several outputs, several threads, and in builds that stop at the first access outside a buffer's life.  The
plans are sound (check_plan.py), and their memory does not depend on the height, nor does what a process takes.  A net
whose heights are not in proportion goes through whole.  The long form does that with large pictures, too; it takes 9 GiB.
Standard library only."""

import argparse
import concurrent.futures
import json
import os
import random
import shlex
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
QUICK_CC = os.path.join(os.path.dirname(HERE), "quick_cc")
sys.path.insert(0, os.path.dirname(HERE))
import check_plan  # noqa: E402
from bands import Failure, execute, told  # noqa: E402

TINY, MANY, CHAIN = "../../examples/denoise/tiny_unet.unet", "any_height.unet", "bands.unet"
WIDTH, HEIGHT = 32, 64  # that the program for bands is compiled for
HEIGHTS = (HEIGHT, 72, 200)
KINDS = {"direct": (TINY, ["--conv=direct"], 8), "Winograd": (TINY, [], 2), "bf16": (TINY, ["--precision=bf16", "--conv=direct"], 4),
         "reference": (TINY, ["--kernels=reference", "-Dbase=4"], 8), "poison": (TINY, ["--poison", "--conv=direct"], 8),
         "many operators": (MANY, [], 8), "many operators, poison": (MANY, ["--poison", "--kernels=reference"], 16)}
LARGE = (241, 241), (513, 769), (3000, 4000), (12000, 4096)  # rows, points a row
HIGH = (3000, 4000), (12000, 4000)  # which differ in their rows alone
LARGEST_GROWTH = 2 << 10  # KiB of a process, from an image to one four times as high


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def write_picture(path, height, width):
    """Noise in 16 bits."""
    noise = random.Random(height * 1000 + width)
    rows = zlib.compressobj(1)
    body = b"".join(rows.compress(b"\0" + noise.randbytes(6 * width)) for _ in range(height)) + rows.flush()
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, 2, 0, 0, 0)) +
                   chunk(b"IDAT", body) + chunk(b"IEND", b""))


def write_weights(path, parameters):
    """Random ones, so small that outputs lie in the range of a picture."""
    noise, header, body = random.Random(1), {}, b""
    for name, shape in parameters:
        count = 1
        for size in shape:
            count *= size
        scale = 1.5 / (count / shape[0]) ** 0.5 if len(shape) > 1 else 0.1
        values = struct.pack("<%df" % count, *(noise.uniform(-scale, scale) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(body), len(body) + len(values)]}
        body += values
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


class Workshop:
    def __init__(self, unetc, folder):
        self.unetc, self.folder = os.path.abspath(unetc), folder
        for height in HEIGHTS:
            for less in 0, 3:
                write_picture(self.picture(height - less), height - less, WIDTH - 1 if less else WIDTH)
        self.compiler = os.path.join(folder, "cc")  # what programs compute does not depend on the level
        with open(self.compiler, "w") as script:
            script.write("#!/bin/sh\nexec %s \"$@\"\n" % shlex.quote(QUICK_CC))
        os.chmod(self.compiler, 0o755)

    def picture(self, height):
        return os.path.join(self.folder, "in%d.png" % height)

    def plan(self, file, options):
        plan = json.loads(execute([self.unetc, "mem", "--format=json", "--programs=predict", *options, os.path.join(HERE, file)]))
        complaints = check_plan.judge(plan)
        if complaints:
            raise Failure("%s: %s" % (" ".join(options), "; ".join(complaints[:5])))
        return plan

    def compile(self, name, file, options):
        path = os.path.join(self.folder, name)
        execute([self.unetc, "-o", path, "--programs=predict", *options, os.path.join(HERE, file)], CC=self.compiler)
        return path

    def weights(self, name, file, options):
        plan = json.loads(execute([self.unetc, "mem", "--format=json", *options, os.path.join(HERE, file)]))
        path = os.path.join(self.folder, name + ".safetensors")
        write_weights(path, [(buffer["name"], buffer["shape"]) for buffer in plan["buffers"]
                             if buffer["class"] == "parameter" and buffer["name"] != "parameters"])
        return path


def predict(program, weights, picture, out, threads=2):
    execute([program, "predict", "--threads=%d" % threads, "--weights=" + weights, picture, "-o", out + "/"])
    return b"".join(open(os.path.join(out, name), "rb").read() for name in sorted(os.listdir(out)))


def size(height, width=WIDTH):
    return "--size=%dx%d" % (height, width)


def compare(shop, kind):
    file, options, bands = KINDS[kind]
    banded = options + ["--bands=%d" % bands]
    plan = shop.plan(file, banded + [size(HEIGHT)])
    weights = shop.weights(kind, file, options)
    rows = HEIGHT // bands
    for height in HEIGHTS[1:]:
        taller = shop.plan(file, options + ["--bands=%d" % -(-height // rows), size(height)])
        if height % rows == 0 and taller["arena"]["bytes"] != plan["arena"]["bytes"]:
            raise Failure("%s: %d rows take %d bytes, and %d take %d" % (kind, HEIGHT, plan["arena"]["bytes"], height,
                                                                         taller["arena"]["bytes"]))
    program = shop.compile(kind, file, banded + [size(HEIGHT)])
    for height in HEIGHTS:
        whole = shop.compile("%s %d" % (kind, height), file, options + ["--bands=off", size(height)])
        for less in 0, 3:
            picture, out = shop.picture(height - less), os.path.join(shop.folder, "%s %d" % (kind, height - less))
            expected = predict(whole, weights, picture, out + " whole")
            for threads in (1, 2, 3) if height == HEIGHTS[-1] else (2,):
                if predict(program, weights, picture, out + " bands", threads) != expected:
                    raise Failure("%s: an image of %d rows, in bands with %d threads, is not that of the program for %d rows" %
                                  (kind, height - less, threads, height))
    return "%s: the same pictures of %s rows" % (kind, ", ".join("%d, %d" % (height, height - 3) for height in HEIGHTS))


MEASURE = """import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"""


def peak(command):
    """KiB that a process has held at most.  One that is started counts what its parent held, so that is a small one."""
    return int(execute([sys.executable, "-c", MEASURE, *command]))


def check_memory(shop):
    """What a process takes does not grow with the picture; of a program of one size it would by 12 MiB."""
    options = ["--conv=direct", "-Dbase=4", "--bands=8", size(64, 256)]
    program, weights = shop.compile("high", TINY, options), shop.weights("high", TINY, ["-Dbase=4"])
    held = []
    for height in 1000, 4000:
        picture = os.path.join(shop.folder, "high%d.png" % height)
        write_picture(picture, height, 256)
        held.append(peak([program, "predict", "--weights=" + weights, picture, "-o", os.path.join(shop.folder, "high.png")]))
    if held[1] > held[0] + LARGEST_GROWTH:
        raise Failure("1000 rows take %d KiB, and 4000 take %d" % tuple(held))
    return "a picture of 4000 rows takes the memory of one of 1000, within %d KiB" % LARGEST_GROWTH


def rounded(count, unit=8):
    return -(-count // unit) * unit


def check_large(shop):
    """Pictures of many sizes, and what a process takes for some that differ in their heights."""
    options, weights, held = ["--conv=direct"], shop.weights("large", TINY, []), {}
    for height, width in sorted({*LARGE, *HIGH}):
        picture, out = os.path.join(shop.folder, "large.png"), os.path.join(shop.folder, "%d x %d" % (height, width))
        write_picture(picture, height, width)
        program = shop.compile(out + " bands", TINY, options + ["--bands=4", size(64, rounded(width))])
        command = [program, "predict", "--weights=" + weights, picture, "-o", out + ".png"]
        held[height, width] = peak(command)
        if (height, width) in LARGE:
            whole = shop.compile(out + " whole", TINY, options + ["--bands=off", size(rounded(height), rounded(width))])
            execute([whole, *command[1:-1], out + " whole.png"])
            with open(out + ".png", "rb") as one, open(out + " whole.png", "rb") as other:
                if one.read() != other.read():
                    raise Failure("%d x %d: not the picture of the program for that size" % (height, width))
    low, high = (held[extents] for extents in HIGH)
    if high > low + LARGEST_GROWTH:
        raise Failure("%d x %d take %d KiB, and %d x %d take %d" % (*HIGH[0], low, *HIGH[1], high))
    return "large pictures: %s; %d KiB, and %d" % (", ".join("%d x %d" % extents for extents in LARGE), low, high)


def check_whole(shop):
    """A net whose heights are not in proportion."""
    picture, program = shop.picture(HEIGHT), shop.compile("whole", CHAIN, ["--bands=4", size(HEIGHT - 1, WIDTH + 1)])
    done = subprocess.run([program, "predict", "--weights=" + shop.weights("whole", CHAIN, []), picture, "-o",
                           os.path.join(shop.folder, "whole.png")], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0 or "64 x 32 goes by windows of 63 x 33 that overlap and are blended" not in done.stderr:
        raise Failure("an image of 64 rows for a net of 63: exit code %d: %s" % (done.returncode, done.stderr))
    return "where heights are not in proportion, windows are blended"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--long", action="store_true", help="large pictures, too")
    arguments = parser.parse_args()
    checks = [check_memory, check_whole] + [check_large] * arguments.long
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        shop = Workshop(arguments.unetc, folder)
        return told([pool.submit(compare, shop, kind) for kind in KINDS] + [pool.submit(check, shop) for check in checks]) > 0


if __name__ == "__main__":
    sys.exit(main())

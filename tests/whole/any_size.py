#!/usr/bin/env python3
"""A program predicts images of any size by windows: the pictures of the program that was compiled for that size.

    any_size.py --unetc=UNETC [--nets=N] [--seed=S] [--flags=FLAGS]

Random small nets whose points see a bounded part of an image are compiled for a window and, for each picture, for the
whole: the files are the same, byte by byte (16 bits a channel).  Pictures are larger along either axis or both, smaller
along one, and no multiple of anything.  One net is computed by Winograd's method, one in bands of rows, one mirrored.  A
window that shows too little around a point gives other pictures, so the test would see that.  Where an operator sees all
of an image, windows are blended: that is said, and a constant picture stays so.  Memory does not grow with the height
(not measured with FLAGS for the C compiler: a sanitizer keeps what is freed).  Standard library only."""

import argparse
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
from any_height import chunk, peak, write_weights  # noqa: E402
from bands import Failure, execute  # noqa: E402

LARGEST_GROWTH = 2 << 10  # KiB of a process, from an image to one eight times as high


def write_picture(path, height, width, channels, value=None, classes=0):
    """Noise in 16 bits, or one value, or classes."""
    noise = random.Random(height * 1000 + width)
    if classes:
        noise.randbytes = lambda count: bytes(b for _ in range(count // 2) for b in (0, noise.randrange(classes)))
    rows = zlib.compressobj(1)
    row = struct.pack(">H", value) * (channels * width) if value is not None else None
    body = b"".join(rows.compress(b"\0" + (row or noise.randbytes(2 * channels * width))) for _ in range(height)) + rows.flush()
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, {1: 0, 3: 2}[channels], 0, 0, 0)) +
                   chunk(b"IDAT", body) + chunk(b"IEND", b""))


class Net:
    """The text of one, whose points see a bounded part of the image, and a window of which some count."""

    def __init__(self, rng):
        self.rng, self.lines, self.names = rng, [], 0
        self.channels = rng.choice([1, 3])
        self.base = rng.choice([3, 4, 8, 16])
        self.depth = rng.choice([0, 1, 1, 2])
        x = self.level("x", 0)
        scale = rng.choice([1, 1, 1, 2])
        if scale == 2:
            x = self.line(rng.choice(["resize(%s, scale = 2)", "pixel_shuffle(conv(%s, 8, 1), 2)", "upconv(%s, 4)"]) % x)
        self.lines.append("output y = sigmoid(conv(%s, %d, %d))" % (x, self.channels, rng.choice([1, 3])))
        if rng.random() < 0.4:
            self.lines.append("output c = argmax(conv(%s, 3, 1))" % x)
        stride = 2 ** self.depth
        self.window = [stride * (64 // stride + rng.randint(0, 5)) for _ in range(2)]

    def line(self, text):
        self.names += 1
        self.lines.append("v%d = %s" % (self.names, text))
        return "v%d" % self.names

    def point(self, x):
        """What works point by point."""
        return self.rng.choice(["relu(%s)", "leaky_relu(%s)", "batch_norm(%s)", "layer_norm(%s)", "rms_norm(%s)", "normalize(%s)", "gelu(%s)", "%s", "softmax(%s)"]) % x

    def convolution(self, x):
        c = self.rng.choice([self.base, 2 * self.base])
        kernel = self.rng.choice(["1", "3", "3", "3", "5", "3, dilation = 2", "[3, 5]"])
        return self.line(self.point("conv(%s, %d, %s)" % (x, c, kernel)))

    def level(self, x, depth):
        rng = self.rng
        x = self.convolution(x)
        if depth == self.depth:
            return x
        down = self.line(rng.choice(["max_pool(%s)", "avg_pool(%s)", "conv(%s, 6, 3, stride = 2)", "conv(%s, 6, 2, stride = 2, padding = 0)",
                                     "max_pool(%s, 3, stride = 2, padding = 1)", "pixel_unshuffle(%s, 2)"]) % x)
        up = self.line(rng.choice(["upconv(%s, 5)", "upconv(%s, 5, 3, stride = 2, padding = 1, output_padding = 1)",
                                   "resize(%s, scale = 2)", "resize(%s, scale = 2, mode = \"bilinear\")",
                                   "upconv(%s, 5, 4, stride = 2, padding = 1)"]) % self.level(down, depth + 1))
        join = self.line("concat(%s, %s)" % (up, x))
        return self.convolution(join)

    def text(self):
        return "input x : image(%d, %d, %d)\n%s\n" % (self.channels, *self.window, "\n".join(self.lines))


class Shop:
    def __init__(self, unetc, folder, flags):
        self.unetc, self.folder, self.made = os.path.abspath(unetc), folder, 0
        self.compiler = os.path.join(folder, "cc")
        with open(self.compiler, "w") as script:
            script.write("#!/bin/sh\nexec %s \"$@\" %s\n" % (shlex.quote(QUICK_CC), flags))
        os.chmod(self.compiler, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, text):
        self.made += 1
        path = self.path("net%d.unet" % self.made)
        with open(path, "w") as file:
            file.write(text)
        return path

    def compile(self, file, *options):
        self.made += 1
        path = self.path("program%d" % self.made)
        execute([self.unetc, "-o", path, "--programs=predict", *options, file], CC=self.compiler)
        return path

    def weights(self, program):
        info = json.loads(execute([program, "info", "--format=json"]))
        write_weights(program + ".safetensors", [(p["name"], p["shape"]) for p in info["parameters"]])
        return program + ".safetensors"

    def picture(self, height, width, channels, value=None):
        path = self.path("in%d-%d-%d-%s.png" % (height, width, channels, value))
        if not os.path.exists(path):
            write_picture(path, height, width, channels, value)
        return path

    def predict(self, program, weights, picture, threads=2):
        self.made += 1
        out = self.path("out%d/" % self.made)
        run = subprocess.run([program, "predict", "--threads=%d" % threads, "--weights=" + weights, picture, "-o", out],
                             capture_output=True, text=True)
        if run.returncode != 0:
            raise Failure("%s: %s" % (program, run.stderr))
        return {name: open(os.path.join(out, name), "rb").read() for name in sorted(os.listdir(out))}, run.stderr


def windows_of(program):
    """What `info` says of windows."""
    return json.loads(execute([program, "info", "--format=json"]))["programs"][-1]["windows"]


def padded(window, size, multiple):
    return window if size <= window else window + -(-(size - window) // multiple) * multiple


def compare(shop, name, text, sizes, window, channels, *options, mirrored=""):
    """Pictures of SIZES by windows and at once."""
    plain = text + "predict { %s }\n" % mirrored if mirrored else text
    file = shop.write(plain)
    program = shop.compile(file, *options)
    weights, windows = shop.weights(program), windows_of(program)
    if not windows["exact"] or not windows["same_bits"]:
        raise Failure("%s: windows are not exact: %s\n%s" % (name, windows, text))
    for size in sizes:
        whole = [padded(w, s, m) for w, s, m in zip(window, size, windows["multiples"])]
        large = shop.compile(file, *[o for o in options if "bands" not in o], "--size=%dx%d" % tuple(whole))
        picture = shop.picture(*size, channels)
        got, said = shop.predict(program, weights, picture)
        expected, _ = shop.predict(large, weights, picture)
        if got != expected:
            raise Failure("%s: a picture of %d x %d by windows of %d x %d is not that of %d x %d at once: %s\n%s" %
                          (name, *size, *window, *whole, [n for n in got if got[n] != expected[n]], text))
        if "blended" in said:
            raise Failure("%s: exact, and said to be blended: %s" % (name, said))
    return windows


def random_sizes(rng, window):
    h, w = window
    yield h + rng.randint(1, 150), w + rng.randint(1, 150)
    yield rng.choice([(h - rng.randint(0, 30), w + rng.randint(1, 200)), (h + rng.randint(1, 200), w - rng.randint(0, 30))])


WINOGRAD = """input x : image(1, 128, 96)
a = conv(x, 16, 3) -> relu
b = conv(max_pool(a), 16, 3) -> relu
c = conv(concat(upconv(b, 16), a), 16, 3) -> relu
output y = sigmoid(conv(c, 1, 3))
"""
WIDE = """input x : image(1, 64, 64)
a = conv(x, 4, 3) -> relu -> conv(4, 3) -> relu
b = conv(max_pool(a), 8, 3) -> relu -> conv(8, 3) -> relu
c = conv(concat(upconv(b, 4), a), 4, 3) -> relu -> conv(4, 3) -> relu
output y = sigmoid(conv(c, 1, 1))
output c = argmax(conv(c, 3, 1))
""".replace("output c", "output classes")
GLOBAL = """input x : image(1, 32, 48)
a = conv(x, 4, 1) -> instance_norm(eps = 1) -> relu
output y = sigmoid(conv(a, 1, 1))
output c = argmax(conv(a, 3, 1))
"""


def check_blended(shop):
    """Of a constant picture each window says the same; of another one the windows are said to be blended."""
    file = shop.write(GLOBAL)
    program = shop.compile(file)
    weights, windows = shop.weights(program), windows_of(program)
    if windows["exact"]:
        raise Failure("a normalised net is said to be exact")
    got, said = shop.predict(program, weights, shop.picture(70, 130, 1, 20000))
    small, quiet = shop.predict(program, weights, shop.picture(32, 48, 1, 20000))
    if "blended" not in said or "norm" not in said or "(line 2)" not in said or "blended" in quiet:
        raise Failure("what is said of blended windows: %r, of one window %r" % (said, quiet))
    for name, data in got.items():
        if len(set(points(data))) != 1 or points(data)[0] != points(small[list(small)[list(got).index(name)]])[0]:
            raise Failure("a constant picture has other values in %s" % name)


def points(png):
    """The numbers of a PNG whose rows are as unfiltered as ours: by Python, so any filter is undone."""
    at, body, head = 8, b"", None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        data = png[at + 8:at + 8 + length]
        head = struct.unpack(">IIBB", data[:10]) if kind == b"IHDR" else head
        body += data if kind == b"IDAT" else b""
        at += 12 + length
    width, height, bits, kind = head
    size = bits // 8 * {0: 1, 2: 3, 3: 1}[kind]
    raw, row, out = zlib.decompress(body), bytearray(width * size), []
    for y in range(height):
        line = raw[y * (width * size + 1):(y + 1) * (width * size + 1)]
        now = bytearray(line[1:])
        for x in range(len(now)):
            left, up, corner = now[x - size] if x >= size else 0, row[x], row[x - size] if x >= size else 0
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            now[x] = now[x] + [0, left, up, (left + up) // 2, nearest][line[0]] & 255
        row = now
        out += [bytes(now[x:x + size]) for x in range(0, len(now), size)]
    return out


MEASURED = """input x : image(1, %d, %d)
target clean : image(1)
target seen : labels(3)
a = conv(x, 4, 3) -> relu
b = conv(max_pool(a), 8, 3) -> relu
c = conv(concat(upconv(b, 4), a), 4, 3) -> relu
logits = conv(c, 3, 1)
output y = conv(c, 1, 3)
output found = argmax(logits)
data {
    x     = images("x/*.png")
    clean = images("clean/*.png")
    seen  = labels("seen/*.png")
    %s
}
train {
    loss   mse(y, clean)
    loss   cross_entropy(logits, seen)
    metric psnr(y, clean)
    metric miou(found, seen)
    metric iou(found, seen, class = 1)
    steps  1
    batch  1
}
"""


def check_eval(shop):
    """`eval` measures pictures of any size as programs of their size do: one by one, together, and without `crop`."""
    sizes = (70, 90), (50, 130)
    for crop in "crop pad = 0", "":
        got, expected = {}, {}
        for number, size in enumerate(sizes):
            folder = shop.path("data%d/" % number)
            for name, value in ("x", None), ("clean", 30000 if number else None), ("seen", None):
                os.makedirs(os.path.join(folder, name), exist_ok=True)
                write_picture(os.path.join(folder, name, "p%d.png" % number), *size, 1, value, classes=3 if name == "seen" else 0)
        small = shop.compile(shop.write(MEASURED % (48, 48, crop)), "--conv=direct", "--programs=train,eval,predict")
        weights = shop.weights(small)
        for number, size in enumerate(sizes):
            large = shop.compile(shop.write(MEASURED % (*size, crop)), "--conv=direct", "--programs=train,eval,predict")
            for program, results in (small, got), (large, expected):
                text = execute([program, "eval", "--format=json", "--weights=" + weights, "--eval-data=" + shop.path("data%d" % number)])
                results[number] = json.loads(text)["images"][0]["values"]
        for number, size in enumerate(sizes):
            for name, value in expected[number].items():
                other = got[number][name]
                if other is None and "cross_entropy" in name:  # of what is no output
                    continue
                if other is None or abs(other - value) > 1e-5 * max(1, abs(value)):
                    raise Failure("`eval` of %d x %d by windows, %r: %s is %s, and at once %s" % (*size, crop, name, other, value))


def check_memory(shop):
    file = shop.write(WIDE)
    program = shop.compile(file, "--bands=off")
    weights, took = shop.weights(program), []
    for height in 200, 1600:
        picture, out = shop.picture(height, 300, 1), shop.path("high%d/" % height)
        took.append(peak([program, "predict", "--threads=2", "--weights=" + weights, picture, "-o", out]))
    if took[1] - took[0] > LARGEST_GROWTH:
        raise Failure("200 rows take %d KiB, and 1600 take %d" % tuple(took))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--unetc", required=True)
    options.add_argument("--nets", type=int, default=5)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--flags", default="")
    options = options.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            shop = Shop(options.unetc, folder, options.flags)
            for number in range(options.nets):
                rng = random.Random(options.seed * 1000 + number)
                net = Net(rng)
                compare(shop, "net %d" % number, net.text(), random_sizes(rng, net.window), net.window, net.channels,
                        *([] if number % 2 else ["--conv=direct"]))
            compare(shop, "Winograd", WINOGRAD, [(300, 250)], (128, 96), 1)
            compare(shop, "bands", WIDE, [(150, 200), (40, 90)], (64, 64), 1, "--bands=4")
            compare(shop, "mirrored", WIDE, [(150, 200)], (64, 64), 1, mirrored='windows mirror = ["h", "w"]')
            check_blended(shop)
            check_eval(shop)
            if not options.flags:
                check_memory(shop)
    except Failure as failure:
        print("FAILED:", failure)
        return 1
    print("%d nets: by windows as at once" % options.nets)
    return 0


sys.exit(main())

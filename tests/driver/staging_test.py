"""staging_test.py UNETC RUNTIME [SEED]: what the loader's ring holds changes no bit of what is trained, measured or predicted.

Nets of drawn sizes, channels, batches, losses and transforms train on pictures of 8 and of 16 bits and on labels with
--staging=f32 and without it, where the ring has the type that the names of the files promise; `mem` says which.  Losses,
weights and predictions are compared bit by bit.  Then files that break the promise of their names, which are refused by
name; what --staging=u8 and u16 round, which is said; and budgets without room for a copy.  Standard library only."""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import emitted  # noqa: E402

UNETC, RUNTIME = [os.path.abspath(path) for path in sys.argv[1:3]]
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1

NET = """
input  photo : image({channels}, {height}, {width})
target clean : image({channels}, {height}, {width})
target mask  : labels(3, {height}, {width})
target share : image(1, {height}, {width})
a      = {first}(conv(photo, 5, 3))
b      = relu(conv(max_pool(a), 17, 3))
c      = concat(upconv(b, 4), photo)
output restored = conv(c, {channels}, 3) + photo
logits = conv(c, 3, 1)
output found = argmax(logits)
point  = conv(c, 1, 3)
data {{
    photo = images("photo/*.{ending}")
    clean = images("clean/*.{ending}")
    mask  = labels("mask/*.png")
    share = images("share/*.{ending}")
    {transforms}
}}
train {{
    loss   {loss}(restored, clean) + cross_entropy(logits, mask, pixel_weight = share) + mse(point, share)
    metric psnr(restored, clean)
    metric ssim(restored, clean)
    metric psnr(photo, clean)
    metric miou(found, mask)
    optimizer adam(lr = 1e-3)
    batch  {batch}
    steps  4
}}
"""


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == status, "%s exits %d: %s%s" % (command, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


# ---- files ---------------------------------------------------------------------------------------

def png(path, height, width, channels, bits, numbers):
    """Numbers row by row, the channels of a point side by side."""
    line = width * channels
    form = ">%d%s" % (line, "H" if bits == 16 else "B")
    rows = b"".join(b"\0" + struct.pack(form, *numbers[y * line:(y + 1) * line]) for y in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 2 if channels == 3 else 0, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def pfm(path, height, width, numbers):
    with open(path, "wb") as file:
        file.write(b"Pf\n%d %d\n-1.0\n" % (width, height) + struct.pack("<%df" % len(numbers), *numbers))


def numbers_of(r, count, bits):
    """All of 0 to 2^bits - 1 are as likely, the ends more."""
    return [r.choice([0, 2 ** bits - 1, r.randrange(2 ** bits)]) if r.random() < 0.1 else r.randrange(2 ** bits) for _ in range(count)]


def write_samples(r, net):
    """Five samples; where files may have 16 bits, some have 8."""
    for folder in ("photo", "clean", "mask", "share"):
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
    for i in range(5):
        size = [net["height"] + r.randint(0, 9), net["width"] + r.randint(0, 9)]
        for folder, channels in (("photo", net["channels"]), ("clean", net["channels"]), ("share", 1)):
            bits = r.choice([8, 16]) if net["bits"] == 16 else 8
            # A file's content says what it is: these are PNG under the names of other formats, too.
            png("%s/%d.%s" % (folder, i, net["ending"]), *size, channels, bits, numbers_of(r, size[0] * size[1] * channels, bits))
        png("mask/%d.png" % i, *size, 1, 8, [r.randrange(3) for _ in range(size[0] * size[1])])


# ---- nets ----------------------------------------------------------------------------------------

def draw(r, bits):
    height, width = 2 * r.randint(8, 14), 2 * r.randint(8, 14)
    cut = r.choice(["crop", 'crop pad = "reflect"', "crop pad = 0.2", "resize %d, %d\n    crop pad = 0.2" % (height, height)])
    return {"bits": bits, "ending": "png" if bits == 16 else r.choice(["bmp", "webp", "gif"]), "channels": r.choice([1, 3]),
            "height": height, "width": width, "batch": r.randint(1, 4), "first": r.choice(["relu", "batch_norm"]),
            "loss": r.choice(["mse", "l1", "charbonnier", "smooth_l1", "psnr_loss", "ssim_loss"]),
            "transforms": "\n    ".join([*r.sample(["flip", "rot90"], r.randint(0, 2)), cut])}


def write_net(net):
    with open("net.unet", "w", encoding="utf-8") as file:
        file.write(NET.format(**net))


def ring(*options):
    """What `mem` says: the type of each picture, and the bytes of the ring."""
    told = run(UNETC, "mem", *options, "net.unet")
    types = dict(re.findall(r"^  (\w+) in the ring +(f32|f64|16 bits|8 bits) ", told, re.M))
    return types, int(re.search(r"^  loader ring .* ([0-9,]+) B  ", told, re.M).group(1).replace(",", ""))


def train(*options):
    """All that a program leaves behind: what it says of its steps, weights, a prediction."""
    run(UNETC, "-o", "net", *options, "net.unet")
    run("./net", "train", "--out=run", "--seed=7")
    run("./net", "predict", "--out=run", "-o", "out.npy", sorted("photo/" + name for name in os.listdir("photo"))[0])
    measured = json.JSONDecoder().raw_decode(run("./net", "eval", "--out=run", "--format=json"))[0]
    left = {name: open(name, "rb").read() for name in sorted(os.listdir(".")) if name.startswith("out") and name.endswith(".npy")}
    left.update({name: open("run/" + name, "rb").read() for name in os.listdir("run") if name.endswith(".safetensors")})
    assert len(left) > 2, left.keys()
    shutil.rmtree("run")
    return left, {k: measured[k] for k in ("all", "samples")}


def compare(r, net, options):
    write_net(net)
    write_samples(r, net)
    types, bytes_of_files = ring(*options)
    wanted = {name: "%d bits" % net["bits"] for name in ("photo", "clean", "share")}
    assert types == wanted, "%s: mem says %s" % (net, types)
    types, bytes_of_floats = ring("--staging=f32", *options)
    assert set(types.values()) in ({"f32"}, {"f64"}) and bytes_of_files < bytes_of_floats, (types, bytes_of_files, bytes_of_floats)
    by_files, by_floats = train(*options), train("--staging=f32", *options)
    for name, data in by_floats[0].items():
        assert by_files[0][name] == data, "%s, %s: %s differs" % (net, options, name)
    assert by_files[1] == by_floats[1], "%s, %s: %s, not %s" % (net, options, by_files[1], by_floats[1])


def check_results():
    r = random.Random(SEED)
    ways = ([], ["--precision=bf16"], ["--micro-batches=off"], ["--bands=3", "--conv=direct"], ["--kernels=reference"],
            ["--kernels=reference", "--precision=f64"], ["--conv=winograd", "--no-reuse"])
    for number, options in enumerate(ways):
        compare(r, draw(r, (8, 16)[number % 2]), options)
    for bits in (8, 16):
        compare(r, draw(r, bits), r.choice(ways))


# ---- what is not exact ---------------------------------------------------------------------------

PLAIN = {"bits": 8, "ending": "jpg", "channels": 1, "height": 16, "width": 16, "batch": 2, "first": "relu", "loss": "mse", "transforms": "crop"}


def check_reasons():
    """Where the names promise nothing, or numbers become others, the ring has f32, and `mem` says why."""
    for change, reason in (({"ending": "tif"}, "TIFF files can hold floats"), ({"ending": "*"}, "does not say the format"),
                           ({"ending": "{png,tif}"}, "TIFF files can hold floats"),
                           ({"transforms": "crop pad = 0.3"}, "the padding of `0.3` is no number"), ({"transforms": "rotate 10\n    crop"}, "`rotate` makes"),
                           ({"transforms": "scale 0.5, 2\n    crop"}, "`scale` makes"), ({"transforms": "crop\n    distort brightness = 0.1"}, "`distort` makes"),
                           ({"transforms": "crop\n    normalize"}, "`normalize` makes fractions")):
        write_net({**PLAIN, **change})
        told = run(UNETC, "mem", "net.unet")
        assert re.search("  photo in the ring +f32 .*" + re.escape(reason), told), "%s: %s" % (change, told)
    for ending, bits in (("{jpg,bmp}", 8), ("{jpg,png}", 16)):
        write_net({**PLAIN, "ending": ending})
        assert set(ring()[0].values()) == {"%d bits" % bits}, ring()


SMALL = """
input  x : image(3, 64, 64)
target y : image(3)
output o = conv(x, 3, 3)
data {
    x = images("x/*.png")
    y = images("y/*.png")
    crop
}
train {
    loss mse(o, y)
    steps 1
}
"""
EMBEDDED = r"""
#include "net.h"
#include <stdio.h>
#include <stdlib.h>

static float x[3 * 64 * 64], y[3 * 64 * 64];
static _Alignas(UNET_BUFFER_ALIGN) char buffer[NET_BUFFER_BYTES];

int main(int argc, char **argv) {
    UnetError error;
    double loss;
    UnetStatus status = net_init(buffer, sizeof buffer, 1, 0, &error);
    for (int i = 0; i < 3 * 64 * 64; i++) {
        x[i] = (float)(i % 256) / 255.0f;
        y[i] = (float)i / 65535.0f;
    }
    y[12287] = argc > 1 ? strtof(argv[1], NULL) : y[12287];
    if (status == UNET_OK)
        status = net_train_step(buffer, 1, x, y, 1e-3, &loss, &error);
    printf("%d %a %s\n", (int)status, loss, status == UNET_OK ? "" : error.text);
    return 0;
}
"""


def write_small():
    with open("net.unet", "w", encoding="utf-8") as file:
        file.write(SMALL)


def check_embedded():
    """A step takes the numbers that files of such names can hold, to the same loss, and refuses others, a NaN among them."""
    write_small()
    with open("embedded.c", "w", encoding="utf-8") as file:
        file.write(EMBEDDED)
    said = {}
    for staging in ("auto", "f32"):
        run(UNETC, "-S", staging, "--staging=" + staging, "--kernels=reference", "net.unet")
        run("cc", "-std=gnu11", "-O1", "-fopenmp", "-I" + ROOT + "/runtime/include", "-I" + staging, "embedded.c",
            *emitted.sources(staging), RUNTIME, *emitted.libraries(RUNTIME), "-lm", "-o", "embedded")
        said[staging] = {number: run("./embedded", *number) for number in ((), ("0.5",), ("1.5",), ("nan",), ("1",))}
    for number, told in said["f32"].items():
        assert told.startswith("0 "), told
        if number in ((), ("1",)):
            assert said["auto"][number] == told, (said["auto"][number], told)
        else:
            assert re.match("[1-9].* sample 0 of y has a number .* --staging=f32", said["auto"][number]), said["auto"][number]


def check_budget():
    """Where a budget has room for a plan, but not for a copy of a picture beside it, the ring has f32."""
    options = ["--bands=off", "--no-recompute"]
    write_small()

    def arena(*more):
        told = run(UNETC, "mem", *options, *more, "net.unet")
        return int(re.search(r"^  ARENA .* ([0-9,]+) B  ", told, re.M).group(1).replace(",", "")), told
    floats, files = arena("--staging=f32")[0], arena()[0]
    assert floats < files, "a copy of a picture takes nothing: %d, %d" % (floats, files)
    for budget, wanted, reason in ((files, "16 bits", "PNG files have"), (files - 1, "f32", "the budget has no room for a copy"),
                                   (floats, "f32", "the budget has no room for a copy")):
        needs, told = arena("--mem=%dB" % budget)
        assert needs <= budget and re.search("  x in the ring +%s .*%s" % (wanted, reason), told), told
    run(UNETC, "mem", *options, "--mem=%dB" % (floats - 1), "net.unet", status=3)


def check_promises():
    """A file that is not as its name says is refused, with what to compile it with; then that trains it."""
    r = random.Random(SEED)
    for ending, write, holds, flag in (
            ("jpg", lambda path: png(path, 20, 20, 1, 16, numbers_of(r, 400, 16)), "holds 16 bits", "u16"),
            ("jpg", lambda path: pfm(path, 20, 20, [r.uniform(-1, 2) for _ in range(400)]), "holds floats", "f32"),
            ("png", lambda path: pfm(path, 20, 20, [r.uniform(-1, 2) for _ in range(400)]), "holds floats", "f32")):
        net = {**PLAIN, "ending": ending}
        write_net(net)
        write_samples(r, {**net, "height": 20, "width": 20})
        for folder in ("photo", "clean", "share"):
            for name in os.listdir(folder):
                png("%s/%s" % (folder, name), 20, 20, 1, 8, numbers_of(r, 400, 8))
        for name in os.listdir("mask"):
            png("mask/" + name, 20, 20, 1, 8, [r.randrange(3) for _ in range(400)])
        write("photo/3." + ending)
        run(UNETC, "-o", "net", "net.unet")
        told = run("./net", "train", "--out=run", status=4)
        assert "photo/3.%s %s" % (ending, holds) in told and "--staging=" + flag in told, told
        run(UNETC, "-o", "net", "--staging=" + flag, "net.unet")
        run("./net", "train", "--out=run")
        run(UNETC, "-o", "net", "--staging=u8", "net.unet")
        told = run("./net", "check-data")
        assert "warning: " in told and "compiled with --staging=u8" in told, told
        shutil.rmtree("run")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_reasons()
    check_budget()
    check_embedded()
    check_promises()
    check_results()
print("ok")

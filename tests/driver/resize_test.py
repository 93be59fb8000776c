"""resize_test.py UNETC: pictures of any size, brought to one size as they are read.

This script resizes the pictures itself, as Pillow does, in whole numbers of its own; a program without `resize` predicts
what it made.  The program with `resize` predicts the same of the pictures as they are (--size=network), and by itself in
their own size: classes by the nearest point, numbers linearly between.  `eval` is measured from these files once more, at
the size of the network and at that of the pictures.  Then pictures that fit inside a box or cover it, with `crop` and
padding, larger targets, and what is refused.  Standard library only."""
import array
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

UNETC = os.path.abspath(sys.argv[1])
HEIGHT, WIDTH = 16, 24
NET = """
input  x     : image(3, 16, 24)
target truth : labels(2)
a      = relu(conv(x, 4, 3))
b      = relu(conv(max_pool(a), 6, 3))
logits = conv(concat(upconv(b, 4), a), 2, 3)
output found  = argmax(logits)
output shares = softmax(logits)
"""
DATA = """
data {
    x     = images("photos/*")
    truth = labels("masks/*", values = [0, 255])
    %s
}
train {
    loss   cross_entropy(logits, truth)
    metric miou(found, truth)
    batch  2
    steps  6
}
%s
"""


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == status, "%s exits %d: %s%s" % (command, done.returncode, done.stdout, done.stderr)
    return done.stdout if status == 0 else done.stderr


def compile_net(name, text, *options, status=0):
    with open(name + ".unet", "w", encoding="utf-8") as file:
        file.write(text)
    return run(UNETC, name + ".unet", *options, status=status)


def write(path, height, width, points):
    kind = 6 if len(points) == 3 * height * width else 5
    with open(path, "wb") as file:
        file.write(b"P%d\n%d %d\n255\n" % (kind, width, height) + bytes(points))


def read(path):
    """Height, width and numbers of an array of NumPy, the channels last."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    head = data[10:10 + length].decode()
    shape = eval(head.split("'shape':")[1].split(")")[0] + ")")  # pylint: disable=eval-used
    kind = head.split("'descr':")[1].split("'")[1]
    return shape[0], shape[1], array.array({"|u1": "B", "<f4": "f"}[kind], data[10 + length:])


# ---- as Pillow resizes ---------------------------------------------------------------------------

def weights(before, after):
    """Of each point of the result: the first point that it sees, and the weights of these."""
    step = before / after
    reach = max(step, 1.0)
    for at in range(after):
        centre = (at + 0.5) * step
        first, end = max(int(centre - reach + 0.5), 0), min(int(centre + reach + 0.5), before)
        drawn = [max(1 - abs((k - centre + 0.5) / reach), 0) for k in range(first, end)]
        yield first, [w / sum(drawn) for w in drawn]


def resized_bytes(height, width, channels, points, to):
    """Rows first, then columns, each rounded."""
    def sums(values, first, drawn, apart, begin):
        parts = sum(values[begin + (first + k) * apart] * int(w * (1 << 22) + 0.5) for k, w in enumerate(drawn))
        return min((parts + (1 << 21)) >> 22, 255)
    columns, rows = list(weights(width, to[1])), list(weights(height, to[0]))
    narrow = [sums(points, first, drawn, channels, y * width * channels + c)
              for y in range(height) for first, drawn in columns for c in range(channels)]
    line = to[1] * channels
    return [sums(narrow, first, drawn, line, k) for first, drawn in rows for k in range(line)]


def resized_floats(height, width, channels, points, to):
    line, made = width * channels, []
    for first, drawn in weights(height, to[0]):
        row = [sum(points[(first + k) * line + i] * w for k, w in enumerate(drawn)) for i in range(line)]
        made += [sum(row[(left + k) * channels + c] * w for k, w in enumerate(along))
                 for left, along in weights(width, to[1]) for c in range(channels)]
    return made


def nearest(height, width, points, to):
    return [points[(2 * y + 1) * height // (2 * to[0]) * width + (2 * x + 1) * width // (2 * to[1])]
            for y in range(to[0]) for x in range(to[1])]


# ---- pictures ------------------------------------------------------------------------------------

def draw(seed):
    """A disk in noise, and its mask."""
    rng = random.Random(seed)
    height, width = rng.randint(9, 50), rng.randint(9, 60)
    y, x, radius = height * rng.uniform(0.3, 0.7), width * rng.uniform(0.3, 0.7), min(height, width) * rng.uniform(0.2, 0.4)
    mask = [255 if math.hypot(i // width - y, i % width - x) < radius else 0 for i in range(height * width)]
    photo = [max(0, min(255, (150 if mask[i // 3] else 60) + rng.randint(-40, 40))) for i in range(3 * height * width)]
    return height, width, photo, mask


def make_pictures(count):
    made = [draw(seed) for seed in range(count)]
    for folder in ("photos", "masks", "small"):
        os.makedirs(folder)
    for number, (height, width, photo, mask) in enumerate(made):
        write("photos/p%d.ppm" % number, height, width, photo)
        write("masks/p%d.pgm" % number, height, width, mask)
        write("small/p%d.ppm" % number, HEIGHT, WIDTH, resized_bytes(height, width, 3, photo, (HEIGHT, WIDTH)))
    return made


# ---- predict, eval -------------------------------------------------------------------------------

def check_predictions(made):
    files = ["photos/p%d.ppm" % k for k in range(len(made))]
    for folder, program, options, source in (("own", "./exact", [], files), ("network", "./exact", ["--size=network"], files),
                                             ("before", "./plain", [], [f.replace("photos", "small") for f in files])):
        os.makedirs(folder)
        for number, file in enumerate(source):
            run(program, "predict", "--weights=exact.safetensors", *options, "-o", "%s/p%d.npy" % (folder, number), file)
    for number, (height, width, _, _) in enumerate(made):
        for output, channels in (("found", 1), ("shares", 2)):
            own, network, before = [read("%s/p%d-%s.npy" % (folder, number, output)) for folder in ("own", "network", "before")]
            assert network == before, "picture %d: %s differs from that of a picture that was resized before" % (number, output)
            assert own[:2] == (height, width), "picture %d: %s is %d x %d" % (number, output, own[0], own[1])
            if channels == 1:
                assert list(own[2]) == nearest(HEIGHT, WIDTH, network[2], (height, width)), "picture %d: classes" % number
            else:
                wanted = resized_floats(HEIGHT, WIDTH, channels, network[2], (height, width))
                assert max(abs(a - b) for a, b in zip(own[2], wanted)) < 2e-6, "picture %d: probabilities" % number


def iou(pairs):
    """Mean over the classes of all pictures together, of pairs of lists."""
    count = [0] * 4
    for found, truth in pairs:
        for a, b in zip(found, truth):
            count[2 * (b != 0) + a] += 1
    return sum(count[3 * k] / (sum(count) - count[3 * (1 - k)]) for k in range(2)) / 2


def check_measures(made):
    for program, folder in (("./exact", "network"), ("./original", "own")):
        pairs = []
        for number, (height, width, _, mask) in enumerate(made):
            truth = nearest(height, width, mask, (HEIGHT, WIDTH)) if folder == "network" else mask
            pairs.append((read("%s/p%d-found.npy" % (folder, number))[2], truth))
        told = json.loads(run(program, "eval", "--weights=exact.safetensors", "--format=json", "--report=page.html"))
        with open("page.html", encoding="utf-8") as file:
            page = file.read()
        assert page.count("data:image/png") == 3 * len(made), "%d pictures on the page" % page.count("data:image/png")
        assert told["samples"] == len(made), told
        for value, wanted in [(told["all"], iou(pairs))] + [(image["values"], iou([pair])) for image, pair in zip(told["images"], pairs)]:
            assert abs(value["miou(found, truth)"] - wanted) < 1e-12, "%s: %s, not %g" % (program, value, wanted)


# ---- other ways to fit ---------------------------------------------------------------------------

def fitted(height, width, box, inside):
    """The size of a picture that fits inside the box or covers it; sides in between are rounded, halves up."""
    scale_by_height = (box[0] * width < box[1] * height) == inside or box[0] * width == box[1] * height
    if scale_by_height:
        return box[0], max((2 * box[0] * width + height) // (2 * height), 1)
    return max((2 * box[1] * height + width) // (2 * width), 1), box[1]


def check_fits(made):
    for name, data in (("inside", "resize 16, 24, fit = \"inside\""), ("outside", "resize 16, 24, fit = \"outside\"\n    crop")):
        compile_net(name, NET + DATA % (data, "eval { batch 1 }"))
        run("./" + name, "train", "--out=" + name + "_run")
        run("./" + name, "eval", "--out=" + name + "_run")
        os.makedirs(name + "_out")
        for number, (height, width, _, _) in enumerate(made):
            file = "photos/p%d.ppm" % number
            for options, wanted in (([], (height, width)), (["--size=network"], fitted(height, width, (HEIGHT, WIDTH), name == "inside"))):
                run("./" + name, "predict", "--out=" + name + "_run", *options, "-o", name + "_out/p.npy", file)
                size = read(name + "_out/p-found.npy")[:2]
                assert size == wanted, "%s of %d x %d: %s, not %s" % (name, height, width, size, wanted)


LARGER = """
input  x : image(1, 8, 12)
target y : image(1, 16, 24)
output z = upconv(relu(conv(x, 4, 3)), 1)
data {
    x = images("masks/*")
    y = images("masks/*")
    resize 12, fit = "outside"
    crop
}
train {
    loss   mse(z, y)
    metric psnr(z, y)
    steps  2
}
"""


def check_larger_targets():
    """Files of a target that is twice as large are resized to twice the size, whatever is rounded."""
    compile_net("larger", LARGER)
    run("./larger", "train", "--out=larger_run")
    run("./larger", "eval", "--out=larger_run")


# ---- what is refused -----------------------------------------------------------------------------

def check_refused(made):
    for data, after, wanted in (("resize 256", "", "resize 256, fit = \"inside\""), ("resize 16, 24, fit = \"crop\"", "", "one of \"exact\""),
                                ("resize 0, 4", "", "U0"), ("crop", "eval { at \"original\" }", "`at \"original\"` is for pictures that `resize`")):
        told = compile_net("refused", NET + DATA % (data, after), status=1)
        assert wanted in told, "%s is answered by: %s" % (data, told)
    height, width = made[0][:2]
    write("masks/p0.pgm", 2 * height, 2 * width, [0, 255] * (2 * height * width))
    run("./exact", "check-data")
    write("masks/p0.pgm", 2 * height, width + 5, [0, 255] * (height * (width + 5)))
    told = run("./exact", "check-data", status=4)
    assert "other proportions" in told and "photos/p0.ppm" in told, told


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        made = make_pictures(7)
        compile_net("exact", NET + DATA % ("resize 16, 24", "eval { batch 1 }"))
        compile_net("original", NET + DATA % ("resize 16, 24", "eval {\n    batch 1\n    at \"original\"\n}"))
        compile_net("plain", NET, "--programs=predict")
        run("./exact", "train", "--out=run")
        os.rename("run/exact.safetensors", "exact.safetensors")
        check_predictions(made)
        check_measures(made)
        check_fits(made)
        check_larger_targets()
        check_refused(made)


main()

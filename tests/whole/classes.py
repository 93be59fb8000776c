#!/usr/bin/env python3
"""Segmentation from masks to pictures: what `eval` says of classes is what the pictures of `predict` show.

    classes.py --unetc=UNETC

A small net with losses over classes is trained on photographs and masks made here, whose values stand for classes, some for
none.  Then: the metrics of `eval`, of all images and image by image, are those worked out here from the masks and from the
pictures that `predict` writes, whose indices are the classes; --overlay colours them; and training in micro-batches
and in bands of rows leaves the same weights, bit for bit. A resumed run writes the log of one that was not.  Standard library only."""

import argparse
import csv
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib

HEIGHT, WIDTH, VALUES, IGNORE = 20, 24, [0, 100, 255], 7

NET = """let classes = 3
input  photo : image(1, 20, 24)
target truth : labels(classes, ignore = 7)

x = photo -> conv(8, 3) -> relu
logits = conv(x, classes, 3)
single = conv(x, 1, 1)
target first : labels(2)
target weight : image(1)
output mask = argmax(logits)
output marked = argmax(sigmoid(single))

data {
    photo = images("photos/*.png")
    truth = labels("masks/*.png", values = [0, 100, 255])
    first = labels("marks/*.png", values = [0, 255])
    weight = images("weights/*.png")
    flip
}

train {
    loss   cross_entropy(logits, truth, weight = [1, 2, 0.5], label_smoothing = 0.1)
    loss   2 * bce_with_logits(single, first, pixel_weight = 1 + 4 * weight)
    metric miou(mask, truth)
    metric accuracy(mask, truth)
    metric iou(mask, truth, class = 2)
    metric dice(sigmoid(single), first)
    metric precision(mask, truth, class = 0)
    metric recall(mask, truth, class = 0)
    optimizer adam(lr = 0.02)
    batch  3
    steps  60
}

eval {
    photo = images("photos/*.png")
    truth = labels("masks/*.png", values = [0, 100, 255])
    first = labels("marks/*.png", values = [0, 255])
    weight = images("weights/*.png")
}
"""


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def write_grey(path, rows):
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
                   chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))) + chunk(b"IEND", b""))


def paeth(a, b, c):
    return min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]


def read_rows(path):
    """The bytes of each row, how many belong to a point, and the palette."""
    data, at, parts = open(path, "rb").read(), 8, {}
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        parts[kind] = parts.get(kind, b"") + data[at + 8:at + 8 + length]
        at += length + 12
    width, height, _, colour = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    step = 3 if colour == 2 else 1
    raw, rows, above = zlib.decompress(parts[b"IDAT"]), [], bytes(width * step)
    for y in range(height):
        line = raw[y * (width * step + 1):(y + 1) * (width * step + 1)]
        row = bytearray()
        for x, value in enumerate(line[1:]):
            left, up, corner = (row[x - step], above[x], above[x - step]) if x >= step else (0, above[x], 0)
            row.append((value + (0, left, up, (left + up) // 2, paeth(left, up, corner))[line[0]]) & 255)
        rows.append(bytes(row))
        above = rows[-1]
    return rows, step, parts.get(b"PLTE")


def make_data(folder):
    """Stripes whose brightness tells the class, mostly."""
    rng = random.Random(1)
    for kind in ("photos", "masks", "marks", "weights"):
        os.mkdir(os.path.join(folder, kind))
    for number in range(4):
        classes = [[(x // 7 + y // 9 + number) % 3 for x in range(WIDTH)] for y in range(HEIGHT)]
        photo = [[max(0, min(255, 90 * k + rng.randint(0, 70))) for k in row] for row in classes]
        mask = [[IGNORE if rng.random() < 0.1 else VALUES[k] for k in row] for row in classes]
        mark = [[255 if k == 2 else 0 for k in row] for row in classes]
        weight = [[10 * (x + y) % 256 for x in range(WIDTH)] for y in range(HEIGHT)]
        for kind, rows in (("photos", photo), ("masks", mask), ("marks", mark), ("weights", weight)):
            write_grey(os.path.join(folder, kind, "p%d.png" % number), rows)


def pairs_of(predicted, mask, values):
    """How often each true class met each predicted one."""
    pairs = [[0] * len(values) for _ in values]
    for found, wanted in zip(predicted, mask):
        for a, b in zip(found, wanted):
            if b in values:
                pairs[values.index(b)][a] += 1
    return pairs


def metrics(pairs, marks):
    def of_class(pairs, k):
        return pairs[k][k], sum(pairs[k]), sum(row[k] for row in pairs)

    ious = []
    for k in range(3):
        both, true, found = of_class(pairs, k)
        if true + found:
            ious.append(both / (true + found - both))
    both, true, found = of_class(pairs, 2)
    background, real, claimed = of_class(pairs, 0)
    marked, wanted, chosen = of_class(marks, 1)
    part = lambda a, b: a / b if b else None
    return [part(sum(ious), len(ious)), part(sum(pairs[k][k] for k in range(3)), sum(map(sum, pairs))),
            part(both, true + found - both), part(2 * marked, wanted + chosen), part(background, claimed), part(background, real)]


def same(found, wanted):
    return found == wanted if wanted is None or found is None else abs(found - wanted) < 1e-12


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit("%s: exit code %d\n%s" % (" ".join(command), done.returncode, done.stderr[-2000:]))
    return done.stdout


class Shop:
    def __init__(self, unetc, folder):
        self.unetc, self.folder = unetc, folder
        self.net = os.path.join(folder, "net.unet")
        with open(self.net, "w") as file:
            file.write(NET)
        make_data(folder)

    def program(self, name, *options):
        program = os.path.join(self.folder, name)
        run([self.unetc, *options, "-o", program, self.net])
        return program

    def trained(self, name, *options):
        """The program, and the bytes of the weights after a few steps."""
        program, out = self.program(name, *options), os.path.join(self.folder, name + "_run")
        run([program, "train", "--data=" + self.folder, "--out=" + out])
        with open(os.path.join(out, "net.safetensors"), "rb") as file:
            return program, os.path.join(out, "net.safetensors"), file.read()


def check_overlay(folder, name):
    photo, mask = (read_rows(os.path.join(folder, part)) for part in ("photos/%s.png" % name, "out/%s-mask.png" % name))
    overlay = read_rows(os.path.join(folder, "out/%s-mask-overlay.png" % name))[0]
    for grey, classes, shown in zip(photo[0], mask[0], overlay):
        for x, k in enumerate(classes):
            colour = mask[2][3 * k:3 * k + 3]
            wanted = [(grey[x] + c) / 2 if k else grey[x] for c in colour]
            if any(abs(a - b) > 1 for a, b in zip(shown[3 * x:3 * x + 3], wanted)):
                raise SystemExit("the overlay of %s shows %s for class %d over %d" % (name, list(shown[3 * x:3 * x + 3]), k, grey[x]))


def check_resumed(shop, program):
    """From a checkpoint in the middle of an epoch on, all columns of the log but time, those of classes among them."""
    def rows(out, *options):
        run([program, "train", "--data=" + shop.folder, "--out=" + out, *options])
        with open(os.path.join(out, "log.csv"), newline="") as log:
            return [{k: row[k] for k in row if k not in ("images_per_s", "seconds")} for row in csv.DictReader(log)]

    whole, resumed = (os.path.join(shop.folder, name) for name in ("whole_run", "resumed_run"))
    expected = [row for row in rows(whole, "--checkpoint-every=31") if int(row["step"]) > 31]
    found = rows(resumed, "--resume=" + os.path.join(whole, "net.step-00000031.safetensors"))
    if found != expected or not any("miou" in name and row[name] for row in found for name in row):
        raise SystemExit("the log of a resumed run: %s, not %s" % (found[:2], expected[:2]))


# Losses besides those of NET; of those in WHOLE sums are over the whole batch.
PARTS = ["focal_loss(logits, truth, alpha = [1, 2, 0.5])", "focal_loss(single, first, alpha = 0.25)",
         "dice_loss(logits, truth, batch = false, squared = true)", "tversky_loss(logits, truth, smooth = 1, batch = false)",
         "cross_entropy(logits, truth, pixel_weight = weight)"]
WHOLE = ["dice_loss(logits, truth, per_class = false)", "tversky_loss(single, first)",
         "ohem_cross_entropy(logits, truth)", "ohem_cross_entropy(single, first, threshold = 0.9, min_kept = 100)", "lovasz_loss(logits, truth)",
         "lovasz_loss(single, first)"]


def check_losses(shop):
    """Each loss falls, in programs that watch their buffers, and those of points and samples leave the same weights in
    parts."""
    head, tail = NET.split("    loss  ", 1)
    for name, losses in (("of_points", PARTS), ("of_batches", WHOLE)):
        with open(shop.net, "w") as file:
            file.write(head + "".join("    loss %s\n" % loss for loss in losses) + tail[tail.index("    metric"):])
        weights = shop.trained(name, "--poison")[2]
        with open(os.path.join(shop.folder, name + "_run", "log.csv")) as log:
            rows = [row for row in csv.DictReader(log) if row["split"] == "train"]
        fell = {of: float(rows[-1][of]) < float(rows[0][of]) for of in rows[0] if "_loss(" in of or "entropy(" in of}
        if len(fell) != len(losses) or not all(fell.values()):
            raise SystemExit("losses that fell: %s" % fell)
        if losses is PARTS and shop.trained(name + "_in_parts", "--poison", "--micro-batches=3")[2] != weights:
            raise SystemExit("%s: other weights in micro-batches" % losses)


def check_lacking(program, folder):
    """Training says if every label is ignored, or a class has none, before the first evaluation; else nothing."""
    ignored, absent = "every label of `truth` is ignored in the first 4 samples", "class 2 of `truth` has no point in the first epoch (4 samples)"
    for values, wanted in (([IGNORE], [ignored]), ([0, 100], [absent]), (VALUES, [])):
        for number in range(4):
            write_grey(os.path.join(folder, "masks", "p%d.png" % number), [[values[(x + y) % len(values)] for x in range(WIDTH)] for y in range(HEIGHT)])
        done = subprocess.run([program, "train", "--data=" + folder, "--out=" + os.path.join(folder, "lacking"), "--overwrite", "--steps=3"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        told = [line for line in done.stderr.splitlines() if "warning: " in line]
        if done.returncode != 0 or len(told) != len(wanted) or any(text not in line for text, line in zip(wanted, told)):
            raise SystemExit("masks of %s: exit code %d:\n%s" % (values, done.returncode, done.stderr))
        if wanted and done.stderr.index("warning: ") > done.stderr.index("evaluation:"):
            raise SystemExit("masks of %s: the warning stands behind the first evaluation:\n%s" % (values, done.stderr))


def check_refused(program, folder):
    """Points of no class: a problem of each file, once, though `data` and `eval` both have it; what to do about it once."""
    for number in range(4):
        write_grey(os.path.join(folder, "masks", "p%d.png" % number), [[8] * WIDTH] * HEIGHT)
    done = subprocess.run([program, "check-data", "--all", "--data=" + folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 4 or done.stderr.count("has a point of value 8") != 4 or "4 problems" not in done.stderr or done.stderr.count('`others = "ignore"`') != 1:
        raise SystemExit("check-data of refused masks:\n" + done.stderr)


def check(unetc, folder):
    shop = Shop(unetc, folder)
    program, weights, plain = shop.trained("plain")
    for name, options in (("micro", ["--micro-batches=3"]), ("bands", ["--bands=4", "--micro-batches=3"])):
        if shop.trained(name, *options)[2] != plain:
            raise SystemExit("%s: other weights" % name)
    names = ["p%d" % number for number in range(4)]
    photos = [os.path.join(folder, "photos", name + ".png") for name in names]
    run([program, "predict", "--weights=" + weights, *photos, "-o", os.path.join(folder, "out/"), "--overlay"])
    told = json.loads(run([program, "eval", "--data=" + folder, "--weights=" + weights, "--format=json"]))
    all_pairs, all_marks, seen = [[0] * 3 for _ in range(3)], [[0] * 2 for _ in range(2)], set()
    for image in told["images"]:
        name = os.path.splitext(os.path.basename(image["image"]))[0]
        parts = []
        for output, kind, values in (("mask", "masks", VALUES), ("marked", "marks", [0, 255])):
            predicted = read_rows(os.path.join(folder, "out/%s-%s.png" % (name, output)))
            if predicted[2] is None:
                raise SystemExit("%s: the classes of %s have no palette" % (name, output))
            parts.append(pairs_of(predicted[0], read_rows(os.path.join(folder, kind, name + ".png"))[0], values))
            seen |= {k for row in predicted[0] for k in row} if output == "mask" else set()
        found, wanted = list(image["values"].values())[2:], metrics(*parts)
        if not all(map(same, found, wanted)):
            raise SystemExit("%s: eval says %s, the pictures %s" % (name, found, wanted))
        for total, part in ((all_pairs, parts[0]), (all_marks, parts[1])):
            for row, more in zip(total, part):
                row[:] = [a + b for a, b in zip(row, more)]
        check_overlay(folder, name)
    found, wanted = list(told["all"].values())[2:], metrics(all_pairs, all_marks)
    if not all(map(same, found, wanted)) or len(seen) < 2 or not wanted[3] > 0.2:
        raise SystemExit("of all images eval says %s, the pictures %s; classes %s" % (found, wanted, seen))
    lines = run([program, "eval", "--data=" + folder, "--weights=" + weights, "--format=csv"]).splitlines()
    if len(lines) != 5 or lines[0].count('"') != 16 or sorted(line.split(",")[0] for line in lines[1:]) != ['"photos/%s.png"' % n for n in names]:
        raise SystemExit("eval --format=csv:\n" + "\n".join(lines))
    check_resumed(shop, program)
    check_losses(shop)
    check_lacking(program, folder)
    check_refused(program, folder)
    print("%d images: eval and the pictures agree; mIoU %.3f, dice %.3f" % (len(names), wanted[0], wanted[3]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check(os.path.abspath(options.unetc), folder)


if __name__ == "__main__":
    sys.exit(main())

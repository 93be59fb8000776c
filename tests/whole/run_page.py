#!/usr/bin/env python3
"""The pages of a run and of an evaluation: what they show is what log.csv and the pictures of `predict` say.

    run_page.py --unetc=UNETC [--flags=FLAGS]

Two small nets, one of classes and one of images, are trained for a few steps on pictures made here.  Then: the page is
well-formed and refers to nothing outside of itself; each curve has as many points as the log has numbers, also in a resumed run
and, thinned, in a long one; the confusion matrix is the one counted from predicted pictures; pictures of samples are PNGs of the
files and of what `predict` makes of them; names are escaped; a page that cannot be written is told, and training goes on; a run
that diverged says so on its page. The page of `eval --report` has the ten worst samples in their order, also of pictures larger than the
program, which are thinned.  Standard library only."""

import argparse
import base64
import csv
import math
import os
import random
import re
import shlex
import subprocess
import tempfile
import xml.etree.ElementTree as tree

from classes import HEIGHT, make_data, pairs_of, read_rows, VALUES, WIDTH, write_grey

MASKS = """input  photo : image(1, 20, 24)
target truth : labels(3, ignore = 7)
logits = photo -> conv(4, 3) -> relu -> conv(3, 3)
output mask = argmax(logits)
data {
    photo = images("photos/*.png")
    truth = labels("masks/*.png", values = [0, 100, 255])
}
train {
    loss   cross_entropy(logits, truth)
    metric miou(mask, truth)
    metric accuracy(mask, truth)
    optimizer adam(lr = 0.02)
    batch  2
    steps  12
}
eval {
    every 3, "steps"
    batch 3
    photo = images("photos/*.png")
    truth = labels("masks/*.png", values = [0, 100, 255])
}
"""
IMAGES = """input  photo : image(1, 20, 24)
target wanted : image(1)
made = photo -> conv(4, 3) -> relu -> conv(1, 3)
output result = made
data {
    photo = images("photos/*.png")
    wanted = images("weights/*.png")
}
train {
    loss   mse(result, wanted)
    optimizer adam(lr = 0.01)
    batch  2
    steps  4100
}
"""

QUICK_CC = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "quick_cc")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit("%s: exit code %d\n%s" % (" ".join(command), done.returncode, done.stderr[-2000:]))
    return done.stderr


def read_page(out):
    """That of a run in folder OUT, or the page OUT."""
    with open(out if out.endswith(".html") else os.path.join(out, "report.html"), encoding="utf-8") as file:
        text = file.read()
    if re.search(r"https?:|<script|<link|\bsrc=(?!\"data:image/png;base64,[A-Za-z0-9+/]+=*\")|\bhref=|url\(", text):
        raise SystemExit("%s: the page refers to something outside of itself" % out)
    return text, tree.fromstring(text.split("\n", 1)[1])


def check_curves(out, most=2000):
    """Returns how many rows of training the log has."""
    page = read_page(out)[1]
    with open(os.path.join(out, "log.csv"), newline="") as log:
        rows = list(csv.DictReader(log))
    curves = {}
    for title, chart in zip(page.iter("h3"), page.iter("svg")):
        curves[title.text] = {line.get("class").split()[1]: len(line.get("points").split()) for line in chart.iter("polyline")}
        if any(not 0 <= float(at) <= 720 for line in chart.iter("polyline") for at in re.split("[ ,]", line.get("points")) if at):
            raise SystemExit("%s: a curve leaves its chart" % out)
    for column in list(rows[0])[3:]:
        if column in ("images_per_s", "seconds"):
            continue
        if column != "loss" and all(row[column] == row["loss"] for row in rows):
            if column in curves:
                raise SystemExit("%s: %s is the loss, which has a chart" % (out, column))
            continue
        found = curves.get("learning rate" if column == "lr" else column, {})
        for split in ("train",) if column == "lr" else ("train", "eval"):
            count = sum(row["split"] == split and row[column] != "" and math.isfinite(float(row[column])) for row in rows)
            wanted = math.ceil(count / ((count - 1) // most + 1)) if count else 0
            if found.get(split, 0) != wanted:
                raise SystemExit("%s: %s of %s: %s points of %d rows" % (out, column, split, found, count))
    return sum(row["split"] == "train" for row in rows)


def check_matrix(program, folder, out):
    os.mkdir(os.path.join(folder, "predicted"))
    names = ["p%d.png" % number for number in range(4)]
    run(program, "predict", "--weights=" + os.path.join(out, "masks.safetensors"), *(os.path.join(folder, "photos", name) for name in names),
        "-o", os.path.join(folder, "predicted"))
    wanted = [[0] * 3 for _ in range(3)]
    for name in names:
        found, mask = (read_rows(os.path.join(folder, part, name))[0] for part in ("predicted", "masks"))
        for row, more in zip(wanted, pairs_of(found, mask, VALUES)):
            row[:] = [a + b for a, b in zip(row, more)]
    tables = [table for table in read_page(out)[1].iter("table") if table.get("class") == "matrix"]
    shown = [[[int(cell.text) for cell in row.findall("td")] for row in list(table)[1:]] for table in tables]
    if shown != [wanted]:
        raise SystemExit("the confusion matrix is %s, not %s" % (shown, wanted))


def check_masks(program, folder, version):
    out = os.path.join(folder, 'a<b&"c\'')
    said = run(program, "train", "--threads=1", "--data=" + folder, "--out=" + out)
    if "report: %s/report.html" % out not in said:
        raise SystemExit("train does not say where the page is:\n" + said)
    text, page = read_page(out)
    if "a<b" in text or "a&lt;b&amp;&quot;c" not in text or not any("--out=" in (cell.text or "") for cell in page.iter("td")):
        raise SystemExit("the name of the folder is not escaped")
    if not any(row[0].text == "unetc of the runtime" and row[1].text == version for row in page.iter("tr")):
        raise SystemExit("%s does not name unetc %s" % (out, version))
    check_curves(out)
    check_matrix(program, folder, out)
    check_pictures(folder, out)
    check_eval(program, folder, os.path.join(out, "masks.safetensors"))
    before = check_curves(out)
    run(program, "train", "--threads=1", "--data=" + folder, "--out=" + out, "--resume", "--steps=24")
    if check_curves(out) <= before:
        raise SystemExit("the page of a resumed run lacks its new rows")


def pictures(path):
    """{name of a sample: {name of a picture: its rows of bytes, and how many belong to a point}}, as the page has them."""
    found, sample = {}, None
    for part in read_page(path)[1].iter():
        if part.tag == "h3":
            sample = part.text.split(":")[0]
        if part.tag == "img":
            with tempfile.NamedTemporaryFile(suffix=".png") as file:
                file.write(base64.b64decode(part.get("src").split(",", 1)[1], validate=True))
                file.flush()
                rows, step, _ = read_rows(file.name)
            if (len(rows), len(rows[0]) // step) != (int(part.get("height")), int(part.get("width"))):
                raise SystemExit("%s: %s of %s is not as large as the page says" % (path, part.get("alt"), sample))
            found.setdefault(sample, {})[part.get("alt")] = rows, step
    return found


def coloured(rows, palette):
    return [b"".join(palette[3 * k:3 * k + 3] for k in row) for row in rows]


def check_pictures(folder, path, most=4):
    """Inputs and targets are those of the files, outputs those that `predict` wrote before."""
    found = pictures(path)
    if len(found) != most:
        raise SystemExit("%s has pictures of %s" % (path, sorted(found)))
    for sample, of_sample in found.items():
        name = os.path.basename(sample)
        mask, _, palette = read_rows(os.path.join(folder, "predicted", name))
        truth = [[VALUES.index(k) if k in VALUES else 255 for k in row] for row in read_rows(os.path.join(folder, "masks", name))[0]]
        wanted = {"photo": (read_rows(os.path.join(folder, "photos", name))[0], 1), "truth": (coloured(truth, palette), 3),
                  "mask": (coloured(mask, palette), 3)}
        for picture in wanted:
            if of_sample[picture] != wanted[picture]:
                raise SystemExit("%s: the picture %s of %s" % (path, picture, sample))


def miou(pairs):
    ious = [pairs[k][k] / (sum(pairs[k]) + sum(row[k] for row in pairs) - pairs[k][k]) for k in range(3) if any(pairs[k]) or any(row[k] for row in pairs)]
    return sum(ious) / len(ious)


def worst_of(path):
    """The rows of the table, as numbers behind the name."""
    (table,) = [table for table in read_page(path)[1].iter("table") if table.get("class") == "worst"]
    rows = [[cell.text for cell in row] for row in table]
    return rows[0], [(row[0], *map(float, row[1:])) for row in rows[1:]]


def check_eval(program, folder, weights):
    """The ten worst of 13 samples, whose masks are wrong here and there; a batch of evaluation has three."""
    more, rng = os.path.join(folder, "more"), random.Random(2)
    for kind in ("photos", "masks", "predicted"):
        os.makedirs(os.path.join(more, kind))
    for number in range(13):
        classes = [[(x // 7 + y // 9 + number) % 3 for x in range(WIDTH)] for y in range(HEIGHT)]
        write_grey(os.path.join(more, "photos", "p%d.png" % number), [[90 * k + rng.randint(0, 70) for k in row] for row in classes])
        write_grey(os.path.join(more, "masks", "p%d.png" % number),
                   [[VALUES[k if rng.random() < 0.3 + 0.05 * (number * 5 % 13) else rng.randrange(3)] for k in row] for row in classes])
    names = ["p%d.png" % number for number in range(13)]
    run(program, "predict", "--weights=" + weights, *(os.path.join(more, "photos", name) for name in names), "-o", os.path.join(more, "predicted"))
    values = {}
    for name in names:
        found, mask = (read_rows(os.path.join(more, part, name))[0] for part in ("predicted", "masks"))
        values["photos/" + name] = miou(pairs_of(found, mask, VALUES))
    page = os.path.join(folder, "e&<.html")
    said = run(program, "eval", "--threads=1", "--weights=" + weights, "--eval-data=" + more, "--report=" + page)
    if "report: %s\n" % page not in said:
        raise SystemExit("eval does not say where the page is:\n" + said)
    head, rows = worst_of(page)
    wanted = sorted(values, key=values.get)[:10]
    if head != ["sample", "loss", "miou(mask, truth)", "accuracy(mask, truth)"] or [row[0] for row in rows] != wanted:
        raise SystemExit("the worst are %s, %s, not %s" % (head, rows, wanted))
    if any(abs(row[2] - values[row[0]]) > 1e-5 for row in rows):
        raise SystemExit("their values are %s, not %s" % (rows, values))
    check_pictures(more, page, 10)


def check_large(program, folder, out):
    """Pictures larger than evaluation takes: they are measured whole, and shown by some of their points."""
    large, rng = os.path.join(folder, "large"), random.Random(3)
    for kind in ("photos", "weights", "predicted"):
        os.makedirs(os.path.join(large, kind))
    sizes = {"p%d.png" % number: (40 + number, 600 + 10 * number) for number in range(3)}
    for name, (height, width) in sizes.items():
        for kind in ("photos", "weights"):
            write_grey(os.path.join(large, kind, name), [[rng.randint(0, 255) for _ in range(width)] for _ in range(height)])
    run(program, "predict", "--out=" + out, *(os.path.join(large, "photos", name) for name in sizes), "-o", os.path.join(large, "predicted"))
    run(program, "eval", "--out=" + out, "--eval-data=" + large, "--report")
    page = os.path.join(out, "eval.html")
    rows = worst_of(page)[1]
    if len(rows) != 3 or sorted(rows, key=lambda row: -row[1]) != rows:
        raise SystemExit("the worst by the loss are %s" % rows)
    found = pictures(page)
    for name in sizes:
        for picture, part in (("photo", "photos"), ("wanted", "weights"), ("result", "predicted")):
            thin = [row[::3] for row in read_rows(os.path.join(large, part, name))[0][::3]]
            if found["photos/" + name][picture] != (thin, 1):
                raise SystemExit("%s: the picture %s of %s" % (page, picture, name))


def check_diverged(program, folder):
    out = os.path.join(folder, "diverged")
    done = subprocess.run([program, "train", "--threads=1", "--lr=1e30", "--data=" + folder, "--out=" + out], stderr=subprocess.PIPE, text=True)
    text = read_page(out)[0]
    if done.returncode != 6 or "Ended behind step" not in text or "nan at step" not in text or "<img" in text:
        raise SystemExit("a run that diverged: exit code %d\n%s" % (done.returncode, done.stderr))


def check_images(program, folder):
    out = os.path.join(folder, "images")
    run(program, "train", "--threads=1", "--checkpoint-every=5000", "--data=" + folder, "--out=" + out)
    if check_curves(out) != 2050:
        raise SystemExit("the log of images has another number of rows")
    if "Confusion" in read_page(out)[0]:
        raise SystemExit("images have a confusion matrix")
    check_large(program, folder, out)


def check_refused(program, folder):
    out = os.path.join(folder, "refused")
    os.makedirs(os.path.join(out, "report.html"))
    said = run(program, "train", "--threads=1", "--data=" + folder, "--out=" + out)
    if "warning: no report: %s/report.html" % out not in said or said.count("no report") != 1 or "report: %s/report.html\n" % out in said.replace("no report", ""):
        raise SystemExit("a page that cannot be written:\n" + said)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--flags", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_data(folder)
        programs, compiler = {}, os.path.join(folder, "cc")
        with open(compiler, "w") as script:
            script.write("#!/bin/sh\nexec %s \"$@\" %s\n" % (shlex.quote(QUICK_CC), arguments.flags))
        os.chmod(compiler, 0o755)
        os.environ["CC"] = compiler
        for name, text in (("masks", MASKS), ("images", IMAGES)):
            net = os.path.join(folder, name + ".unet")
            with open(net, "w") as file:
                file.write(text)
            programs[name] = os.path.join(folder, "run_" + name)
            run(arguments.unetc, "-o", programs[name], net)
        version = subprocess.run([arguments.unetc, "--version"], stdout=subprocess.PIPE, text=True).stdout.split()[1]
        check_masks(programs["masks"], folder, version)
        check_diverged(programs["masks"], folder)
        check_images(programs["images"], folder)
        check_refused(programs["masks"], folder)
    print("report.html is what the log and the pictures say")


if __name__ == "__main__":
    main()

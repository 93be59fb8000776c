"""diffusion_test.py UNETC [SEED]: networks that `diffuse` trains.

  knows    on pictures of one known grey a formula tells noise, velocity and picture exactly, by a table of shares that is
           computed here; the noise has mean 0 and variance 1, times are spread evenly, and evaluation draws the same for
           every seed and batch
  samples  where a formula tells all, each sample is that grey; of a network that tells a share of what it sees, samples
           have the variance that follows from the steps; threads, batches and how many there are change no bit
  told     a class that the folder of a picture names, a number and a picture say what a sample looks like, exactly
  bits     threads, micro-batches, a budget, an interruption: the same weights, bit for bit; another seed: others
Standard library only."""
import csv
import json
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

UNETC = os.path.abspath(sys.argv[1])
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
SIDE, PICTURES, GREY = 8, 40, 200

EXACT = """
input  photo : image(3, {side}, {side})
input  t     : number
target truth : image(3)
target half  : number
output told = {told} + parameter(3)
data {{
    photo = images("grey/*.png")
    half  = 0.5 + 0 * uniform(0, 1)
    truth = diffuse(photo, t, steps = {steps}, schedule = "{schedule}", objective = "{objective}"{more})
    normalize mean = 0.5, std = 0.5
}}
eval {{
    photo = images("grey/*.png")
    half  = 0.5 + 0 * uniform(0, 1)
    batch {batch}
}}
train {{
    loss   mse(told, truth)
    metric mse(0 * told, truth)
    metric mse(adaptive_avg_pool(0 * channel_mean(told), 1) + t / {last}, half)
    optimizer sgd(lr = 0)
    batch  7
    steps  2
}}
"""

NET = """
input  photo : image(3, {side}, {side})
input  t     : number
target noise : image(3)
time = silu(linear(sinusoid(t, 16), 24))
x = conv(photo, 24, 3) + linear(time, 24)
x = x -> group_norm(4) -> silu -> dropout(0.1) -> conv(24, 3)
output told = conv(concat(x, photo), 3, 3)
data {{
    photo = images("grey/*.png")
    noise = diffuse(photo, t, schedule = "cosine", objective = "v")
    flip "w"
}}
train {{
    loss  mse(told, noise)
    ema   0.9
    batch 8
    steps 6
}}
"""

ROWS = """
input  photo : image(3, {side}, {side})
input  t     : number
target noise : image(3)
output told = conv(relu(conv(photo, 8, 3)), 3, 3)
data {{
    photo = images("grey/*.png")
    noise = diffuse(photo, t, steps = 100)
}}
train {{
    loss  mse(told, noise)
    batch 8
    steps 2
}}
"""

# Each class, number and picture of a condition is the picture that the network tells.
TOLD = """
input  photo : image(3, {side}, {side})
input  t     : number
input  kind  : number
input  light : number
input  low   : image(3)
target truth : image(3)
output told = 0 * photo + {told}
data {{
    photo = images("{pattern}")
    low   = photo
    kind  = class_of(photo{names})
    light = kind / 4
    truth = diffuse(photo, t, steps = 2, objective = "image")
}}
train {{
    loss  mse(told, truth)
    optimizer sgd(lr = 0.7)
    batch 3
    steps 400
}}
"""
FOLDERS = {"dark": 51, "middle": 102, "light": 204}


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == status, "%s exits %d: %s%s" % (command, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def png(path, grey):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes([grey] * 3 * SIDE)) * SIDE
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write(text):
    with open("net.unet", "w", encoding="utf-8") as file:
        file.write(text)


# ---- what it knows -------------------------------------------------------------------------------

def share(schedule, u):
    """Of the variance, at u of the way."""
    if schedule == "cosine":
        return math.cos((u + 0.008) / 1.008 * math.pi / 2) ** 2
    logistic = lambda x: 1 / (1 + math.exp(-x))
    return (logistic(3) - logistic(6 * u - 3)) / (logistic(3) - logistic(-3))


def shares(schedule, steps):
    """Products of 1 - beta, as guided-diffusion and lucidrains have them."""
    left, kept = 1.0, []
    for i in range(steps):
        beta = (1e-4 + (0.02 - 1e-4) * i / (steps - 1)) * 1000 / steps if schedule == "linear" else \
            1 - share(schedule, (i + 1) / steps) / share(schedule, i / steps)
        left *= 1 - min(beta, 0.999)
        kept.append(left)
    return kept


def formula(objective, kept):
    """Of two times: what a network should tell.  A number of the time is a line through its two values."""
    line = lambda values: "(%.17g + %.17g * t)" % (values[0], values[1] - values[0])
    signal, noise = [math.sqrt(a) for a in kept], [math.sqrt(1 - a) for a in kept]
    picture = GREY / 255 * 2 - 1
    if objective == "image":
        return "0 * photo + %.17g" % picture
    told = "(photo - %s) * %s" % (line([picture * s for s in signal]), line([1 / n for n in noise]))
    if objective == "noise":
        return told
    return "%s * %s - %s" % (told, line(signal), line([picture * n for n in noise]))


def measured(schedule, objective, steps, batch, told, more=""):
    """Of evaluation, and of the training steps: loss, mean square of the truth, of times less 1/2."""
    write(EXACT.format(side=SIDE, told=told, steps=steps, schedule=schedule, objective=objective, batch=batch, last=steps - 1,
                       more=more))
    run(UNETC, "-o", "net", "net.unet")
    shutil.rmtree("run", ignore_errors=True)
    run("./net", "train", "--out=run", "--seed=%d" % (SEED + batch))
    with open("run/log.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    figures = [name for name in rows[0] if name.startswith("mse")]
    assert len(figures) == 3, rows[0]
    return [float([row for row in rows if row["split"] == "eval"][-1][name]) for name in figures], [
        float(row["loss"]) for row in rows if row["split"] == "train"]


def check_known():
    values = SIDE * SIDE * 3 * PICTURES
    for schedule in ("linear", "cosine", "sigmoid"):
        for objective in ("noise", "v", "image"):
            found, losses = measured(schedule, objective, 2, 1, formula(objective, shares(schedule, 2)))
            assert found[0] < 1e-9 and max(losses) < 1e-9, (schedule, objective, found, losses)
            if objective == "noise":
                assert abs(found[1] - 1) < 5 * math.sqrt(2 / values), found
    first, _ = measured("cosine", "noise", 1000, 1, "0 * photo")
    again, _ = measured("cosine", "noise", 1000, 6, "0 * photo")
    assert all(abs(a - b) < 1e-12 for a, b in zip(first, again)), (first, again)
    spread = first[2]  # a uniform number has the variance 1/12, and its square less the mean 1/180
    assert abs(spread - 1 / 12) < 5 * math.sqrt(1 / 180 / PICTURES), spread


def check_weights():
    """Of two times; the error of each is 0.1, so that the loss tells how often each is drawn: in evaluation always alike."""
    drawn, most = set(), 0.5
    for objective in ("noise", "v", "image"):
        kept = shares("cosine", 2)
        ratio = [a / (1 - a) for a in kept]
        weight = [{"noise": min(s, most) / s, "v": min(s, most) / (s + 1), "image": min(s, most)}[objective] for s in ratio]
        found, _ = measured("cosine", objective, 2, 1, formula(objective, kept) + " + 0.1", ", min_snr = %g" % most)
        later = (found[0] / 0.01 - weight[0]) / (weight[1] - weight[0]) * PICTURES
        assert abs(later - round(later)) < 1e-3 and 0 < later < PICTURES, (objective, found, weight)
        drawn.add(round(later))
    assert len(drawn) == 1, drawn


# ---- samples -------------------------------------------------------------------------------------

def points(path):
    """The points of the samples in a picture of the test's own program: no filter but those of PNG, no margins."""
    with open(path, "rb") as file:
        data = file.read()
    at, body = 8, b""
    while at < len(data):
        length, kind = int.from_bytes(data[at:at + 4], "big"), data[at + 4:at + 8]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", data[at + 8:at + 16])
        body += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    raw, stride, above, rows = zlib.decompress(body), 3 * width, bytes(3 * width), []
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left, up, corner = row[i - 3] if i > 2 else 0, above[i], above[i - 3] if i > 2 else 0
            nearest = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))[2]
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[kind]) % 256
        above = bytes(row)
        rows.append(above)
    inside = lambda place: place % (SIDE + 2) >= 2
    return [row[3 * x + c] for y, row in enumerate(rows) if inside(y) for x in range(width) if inside(x) for c in range(3)]


def sample(*options):
    run("./net", "sample", "--out=run", "-o", "samples.png", *options)
    with open("samples.png", "rb") as file:
        return file.read()


def variance(kept, steps, eta, share):
    """Of samples of a network that tells the picture as SHARE of what it sees, from noise of variance 1."""
    times = [(k + 1) * len(kept) // steps - 1 for k in range(steps)]
    now = 1.0
    for k in range(steps - 1, 0, -1):
        a, b = kept[times[k]], kept[times[k - 1]]
        sigma = eta * math.sqrt((1 - b) / (1 - a)) * math.sqrt(1 - a / b)
        factor = math.sqrt(b) * share + math.sqrt(1 - b - sigma ** 2) * (1 - math.sqrt(a) * share) / math.sqrt(1 - a)
        now = factor ** 2 * now + sigma ** 2
    return share ** 2 * now


def check_samples():
    for objective in ("noise", "v", "image"):
        measured("cosine", objective, 2, 1, formula(objective, shares("cosine", 2)))
        for eta in ("0", "1"):
            sample("--count=4", "--steps=2", "--eta=" + eta)
            assert set(points("samples.png")) == {GREY}, (objective, eta, set(points("samples.png")))
    measured("cosine", "image", 100, 1, "0.2 * photo")
    for eta in (0, 0.5, 1):
        sample("--count=64", "--steps=10", "--eta=%g" % eta)
        found = [value / 127.5 - 1 for value in points("samples.png")]
        mean, wanted = sum(found) / len(found), variance(shares("cosine", 100), 10, eta, 0.2)
        spread = sum((value - mean) ** 2 for value in found) / len(found) - (1 / 127.5) ** 2 / 12  # less rounding
        assert len(found) == 64 * 3 * SIDE ** 2 and abs(spread / wanted - 1) < 5 * math.sqrt(2 / len(found)), (eta, spread, wanted)
        assert abs(mean) < 5 * math.sqrt(wanted / len(found)), mean
    one = sample("--count=7", "--steps=5", "--eta=0.5", "--threads=1")
    run(UNETC, "-o", "net", "--programs=predict", "net.unet")
    assert sample("--count=7", "--steps=5", "--eta=0.5", "--threads=2") == one
    with open("net.unet", encoding="utf-8") as file:
        write(file.read() + "predict { batch 3 }\n")
    run(UNETC, "-o", "net", "net.unet")
    assert sample("--count=7", "--steps=5", "--eta=0.5") == one
    assert sample("--count=7", "--steps=5", "--eta=0.5", "--seed=1") != one
    sample("--count=4", "--steps=5", "--eta=0.5")
    few = points("samples.png")
    sample("--count=3", "--steps=5", "--eta=0.5")
    row = 3 * 2 * SIDE  # of two samples side by side
    assert points("samples.png")[:SIDE * row] == few[:SIDE * row]
    write(ROWS.format(side=SIDE))
    sampled = []
    for bands in ("off", "2"):
        run(UNETC, "-o", "net", "--conv=direct", "--bands=" + bands, "net.unet")
        assert ("or of any height" in run("./net", "info")) == (bands == "2")
        if not sampled:
            shutil.rmtree("run")
            run("./net", "train", "--out=run")
        sampled.append(sample("--count=3", "--steps=4"))
    assert sampled[0] == sampled[1]
    run("./net", "sample", "--out=run", "-o", "samples.png", "--steps=101", status=2)
    run("./net", "sample", "--out=run", "-o", "samples.png", "--eta=2", status=2)
    run("./net", "sample", "--out=run", status=2)


def sampled(*options):
    sample("--steps=2", *options)
    found = points("samples.png")
    return sorted({value for value in found if value > 0})


def refused(*options):
    return run("./net", "sample", "--out=run", "-o", "samples.png", *options, status=2)


def compile_told(told, names, pattern="kinds/*/*.png"):
    write(TOLD.format(side=SIDE, told=told, names=names, pattern=pattern))
    run(UNETC, "-o", "net", "net.unet")
    shutil.rmtree("run", ignore_errors=True)


def check_classes():
    """The table of an embedding becomes the grey of each folder, in the order of the names, or by their numbers."""
    for place, (name, grey) in enumerate(FOLDERS.items()):
        for folder in ("kinds/" + name, "numbers/%d" % (2 - place)):
            os.makedirs(folder)
            png(folder + "/a.png", grey)
            png(folder + "/b.png", grey)
    compile_told("embedding(kind, 3, 3) + 0 * light + 0 * low", ', names = ["light", "dark", "middle"]')
    run("./net", "train", "--out=run", "--seed=%d" % SEED)
    told = ["--condition=light=0", "--condition=low=kinds/dark/a.png"]
    for number, name in enumerate(("light", "dark", "middle")):
        for word in (name, str(number)):
            assert sampled("--count=1", "--condition=kind=" + word, *told) == [FOLDERS[name]], (word, points("samples.png"))
    assert sampled("--count=2", "--condition=kind=light,1", *told) == [51, 204]
    assert sampled("--count=3", *told) == [51, 102, 204], "all classes, in turns"
    for wrong, said in ((["--condition=kind=bright"], "no class `bright`"), (["--condition=kind=3"], "beyond"), (["--condition=kind="], "no class ``"),
                        (["--condition=other=1"], "no such input"), (["--condition=kind"], "name the input"),
                        (["--condition=light=x"], "is none"), (["--condition=photo=kinds/dark/a.png"], "no such input")):
        assert said in refused(*told, *wrong), wrong
    assert "--condition=light=NUMBER" in refused("--condition=low=kinds/dark/a.png")
    assert "--condition=low=FILE" in refused("--condition=light=1")
    os.rename("kinds/dark", "kinds/night")
    assert "kinds/night/" in run("./net", "check-data", status=4)
    os.rename("kinds/night", "kinds/dark")
    compile_told("embedding(kind, 3, 3) + 0 * light + 0 * low", "", "numbers/*/*.png")
    run("./net", "train", "--out=run")
    assert sampled("--count=1", "--condition=kind=0", *told) == [204]
    assert sampled("--count=2", "--condition=kind=2,1", *told) == [51, 102]
    assert "--condition=kind=NUMBER" in refused(*told)


def check_conditions():
    """A number and a picture, as they are; several of them in turns; a picture of another size is refused."""
    compile_told("0 * kind + light + 0 * low + parameter(3)", "", "numbers/*/*.png")
    run("./net", "train", "--out=run", "--steps=1", "--lr=1e-30")
    low = "--condition=low=kinds/dark/a.png"
    assert sampled("--count=1", "--condition=kind=7", "--condition=light=0.6", low) == [153]
    compile_told("0 * kind + 0 * light + low + parameter(3)", "", "numbers/*/*.png")
    run("./net", "train", "--out=run", "--steps=1", "--lr=1e-30")
    numbers = ["--condition=kind=0", "--condition=light=0"]
    assert sampled("--count=1", low, *numbers) == [51]
    assert sampled("--count=2", "--condition=low=kinds/light/a.png,kinds/dark/b.png", *numbers) == [51, 204]
    run("./net", "sample", "--out=run", "-o", "samples.png", "--condition=low=missing.png", *numbers, status=4)
    run("./net", "sample", "--out=run", "-o", "wide.png", "--count=2", low, *numbers)
    assert "wide.png has 12 x 22 points" in run("./net", "sample", "--out=run", "-o", "samples.png", "--condition=low=wide.png", *numbers,
                                                 status=4)


# ---- bits ----------------------------------------------------------------------------------------

def trained(options, *more):
    run(UNETC, "-o", "net", *options, "net.unet")
    shutil.rmtree("run", ignore_errors=True)
    for part in more or [()]:
        run("./net", "train", "--out=run", *part)
    with open("run/net.checkpoint.safetensors", "rb") as file:
        return file.read()


def check_bits():
    write(NET.format(side=SIDE))
    least = json.JSONDecoder().raw_decode(run(UNETC, "mem", "--format=json", "net.unet"))[0]["arena"]["bytes"]
    wanted = trained(())
    for options, *more in (((), ("--threads=1",)), (("--micro-batches=4",),), (("--micro-batches=1", "--no-recompute"),),
                           (("--mem=%dB" % (least * 6 // 10),),), ((), ("--steps=2",), ("--steps=6", "--resume"))):
        found = trained(options, *more)
        assert weights(found) == weights(wanted), (options, more)
    assert weights(trained((), ("--seed=5",))) != weights(wanted)


def weights(file):
    """The tensors of a file, whose header tells the plan, too."""
    length = struct.unpack("<Q", file[:8])[0]
    return file[8 + length:]


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    os.mkdir("grey")
    for number in range(PICTURES):
        png("grey/%02d.png" % number, GREY)
    check_known()
    check_weights()
    check_samples()
    check_classes()
    check_conditions()
    check_bits()
print("ok")

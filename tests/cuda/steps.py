#!/usr/bin/env python3
"""Whole programs for a GPU, run on this processor: kernels through the shim, cuDNN by its stand-in, under sanitizers,
and each step may touch its operands and nothing else.

    steps.py --unetc=UNETC --runtime=libunet_runtime.a --make-pictures=MAKE_PICTURES --cudnn=FOLDER

  examples  every example and the nets that test the planner, small, train seven steps as they do on the cpu target:
            weights, losses, what eval says, what predict draws, or sample, of larger pictures, too
  runs      two plans in one program; a step captured as a graph or not, threads in other orders, a lazy stream, killed and resumed: the same
            weights, bit for bit; as many launches as roofline.py counts; one allocation, of exactly the arena; a device that is too small, or that fails in the
            middle; another cuDNN; engines that were measured (tuned.py)
  plans     memory not reused or values computed again: the same bits; samples in turns: the same but for rounding;
            16-bit storage: close; pools: what was pooled is not kept for their gradients (bands.py: bands of rows)
  faults    planted in what unetc wrote: a missing barrier, a buffer used after its life or moved onto another, an
            overrun into a neighbour that lives, a rate of learning that capture would freeze; each is noticed

The short form leaves out four of the nets, and lets the device fail twice in each way.  Every plan is judged by check_plan.py.
Exits with 77 without the headers of CUDA and cuDNN.  Standard library only."""

import argparse
import concurrent.futures
import csv
import itertools
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import cuda
import program

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("..", "../oracle", "../bench"):
    sys.path.insert(0, os.path.join(HERE, folder))
import check_plan  # noqa: E402
import roofline  # noqa: E402
import safetensors  # noqa: E402

STEPS = 7  # behind the first two epochs
PICTURES, HELD_OUT = 12, 0.1  # 11 to train on: the last batch of an epoch is short
RESERVE = 256 << 20  # of device.c
DOES_NOT_FIT, STOPPED_DEVICE = 3, 4

# Largest differences from the cpu target: of a weight, relative ones of losses and metrics, levels of a picture.
TOLERANCE = {"weights": 1e-5, "losses": 1e-5, "eval": 1e-5, "predict": 1, "larger": 1}

EXAMPLES, PLANNER = "examples/denoise/", "tests/planner/"


def drawn(name):
    """A batch from 1 to 40, another for each net: what a step is told grows with it, and lies beside other buffers."""
    return "--batch=%d" % random.Random(name).randint(1, 40)


TINY = ("tiny", EXAMPLES + "tiny_unet.unet", ["-Dbase=4", "--size=16x16", "--batch=5"])
SIMPLE = ("simple", EXAMPLES + "simple_denoiser.unet", ["-Dwidth=5", "--size=13x11", "--batch=3"])
VOLUME = ("volume", PLANNER + "volume.unet", ["--batch=3", "-Dbase=3"])
POOLS = ("pools", "tests/cuda/pools.unet", ["--batch=3"])
DIFFUSION = ("diffusion", "tests/cuda/diffusion.unet", [])
WORDS, VOCABULARY = ("words", "tests/cuda/words.unet", []), 70
NETS = [TINY, SIMPLE, ("unet", EXAMPLES + "unet_denoiser.unet", ["-Dbase=6", "--size=16x8", drawn("unet")]),
        ("irregular", PLANNER + "irregular.unet", [drawn("irregular")]),
        ("five levels", PLANNER + "unet.unet", ["-Ddepth=5", "-Dbase=2", "--batch=3"]), VOLUME, POOLS,
        ("scales", "tests/cuda/scales.unet", []), ("chains", "tests/cuda/chains.unet", []), ("turns", "tests/cuda/turns.unet", []), DIFFUSION, WORDS,
        ("compared", "tests/cuda/compared.unet", [drawn("compared")]), ("label losses", "tests/cuda/label_losses.unet", [drawn("label losses")])]
LONG_NETS = "irregular", "five levels", "unet", "turns"  # half.py trains the former on both targets, in f32, too
ALL_LABEL_LOSSES = ("all label losses", "tests/cuda/label_losses.unet", ["-Dall=true"])


class Failure(Exception):
    pass


def expect(good, message, *values):
    if not good:
        raise Failure(message % values)


def execute(command, accept=(0,), environment=None):
    """What COMMAND writes to its standard output, then what it writes to its standard error."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                            env={**os.environ, **(environment or {})})
    if result.returncode not in accept:
        raise Failure("%s: exit code %d\n%s" % (" ".join(command), result.returncode, result.stderr[-3000:]))
    return result.stdout, result.stderr


# ---- programs ------------------------------------------------------------------------------------------


class Run:
    """What a training left behind."""

    def __init__(self, folder, model, said):
        self.path, self.said = os.path.join(folder, model + ".safetensors"), said
        with open(self.path, "rb") as file:
            self.bytes = file.read()
        with open(os.path.join(folder, "log.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        kept = [name for name in rows[0] if name not in ("epoch", "step", "split", "lr", "images_per_s", "seconds")]
        self.losses = [float(row[name]) for row in rows for name in kept if row[name]]

    def weights(self):
        return [x for tensor in safetensors.read(self.path)[0].values() for x in tensor.values]


class Program:
    def __init__(self, path, plan, pictures):
        self.path, self.plan, self.runs = path, plan, 0
        self.data, self.small = pictures

    def folder(self):
        self.runs += 1
        return "%s.out%d" % (self.path, self.runs)

    def training(self, folder, *options):
        return [self.path, "train", "--data=" + self.data, "--steps=%d" % STEPS, "--threads=1", "--out=" + folder, *options]

    def train(self, *options, **environment):
        folder = self.folder()
        said = execute(self.training(folder, *options), environment=environment)[1]
        return Run(folder, self.plan["model"], said)

    def evaluate(self, weights):
        """The metrics, in decibels or not."""
        said, _ = execute([self.path, "eval", "--data=" + self.data, "--threads=1", "--weights=" + weights,
                           "--out=" + self.folder()])
        return [float(x) for x in re.findall(r"\) (-?[0-9.]+(?:e-?[0-9]+)?)", said)]

    def sample(self, weights):
        picture = self.folder() + ".png"
        execute([self.path, "sample", "--threads=1", "--weights=" + weights, "--count=3", "--steps=5", "--eta=0.5", "-o", picture])
        return read_png(picture)

    def predict(self, weights, larger=False):
        picture, of = self.folder() + ".png", self.data if larger else self.small
        execute([self.path, "predict", "--threads=1", "--weights=" + weights, of + "/noisy/00.png", "-o", picture])
        return read_png(picture)


def write_masks(folder, height, width):
    """Classes for the pictures there, in stripes; some values stand for none."""
    os.mkdir(folder + "/masks")
    for number, name in enumerate(sorted(os.listdir(folder + "/noisy"))):
        rows = [bytes([0] + [(0, 100, 200, 255)[(x // 3 + y // 2 + number) % 4] for x in range(width)]) for y in range(height)]
        with open(os.path.join(folder, "masks", name), "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
                       png_chunk(b"IDAT", zlib.compress(b"".join(rows))) + png_chunk(b"IEND", b""))


def write_texts(folder):
    """Arrays of NumPy of words, each in a file."""
    rng = random.Random("texts")
    os.mkdir(folder + "/texts")
    for number in range(PICTURES):
        words = [rng.randrange(VOCABULARY) for _ in range(rng.randint(21, 50))]
        head = ("{'descr': '<u2', 'fortran_order': False, 'shape': (%d,), }" % len(words)).encode()
        head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
        with open("%s/texts/%02d.npy" % (folder, number), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<%dH" % len(words), *words))


def png_chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


class Workshop:
    """Makes programs; each has a folder of its own.  PICTURES: how many, their height and width."""

    def __init__(self, tools, folder, pictures=(str(PICTURES), "33", "37")):
        self.tools, self.folder = tools, folder
        self.numbers = itertools.count(1)  # next() is one step for threads
        self.pictures = [os.path.join(folder, name) for name in ("data", "small")]
        execute([tools.make_pictures, self.pictures[0], *pictures, "8"])
        execute([tools.make_pictures, self.pictures[1], "1", "11", "7", "8"])  # smaller than any net's size
        write_masks(self.pictures[0], *map(int, pictures[1:]))
        write_texts(self.pictures[0])
        os.mkdir(folder + "/shim")
        self.shim = program.Shim(folder + "/shim", tools.runtime)

    def unetc(self, *words, accept=(0,)):
        return execute([self.tools.unetc, *words], accept, {"UNETC_CUDNN": self.tools.cudnn})[0]

    def file(self, net):
        """The net with some pictures held out; the volume's data is noise, and files that nobody reads count it."""
        source, folder = os.path.join(cuda.ROOT, net[1]), os.path.join(self.folder, "nets", net[0])
        copy = os.path.join(folder, os.path.basename(source))
        if not os.path.exists(copy):
            os.makedirs(folder, exist_ok=True)
            new = "%s.%d" % (copy, threading.get_ident())  # of each job its own: jobs run side by side
            with open(source) as text, open(new, "w") as out:
                unread = "input picture : image(1, 12, 16)\ndata {\n    picture = images(\"noisy/*.png\")\n    crop\n"
                out.write(text.read().replace("data {\n", unread if net is VOLUME else "data {\n    holdout %s\n" % HELD_OUT))
            os.replace(new, copy)
        return copy

    def plan(self, net, *options, accept=(0,)):
        said = self.unetc("mem", "--format=json", "--target=cuda", *net[2], *options, self.file(net), accept=accept)
        plan = json.loads(said)
        complaints = check_plan.judge(plan)
        expect(not complaints, "%s %s: %s", net[0], " ".join(options), "; ".join(complaints[:5]))
        return plan

    def path(self):
        return os.path.join(self.folder, "program%d" % next(self.numbers))

    def cpu(self, net, *options):
        path = self.path()
        self.unetc("-o", path, *net[2], *options, self.file(net))
        return Program(path, self.plan(net), self.pictures)

    def cuda(self, net, *options, edit=None):
        """EDIT changes the text of a file of the program: (end of its name, function)."""
        path = self.path()
        plan = self.plan(net, *options)
        self.unetc("-S", path, "--target=cuda", "--poison", *net[2], *options, self.file(net))
        if edit is not None:
            with open(os.path.join(path, plan["model"] + edit[0]), "r+") as file:
                text = edit[1](file.read())
                file.seek(0)
                file.truncate()
                file.write(text)
        built = self.shim.build(path, os.path.join(path, plan["model"]))
        return Program(built, plan, self.pictures)


# ---- comparisons ---------------------------------------------------------------------------------------


def read_png(path):
    """The samples of an 8-bit picture, row by row."""
    with open(path, "rb") as file:
        data = file.read()
    chunks, at = [], 8
    while at < len(data):
        length, kind = int.from_bytes(data[at:at + 4], "big"), data[at + 4:at + 8]
        chunks.append((kind, data[at + 8:at + 8 + length]))
        at += 12 + length
    header = chunks[0][1]
    width, height, samples = (int.from_bytes(header[:4], "big"), int.from_bytes(header[4:8], "big"),
                              {0: 1, 2: 3, 3: 1}[header[9]])
    raw, stride = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT")), width * samples
    rows = [bytes(stride)]
    for k in range(height):
        line = raw[k * (stride + 1):(k + 1) * (stride + 1)]
        rows.append(unfiltered(line[0], bytearray(line[1:]), rows[-1], samples))
    return b"".join(rows[1:])


def unfiltered(kind, row, above, samples):
    for i in range(len(row)):
        left, corner = (row[i - samples], above[i - samples]) if i >= samples else (0, 0)
        up = above[i]
        nearest = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))
        row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest[2])[kind]) % 256
    return bytes(row)


def largest_difference(a, b):
    expect(len(a) == len(b) and len(a) > 0, "%d numbers and %d", len(a), len(b))
    differences = [abs(x - y) for x, y in zip(a, b)]
    expect(all(d == d for d in differences), "a NaN")
    return max(differences)


def relative_difference(a, b):
    expect(len(a) == len(b) and len(a) > 0, "%d numbers and %d", len(a), len(b))
    return max(abs(x - y) / max(abs(y), 1e-30) for x, y in zip(a, b))


def same_bits(run, other, what):
    expect(run.bytes == other.bytes, "%s: other weights", what)
    expect(run.losses == other.losses, "%s: other losses", what)


# ---- the examples --------------------------------------------------------------------------------------


def compare_with_cpu(shop, net):
    on_cpu, on_cuda = shop.cpu(net), shop.cuda(net)
    trained, expected = on_cuda.train(), on_cpu.train()
    worst = {"weights": largest_difference(trained.weights(), expected.weights()),
             "losses": relative_difference(trained.losses, expected.losses)}
    if net is not VOLUME:
        # each reads what the other trained
        worst["eval"] = max(relative_difference(on_cuda.evaluate(run.path), on_cpu.evaluate(run.path))
                            for run in (trained, expected))
        made = (lambda program, run: program.sample(run.path)) if net is DIFFUSION else lambda program, run: program.predict(run.path)
        if net is not WORDS:  # which makes no picture
            worst["predict"] = max(largest_difference(made(on_cuda, run), made(on_cpu, run)) for run in (trained, expected))
        if net in (TINY, SIMPLE):  # by windows: blended ones, and such as make what the whole picture would
            worst["larger"] = largest_difference(on_cuda.predict(trained.path, True), on_cpu.predict(trained.path, True))
        expect(largest_difference(on_cuda.train("--weights=" + expected.path, UNET_CUDA_GRAPH="0").weights(),
                                  on_cpu.train("--weights=" + trained.path).weights()) <= TOLERANCE["weights"],
               "%s: trained on from the other's weights they differ", net[0])
    for what, difference in worst.items():
        expect(difference <= TOLERANCE[what], "%s: %s differ by %g from the cpu target's", net[0], what, difference)
    return "%s against the cpu target: %s" % (net[0], ", ".join("%s %.1e" % item for item in worst.items()))


# ---- ways to run ---------------------------------------------------------------------------------------

WAYS = {
    "single launches": {"UNET_CUDA_GRAPH": "0"},
    "reverse": {"UNET_SHIM_ORDER": "reverse"},
    "permuted": {"UNET_SHIM_ORDER": "permuted"},
    "lazy": {"UNET_SHIM_LAZY": "1"},
    "interleaved": {"UNET_SHIM_LAZY": "2"},
    "lazy, single launches": {"UNET_SHIM_LAZY": "1", "UNET_CUDA_GRAPH": "0"},
}
BRANCHES = {  # orders of what a graph leaves open; without any, the branch that stands in front in the plan comes first
    "the other branch first": {"UNET_SHIM_GRAPH": "last"},
    "branches by chance": {"UNET_SHIM_GRAPH": "1"},
    "branches by another chance": {"UNET_SHIM_GRAPH": "2"},
    "branches in turns": {"UNET_CUDA_BRANCHES": "0"},
    "branches, interleaved, single launches": {"UNET_SHIM_LAZY": "2", "UNET_CUDA_GRAPH": "0"},
}


def check_report(run, arena, captures, way):
    found = re.search(r"shim: (\d+) allocations, at most (\d+) bytes, (\d+) at exit; \d+ launches, (\d+) replays", run.said)
    expect(found, "%s: no report", way)
    allocations, most, left, replays = (int(x) for x in found.groups())
    expect((allocations, most, left) == (1, arena, 0), "%s: %s; the arena is %d bytes", way, found.group(), arena)
    expect(replays >= STEPS - 1 if captures else replays == 0, "%s: %s", way, found.group())


def check_ways(shop, tiny, plain):
    for way, environment in WAYS.items():
        run = tiny.train(UNET_SHIM_REPORT="1", **environment)
        same_bits(run, plain, way)
        check_report(run, tiny.plan["arena"]["bytes"], "UNET_CUDA_GRAPH" not in environment, way)
    return "%d ways to run a step give the same bits, each in one allocation of the arena" % (len(WAYS) + 1)


def check_branches(shop, tiny, plain):
    """Gradients by weights beside others: in any order of both streams, in one, and planned one after the other."""
    beside = [s["name"] for s in tiny.plan["programs"]["train"] if s.get("stream") == 2]
    expect(len(beside) > 12, "only %s run beside others", beside)
    for way, environment in BRANCHES.items():
        same_bits(tiny.train(**environment), plain, way)
    alone = shop.cuda(TINY, "--branches=off")
    expect(alone.plan["arena"]["bytes"] == tiny.plan["arena"]["bytes"], "branches need another arena")
    expect(not any("stream" in s for s in alone.plan["programs"]["train"]), "--branches=off has branches")
    same_bits(alone.train(), plain, "--branches=off")
    return "%d gradients by weights beside others: %d orders and --branches=off give the same bits" % (len(beside), len(BRANCHES) + 1)


def launched(program, steps):
    said = program.train("--steps=%d" % steps, UNET_SHIM_REPORT="1", UNET_CUDA_GRAPH="0").said
    return int(re.search(r"(\d+) launches", said).group(1))


def check_launches(shop, tiny, plain):
    """A step launches what tests/bench/roofline.py counts: of two numbers of steps within an epoch the difference."""
    few, many = (launched(tiny, steps) for steps in (STEPS, STEPS + 1))
    wanted = sum(not launch.by_cudnn and launch.begins for launch in roofline.training_launches(tiny.plan))
    expect(many - few == wanted, "a step has %d launches; roofline.py counts %d", many - few, wanted)
    return "a step has %d launches beside those of cuDNN" % wanted


def check_resume(shop, tiny, plain):
    """SIGINT ends a training behind all steps that were begun, SIGKILL anywhere."""
    for kind, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 128 + signal.SIGINT)):
        folder = tiny.folder()
        with open(folder + ".txt", "w") as log:
            killed = subprocess.Popen(tiny.training(folder, "--checkpoint-every=2"), stdout=log, stderr=log)
        while killed.poll() is None and not os.path.exists(folder + "/%s.step-00000004.safetensors" % tiny.plan["model"]):
            time.sleep(0.01)
        expect(killed.poll() is None, "the program that was to be stopped exits %s", killed.returncode)
        killed.send_signal(kind)
        expect(killed.wait() == code, "%s: exit code %d", kind.name, killed.returncode)
        execute(tiny.training(folder, "--resume"))
        with open(os.path.join(folder, tiny.plan["model"] + ".safetensors"), "rb") as file:
            expect(file.read() == plain.bytes, "%s and resumed: other weights", kind.name)
    return "stopped by a signal and resumed: the same bits"


def check_memory_of_device(shop, tiny, plain):
    needed = tiny.plan["arena"]["bytes"] + RESERVE
    same_bits(tiny.train(UNET_SHIM_DEVICE_BYTES=str(needed)), plain, "a device that is just large enough")
    _, said = execute(tiny.training(tiny.folder()), (DOES_NOT_FIT,), {"UNET_SHIM_DEVICE_BYTES": str(needed - 1)})
    expect(re.search(r"needs [0-9.]+ MiB of the GPU .* MiB are free\. .*--mem", said), "too small a device: %s", said)
    for capability, expected in ((80, "compiled for sm_90, but .* is sm_80: compile it with --target=cuda:sm_80"),
                                 (75, "is sm_75, which unetc does not compile for")):
        _, said = execute(tiny.training(tiny.folder()), (DOES_NOT_FIT,), {"UNET_SHIM_CAPABILITY": str(capability)})
        expect(re.search(expected, said), "an older device: %s", said)
    return "a device one byte too small, and one too old, are refused"


def check_plans(shop, tiny, plain):
    """A program with two plans: --fit takes the one that the device has memory for."""
    options = ["--target=cuda", "--micro-batches=off", *TINY[2]]
    sizes = [tiny.plan["arena"]["bytes"], shop.plan(TINY, "--micro-batches=off", "--mem=1B", accept=(DOES_NOT_FIT,))["arena"]["bytes"]]
    expect(sizes[1] < sizes[0], "no plan in less memory than %d bytes", sizes[0])
    path = shop.path()
    shop.unetc("-S", path, "--poison", "--plans=%dB,%dB" % tuple(sizes), *options, shop.file(TINY))
    both = Program(shop.shim.build(path, os.path.join(path, tiny.plan["model"])), tiny.plan, shop.pictures)
    for room, place in ((sizes[0], 1), (sizes[0] - 1, 2), (sizes[1], 2)):
        run = both.train("--fit", UNET_SHIM_DEVICE_BYTES=str(room + 2 * RESERVE))
        expect("plan %d of 2 is taken" % place in run.said, "%d bytes: %s", room, run.said)
        same_bits(run, plain, "plan %d of 2" % place)
    same_bits(both.train(), plain, "the first of two plans")
    return "two plans in %d and %d bytes: the same bits" % tuple(sizes)


def check_failing_device(shop, tiny, plain):
    """A kernel reaches for memory that is not there: that is what is said, whoever notices, and the checkpoint is good."""
    report = tiny.train(UNET_SHIM_REPORT="1").said
    launches = int(re.search(r"(\d+) launches", report).group(1))
    in_steps = (1, launches // STEPS + 3, launches * 6 // 10)  # in the first step, the second, the middle
    for number, way in enumerate(("at once", "single launches", "lazy", "interleaved")):
        for launch in in_steps if shop.tools.long else (in_steps[number % 2], in_steps[2]):
            folder, environment = tiny.folder(), dict(WAYS.get(way, {}), UNET_SHIM_FAULT=str(launch))
            _, said = execute(tiny.training(folder, "--checkpoint-every=2"), (STOPPED_DEVICE,), environment)
            expect(said.strip().endswith("an illegal memory access was encountered (cudaErrorIllegalAddress)"),
                   "%s: launch %d fails, and it says: %s", way, launch, said)
        execute(tiny.training(folder, "--resume"))
        with open(os.path.join(folder, tiny.plan["model"] + ".safetensors"), "rb") as file:
            expect(file.read() == plain.bytes, "%s: resumed behind a failure: other weights", way)
    return "a device that fails in one of %d launches: it says so, and a resumed training gives the same bits" % launches


OTHER_CUDNN = {"UNET_CUDNN_REFERENCE_VERSION": "99999"}


def check_other_cudnn(shop, tiny, plain):
    run = tiny.train(UNET_SHIM_REPORT="1", **OTHER_CUDNN)
    difference = largest_difference(run.weights(), plain.weights())
    expect(difference <= TOLERANCE["weights"], "another cuDNN: weights differ by %g", difference)
    check_report(run, tiny.plan["arena"]["bytes"], True, "another cuDNN")
    notes = re.findall(r"note: cuDNN 9\.99\.99, planned with (\d\.\d+\.\d+): engines chosen again for (\d+) of (\d+) "
                       r"convolutions, within the planned bytes\n", run.said)
    expect(len(notes) == 1 and notes[0][1] == notes[0][2], "another cuDNN: the program says %s", run.said)
    expect("cuDNN" not in plain.said, "the cuDNN that was planned with: the program says %s", plain.said)
    for version, there in (notes[0][0], {}), ("9.99.99", OTHER_CUDNN):
        libraries = "cuDNN %s, planned with %s" % (version, notes[0][0])
        text, _ = execute([tiny.path, "info"], environment=there)
        expect(re.search(r"^libraries +%s$" % re.escape(libraries), text, re.M), "info: %s", text)
        description = json.loads(execute([tiny.path, "info", "--format=json"], environment=there)[0])
        expect(description["libraries"] == libraries, "info: %s", description["libraries"])
    return "another version of cuDNN plans anew, and the program says so: weights differ by %.1e" % difference


# ---- plans ---------------------------------------------------------------------------------------------


WHOLE = ["--micro-batches=off", "--bands=off"]  # then only computing again is left


def tight_budgets(shop, net, count):
    """COUNT budgets that fit, the smallest found first; all make the plan compute values again."""
    refused = shop.plan(net, *WHOLE, "--no-recompute", "--mem=1KiB", accept=(DOES_NOT_FIT,))
    free = refused["arena"]["bytes"]  # without computing anything again, nothing below fits
    low, best = free // 4, free
    while best - low > free // 64:
        middle = (low + best) // 2
        fits = shop.plan(net, *WHOLE, "--mem=%d" % middle, accept=(0, DOES_NOT_FIT))["arena"]["fits"]
        low, best = (low, middle) if fits else (middle, best)
    expect(best < free, "%s: no budget below %d bytes", net[0], free)
    return [best + (free - best) * k // count for k in range(count)]


def prefetches(program):
    return any(b["class"] == "staging" and b["lifetime"] == "program" for b in program.plan["buffers"])


def same_plans(shop, net, free, plain):
    """What was found, and the programs within tight budgets."""
    expect(prefetches(free), "without a budget, inputs do not come while a step runs")
    unused = shop.cuda(net, "--no-reuse")
    same_bits(unused.train(), plain, "--no-reuse")
    said, programs = ["%d (no reuse)" % unused.plan["arena"]["bytes"], "%d (free)" % free.plan["arena"]["bytes"]], []
    for budget in tight_budgets(shop, net, 2):
        tight = shop.cuda(net, *WHOLE, "--mem=%d" % budget)
        again = tight.plan["cost"]["recompute_flops"] / tight.plan["cost"]["flops"]
        expect(again > 0, "a budget of %d bytes recomputes nothing", budget)
        expect(not prefetches(tight), "a budget of %d bytes has room for the next inputs, but not for all values", budget)
        same_bits(tight.train(), plain, "a budget of %d bytes" % budget)
        said.append("%d (%.1f %% again)" % (tight.plan["arena"]["bytes"], 100 * again))
        programs.append(tight)
    return "%s: arenas of %s bytes: the same bits" % (net[0], ", ".join(said)), programs


def check_same_plans(shop, tiny, plain):
    return same_plans(shop, TINY, tiny, plain)[0]


def pool_steps(plan, op):
    """(step, names that it reads, names that it writes), as long as somebody reads these."""
    names, steps = {b["id"]: b["name"] for b in plan["buffers"]}, plan["programs"]["train"]
    read = {number for step in steps for number in step["reads"]}
    return [(step, {names[k] for k in step["reads"]}, {names[k] for k in step["writes"] if k in read})
            for step in steps if step["op"] == op]


def check_pools(shop):
    """Gradients of pools go by the taps that were kept, and one that is masked by the maxima; what was pooled is not read."""
    free = shop.cuda(POOLS)
    pooled = {step["name"]: reads for step, reads, _ in pool_steps(free.plan, "max_pool")}
    gradients = pool_steps(free.plan, "max_pool_grad")
    for step, reads, _ in gradients:
        name = step["name"]
        expect(name + " argmax" in reads and not reads & pooled[name], "the gradient of %s reads %s", name, sorted(reads))
    masked = {step["name"] for step, reads, _ in gradients if step["name"] in reads}
    expect(masked == {"half", "twice.max_pool", "same"}, "the gradients of %s are masked", sorted(masked))
    said, tight = same_plans(shop, POOLS, free, free.train())
    again = [(step["name"], wanted) for program in tight
             for step, _, wanted in pool_steps(program.plan, "max_pool") if step["recompute"]]
    expect(any(name in wanted and name + " argmax" in wanted for name, wanted in again), "no pool runs again for both outputs")
    return said


def check_bench(program):
    """Each part of a step is there once, however often it runs."""
    said, _ = execute([program.path, "bench", "--format=json", "--steps=1", "--threads=1"])
    train = json.loads(said)["programs"][0]
    names = [part["name"] for part in train["device"]["parts"]]
    expect(len(names) == len(set(names)) and {"inputs", "conv of enc1.0", "adam"} <= set(names), "bench: parts %s", names)
    expect(all(train["device"][key] >= 0 for key in ("inputs", "step")), "bench: %s", train["device"])


def check_turns(shop, tiny, plain, turns):
    looped = shop.cuda(TINY, "--micro-batches=%d" % turns)
    run = looped.train(UNET_SHIM_REPORT="1")
    for way, environment in ("single launches", WAYS), ("interleaved", WAYS), ("the other branch first", BRANCHES):
        same_bits(looped.train(**environment[way]), run, "%d turns, %s" % (turns, way))
    check_bench(looped)
    replays = int(re.search(r"(\d+) replays", run.said).group(1))
    expect(replays >= turns * STEPS, "%d turns a step: %d replays in %d steps", turns, replays, STEPS)
    difference = largest_difference(run.weights(), plain.weights())
    expect(difference <= TOLERANCE["weights"], "%d turns: weights differ by %g", turns, difference)
    loss = relative_difference(run.losses, plain.losses)
    expect(loss <= TOLERANCE["losses"], "%d turns: losses differ by %g", turns, loss)
    return "%d turns against the whole batch: weights %.1e, losses %.1e" % (turns, difference, loss)


def axes_of_loops(steps, around=()):
    """Of each loop, its axis behind those of the loops around it."""
    found = {around + (step["loop"],): step["body"] for step in steps if "loop" in step}
    return set(found).union(*(axes_of_loops(body, axes) for axes, body in found.items()))


def check_bf16(shop, tiny, plain):
    small = shop.cuda(TINY, "--precision=bf16")
    expect(small.plan["arena"]["bytes"] < tiny.plan["arena"]["bytes"], "bf16 takes no less memory")
    run = small.train()
    difference = relative_difference(run.losses, plain.losses)
    expect(0 < difference <= 0.02, "bf16: losses differ by %g", difference)
    same_bits(small.train(**WAYS["single launches"]), run, "bf16, single launches")
    return "bf16 in %d bytes (f32: %d): losses differ by %.1e" % (
        small.plan["arena"]["bytes"], tiny.plan["arena"]["bytes"], difference)


# ---- faults --------------------------------------------------------------------------------------------


def changed(text, *changes):
    """TEXT with each (pattern, replacement) applied to its first match."""
    for pattern, replacement in changes:
        text, count = re.subn(pattern, replacement, text, count=1, flags=re.S)
        expect(count == 1, "nowhere to plant a fault: %s", pattern)
    return text


def without_barrier(text):
    """In the sum of a bias's gradient: one warp reads what others have not written."""
    return changed(text, (r"(part\[row\]\[lane\] = total;\n) *__syncthreads\(\);\n", r"\1"))


def with_frozen_rate(text):
    """The launcher of Adam reads the rate: right in a single launch, frozen in a graph."""
    return changed(text, (r"step = \w+_adam_0_step\(control, scale, norm\);", r"step = frozen;"),
                   (r"(\w+_adam_0)_sweep\((.*?)const UnetControl \*control,", r"\1_sweep(\2const \1_Step frozen,"),
                   (r"LAUNCH_BLOCKS\(at, (\w+_adam_0)_sweep,(.*?)at\.control,",
                    r"LAUNCH_BLOCKS(at, \1_sweep,\2\1_step(at.control, scale, norm),"))


def with_first_correction(text):
    """Adam corrects its means as if each step was the first."""
    return changed(text, (r"control->correction\[0\]", r"(1 - 0.9)"))


def with_short_life(text):
    """The last reader in training of a skip connection is told that it is dead."""
    train, rest = text.split("/* ---- eval", 1)
    *before, last = re.split(r"\{B\d+_enc1_3, \d+, 0\},", train)
    expect(len(before) > 1, "nowhere to plant a fault: enc1.3 has no readers")
    kept = re.findall(r"\{B\d+_enc1_3, \d+, 0\},", train)[:-1] + [""]
    return "".join(part + span for part, span in zip(before, kept)) + last + "/* ---- eval" + rest


def moved(text):
    """A skip connection lies where another does."""
    other = re.search(r"B\d+_enc2_3 (\d+LL)", text).group(1)
    return changed(text, (r"(B\d+_enc1_3) \d+LL", r"\1 " + other))


def joined_late(text):
    """The last branch of training is waited for by the optimiser, and not by what unpacks its gradient."""
    train, rest = text.split("/* ---- eval", 1)
    before, last = train.rsplit("        unet_cuda_join(at);\n", 1)
    return before + changed(last, (r'( +at\.step = "adam";)', r"    unet_cuda_join(at);\n\1")) + "/* ---- eval" + rest


def overrun(plan):
    """A step of training that writes 256 bytes too far, into a neighbour that was written before and is read later; an
    edit of the host code, and the names of the two."""
    steps = plan["programs"]["train"]
    buffers, operands = {b["id"]: b for b in plan["buffers"]}, [set(s["reads"] + s["writes"]) for s in steps]
    for k, step in enumerate(steps):
        for end in (buffers[w] for w in step["writes"] if buffers[w]["class"].startswith("activation")):
            for near in buffers.values():
                if (near["offset"] == end["offset"] + end["bytes"] and near["id"] not in operands[k] and
                        not near["alias"] and near["lifetime"] == "step" and
                        any(near["id"] in s["writes"] for s in steps[:k]) and
                        any(near["id"] in s["reads"] for s in steps[k + 1:])):
                    begins = r"(\{B%03d_\w+, \d+, 1\}.*?AT\(\w+, B%03d_\w+)\)" % (end["id"], end["id"])
                    return (lambda text: changed(text, (begins, r"\1 + 256)"))), end["name"], near["name"]
    raise Failure("nowhere to plant a fault: no buffer has a neighbour that lives")


def prefetched_onto(plan):
    """Inputs of the next step come while this one runs: to where something lies that is written once these inputs were
    read, and lives on when all were; an edit of _plan.h, and the name of that."""
    steps = plan["programs"]["train"]
    buffers = {b["id"]: b for b in plan["buffers"]}
    inputs = [b["id"] for b in buffers.values() if b["class"] == "staging" and b["lifetime"] == "program"]
    expect(inputs, "no inputs of which the next ones may come early")

    def behind(readers):
        return max(k for k, s in enumerate(steps) if set(s["reads"]) & set(readers)) + 1

    early, both = behind(inputs[:1]), behind(inputs)
    for b in buffers.values():
        if (b["class"] == "activation" and not b["alias"] and b["bytes"] >= buffers[inputs[0]]["bytes"] and
                not any(b["id"] in s["reads"] + s["writes"] for s in steps[:early]) and
                any(b["id"] in s["writes"] for s in steps[early:both]) and any(b["id"] in s["reads"] for s in steps[both:])):
            edit = lambda text: changed(text, (r"(B%03d_\w+) \d+LL" % inputs[0], r"\g<1> %dLL" % b["offset"]))  # noqa: E731
            return edit, b["name"]
    raise Failure("nowhere to plant a fault: nothing lives while the next inputs come")


STOPPED, DIVERGED, DIFFERENT = "stopped by AddressSanitizer", "diverged", "other bits"
EXIT_DIVERGED = 6


def symptom(shop, net, edit, plain, environment, options=()):
    return symptom_of(shop.cuda(net, *options, edit=edit), plain, environment)


def symptom_of(broken, plain, environment):
    folder = broken.folder()
    result = subprocess.run(broken.training(folder), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **environment})
    if "use-after-poison" in result.stderr:
        return STOPPED
    if result.returncode == EXIT_DIVERGED:
        return DIVERGED
    expect(result.returncode == 0, "exit code %d\n%s", result.returncode, result.stderr[-3000:])
    return DIFFERENT if Run(folder, broken.plan["model"], "").bytes != plain.bytes else None


def check_faults_of_plan(shop, tiny, plain):
    beyond, end, near = overrun(tiny.plan)
    onto, other = prefetched_onto(tiny.plan)
    faults = [("a skip connection that dies too early", (".c", with_short_life), {}, (STOPPED,)),
              ("a skip connection moved onto another", ("_plan.h", moved), {}, (DIVERGED, DIFFERENT)),
              ("an overrun of %s into %s" % (end, near), (".c", beyond), {}, (STOPPED,)),
              ("the next inputs brought onto %s" % other, ("_plan.h", onto), WAYS["interleaved"], (DIVERGED, DIFFERENT)),
              ("the same, copied at once", ("_plan.h", onto), {}, (None,))]
    said = []
    for name, edit, environment, expected in faults:
        found = symptom(shop, TINY, edit, plain, environment)
        expect(found in expected, "%s is not noticed: %s", name, found)
        said.append("%s: %s" % (name, found or "the same bits"))
    return "\n".join(said)


def check_faults_of_branches(shop, tiny, plain):
    """A step that reads what a branch computes, before the join: seen by who runs the branch last."""
    broken, said = shop.cuda(TINY, edit=(".c", joined_late)), []
    for way, environment, expected in (("", {}, (None,)), ("the other branch first", BRANCHES, (STOPPED, DIVERGED, DIFFERENT)),
                                       ("branches in turns", BRANCHES, (None,))):
        found = symptom_of(broken, plain, environment.get(way, {}))
        expect(found in expected, "a branch that is joined late: %s: %s", way, found)
        said.append("%s: %s" % (way or "as captured", found or "the same bits"))
    return "a branch that is joined late: " + ", ".join(said)


def check_other_tables(shop, tiny, plain):
    """The program was compiled with the headers of another runtime."""
    grown = lambda text: text.replace("UNET_CUDA_TABLE_BYTES", "UNET_CUDA_TABLE_BYTES + 8", 1)
    other = shop.cuda(TINY, edit=(".c", grown))
    said = execute(other.training(other.folder()), accept=(4,))[1]
    expect("compiled with the headers of another runtime" in said, "tables of another size: it says %s", said)
    return "tables of another size are refused"


def check_faults_of_kernels(shop):
    plain = shop.cuda(SIMPLE).train()
    faults = [("a missing barrier", without_barrier, {}, (DIVERGED, DIFFERENT)),
              ("a correction of the first step", with_first_correction, {}, (DIVERGED, DIFFERENT)),
              ("a frozen rate", with_frozen_rate, {}, (DIFFERENT,)),
              ("a frozen rate, single launches", with_frozen_rate, {"UNET_CUDA_GRAPH": "0"}, (None,))]
    said = []
    for name, edit, environment, expected in faults:
        found = symptom(shop, SIMPLE, ("_kernels.cu", edit), plain, environment)
        expect(found in expected, "%s is not noticed: %s", name, found)
        said.append("%s: %s" % (name, found or "the same bits"))
    return "\n".join(said)


# ---- the rest ------------------------------------------------------------------------------------------


def jobs(shop, pool, long):
    from tuned import check_tuned
    tiny = shop.cuda(TINY)
    plain = tiny.train()
    for check in (check_same_plans, check_ways, check_branches, check_launches, check_bf16, check_resume, check_memory_of_device, check_plans, check_failing_device,
                  check_other_cudnn, check_faults_of_plan, check_faults_of_branches, check_other_tables, check_tuned):
        yield pool.submit(check, shop, tiny, plain)
    for turns in (2, 3) if long else (3,):
        yield pool.submit(check_turns, shop, tiny, plain, turns)
    yield pool.submit(check_faults_of_kernels, shop)
    yield pool.submit(check_pools, shop)
    for net in NETS + [ALL_LABEL_LOSSES] if long else [net for net in NETS if net[0] not in LONG_NETS]:
        yield pool.submit(compare_with_cpu, shop, net)


def run_jobs(description, jobs, pictures=()):
    """Reads the command line, does the jobs, two at a time, and tells what each says; 1 if one fails.  PICTURES: those of
    the workshop, if they are others."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("unetc", "runtime", "make-pictures", "cudnn"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--long", action="store_true", help="what takes minutes, too")
    tools = parser.parse_args()
    for header in ("cuda_runtime_api.h", "cudnn_graph.h"):
        cuda.home("include/" + header)
    failures = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for job in list(jobs(Workshop(tools, folder, *pictures), pool, tools.long)):
            try:
                print(job.result(), flush=True)
            except (Failure, RuntimeError) as failure:
                print("FAILED: %s" % failure, flush=True)
                failures += 1
    print("%d failures" % failures)
    return 1 if failures else 0


if __name__ == "__main__":
    import steps  # the same module for tuned.py, failures included
    sys.exit(steps.run_jobs(__doc__, steps.jobs))

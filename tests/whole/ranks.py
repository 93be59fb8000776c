#!/usr/bin/env python3
"""Training by ranks: the same weights for any number of processes, and whatever the plan.

    ranks.py --unetc=UNETC [--mpirun=LAUNCHER] [--long] [--mpich]

Without MPI, what needs it is skipped, and the last line says so; processes then find each other by TCP alone.  ranks.unet has all that could depend on which process has which samples.  One process first: the plans are sound
(check_plan.py), and any of them trains the same weights: with other micro-batches, budgets, bands, threads, without reuse,
in a build that stops at the first access outside a buffer's life.  The tree of sums is another order than one behind the
other, and no other result: weights are near those of `ranks 1`.  With synchronised batch norms they are near also where these see all of the batch.  Then 2, 4 and 8 processes, on however few processors: all
files of the run and its log are those of one process, also where each keeps a slice of the optimiser's state.  A killed process ends all of them, a stopped one is named, a
signal leaves one checkpoint, and other numbers of processes go on from it.  Strangers who come to the port of rank 0 change nothing.  Standard
library only."""

import argparse
import array
import csv
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "oracle"))
import check_plan  # noqa: E402
import safetensors  # noqa: E402

NET = os.path.join(HERE, "ranks.unet")
PARAMETERS = 5510
SAMPLES, SIZE = 31, 20  # 25 of them train: a step of 16 and one of 9
PLANS = {"bands of one sample, no reuse": ["--bands=4", "--micro-batches=16", "--no-reuse"], "a budget": ["--mem=380KiB"],
         "samples one by one, poison": ["--micro-batches=16", "--poison"]}
SYNC = ["-Dnormalised=2", "-Daccumulated=1", "--batch=16", "--ranks=4", "--programs=train"]
NO_NORM = ["-Dnormalised=0", "--programs=train"]  # what sees its whole batch goes by no bands and has no smaller parts


class Failure(Exception):
    pass


def execute(command, folder, code=0, **environment):
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                            env={**os.environ, **environment}, timeout=120)
    if result.returncode != code:
        raise Failure("%s: exit code %d\n%s" % (" ".join(command), result.returncode, result.stdout[-3000:]))
    return result.stdout


def write_picture(path, channels, value, size=SIZE):
    """VALUE(h, w), or VALUE(h, w, c)."""
    of = value if value.__code__.co_argcount == 3 else lambda h, w, c: value(h, w)
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes(of(h, w, c) for w in range(size) for c in range(channels)) for h in range(size))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2 if channels == 3 else 0, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_data(folder):
    noise = random.Random(1)
    for name in "clean", "truth":
        os.makedirs(os.path.join(folder, name))
    for i in range(SAMPLES):
        write_picture(os.path.join(folder, "clean", "%02d.png" % i), 3, lambda h, w: (h * 11 + w * 5 + noise.randrange(60)) % 256)
        write_picture(os.path.join(folder, "truth", "%02d.png" % i), 1, lambda h, w: noise.choice((0, 1, 2, 255)))


def read_weights(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    tensors = {name: tensor for name, tensor in json.loads(data[8:8 + length]).items() if name != "__metadata__"}
    return {name: array.array("f", data[8 + length + t["data_offsets"][0]:8 + length + t["data_offsets"][1]])
            for name, t in tensors.items() if t["dtype"] == "F32"}


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Workshop:
    def __init__(self, tools, folder):
        self.unetc, self.folder = os.path.abspath(tools.unetc), folder
        write_data(os.path.join(folder, "data"))

    def program(self, name, *options, net=NET):
        """Compiles the net, after its plan was judged."""
        plan = json.loads(execute([self.unetc, "mem", "--format=json", *options, net], self.folder)) if "--poison" not in options else None
        complaints = [] if plan is None else check_plan.judge(plan)
        if complaints:
            raise Failure("%s: %s" % (name, "; ".join(complaints[:5])))
        execute([self.unetc, *options, "-o", name, net], self.folder)
        return plan

    def train(self, program, out, *options, **environment):
        execute(["./" + program, "train", "--data=data", "--out=run_" + out, *options], self.folder, **environment)

    def results(self, out):
        """All files of a run but for the columns of times in its log."""
        path = lambda name: os.path.join(self.folder, "run_" + out, name)
        files = {name: read(path(name)) for name in sorted(os.listdir(path("."))) if name.endswith(".safetensors")}
        rows = list(csv.reader(read(path("log.csv")).decode().splitlines()))
        timed = [rows[0].index(name) for name in ("images_per_s", "seconds", "exchange_s", "exchange_all_s")]
        files["log.csv"] = [[field for k, field in enumerate(row) if k not in timed] for row in rows]
        return files

    def same(self, one, other, why):
        a, b = self.results(one), self.results(other)
        differ = [name for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)]
        if differ:
            raise Failure("%s: other results: %s" % (why, ", ".join(differ)))


def check_bytes(shop):
    """The unfinished sums of `ranks 8` take three times the bytes of the gradients, of `ranks 2` once."""
    def size_of(ranks, name):
        plan = mem(shop, "--ranks=%d" % ranks)
        return sum(buffer["bytes"] for buffer in plan["buffers"] if buffer["name"] == name)

    gradients, found = size_of(1, "gradients"), [size_of(ranks, "gradients of groups") for ranks in (1, 2, 8)]
    if any(size - levels * gradients not in range(200 * levels + 1) for size, levels in zip(found, (0, 1, 3))):
        raise Failure("gradients take %d bytes, and those of groups %s with 1, 2 and 8 ranks" % (gradients, found))
    pinned = [mem(shop, "--target=cuda", "--ranks=%d" % ranks)["beside"]["exchange"] for ranks in (1, 8)]
    if pinned[0] != 0 or not 2 * 4 * PARAMETERS <= pinned[1] - 8 * 4 <= 2 * gradients:
        raise Failure("on a device, gradients of %d bytes go through %s bytes of the host with 1 and 8 ranks" % (gradients, pinned))
    return "gradients take %d bytes, and those of groups %s with 1, 2 and 8 ranks" % (gradients, found)


def mem(shop, *options):
    return json.loads(execute([shop.unetc, "mem", "--format=json", *options, NET], shop.folder))


def check_share(shop):
    """What is told of one of several processes is what its program says, and takes when it has started with as many: the loader
    reads a share of each batch, and fewer sums of groups wait."""
    told, rings, sizes, options = {}, [], {}, ["--programs=train"]
    units = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20}
    for processes in 1, 2, 4, 8:
        plan = mem(shop, *options, "--processes=%d" % processes)
        sizes[processes] = sum(buffer["bytes"] for buffer in plan["buffers"] if buffer["name"] == "gradients of groups")
        told[processes] = plan["arena"]["bytes"], plan["beside"]["loader_ring"]
        rings.append(told[processes][1])
    if any(ring * 2 != before for before, ring in zip(rings, rings[1:])):
        raise Failure("the loader's ring takes %s bytes in 1, 2, 4 and 8 processes" % rings)
    if not sizes[1] > sizes[2] > sizes[4] == sizes[8] or told[4][0] >= told[1][0]:
        raise Failure("sums of groups take %s bytes by the number of processes, arena and ring %s" % (sizes, told))
    taken = {}
    for processes in 1, 4:
        name = "share%d" % processes
        shop.program(name, *options, "--processes=%d" % processes)
        info = json.loads(execute(["./" + name, "info", "--format=json"], shop.folder))
        if (info["arena"]["bytes"], info["beside"]["loader_ring"]) != told[processes]:
            raise Failure("%d processes: told are %s bytes, and the program says %s" % (processes, told[processes], info["arena"]))
        said, codes = wait(set_by_hand(shop, processes, "./" + name, "train", "--data=data", "--threads=1", "--out=run_" + name))
        found = re.search(r"arena ([0-9.]+) (\w+), the loader at most ([0-9.]+) (\w+)", said)
        if any(codes) or found is None:
            raise Failure("%d processes: exit codes %s: %s" % (processes, codes, said))
        arena, taken[processes] = (float(found[k]) * units[found[k + 1]] for k in (1, 3))
        if abs(arena - told[processes][0]) > 0.06 * units[found[2]]:
            raise Failure("%d processes: an arena of %d bytes is told, and one of %d taken" % (processes, told[processes][0], arena))
    shop.same("share1", "share4", "4 processes that hold their share of a batch")
    shop.program("poisoned", *options, "--processes=4", "--poison")
    execute(["./poisoned", "bench", "--threads=1", "--steps=5"], shop.folder)  # alone it computes no more than its share
    less = taken[1] - taken[4]
    if abs(less - (rings[0] - rings[2])) > 0.12 * units[found[4]]:
        raise Failure("the loader takes %d bytes less in 4 processes, and the ring %d" % (less, rings[0] - rings[2]))
    batches = [json.loads(execute([shop.unetc, "fit", "--max=batch", "--mem=2MiB", "--format=json", *options, *more, NET], shop.folder))
               ["rows"][-1]["best"]["batch"] for more in ([], ["--processes=8"])]
    if not batches[0] < batches[1]:
        raise Failure("in 2 MiB fit batches of %s in 1 and 8 processes" % batches)
    return "a rank of 1, 2, 4, 8 processes: arena and loader take %s bytes" % list(told.values())


def check_plans(shop):
    shop.program("plain", *NO_NORM)
    shop.train("plain", "plain", "--threads=1")
    for name, options in PLANS.items():
        shop.program("other", *NO_NORM, *options)
        out = name.replace(" ", "_").replace(",", "")
        shop.train("other", out, "--threads=3")
        shop.same("plain", out, name)
    return "%d plans train the same weights" % (len(PLANS) + 1)


def check_near(shop):
    """Another order of the same sums."""
    shop.program("alone", *NO_NORM, "--ranks=1")
    shop.train("alone", "alone", "--steps=3")
    shop.train("plain", "tree", "--steps=3")
    one, tree = [read_weights(os.path.join(shop.folder, "run_" + out, "ranks.safetensors")) for out in ("alone", "tree")]
    worst = max(abs(a - b) for name in one for a, b in zip(one[name], tree[name]))
    if not 0 < worst < 1e-4:
        raise Failure("weights of `ranks 1` and of `ranks 8` differ by %g" % worst)
    return "the tree changes weights by %.1e at most" % worst


def changed_net(shop, name, *changes):
    """ranks.unet with other text."""
    with open(NET) as file:
        text = file.read()
    for line, other in changes:
        if line not in text:
            raise Failure("ranks.unet has no `%s`" % line)
        text = text.replace(line, other)
    net = os.path.join(shop.folder, name)
    os.makedirs(os.path.dirname(net), exist_ok=True)
    with open(net, "w") as file:
        file.write(text)
    return net


def synchronised_net(shop):
    return changed_net(shop, "sync/ranks.unet", ("adamw(lr = 3e-3, weight_decay = 0.01)", "sgd(lr = 0.1, momentum = 0.9)"))


def check_synchronised(shop):
    """Batch norms with statistics of all samples of a step: any number of processes and any plan train the same weights, which
    are those of a whole batch in one group.  By sgd: adamw makes large steps of gradients that are rounding and nothing else,
    as those of a bias in front of a norm are."""
    net = synchronised_net(shop)
    plan = shop.program("synced", *SYNC, net=net)
    merges = [step for step in check_plan.all_steps(plan["programs"]["train"]) if step["op"] == "norm_merge"]
    if len(merges) != 6:
        raise Failure("three batch norms are merged %d times" % len(merges))
    shop.train("synced", "synced", "--threads=2")
    for size in 2, 4:
        said, codes = wait(set_by_hand(shop, size, "./synced", "train", "--data=data", "--threads=1", "--out=run_synced%d" % size))
        if any(codes):
            raise Failure("%d processes, synchronised: exit codes %s: %s" % (size, codes, said))
        shop.same("synced", "synced%d" % size, "%d processes, synchronised" % size)
    if shop.program("other", *SYNC, "--micro-batches=16", "--mem=1500KiB", net=net)["cost"]["recompute_flops"] == 0:
        raise Failure("synchronised, in a budget: nothing is computed again")
    shop.train("other", "synced_budget", "--threads=3")
    shop.same("synced", "synced_budget", "synchronised, in a budget")
    graphs = [execute([shop.unetc, "--emit=graph:after=schedule", *SYNC, "--ranks=1", "-Dnormalised=%d" % how, net], shop.folder) for how in (1, 2)]
    if graphs[0] != graphs[1]:
        raise Failure("without ranks `sync = true` changes the graph")
    shop.program("other", *SYNC, "--ranks=1", net=net)
    shop.train("other", "whole_batch")
    synced, whole = [read_weights(os.path.join(shop.folder, "run_" + out, "ranks.safetensors")) for out in ("synced", "whole_batch")]
    worst = max(abs(a - b) for name in whole for a, b in zip(whole[name], synced[name]))
    if not 0 < worst < 1e-6:
        raise Failure("synchronised, weights of `ranks 1` and of `ranks 4` differ by %g" % worst)
    said = execute([shop.unetc, "mem", *SYNC, "--bands=4", net], shop.folder, 1)
    if "U0418" not in said or "does not go with --bands" not in said:
        raise Failure("--bands=4 is not refused: %s" % said)
    return "synchronised batch norms: 1, 2 and 4 processes and another plan train the same, within %.1e of a whole batch" % worst


def check_synchronised_poison(shop):
    shop.program("other", *SYNC, "--micro-batches=16", "--poison", "--mem=1500KiB", net=synchronised_net(shop))
    shop.train("other", "synced_poison", "--threads=3")
    shop.same("synced", "synced_poison", "synchronised, poison")
    return "synchronised batch norms: no access outside of a buffer's life"


def refusals(shop):
    for options, words in ((["--ranks=6"], "added two and two"), (["--ranks=32"], "a step has 16 samples"),
                           (["--batch=9"], "write `batch 8` or `batch 12`, or `ranks 2`"),
                           (["--batch=9", "-Daccumulated=1"], "write `batch 8` or `batch 16`, or `ranks 1`"),
                           (["--batch=3", "-Daccumulated=4"], "write `batch 2` or `batch 4`, or `ranks 4`")):
        said = execute([shop.unetc, "check", *options, NET], shop.folder, 1)
        if words not in said:
            raise Failure("%s does not say `%s`: %s" % (options, words, said))
    said = execute([shop.unetc, "mem", "--ranks=16", NET], shop.folder)
    if said.count("sees one sample at a time") != 1:
        raise Failure("nothing, or too much, is said of batch norm over one sample: %s" % said)
    table = json.loads(execute([shop.unetc, "fit", "--max=batch", "--mem=2MiB", "--format=json", *NO_NORM, NET], shop.folder))
    batches = [row["best"]["batch"] for row in table["rows"]]
    if not batches or any(batch < 4 or batch % 4 != 0 for batch in batches):
        raise Failure("the largest batches are not multiples of 4: %s" % batches)
    return "refusals, and batches of equal groups"


# ---- several processes ----

def free_port():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return free.getsockname()[1]


def set_by_hand(shop, size, *command, absent=-1, port=None, behind_first=lambda: None, **environment):
    """COMMAND by SIZE processes that find each other by variables, as those of torchrun do; their exit codes and words come
    from wait().  BEHIND_FIRST is called when rank 0 has started and before the others start."""
    port, processes = port or free_port(), []
    for rank in range(size):
        processes.append(None if rank == absent else subprocess.Popen(
            command, cwd=shop.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "localhost",
                 "MASTER_PORT": str(port), **environment}))
        if rank == 0:
            behind_first()
    return processes


def wait(processes, seconds=None):
    done = [("", 0) if p is None else (p.communicate(timeout=seconds or SECONDS)[0], p.returncode) for p in processes]
    return "".join(said for said, _ in done), [code for _, code in done]


# ---- PyTorch's DistributedDataParallel ----

def ddp_pixel(which, n, c, h, w):
    """Of the pictures that ddp_record.py has recorded gradients for."""
    return (n * 71 + c * 37 + h * 29 + w * 53 + h * w * (11 if which == "photo" else 7)) % 256


def check_ddp(shop):
    """One step of `sgd(lr = 1)` takes the gradients from the weights; a batch norm tracks the samples of rank 0."""
    with open(os.path.join(HERE, "ddp.json")) as file:
        record = json.load(file)
    folder = os.path.join(shop.folder, "ddp_data")
    for which in "photo", "clean":
        os.makedirs(os.path.join(folder, which))
        for n in range(4):
            write_picture(os.path.join(folder, which, "%d.png" % n), 3, lambda h, w, c: ddp_pixel(which, n, c, h, w), 8)
    tensors = {name: safetensors.Tensor(t["shape"], array.array("f", t["weight"])) for name, t in record["tensors"].items()}
    for name, value in ("running_mean", 0), ("running_var", 1):
        tensors["norm." + name] = safetensors.Tensor([4], array.array("f", [value] * 4))
    safetensors.write(os.path.join(shop.folder, "ddp.start.safetensors"), tensors)
    shop.program("ddp", net=os.path.join(HERE, "ddp.unet"))
    said, codes = wait(set_by_hand(shop, 2, "./ddp", "train", "--data=ddp_data", "--weights=ddp.start.safetensors", "--out=run_ddp"))
    if any(codes):
        raise Failure("two processes: exit codes %s: %s" % (codes, said))
    trained = read_weights(os.path.join(shop.folder, "run_ddp", "ddp.safetensors"))
    worst = max(abs(before - after - gradient) for name, t in record["tensors"].items()
                for before, after, gradient in zip(array.array("f", t["weight"]), trained[name], t["gradient"]))
    tracked = max(abs(a - b) for name, numbers in record["statistics"].items() for a, b in zip(trained["norm." + name], numbers))
    if worst > 1e-6 or tracked > 1e-6:
        raise Failure("gradients differ from DistributedDataParallel's by %.1e, running statistics by %.1e" % (worst, tracked))
    return "gradients differ from DistributedDataParallel's by %.1e at most, running statistics by %.1e" % (worst, tracked)


def check_overlap(shop):
    """Gradients are sent in several buckets, some of them before others are computed, and behind the backward pass if so asked."""
    def flat(steps):
        for step in steps:
            yield from flat(step["body"]) if "loop" in step else (step,)

    steps = list(flat(mem(shop, *NO_NORM)["programs"]["train"]))
    starts = [k for k, step in enumerate(steps) if step["op"] == "rank_start"]
    between = [sum(step["flops"] for step in steps[a:b] if "wgrad" in step["op"]) for a, b in zip(starts, starts[1:])]
    ends = [steps[k]["bucket"]["first"] + steps[k]["bucket"]["bytes"] for k in starts]
    if len(starts) < 2 or 0 in between or [steps[k]["bucket"]["first"] for k in starts] != [0] + ends[:-1]:
        raise Failure("buckets end at %s, and between them are %s FLOPs of gradients" % (ends, between))
    tiny = os.path.join(os.path.dirname(HERE), os.pardir, "examples", "denoise", "tiny_unet.unet")
    plan = json.loads(execute([shop.unetc, "mem", "--format=json", "--ranks=4", "--batch=8", "--programs=train", tiny], shop.folder))
    sent = [step["bucket"]["bytes"] for step in flat(plan["programs"]["train"]) if step["op"] == "rank_start"]
    if not sent or sent[-1] > 0.05 * sum(sent):
        raise Failure("of TinyUNet's buckets, %s bytes, the last one is not small, and nothing hides it" % sent)
    said, codes = wait(set_by_hand(shop, 2, "./plain", "train", "--data=data", "--threads=1", "--overlap=no", "--out=run_behind"))
    if any(codes):
        raise Failure("2 processes without overlap: exit codes %s: %s" % (codes, said))
    shop.same("plain", "behind", "2 processes that send behind the backward pass")
    return "gradients are sent in %d buckets, or all at once, to the same bits" % len(starts)


def check_exchange(shop):
    """How long steps wait for the others is told by the log, TensorBoard and `bench`; of one process it is nothing."""
    def column(out):
        with open(os.path.join(shop.folder, "run_" + out, "log.csv"), newline="") as file:
            return [(row["split"], row["exchange_s"]) for row in csv.DictReader(file)]

    def points(out):
        folder = os.path.join(shop.folder, "run_" + out, "tensorboard")
        return sum(read(os.path.join(folder, name)).count(b"train/exchange, seconds a step") for name in os.listdir(folder))

    for size, out in (1, "waits_alone"), (2, "waits"):
        said, codes = wait(set_by_hand(shop, size, "./plain", "train", "--data=data", "--threads=1", "--tensorboard", "--out=run_" + out))
        if any(codes):
            raise Failure("%d processes by TCP: exit codes %s: %s" % (size, codes, said))
        found = column(out)
        if not found or any((seconds == "") != (split == "eval") for split, seconds in found):
            raise Failure("the log of %d processes says of their exchange: %s" % (size, found))
        waited = [float(seconds) for split, seconds in found if split == "train"]
        if any(seconds < 0 or (seconds > 0) != (size > 1) for seconds in waited) or (points(out) > 0) != (size > 1):
            raise Failure("%d processes have waited %s s, at %d points of TensorBoard" % (size, waited, points(out)))
        said, codes = wait(set_by_hand(shop, size, "./plain", "bench", "--threads=1", "--steps=5", "--format=json"))
        measured = [program for program in json.loads(said)["programs"] if program["name"] == "train"] if not any(codes) else [{}]
        if measured[0].get("ranks", 1) != size or not (0 < measured[0]["exchange"] < 60 if size > 1 else "exchange" not in measured[0]):
            raise Failure("`bench` of %d processes: exit codes %s: %s" % (size, codes, said))
    return "the log, TensorBoard and `bench` tell how long 2 processes wait for each other"


def check_connections(shop):
    """Without MPI: by TCP."""
    train = ["./plain", "train", "--data=data", "--threads=1"]
    for size in 2, 8:
        said, codes = wait(set_by_hand(shop, size, *train, "--out=run_tcp%d" % size))
        if any(codes) or "for the gradients and weights of %d ranks" % size not in said:
            raise Failure("%d processes by TCP: exit codes %s: %s" % (size, codes, said))
        shop.same("plain", "tcp%d" % size, "%d processes by TCP" % size)
    for fault, program, words in (signal.SIGKILL, "./plain", "rank 2 has ended"), (signal.SIGSTOP, "./synced", "nothing came from rank 2"):
        out = "run_tcp_%s" % fault.name
        processes = set_by_hand(shop, 4, program, *train[1:], "--out=" + out, "--steps=100000", "--timeout=2")
        end = time.monotonic() + 60
        while not os.path.exists(os.path.join(shop.folder, out, "ranks.step-%08d.safetensors" % 9)) and time.monotonic() < end:
            time.sleep(0.01)
        processes[2].send_signal(fault)
        said, codes = wait(processes[:2] + processes[3:])
        processes[2].kill()
        processes[2].communicate()
        if words not in said or not all(codes):
            raise Failure("%s: exit codes %s: %s" % (out, codes, said))
    said, codes = wait(set_by_hand(shop, 4, *train, "--out=run_tcp_absent", "--timeout=1", absent=1))
    if "rank 1 did not come" not in said or codes[0] == 0:
        raise Failure("a rank that is absent: exit codes %s: %s" % (codes, said))
    said = execute(train + ["--out=run_refused"], shop.folder, 2, RANK="0", WORLD_SIZE="2")
    if "MASTER_ADDR" not in said:
        raise Failure("a rank that does not know where the others are: %s" % said)
    for option in "--reduce=fast", "--exchange=nccl":
        said = execute(train + ["--out=run_refused", option], shop.folder, 2)
        if "is for programs for a GPU" not in said:
            raise Failure("%s on a processor: %s" % (option, said))
    return "2 and 8 processes leave the files of one by TCP, too; a killed one, a stopped one and an absent one are named"


def check_strangers(shop):
    """Others come to the port first, and all the time: what a rank said once, nothing, anything.  The files are those of one process."""
    said_by_them = struct.pack("<Qii64s8s", 0x31736b6e6172756e, 1, 2, b"127.0.0.1", b"12345678"), b"", b"GET / HTTP/1.1\r\n\r\n"

    def come(port, stop, came):
        while not stop.is_set():
            try:
                came.append(socket.create_connection(("localhost", port), timeout=5))
                came[-1].sendall(said_by_them[len(came) % len(said_by_them)])
            except OSError:
                time.sleep(0.001)
        for stranger in came:
            stranger.close()

    secret = {"UNET_JOB_SECRET": "%032x" % 0x5ec7e7} if has_part(shop, "secret") else {}
    def wait_for_strangers():  # otherwise ranks that start fast may all be in before the first stranger
        end = time.monotonic() + SECONDS
        while len(came) <= len(said_by_them) and time.monotonic() < end:
            time.sleep(0.001)

    port, stop, came = free_port(), threading.Event(), []
    strangers = threading.Thread(target=come, args=(port, stop, came))
    strangers.start()
    said, codes = wait(set_by_hand(shop, 4, "./plain", "train", "--data=data", "--threads=1", "--out=run_strangers", port=port,
                                   behind_first=wait_for_strangers, **secret))
    stop.set()
    strangers.join()
    if any(codes) or not came:
        raise Failure("4 processes among %d strangers: exit codes %s: %s" % (len(came), codes, said))
    shop.same("plain", "strangers", "4 processes among strangers")
    return "4 processes %s leave the files of one, though %d others came to their port" % ("with a secret" if secret else "without libsodium", len(came))


MPIRUN = ["mpirun"]  # and its options, once it is known of which MPI it is
SECONDS = 30  # until all have ended


def mpirun(count, *command, more=()):
    """COMMAND by COUNT processes; MORE: further ones, which are started otherwise."""
    words = [*MPIRUN, "-n", str(count), *command]
    for other in more:
        words += [":", "-n", "1", *other]
    return words


def by_mpich():
    return "--oversubscribe" not in MPIRUN


def mpi_is_there(shop, launcher="mpirun"):
    """For unetc, and its launcher for this test."""
    version = execute([launcher, "--version"], shop.folder) if shutil.which(launcher) else ""
    is_open = "Open MPI" in version or "OpenRTE" in version  # of mpirun, of mpiexec
    if not is_open and "HYDRA" not in version:
        return False
    MPIRUN[:] = [launcher, *(["--oversubscribe"] if is_open else []), "--bind-to", "none"]
    return has_part(shop, "mpi")


def has_part(shop, name):
    """Whether unetc was built with what programs of several processes link besides."""
    return os.path.exists(os.path.join(execute([shop.unetc, "--runtime"], shop.folder).strip(), "libunet_%s.a" % name))


def link_with_mpich(shop):
    """From here on unetc has a runtime folder of its own, whose transport is built with MPICH.  Returns whether there is MPICH."""
    if shutil.which("mpicc.mpich") is None or shutil.which("mpirun.mpich") is None:
        return False
    home, own = execute([shop.unetc, "--runtime"], shop.folder).strip(), os.path.join(shop.folder, "runtime_mpich")
    os.makedirs(own)
    for name in os.listdir(home):
        if name not in ("libunet_mpi.a", "libraries_mpi"):
            os.symlink(os.path.join(home, name), os.path.join(own, name))
    source = os.path.join(os.path.dirname(os.path.dirname(HERE)), "runtime", "mpi", "transport.c")
    execute(["mpicc.mpich", "-O2", "-D_POSIX_C_SOURCE=200809L", "-I" + os.path.join(home, "include"), "-c", source, "-o", "transport.o"], shop.folder)
    execute(["ar", "rcs", os.path.join(own, "libunet_mpi.a"), "transport.o"], shop.folder)
    with open(os.path.join(own, "libraries_mpi"), "w") as file:
        file.write(" ".join(word for word in execute(["mpicc.mpich", "-show"], shop.folder).split() if word[:2] in ("-L", "-l")) + "\n")
    os.environ["UNETC_RUNTIME"] = own
    return True


class Started:
    """Processes that train, and what they say."""

    def __init__(self, shop, command):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, cwd=shop.folder, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def ranks(self):
        """Their process numbers, by rank.  MPICH's launcher has one in between."""
        def children(pid):
            with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
                return [int(word) for word in file.read().split()]

        number, variable = {}, b"PMI_RANK" if by_mpich() else b"OMPI_COMM_WORLD_RANK"
        for pid in [grandchild for child in children(self.process.pid) for grandchild in children(child)] if by_mpich() else children(self.process.pid):
            with open("/proc/%d/environ" % pid, "rb") as file:
                variables = dict(word.split(b"=", 1) for word in file.read().split(b"\0") if b"=" in word)
            number[int(variables[variable])] = pid
        return [number[rank] for rank in sorted(number)]

    def await_file(self, path):
        end = time.monotonic() + 60
        while not os.path.exists(path):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Failure("%s did not appear: %s" % (path, self.said()))
            time.sleep(0.01)

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def ended(self):
        """The exit code and what was said."""
        begin = time.monotonic()
        try:
            code = self.process.wait(timeout=2 * SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure("it did not end: %s" % self.said())
        if time.monotonic() - begin > SECONDS:
            raise Failure("it took %.0f s to end: %s" % (time.monotonic() - begin, self.said()))
        return code, self.said()


TRAIN = ["./ranked", "train", "--data=data", "--threads=1"]


def check_same(shop):
    shop.program("ranked")
    shop.train("ranked", "one", "--threads=1")
    for count in (2, 4, 8):
        execute(mpirun(count, *TRAIN, "--out=run_of_%d" % count), shop.folder)
        shop.same("one", "of_%d" % count, "%d processes" % count)
    return "2, 4 and 8 processes leave the files of one"


def check_shards(shop):
    """Each process updates a slice: the same files, by programs whose state is smaller."""
    sizes = []
    for options in [], ["--processes=2", "--shard-optimizer"], ["--shard-optimizer"]:
        plan = json.loads(execute([shop.unetc, "mem", "--format=json", *options, NET], shop.folder))
        sizes.append(sum(b["bytes"] for b in plan["buffers"] if b["name"].startswith("optimiser state ") or b["name"].endswith(" of a rank")))
    gradients = 22464
    if sizes[0] - sizes[1] not in range(gradients - 200, gradients + 1) or sizes[0] - sizes[2] not in range(gradients * 7 // 4 - 200, gradients * 7 // 4 + 1):
        raise Failure("the optimiser's state takes %s bytes in 1, 2 and 8 slices" % sizes)
    shop.program("shared", "--processes=2", "--shard-optimizer")
    execute(mpirun(8, "./shared", *TRAIN[1:], "--out=run_shared"), shop.folder)
    shop.same("one", "shared", "8 processes that each update an eighth")
    said = execute(["./shared", *TRAIN[1:], "--out=run_refused"], shop.folder, 2)
    if "start 2 together" not in said:
        raise Failure("one process with half of the state: %s" % said)
    net = changed_net(shop, "shards/ranks.unet", ("clip       0.5", ""), ("ema        0.9", ""),
                      ("adamw(lr = 3e-3, weight_decay = 0.01)", "sgd(lr = 0.1, momentum = 0.9)"))
    shop.program("whole", *NO_NORM, net=net)
    shop.train("whole", "whole", "--threads=1")
    shop.program("sliced", *NO_NORM, "--processes=2", "--shard-optimizer", net=net)
    execute(mpirun(2, "./sliced", *TRAIN[1:], "--out=run_sliced"), shop.folder)
    shop.same("whole", "sliced", "2 processes that each update a half, by sgd without clipping")
    return "the optimiser's state in slices takes %s bytes in 1, 2 and 8, with the same files" % sizes


def finish(shop, count, out, steps, program="./ranked"):
    execute(mpirun(count, program, *TRAIN[1:], "--out=run_" + out, "--steps=%d" % steps, "--resume"), shop.folder)
    shop.same("long", out, "resumed by %d processes" % count)


def check_faults(shop):
    """Each ends all; what is left goes on with fewer processes to the weights of one process that was not disturbed."""
    steps, saved = 60, "ranks.step-%08d.safetensors" % 9
    shop.train("ranked", "long", "--threads=1", "--steps=%d" % steps)
    for out in "killed", "stopped", "told":
        endless = Started(shop, mpirun(4, "./shared" if out == "told" else "./ranked", *TRAIN[1:], "--out=run_" + out, "--steps=%d" % steps, "--timeout=2"))
        endless.await_file(os.path.join(shop.folder, "run_" + out, saved))
        pids = endless.ranks()
        for pid in pids if out == "told" else pids[2:3]:
            os.kill(pid, {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP, "told": signal.SIGTERM}[out])
        code, said = endless.ended()
        names = {"killed": "EXIT CODE: 9" if by_mpich() else "rank 2", "stopped": "nothing came from rank 2", "told": "stopped by SIGTERM"}[out]
        if code == 0 or names not in said or (out == "told" and (code != 143 or said.count(names) != 1)):
            raise Failure("%s: exit code %d: %s" % (out, code, said))
        finish(shop, 1 if out == "told" else 2, out, steps, "./shared" if out == "stopped" else "./ranked")
    return "a killed process, a stopped one and a signal to all: others go on"


def check_random_kills(shop, rounds=12, steps=3000):
    """A run of which some process is killed again and again, by MPI and by TCP, with a number of processes that changes."""
    chance, killed = random.Random(2), 0
    shop.train("ranked", "calm", "--threads=1", "--steps=%d" % steps)
    for round_ in range(rounds + 1):
        last = round_ == rounds
        count = chance.choice((2, 4, 8))
        command = [chance.choice(("./ranked", "./shared")), *TRAIN[1:], "--out=run_shaken", "--steps=%d" % steps, "--timeout=5"]
        if round_ > 0:
            command.append("--resume")
        if last:
            execute(mpirun(count, *command), shop.folder)
        elif round_ % 2 == 0:
            started = Started(shop, mpirun(count, *command))
            pids = []
            while len(pids) < count and started.process.poll() is None:
                time.sleep(0.05)
                try:
                    pids = started.ranks()
                except (OSError, KeyError):
                    continue
            if round_ == 0:
                started.await_file(os.path.join(shop.folder, "run_shaken", "ranks.checkpoint.safetensors"))
            time.sleep(chance.uniform(0.3, 2))
            kill_one(chance.choice(pids))
            killed += started.ended()[0] != 0
        else:
            processes = set_by_hand(shop, count, *command)
            time.sleep(chance.uniform(0.5, 2))
            chance.choice(processes).kill()
            killed += any(wait(processes)[1])
    if killed < rounds // 2:
        raise Failure("the run ended before it was killed more than %d times" % killed)
    shop.same("calm", "shaken", "after %d kills" % killed)
    return "%d times a process was killed, and the files are those of a run that was not disturbed" % killed


def kill_one(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def check_sources(shop):
    """The sources that `-S` writes find MPI by CMake."""
    if shutil.which("cmake") is None:
        return "no cmake: sources were not built"
    execute([shop.unetc, "-S", "sources", *NO_NORM, NET], shop.folder)
    home = execute([shop.unetc, "--runtime"], shop.folder).strip()
    execute(["cmake", "-S", "sources", "-B", "made", "-DUNET_RUNTIME=" + home], shop.folder)
    execute(["cmake", "--build", "made", "-j2"], shop.folder)
    execute(mpirun(2, "made/ranks", *TRAIN[1:], "--out=run_made", "--steps=3"), shop.folder)
    shop.same("tree", "made", "2 processes of the program that CMake built")
    return "sources are built with MPI"


def check_starts(shop):
    """What cannot train together is refused by one message."""
    shutil.copytree(os.path.join(shop.folder, "data"), os.path.join(shop.folder, "fewer"))
    os.remove(os.path.join(shop.folder, "fewer", "clean", "07.png"))
    os.remove(os.path.join(shop.folder, "fewer", "truth", "07.png"))
    shutil.copy(os.path.join(shop.folder, "ranked"), os.path.join(shop.folder, "changed"))
    with open(os.path.join(shop.folder, "changed"), "ab") as file:
        file.write(b"x")
    train = TRAIN + ["--out=run_refused", "--steps=3"]
    cases = {"other options": mpirun(1, *train, "--seed=1", more=[train + ["--seed=2"]]),
             "other training data": mpirun(1, *train, more=[[w.replace("=data", "=fewer") for w in train]]),
             "another program": mpirun(1, *train, more=[["./changed"] + train[1:]]), "must be a divisor": mpirun(3, *train),
             "unset the one": mpirun(2, "env", "RANK=0", "WORLD_SIZE=7", *train), "only `train` and `bench` work": mpirun(2, "./ranked", "info")}
    for words, command in cases.items():
        said = execute(command, shop.folder, 2)
        if words not in said or (words not in ("unset the one", "only `train` and `bench` work") and said.count(words) != 1):
            raise Failure("%s: does not say `%s` once: %s" % (" ".join(command), words, said))
    said = execute(train, shop.folder, SLURM_JOB_ID="5", SLURM_NTASKS="4", SLURM_PROCID="0")
    if "the job has 4 tasks" not in said:
        raise Failure("nothing is said of the tasks of a job: %s" % said)
    return "%d ways to start wrong" % (len(cases) + 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--long", action="store_true", help="kills at random steps, too: minutes")
    parser.add_argument("--mpirun", default="mpirun", help="the launcher of the MPI that unetc was built with")
    parser.add_argument("--mpich", action="store_true", help="what needs MPI, with a transport that is built with MPICH")
    tools = parser.parse_args()
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(tools, folder)
        try:
            if tools.mpich and not link_with_mpich(shop):
                print("skipped: there is no MPICH (mpicc.mpich, mpirun.mpich)")
                sys.exit(77)
            several = (check_same, check_shards, check_faults, check_starts, check_sources)
            if not mpi_is_there(shop, "mpirun.mpich" if tools.mpich else tools.mpirun):
                several = ()
            if tools.long and several:
                several = (check_same, check_shards, check_random_kills)
            alone = (refusals, check_bytes, check_share, check_plans, check_near, check_synchronised, check_overlap, check_exchange, check_connections,
                     check_strangers, check_ddp,
                     *([check_synchronised_poison] if tools.long else []))
            for check in (*(alone[3:5] if tools.mpich else alone), *several):
                print(check(shop), flush=True)
            if not several:
                print("skipped: several processes by MPI (there is no mpirun of Open MPI or MPICH, or unetc was built without MPI)")
        except Failure as failure:
            sys.exit("FAILED: %s" % failure)


if __name__ == "__main__":
    main()

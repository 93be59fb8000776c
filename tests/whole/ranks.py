#!/usr/bin/env python3
"""Training by ranks: the same weights for any number of processes, and whatever the plan.

    ranks.py --unetc=UNETC

Without MPI, what needs it is skipped, and the last line says so.  ranks.unet has all that could depend on which process has which samples.  One process first: the plans are sound
(check_plan.py), and any of them trains the same weights: with other micro-batches, budgets, bands, threads, without reuse,
in a build that stops at the first access outside a buffer's life.  The tree of sums is another order than one behind the
other, and no other result: weights are near those of `ranks 1`.  Then 2, 4 and 8 processes, on however few processors: all
files of the run and its log are those of one process.  A killed process ends all of them, a stopped one is named, a
signal leaves one checkpoint, and other numbers of processes go on from it.  Standard library only."""

import argparse
import array
import csv
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import check_plan  # noqa: E402

NET = os.path.join(HERE, "ranks.unet")
SAMPLES, SIZE = 31, 20  # 25 of them train: a step of 16 and one of 9
PLANS = {"bands of one sample, no reuse": ["--bands=4", "--micro-batches=16", "--no-reuse"], "a budget": ["--mem=380KiB"],
         "samples one by one, poison": ["--micro-batches=16", "--poison"]}
NO_NORM = ["-Dnormalised=0", "--programs=train"]  # what sees its whole batch goes by no bands and has no smaller parts


class Failure(Exception):
    pass


def execute(command, folder, code=0, **environment):
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                            env={**os.environ, **environment}, timeout=120)
    if result.returncode != code:
        raise Failure("%s: exit code %d\n%s" % (" ".join(command), result.returncode, result.stdout[-3000:]))
    return result.stdout


def write_picture(path, channels, value):
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes(value(h, w) for w in range(SIZE) for _ in range(channels)) for h in range(SIZE))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2 if channels == 3 else 0, 0, 0, 0)) +
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

    def program(self, name, *options):
        """Compiles the net, after its plan was judged."""
        plan = json.loads(execute([self.unetc, "mem", "--format=json", *options, NET], self.folder)) if "--poison" not in options else None
        complaints = [] if plan is None else check_plan.judge(plan)
        if complaints:
            raise Failure("%s: %s" % (name, "; ".join(complaints[:5])))
        execute([self.unetc, *options, "-o", name, NET], self.folder)
        return plan

    def train(self, program, out, *options, **environment):
        execute(["./" + program, "train", "--data=data", "--out=run_" + out, *options], self.folder, **environment)

    def results(self, out):
        """All files of a run but for the columns of times in its log."""
        path = lambda name: os.path.join(self.folder, "run_" + out, name)
        files = {name: read(path(name)) for name in sorted(os.listdir(path("."))) if name.endswith(".safetensors")}
        rows = list(csv.reader(read(path("log.csv")).decode().splitlines()))
        timed = [rows[0].index(name) for name in ("images_per_s", "seconds")]
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
        plan = json.loads(execute([shop.unetc, "mem", "--format=json", "--ranks=%d" % ranks, NET], shop.folder))
        return sum(buffer["bytes"] for buffer in plan["buffers"] if buffer["name"] == name)

    gradients, found = size_of(1, "gradients"), [size_of(ranks, "gradients of groups") for ranks in (1, 2, 8)]
    if any(size - levels * gradients not in range(200 * levels + 1) for size, levels in zip(found, (0, 1, 3))):
        raise Failure("gradients take %d bytes, and those of groups %s with 1, 2 and 8 ranks" % (gradients, found))
    return "gradients take %d bytes, and those of groups %s with 1, 2 and 8 ranks" % (gradients, found)


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


def refusals(shop):
    for options, words in ((["--ranks=6"], "added two and two"), (["--ranks=32"], "a step has 16 samples"),
                           (["--target=cuda"], "a program for cuda trains in one process")):
        said = execute([shop.unetc, "check" if "--target=cuda" not in options else "mem", *options, NET], shop.folder, 1)
        if words not in said:
            raise Failure("%s does not say `%s`: %s" % (options, words, said))
    return "refusals"


# ---- several processes ----

MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
SECONDS = 30  # until all have ended


def mpirun(count, *command, more=()):
    """COMMAND by COUNT processes; MORE: further ones, which are started otherwise."""
    words = [*MPIRUN, "-n", str(count), *command]
    for other in more:
        words += [":", "-n", "1", *other]
    return words


def mpi_is_there(shop):
    """For unetc, and Open MPI's launcher for this test."""
    if shutil.which("mpirun") is None or "Open MPI" not in execute(["mpirun", "--version"], shop.folder):
        return False
    return os.path.exists(os.path.join(os.path.dirname(shop.unetc), "lib", "libunet_mpi.a"))


class Started:
    """Processes that train, and what they say."""

    def __init__(self, shop, command):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, cwd=shop.folder, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def ranks(self):
        """Their process numbers, by rank."""
        with open("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)) as file:
            children = [int(word) for word in file.read().split()]
        number = {}
        for pid in children:
            with open("/proc/%d/environ" % pid, "rb") as file:
                variables = dict(word.split(b"=", 1) for word in file.read().split(b"\0") if b"=" in word)
            number[int(variables[b"OMPI_COMM_WORLD_RANK"])] = pid
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


def finish(shop, count, out, steps):
    execute(mpirun(count, *TRAIN, "--out=run_" + out, "--steps=%d" % steps, "--resume"), shop.folder)
    shop.same("long", out, "resumed by %d processes" % count)


def check_faults(shop):
    """Each ends all; what is left goes on with fewer processes to the weights of one process that was not disturbed."""
    steps, saved = 60, "ranks.step-%08d.safetensors" % 9
    shop.train("ranked", "long", "--threads=1", "--steps=%d" % steps)
    for out in "killed", "stopped", "told":
        endless = Started(shop, mpirun(4, *TRAIN, "--out=run_" + out, "--steps=%d" % steps, "--timeout=2"))
        endless.await_file(os.path.join(shop.folder, "run_" + out, saved))
        pids = endless.ranks()
        for pid in pids if out == "told" else pids[2:3]:
            os.kill(pid, {"killed": signal.SIGKILL, "stopped": signal.SIGSTOP, "told": signal.SIGTERM}[out])
        code, said = endless.ended()
        names = {"killed": "rank 2", "stopped": "nothing came from rank 2", "told": "stopped by SIGTERM"}[out]
        if code == 0 or names not in said or (out == "told" and (code != 143 or said.count(names) != 1)):
            raise Failure("%s: exit code %d: %s" % (out, code, said))
        finish(shop, 2 if out == "killed" else 1, out, steps)
    return "a killed process, a stopped one and a signal to all: others go on"


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
             "unset the one": mpirun(2, "env", "RANK=0", "WORLD_SIZE=7", *train), "only `train` works": mpirun(2, "./ranked", "info")}
    for words, command in cases.items():
        said = execute(command, shop.folder, 2)
        if words not in said or (words not in ("unset the one", "only `train` works") and said.count(words) != 1):
            raise Failure("%s: does not say `%s` once: %s" % (" ".join(command), words, said))
    said = execute(train, shop.folder, SLURM_JOB_ID="5", SLURM_NTASKS="4", SLURM_PROCID="0")
    if "the job has 4 tasks" not in said:
        raise Failure("nothing is said of the tasks of a job: %s" % said)
    said = execute(["./plain", *train[1:]], shop.folder, 2, RANK="0", WORLD_SIZE="2")
    if "of different kinds" not in said:
        raise Failure("two processes without MPI's launcher: %s" % said)
    return "%d ways to start wrong" % (len(cases) + 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--unetc", required=True)
    tools = parser.parse_args()
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(tools, folder)
        try:
            several = (check_same, check_faults, check_starts) if mpi_is_there(shop) else ()
            for check in (refusals, check_bytes, check_plans, check_near, *several):
                print(check(shop), flush=True)
            if not several:
                print("skipped: several processes (there is no mpirun of Open MPI, or unetc was built without MPI)")
        except Failure as failure:
            sys.exit("FAILED: %s" % failure)


if __name__ == "__main__":
    main()

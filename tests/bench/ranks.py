#!/usr/bin/env python3
"""What several processes cost: measured between network namespaces, and by a model.

    ranks.py model [--parameters=31200000]          # a table for 1 to 1,024 processes
    ranks.py measure UNETC FILE.unet DATA [--mbit=100,1000] [--steps=20]      # as root, Linux
    ranks.py overlap UNETC FILE.unet [--mbit=100,1000] [--steps=20] [--rounds=5] [--options='--batch=4']      # the same

The model has for each of W processes with N bytes of gradients 2 (W - 1) / W N bytes to send, and 2 (W - 1) messages of
20 microseconds; nothing is hidden behind computation.  `overlap` lets two processes run `bench` over a virtual cable of limited
bandwidth, in turn with gradients that are sent behind the backward pass and while it goes on, and prints medians of the rounds: a step,
and how long of it rank 0 waits; `--options` are those of unetc.  `measure` lets two processes train by TCP over a virtual cable whose bandwidth
`tc tbf` limits, and prints how long a step of rank 0 waits, as its log says, beside what the model says.  Standard library only."""

import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import tempfile
import time

LATENCY = 20e-6
LINKS = (("10 Gbit/s", 1.25e9), ("100 Gbit/s", 12.5e9))
SPACES, CABLE = ("unet_rank0", "unet_rank1"), ("unet_veth0", "unet_veth1")
ADDRESS = "10.231.0.%d"


def seconds(ranks, size, rate):
    return 2 * (ranks - 1) / ranks * size / rate + 2 * (ranks - 1) * LATENCY


def model(tools):
    size = 4 * tools.parameters
    print("| processes | sent by each |" + "".join(" %s |" % name for name, _ in LINKS))
    print("|---|---|" + "---|" * len(LINKS))
    for ranks in (1 << k for k in range(11)):
        sent = 2 * (ranks - 1) / ranks * size
        print("| %s | %.0f MB |" % (format(ranks, ","), sent / 1e6) + "".join(" %.4f s |" % seconds(ranks, size, rate) for _, rate in LINKS))


def run(*words, check=True):
    return subprocess.run(words, check=check, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def plug(mbit):
    for space in SPACES:
        run("ip", "netns", "add", space)
    run("ip", "link", "add", CABLE[0], "type", "veth", "peer", "name", CABLE[1])
    for i, (space, end) in enumerate(zip(SPACES, CABLE)):
        run("ip", "link", "set", end, "netns", space)
        inside = ["ip", "netns", "exec", space]
        run(*inside, "ip", "address", "add", ADDRESS % (i + 1) + "/24", "dev", end)
        run(*inside, "ip", "link", "set", end, "up")
        run(*inside, "ip", "link", "set", "lo", "up")
        run(*inside, "tc", "qdisc", "add", "dev", end, "root", "tbf", "rate", "%dmbit" % mbit, "burst", "256kb", "latency", "50ms")


def unplug():
    for space in SPACES:
        run("ip", "netns", "delete", space, check=False)


def start_both(folder, *words):
    """What rank 0 of two processes says."""
    processes = [subprocess.Popen(
        ["ip", "netns", "exec", SPACES[rank], os.path.join(folder, "program"), *words, "--threads=1", "--trust-network"],
        env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": ADDRESS % 1, "MASTER_PORT": "29400"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for rank in range(2)]
    return [process.communicate(timeout=600)[0] for process in processes][0]


def train(folder, data, steps, mbit):
    """Seconds a step, and how many of them it waits for the exchange."""
    out = os.path.join(folder, "run_%d" % mbit)
    said = start_both(folder, "train", "--data=" + data, "--out=" + out, "--steps=%d" % steps)
    rate = re.search(r"trained %d steps in .*, ([0-9.]+) images/s" % steps, said)
    batch = re.search(r"batch ([0-9]+),", said)
    if not (rate and batch):
        raise SystemExit("the processes failed: " + said)
    waited = before = 0
    with open(os.path.join(out, "log.csv"), newline="") as file:
        for row in (row for row in csv.DictReader(file) if row["split"] == "train"):
            waited += float(row["exchange_s"]) * (int(row["step"]) - before)
            before = int(row["step"])
    return int(batch.group(1)) / float(rate.group(1)), waited / before


def measure(tools):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tools.unetc, "--ranks=2", "-o", os.path.join(folder, "program"), tools.file], check=True)
        count = int(re.search(r"([0-9,]+) parameters", run(tools.unetc, "mem", "--ranks=2", tools.file).stdout).group(1).replace(",", ""))
        print("| bandwidth | a step | of it the exchange | by the model |")
        print("|---|---|---|---|")
        for mbit in (int(word) for word in tools.mbit.split(",")):
            try:
                plug(mbit)
                step, waited = train(folder, os.path.abspath(tools.data), tools.steps, mbit)
            finally:
                unplug()
            print("| %d Mbit/s | %.3f s | %.3f s, %.0f %% | %.3f s |" %
                  (mbit, step, waited, 100 * waited / step, seconds(2, 4 * count, mbit * 125e3)), flush=True)
            time.sleep(0.5)


def overlap(tools):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tools.unetc, "--ranks=2", *tools.options.split(), "-o", os.path.join(folder, "program"), tools.file], check=True)
        print("| bandwidth | the exchange | a step, sent behind the backward pass | of it waiting | sent in the backward pass | of it waiting | "
              "steps | waiting |")
        print("|---|---|---|---|---|---|---|---|")
        for mbit in (int(word) for word in tools.mbit.split(",")):
            found = {"no": [], "yes": []}
            try:
                plug(mbit)
                for round_ in range(tools.rounds):
                    for way in (("no", "yes"), ("yes", "no"))[round_ % 2]:
                        said = start_both(folder, "bench", "--steps=%d" % tools.steps, "--format=json", "--overlap=" + way)
                        found[way].append(json.loads(said)["programs"][0])
            finally:
                unplug()
            of = lambda way, name: statistics.median(times[name] for times in found[way])
            step, wait = ([of(way, name) for way in ("no", "yes")] for name in ("median", "exchange"))
            print("| %d Mbit/s | %.3f s | %.3f s | %.3f s | %.3f s | %.3f s | %.2f | %.2f |" %
                  (mbit, of("no", "exchange_all"), step[0], wait[0], step[1], wait[1], step[1] / step[0], wait[1] / wait[0]), flush=True)
            time.sleep(0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    table = commands.add_parser("model")
    table.add_argument("--parameters", type=int, default=31200000)
    table.set_defaults(act=model)
    limited = commands.add_parser("measure")
    for name in "unetc", "file", "data":
        limited.add_argument(name)
    limited.add_argument("--mbit", default="100,1000")
    limited.add_argument("--steps", type=int, default=20)
    limited.set_defaults(act=measure)
    beside = commands.add_parser("overlap")
    beside.add_argument("unetc")
    beside.add_argument("file")
    beside.add_argument("--options", default="", help="of unetc: --options='--batch=4 -Dbase=32'")
    beside.add_argument("--mbit", default="100,1000")
    beside.add_argument("--steps", type=int, default=20)
    beside.add_argument("--rounds", type=int, default=5)
    beside.set_defaults(act=overlap)
    tools = parser.parse_args()
    tools.act(tools)


if __name__ == "__main__":
    main()

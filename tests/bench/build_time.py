#!/usr/bin/env python3
"""build_time.py UNETC [--peer=UNETC] [--rounds=3] [--rebuilt] [FILE.unet...] - how long `unetc -o PROG FILE` takes.

For each file, the examples unless some are named: seconds by the clock and of the processor, unetc and the C compilers that
it starts together, medians of the rounds; no object of a build before is used. With a peer, another build of unetc, the same
of it, in turns, and the ratio of the processor's seconds. --rebuilt: each has built the same file before, and kept its
objects. Runs nothing beside."""
import argparse
import glob
import os
import statistics
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def build(unetc, file, folder, cache):
    """Seconds by the clock and of the processor."""
    begin = time.monotonic()
    process = os.posix_spawn(unetc, [unetc, "-o", os.path.join(folder, "program"), file], dict(os.environ, UNETC_CACHE=cache))
    _, status, usage = os.wait4(process, 0)
    if status != 0:
        raise SystemExit(f"{unetc} {file} failed")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime


def medians(times):
    return [statistics.median(column) for column in zip(*times)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unetc")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--peer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rebuilt", action="store_true")
    arguments = parser.parse_args()
    compilers = [os.path.abspath(path) for path in (arguments.unetc, arguments.peer) if path]
    files = arguments.files or sorted(glob.glob(os.path.join(ROOT, "examples", "*", "*.unet")))
    print("| | seconds | of the processor |" + (" peer | of the processor | ratio |" if arguments.peer else ""))
    print("|---|---|---|" + ("---|---|---|" if arguments.peer else ""))
    total = [0.0] * len(compilers)
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            times = [[] for _ in compilers]
            cache = os.path.join(folder, "cache") if arguments.rebuilt else "off"
            for compiler in compilers if arguments.rebuilt else ():
                build(compiler, file, folder, cache)
            for _ in range(arguments.rounds):
                for compiler, mine in zip(compilers, times):
                    mine.append(build(compiler, file, folder, cache))
            row = [medians(mine) for mine in times]
            total = [sum(pair) for pair in zip(total, (processor for _, processor in row))]
            cells = " | ".join(f"{clock:.1f} | {processor:.1f}" for clock, processor in row)
            ratio = f" | {row[1][1] / row[0][1]:.2f}" if arguments.peer else ""
            print(f"| {os.path.basename(file)[:-5]} | {cells}{ratio} |", flush=True)
    print("all: " + ", ".join(f"{seconds:.1f}" for seconds in total) + " s of the processor")


main()

#!/usr/bin/env python3
"""budgets.py UNETC [ROUNDS] - does a plan take the time that the cost table says?  As a Markdown table.

UNetDenoiser at 256 x 256, two samples, whole batches, tensors whole: everything kept, and five budgets from there to the
least that fits.  For each, the time that the compiler says computing again adds, and what it adds as measured: the programs
run in turns, `bench` says the time of a step, and the least of all rounds counts."""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NET = [os.path.join(ROOT, "examples", "denoise", "unet_denoiser.unet"), "--programs=train", "--batch=2", "--micro-batches=off",
       "--bands=off"]
BUDGETS = 5
STEPS = 5


def execute(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit("%s: %s" % (" ".join(command), done.stderr))
    return done.stdout + done.stderr


def arena(said):
    return int(re.search(r"ARENA .*?([0-9,]+) B", said).group(1).replace(",", ""))


def programs(unetc, folder):
    """(budget, predicted per cent, program), the first with everything kept."""
    whole = arena(execute([unetc, "mem", *NET]))
    least = arena(execute([unetc, "mem", *NET, "--mem=1MiB"]))
    for k in range(BUDGETS + 1):
        budget = whole - (whole - least) * k // BUDGETS
        option = "--mem=%d" % budget
        said = execute([unetc, "mem", *NET, option])
        more = re.search(r"about ([0-9.]+) % more time", said)
        path = os.path.join(folder, "program%d" % k)
        execute([unetc, *NET, option, "-o", path])
        yield budget, float(more.group(1)) if more else 0.0, path


def milliseconds(path):
    """The median of a few training steps."""
    said = execute([path, "bench", "--steps=%d" % STEPS, "--threads=2"])
    return float(re.search(r"train.*?median +([0-9.]+) ms", said).group(1))


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        rows = list(programs(os.path.abspath(sys.argv[1]), folder))
        least = [min(times) for times in zip(*([milliseconds(path) for _, _, path in rows] for _ in range(rounds)))]
        print("| budget | predicted | measured | a step | measured / predicted |")
        print("|---|---|---|---|---|")
        for (budget, more, _), time in zip(rows, least):
            ratio = time / least[0] / (1 + more / 100)
            print("| %.0f MiB | %+.0f %% | %+.1f %% | %.0f ms | %.3f |" %
                  (budget / 2**20, more, 100 * (time / least[0] - 1), time, ratio))
    return 0


if __name__ == "__main__":
    sys.exit(main())

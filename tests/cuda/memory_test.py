#!/usr/bin/env python3
"""memory_test.py [--long] UNETC: how much of UNetDenoiser at 512 x 512 an arena of 8 GiB holds on a GPU.

Without loops over samples, with activations of 16 bits and inputs of 8, at least 56 samples at no more than 26 % more
operations (a framework that runs operator by operator, in mixed precision: 16).  Each plan is judged by check_plan.py.  The
long form plans other batches, too, and tells the largest.

A program is refused where a tensor has more vectors than its kernels count."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import check_plan  # noqa: E402

MODEL = os.path.join(HERE, "..", "..", "examples", "denoise", "unet_denoiser.unet")
OPTIONS = "--target=cuda --precision=bf16 --staging=u8 --mem=8GiB --micro-batches=off --size=512x512 --programs=train"
LEAST, MOST_MORE = 56, 0.26


def plan(unetc, batch):
    command = [unetc, "mem", "--format=json", "--batch=%d" % batch] + OPTIONS.split() + [MODEL]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    result = json.loads(done.stdout)
    complaints = check_plan.judge(result)
    if complaints:
        sys.exit("batch %d: %s" % (batch, "; ".join(complaints)))
    return result


def refused(unetc, batch):
    """Why no program is written for that many samples of 64 channels at 512 x 512 in f32; nothing if one is."""
    with tempfile.TemporaryDirectory() as folder:
        command = [unetc, "-S", folder, "--target=cuda", "--precision=f32", "--micro-batches=off", "--no-recompute",
                   "--programs=train", "--size=512x512", "--batch=%d" % batch, MODEL]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode != (3 if done.stderr else 0):
        sys.exit("batch %d: exit code %d: %s" % (batch, done.returncode, done.stderr))
    return done.stderr


def main():
    largest, unetc = None, sys.argv[-1]
    for batch in range(LEAST - 4, LEAST + 9) if "--long" in sys.argv else [LEAST]:
        result = plan(unetc, batch)
        more = result["cost"]["recompute_flops"] / result["cost"]["flops"]
        fits = result["arena"]["fits"] and more <= MOST_MORE
        print("batch %d: arena %.3f GiB, %+.1f %% operations%s" % (
            batch, result["arena"]["bytes"] / 2**30, 100 * more, "" if fits else "  too much"))
        if fits:
            largest = batch
    if largest is None or largest < LEAST:
        sys.exit("FAILED: the largest batch is %s, not %d" % (largest, LEAST))
    few, many = refused(unetc, 511), refused(unetc, 512)
    if few or "a tensor on a GPU has at most" not in many:
        sys.exit("FAILED: 511 samples: %s; 512 samples: %s" % (few or "a program", many or "a program"))


if __name__ == "__main__":
    main()

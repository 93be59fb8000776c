#!/usr/bin/env python3
"""memory_test.py UNETC: how much of UNetDenoiser at 512 x 512 an arena of 8 GiB holds on a GPU.

Without loops over samples, with activations of 16 bits and inputs of 8, at least 56 samples at no more than 26 % more
operations (a framework that runs operator by operator, in mixed precision: 16).  Each plan is judged by check_plan.py."""
import json
import os
import subprocess
import sys

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


def main():
    largest = None
    for batch in range(LEAST - 4, LEAST + 9):
        result = plan(sys.argv[1], batch)
        more = result["cost"]["recompute_flops"] / result["cost"]["flops"]
        fits = result["arena"]["fits"] and more <= MOST_MORE
        print("batch %d: arena %.3f GiB, %+.1f %% operations%s" % (
            batch, result["arena"]["bytes"] / 2**30, 100 * more, "" if fits else "  too much"))
        if fits:
            largest = batch
    if largest is None or largest < LEAST:
        sys.exit("FAILED: the largest batch is %s, not %d" % (largest, LEAST))


if __name__ == "__main__":
    main()

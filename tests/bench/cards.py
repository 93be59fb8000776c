#!/usr/bin/env python3
"""cards.py UNETC [OPTION...]: what of nnU-Net's network fits cards of 8 to 24 GiB, as a Markdown table: for windows of
128 x 128 x 128 the largest batch that is trained as a whole, and for batch 2 the largest window that is a cube.  OPTIONs are
unetc's, --precision=bf16 for example.  No card is needed; where cuDNN is not installed either, its workspace is a stated cap."""

import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NET = os.path.join(ROOT, "examples", "volume", "nnunet.unet")
CARDS = (8, 12, 16, 24)


def fit(unetc, options, most, memory):
    command = [unetc, "fit", "--target=cuda", "--max=" + most, "--mem=%dGiB" % memory, "--format=json", *options, NET]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)["rows"][0]["best"]


def main():
    unetc, options = sys.argv[1], sys.argv[2:]
    print("| card | batch of 128 x 128 x 128 | arena | more work | window of batch 2 | arena | more work |\n|---|---|---|---|---|---|---|")
    for memory in CARDS:
        row = ["%d GiB" % memory]
        for most in ("batch", "size"):
            best = fit(unetc, options, most, memory)
            row += [str(best["batch"]) if most == "batch" else " x ".join(map(str, best["size"])),
                    "%.2f GiB" % (best["arena"] / 2**30), "%.1f %%" % (100 * best["recompute_flops"] / best["flops"])]
        print("| %s |" % " | ".join(row), flush=True)
    return 0


sys.exit(main())

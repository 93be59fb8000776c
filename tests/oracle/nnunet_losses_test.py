#!/usr/bin/env python3
"""nnunet_losses_test.py --unetc=UNETC --runtime=LIBRARY: nnU-Net's losses of two samples, as PyTorch computes them in float64:
cross entropy, Dice of each sample, and Dice of the batch.  With micro-batches the last is refused, not done wrong."""

import argparse
import array
import math
import os
import subprocess
import sys
import tempfile

import cases
import run_oracle

FILE = os.path.join(cases.HERE, "cases", "nnunet_losses.unet")
# Of logits 2 sin(0.7 k), k = 0 to 47 as (2, 3, 2, 2, 2), and labels (5 k // 3) % 3, k = 0 to 15; nnU-Net's Dice is less than 0.
EXPECTED = [1.207802048705366, 1 - 0.2845454687112567, 1 - 0.3000229147694671]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--runtime", required=True)
    tools = parser.parse_args()
    tools.flags, tools.include = [], os.path.join(cases.ROOT, "runtime", "include")
    numbers = array.array("d", [float(i == k) for i in range(3) for k in range(3)])
    numbers.extend(2 * math.sin(0.7 * k) for k in range(48))
    numbers.extend((5 * k // 3) % 3 for k in range(16))
    with tempfile.TemporaryDirectory() as folder:
        model = run_oracle.Model(tools, folder, FILE, {}, (2, 2, 2), 2, run_oracle.DOUBLE)
        offsets = [str(offset) for offset in model.gradient_offsets()]
        answer = array.array("d")
        answer.frombytes(run_oracle.execute([model.program, "run", "2", "1"] + offsets, input=numbers.tobytes()))
    losses = answer[48:51]
    print("cross entropy %.15f, Dice of samples %.15f, of the batch %.15f" % tuple(losses))
    assert all(abs(a - b) < 1e-14 for a, b in zip(losses, EXPECTED)), "and not %s" % EXPECTED
    refused = subprocess.run([tools.unetc, "mem", "--micro-batches=2", FILE], capture_output=True, text=True)
    assert refused.returncode == 1 and "`dice_loss` sees the whole batch" in refused.stderr, refused.stderr
    return 0


sys.exit(main())

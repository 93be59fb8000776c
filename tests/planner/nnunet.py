#!/usr/bin/env python3
"""nnunet.py UNETC: what nnU-Net's network (examples/volume/nnunet.unet) takes, as tests/bench/README.md has it.

Of 128 x 128 x 128 voxels in f32 at most 800 bytes a voxel beside weights, gradients and state, for less than 1 % of the operations a
second time.  Of
256 x 256 x 256 in bf16, whose network has a stage more, 6 GiB and 4.5 GiB for at most 33 % more operations, and 4 GiB where
the search takes four times as long.  Each plan is judged by check_plan.py."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STAGES = 7
LARGE = ["--size=256x256x256", "--precision=bf16", "-Dfeatures=[32,64,128,256,320,320,320]",
         "-Dkernels=%s" % ([3] * STAGES), "-Dstrides=%s" % ([1] + [2] * (STAGES - 1))]
GIB = 1 << 30


def plan(unetc, folder, *options):
    command = [unetc, "mem", "--programs=train", "--batch=1", "--format=json", *options, os.path.join(ROOT, "examples", "volume", "nnunet.unet")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, "%s: %s" % (options, done.stderr)
    path = os.path.join(folder, "plan.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write(done.stdout)
    subprocess.run([sys.executable, os.path.join(ROOT, "tests", "check_plan.py"), path], check=True)
    return json.loads(done.stdout)


def main():
    unetc = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        found = plan(unetc, folder)
        state = 3 * 4 * 31196399
        each = (found["arena"]["bytes"] - state) / 128**3
        print("128 x 128 x 128: %.1f bytes a voxel" % each)
        assert found["cost"]["recompute_flops"] < 0.01 * found["cost"]["flops"] and each <= 800, (each, found["cost"])
        for budget, effort in ((6 * GIB, 1), (9 * GIB // 2, 1), (4 * GIB, 4)):
            found = plan(unetc, folder, "--mem=%d" % budget, "--effort=%d" % effort, *LARGE)
            takes = found["arena"]["bytes"]
            more = found["cost"]["recompute_flops"] / found["cost"]["flops"]
            print("256 x 256 x 256 within %.1f GiB: %.2f, for %.1f %% more" % (budget / GIB, takes / GIB, 100 * more))
            assert takes <= budget and more <= 0.33, (takes, more)


if __name__ == "__main__":
    main()

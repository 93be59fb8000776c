#!/usr/bin/env python3
"""freeze_test.py --unetc=UNETC --runtime=LIBRARY: nets of which some layers are frozen.  After ten steps these hold what they
started with, the others do not; the gradients of the others are those of the net of which nothing is frozen, to the bit;
frozen layers have no gradient, and the arena is no larger."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import cases
import run_oracle
import safetensors

# Case, what is frozen, the layers that this means; the first with the fast kernels.
FROZEN = [
    ("tiny_unet", ["enc1", "enc2", "bottleneck.0"], {"enc1.0", "enc1.2", "enc2.0", "enc2.2", "bottleneck.0"}),
    ("tiny_unet_odd", ["dec*"], {"dec1.0", "dec1.2", "dec2.0", "dec2.2", "dec3.0", "dec3.2"}),
    ("batch_norm", ["deep", "again", "up"], {"deep.0", "deep.1", "deep.3", "deep.4", "again", "up.0", "up.1"}),
    ("scales", ["first", "middle", "few", "beta"], {"first.0", "first.1", "middle.0", "middle.1", "few", "beta"}),
    ("groups", ["each", "first", "l*"], {"each", "first", "last"}),
]


def arena(tools, case, options):
    command = [tools.unetc, "mem", "--format=json", "--size=%dx%d" % case["size"], "--batch=%d" % case["batch"]]
    command += ["-D%s=%s" % item for item in case["defines"].items()] + options + [case["file"]]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["arena"]["bytes"]


def train(tools, case, vectors, options):
    with tempfile.TemporaryDirectory() as folder:
        model = run_oracle.Model(tools, folder, case["file"], case["defines"], case["size"], case["batch"], options)
        return model.run(case["valid"], vectors)


def check(tools, case, frozen, layers, kernels):
    vectors, _ = safetensors.read(case["vectors"])
    options = ["--freeze=" + name for name in frozen]
    free, held = train(tools, case, vectors, kernels), train(tools, case, vectors, kernels + options)
    for name, values in held.after.items():
        layer, kind = name.rsplit(".", 1)
        start = vectors["initial/" + name].values
        if kind.startswith("running_"):
            assert values.tolist() != start.tolist(), "%s stays: running statistics go on" % name
        elif layer in layers:
            assert values.tolist() == start.tolist(), "%s is frozen, and changes" % name
        else:
            assert values.tolist() != start.tolist(), "%s stays" % name
            assert held.gradients[name] == free.gradients[name], "the gradient by %s differs" % name
    assert set(free.gradients) - set(held.gradients) == {n for n in free.gradients if n.rsplit(".", 1)[0] in layers}
    assert arena(tools, case, options) <= arena(tools, case, []), "frozen layers take memory"
    print("%-14s without %s: %d of %d parameters are trained" % (
        case["name"], ", ".join(frozen), len(held.gradients), len(free.gradients)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--runtime", required=True)
    tools = parser.parse_args()
    tools.flags, tools.include = [], os.path.join(cases.ROOT, "runtime", "include")
    known = {case["name"]: case for case in cases.CASES}
    for i, (name, frozen, layers) in enumerate(FROZEN):
        check(tools, known[name], frozen, layers, run_oracle.DOUBLE if i > 0 else [])
    return 0


sys.exit(main())

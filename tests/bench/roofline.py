"""roofline.py - a model of a step of a program for a GPU, from its plan alone: launches, bytes moved and predicted time.

Usage: roofline.py UNETC [--json] [OPTIONS FILE]...      (TinyUNet and UNetDenoiser, as below, when no file is named)

Every step of the plan launches what `launches` says and moves the buffers that it names, each once, but those of
scratch; what it adds to it also reads; sums of gradients by bias read the gradient again.  A convolution takes the longest of
its operations over EFFICIENCY of PEAK, its bytes over BANDWIDTH, and LEAST; all else its bytes over BANDWIDTH, and LEAST_OWN;
between two launches lie GAP.  These are those of an H200 in bf16; nothing here was measured on one.
"""
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PEAK, EFFICIENCY, BANDWIDTH = 790e12, 0.6, 3.7e12  # operations and bytes a second
LEAST, LEAST_OWN, GAP = 4.5e-6, 1.5e-6, 1.3e-6  # seconds
DEFAULTS = [[*"--size=512x512 --batch=4".split(), "examples/denoise/unet_denoiser.unet"],
            [*"--size=256x256 --batch=6".split(), "examples/denoise/tiny_unet.unet"]]
TWICE = ("mse", "l1", "psnr")  # sums within bands, then over these
COMMON = "--target=cuda:sm_90 --precision=bf16 --staging=u8".split()

Launch = collections.namedtuple("Launch", "kind bytes flops by_cudnn")


def plan_of(unetc, words):
    done = subprocess.run([unetc, "mem", "--format=json", *COMMON, *words], stdout=subprocess.PIPE, check=True, cwd=ROOT)
    return json.loads(done.stdout)


def launches(step, buffers):
    """What a step of the plan launches. Convolutions come one for each segment of a concat."""
    op = step["op"]
    if op in ("load", "return", "store"):
        return []
    read, written = ([buffers[i] for i in step[side] if buffers[i]["class"] != "workspace"] for side in ("reads", "writes"))
    size = lambda some: sum(buffer["bytes"] for buffer in some)
    moved, flops = size(read) + size(written), step["flops"]
    if op.split("_")[0] not in ("conv", "upconv"):
        sums = [Launch("sum of the parts", 0, 0, False)] * (op in TWICE)
        return [Launch(op, moved, 0, False)] + sums
    if op.endswith("_wgrad"):
        return weight_gradient(step, read, written, flops, buffers)
    many = segments(op, read, written)
    found = [Launch(op, moved / many, flops / many, True) for _ in range(many)]
    result = size(written)
    if op == "upconv" or (op == "conv" and many > 1):
        found.append(Launch("bias (and ReLU)", 2 * result, 0, False))
    if op.endswith("dgrad") and any(b["class"] == "activation" for b in read):
        found.append(Launch("ReLU mask", 3 * result, 0, False))  # by the output of the ReLU
    return found


def segments(op, read, written):
    """Images that a convolution reads: those of a concat are separate buffers."""
    images = [b for b in read if len(b["shape"]) == 4 and b["class"] == "activation"]
    return max(1, len(images)) if op in ("conv", "upconv") else 1


def weight_gradient(step, read, written, flops, buffers):
    images = [b for b in read if b["class"] == "activation"]
    gradient = [b for b in read if b["class"] == "activation_gradient"]
    many, weights = max(1, len(images)), written[0]["bytes"]
    upstream = sum(b["bytes"] for b in gradient)
    found = []
    for image in images or read[:1]:
        found.append(Launch(step["op"], image["bytes"] + upstream + weights / many / 2, flops / many, True))
    summed = any(buffers[i]["name"].endswith(" sums for bias") for i in step["reads"])  # by who masked the gradient
    if len(written) > 1 and not summed:
        found.append(Launch("bias gradient", upstream, 0, False))
    return found + [Launch("filter unpack", 1.5 * weights, 0, False)]  # and the last sums of the bias's gradient


def seconds(launch):
    if launch.by_cudnn:
        return GAP + max(launch.flops / (PEAK * EFFICIENCY), launch.bytes / BANDWIDTH, LEAST)
    return GAP + max(launch.bytes / BANDWIDTH, LEAST_OWN)


def table(plan):
    buffers = {buffer["id"]: buffer for buffer in plan["buffers"]}
    found = {}
    for step in plan["programs"]["train"]:
        for launch in launches(step, buffers):
            row = found.setdefault(launch.kind, {"launches": 0, "bytes": 0, "flops": 0, "seconds": 0})
            for key, value in (("launches", 1), ("bytes", launch.bytes), ("flops", launch.flops), ("seconds", seconds(launch))):
                row[key] += value
    found["total"] = {key: sum(row[key] for row in found.values()) for key in ("launches", "bytes", "flops", "seconds")}
    return found


def print_table(words, rows):
    print("\n%s\n\n| kind | launches | MB | GFLOP | ms |\n|---|---|---|---|---|" % " ".join(words))
    for kind, row in rows.items():
        print("| %s | %d | %.0f | %.0f | %.3f |" % (kind, row["launches"], row["bytes"] / 1e6, row["flops"] / 1e9, 1e3 * row["seconds"]))


def main():
    unetc, words = os.path.abspath(sys.argv[1]), [word for word in sys.argv[2:] if word != "--json"]
    cases = [words] if words else DEFAULTS
    found = {" ".join(case): table(plan_of(unetc, case)) for case in cases}
    if "--json" in sys.argv:
        print(json.dumps(found, indent=1))
        return
    for name, rows in found.items():
        print_table(name.split(), rows)


if __name__ == "__main__":
    main()

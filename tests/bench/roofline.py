"""roofline.py - a model of a step of a program for a GPU, from its plan alone: launches, bytes moved and predicted time.

Usage: roofline.py UNETC [--json] [OPTIONS FILE]...      (TinyUNet and UNetDenoiser, as below, when no file is named)

A step that is chained to the one in front of it has no launch of its own and finds in registers what the chain has made.

Every step of the plan launches what `launches` says and moves the buffers that it names, each once, but those of
scratch; what it adds to it also reads; sums of gradients by bias read the gradient again.  A sum over the points of each channel
takes a second launch, which adds bands up.  A step of a loop over bands of rows runs once for each.  A convolution takes the longest of
its operations over EFFICIENCY of PEAK, its bytes over BANDWIDTH, and LEAST; all else its bytes over BANDWIDTH, and LEAST_OWN,
and where it multiplies matrices (upconv_cells) its operations over OWN; between two launches lie GAP.  These are those of an H200 in bf16; nothing here was measured on one.

Two branches of a section, each in a stream of its own, take as long as the longer one, or as all operations of both, or all
their bytes, whichever is longest, and a JOIN: so they share the device without a loss, which is the most that there is to be had.
The least is nothing, and the joins are paid for it: `--branches=off` has neither.
"""
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PEAK, EFFICIENCY, OWN, BANDWIDTH = 790e12, 0.6, 120e12, 3.7e12  # operations and bytes a second
LEAST, LEAST_OWN, GAP, JOIN = 4.5e-6, 1.5e-6, 1.3e-6, 1.3e-6  # seconds
DEFAULTS = [[*"--size=512x512 --batch=4".split(), "examples/denoise/unet_denoiser.unet"],
            [*"--size=256x256 --batch=6".split(), "examples/denoise/tiny_unet.unet"]]
COMMON = "--target=cuda:h200 --precision=bf16 --staging=u8".split()

# FORK: the section and the stream of a launch that runs beside others, or None
Launch = collections.namedtuple("Launch", "kind bytes flops by_cudnn begins fork", defaults=[True, None])


def plan_of(unetc, words):
    done = subprocess.run([unetc, "mem", "--format=json", *COMMON, *words], stdout=subprocess.PIPE, check=True, cwd=ROOT)
    return json.loads(done.stdout)


def unrolled(steps):
    """The steps, those of a loop over bands of rows as often as it runs them, each with the share of the rows that it does."""
    for step in steps:
        for _ in range(step.get("times", 1)):
            body = unrolled(step["body"]) if "loop" in step else [step]
            yield from ({**one, "share": one.get("share", 1) / step.get("times", 1)} for one in body)


# sums over bands of points, which another launch adds up
IN_BANDS = {"batch_statistics", "norm_statistics", "batch_norm_wgrad", "norm_wgrad", "scale_wgrad", "prelu_wgrad", "channel_factor_grad",
            "conv_groups_wgrad"}


def adds_up(step, buffers):
    """Whether another launch does; one factor of all channels is summed by one launch."""
    first = buffers[step["writes"][0]]["shape"]
    return step["op"] in IN_BANDS and not (step["kernel"] == "scale_wgrad" and first == [1])


def in_chains(steps):
    """The steps; a chained step does not read tensors that steps of its chain in front of it have written."""
    made = set()
    for step in steps:
        made = made if step.get("chained") else set()
        yield {**step, "reads": [i for i in step["reads"] if i not in made]}
        made |= set(step["writes"])


def training_launches(plan):
    """Those of a training step."""
    buffers, steps = {buffer["id"]: buffer for buffer in plan["buffers"]}, list(in_chains(unrolled(plan["programs"]["train"])))
    # a gradient by weights sums for the bias where what unpacks it reads no sums of who masked the gradient
    sums = {step["reads"][0] for step in steps if step["op"] == "filter_unpack" and len(step["writes"]) > len(step["reads"])}
    return [launch._replace(fork=(step["section"][0], step["stream"]) if "stream" in step else None)
            for step in steps for launch in launches(step, buffers, bool(sums & set(step["writes"])))]


def launches(step, buffers, sums_bias):
    """What a step of the plan launches. Convolutions come one for each segment of a concat; of steps that one launch does the
    first has that launch, and the bytes of each are its own."""
    op = step["op"]
    if op in ("load", "return", "store"):
        return []
    read, written = ([buffers[i] for i in step[side] if buffers[i]["class"] != "workspace"] for side in ("reads", "writes"))
    size = lambda some: sum(buffer["bytes"] * (1 if "ring" in (buffer["alias"] or {}) else step["share"]) for buffer in some)
    moved, flops = size(read) + size(written), step["flops"] * step["share"]
    if op.startswith("filter_"):
        moved = size(buffers[i] for i in step["reads"] + step["writes"])
    if "engines" not in step:
        more = [Launch(op + ", bands", 0, 0, False)] * adds_up(step, buffers)
        begins = not step.get("chained") and ("stream" in step or step.get("section", [0, 1])[1] == 1)
        return more + [Launch(op, moved, flops if step["kernel"] == "upconv_cells" else 0, False, begins)]
    if op.endswith("_wgrad"):
        return weight_gradient(step, read, flops, buffers, sums_bias)
    many = len(step["engines"])  # one for each segment
    found = [Launch(op, moved / many, flops / many, True) for _ in range(many)]
    result = size(written)
    has_bias = any(b["class"] == "parameter" for b in read)
    if op in ("conv", "upconv") and has_bias and not step["engines"][-1]["bias"]:
        found.append(Launch("bias", 2 * result, 0, False))
    if op.endswith("dgrad") and any(b["class"] == "activation" for b in read):
        found.append(Launch("ReLU mask", 3 * result, 0, False))  # by the output of the ReLU
    return found


def weight_gradient(step, read, flops, buffers, sums_bias):
    images = [b for b in read if b["class"] == "activation"]
    gradient = [b for b in read if b["class"] == "activation_gradient"]
    packed = [buffers[i] for i in step["writes"] if buffers[i]["name"].endswith(" packed gradient")]
    many, upstream = max(1, len(images)), sum(b["bytes"] for b in gradient)
    left = sum(b["bytes"] for b in packed)
    found = []
    for image in images or read[:1]:
        found.append(Launch(step["op"], image["bytes"] + upstream + left / many, flops / many, True))
    if sums_bias:
        found.append(Launch("bias gradient", upstream, 0, False))
    return found


def seconds(launch):
    if launch.by_cudnn:
        return GAP + max(launch.flops / (PEAK * EFFICIENCY), launch.bytes / BANDWIDTH, LEAST)
    if not launch.begins:
        return launch.bytes / BANDWIDTH
    return GAP + max(launch.flops / OWN, launch.bytes / BANDWIDTH, LEAST_OWN)


def forked(launches):
    """Of what runs in two streams: the sections, and how many seconds fewer they take than one launch after the other."""
    sections = {}
    for launch in launches:
        if launch.fork:
            sections.setdefault(launch.fork[0], []).append(launch)
    together = 0
    for run in sections.values():
        branches = [sum(seconds(launch) for launch in run if launch.fork[1] == stream) for stream in (1, 2)]
        flops, moved = (sum(getattr(launch, what) for launch in run) for what in ("flops", "bytes"))
        together += JOIN + max(*branches, flops / (PEAK * EFFICIENCY), moved / BANDWIDTH)
    return len(sections), sum(seconds(launch) for run in sections.values() for launch in run) - together


def table(plan):
    found, all_launches = {}, training_launches(plan)
    for launch in all_launches:
        row = found.setdefault(launch.kind, {"launches": 0, "bytes": 0, "flops": 0, "seconds": 0})
        for key, value in (("launches", launch.begins), ("bytes", launch.bytes), ("flops", launch.flops), ("seconds", seconds(launch))):
            row[key] += value
    found["in one stream"] = {key: sum(row[key] for row in found.values()) for key in ("launches", "bytes", "flops", "seconds")}
    count, less = forked(all_launches)
    found["beside each other (%d forks)" % count] = {"launches": 0, "bytes": 0, "flops": 0, "seconds": -less}
    found["total"] = dict(found["in one stream"], seconds=found["in one stream"]["seconds"] - less)
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

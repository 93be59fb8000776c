#!/usr/bin/env python3
"""Bands of rows on a GPU: whole programs run on this processor, as steps.py runs them.

    bands.py --unetc=UNETC --runtime=libunet_runtime.a --make-pictures=MAKE_PICTURES --cudnn=FOLDER

  nets     a U-Net in bands of 64 and of 32 rows, in f32 and bf16, and nets with windows, strides and joins of all kinds:
           eval and predict give the bits of the plan without bands, for each row is computed once and in one way; a gradient
           by weights is a sum that cuDNN begins anew in each band, so trained weights agree but for rounding, and to the
           bit where several samples at a time keep these gradients out of the loops
  heads    nets that enlarge what losses read have loops over bands there, and the bits of those without; a second sweep
           where losses see all points first; the short form has one such loss, a U-Net in bf16 and a chain
  ways     a step captured as a graph or not, streams that take turns: the same weights, bit for bit; all tensors are
           rings
  budget   (--long) where nothing else fits, the planner takes bands, without being asked; that program runs, in one allocation
           of exactly the arena
  faults   (the latter two: --long) a ring that is a row too small is refused by check_plan.py; in what unetc wrote, a row that lies where
           another does, and one that is gathered and not needed, are noticed

Every plan is judged by check_plan.py.  Exits with 77 without the headers of CUDA and cuDNN.  Standard library only."""

import copy
import os
import struct
import sys
import zlib

import steps
from steps import expect

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import check_plan  # noqa: E402

TALL = ("tall", steps.EXAMPLES + "tiny_unet.unet", ["-Dbase=4", "--size=128x16", "--batch=3"])
HIGH = ("high", steps.EXAMPLES + "tiny_unet.unet", ["-Dbase=4", "--size=1024x8", "--batch=1"])  # or other ways are as good
steps.STEPS = 4
SINGLE, TOGETHER = "--micro-batches=3", "--micro-batches=off"
WHOLE = "--bands=off"
IRREGULAR = ("irregular", steps.PLANNER + "irregular.unet", ["--batch=3"])
POOLS = ("pools", "tests/cuda/pools.unet", ["--batch=3"])
CHAIN = ("chain", "tests/whole/bands.unet", [])
ENLARGED = ("enlarged", "tests/cuda/enlarged.unet", ["--size=256x16"])
OHEM, DICE = (("labelled", "tests/cuda/labelled.unet", ['-Dlosses="%s"' % losses, "--size=192x8"]) for losses in ("ohem", "dice"))

# Largest differences of trained weights from those without bands, and relative ones of losses.
TOLERANCE = {"f32": (1e-6, 1e-6), "bf16": (2e-3, 2e-2)}


def loops(plan, program):
    return steps.axes_of_loops(plan["programs"][program])


def check_rings(plan, name):
    """Of all that training computes one sample at a time, no tensor is there as a whole."""
    whole = [b["name"] for b in plan["buffers"] if b["class"].startswith("activation") and b["shape"][2:] and
             not {"ring", "same"} & (b["alias"] or {}).keys()]
    outputs = {b["name"] for b in plan["buffers"] if b["name"].endswith(("denoised", "final", "answer"))}
    expect(len(set(whole) - outputs) == 0, "%s: no rings: %s", name, whole)


def compare(shop, net, precision, turns, bands):
    options = ["--precision=" + precision, turns]
    plain = shop.cuda(net, WHOLE, *options)
    expected = plain.train()
    pictures, metrics = plain.predict(expected.path), plain.evaluate(expected.path)
    said = []
    for count in bands:
        name = "%s, %s, %s, %d bands" % (net[0], precision, turns, count)
        banded = shop.cuda(net, "--bands=%d" % count, *options)
        axes = loops(banded.plan, "train")
        expect((("bands",) if turns == TOGETHER else ("samples", "bands")) in axes, "%s: loops over %s", name, axes)
        run = banded.train()
        weights = steps.largest_difference(run.weights(), expected.weights())
        losses = steps.relative_difference(run.losses, expected.losses)
        expect(turns != TOGETHER or run.bytes == expected.bytes, "%s: other weights", name)
        expect(weights <= TOLERANCE[precision][0] and losses <= TOLERANCE[precision][1], "%s: weights differ by %g, losses by %g",
               name, weights, losses)
        expect(banded.predict(expected.path) == pictures, "%s: another picture", name)
        expect(banded.evaluate(expected.path) == metrics, "%s: other metrics", name)
        said.append("%d bands in %d bytes: weights %.1e, losses %.1e" % (count, banded.plan["arena"]["bytes"], weights, losses))
    return "%s, %s, %s, whole in %d bytes; %s" % (net[0], precision, turns, plain.plan["arena"]["bytes"], "; ".join(said))


def check_heads(shop, net, count):
    """What reads enlarged tensors stands in loops of its own where nobody asks for bands, and changes no bit."""
    name = " ".join([net[0], *net[2]])
    whole, looped = shop.cuda(net, WHOLE), shop.cuda(net)
    banded = [sum(loop["loop"] == "bands" for loop in check_plan.all_loops(made.plan["programs"]["train"])) for made in (whole, looped)]
    expect(banded == [0, count], "%s: %s loops over heads", name, banded)
    expected, run = whole.train(), looped.train()
    expect(run.bytes == expected.bytes, "%s in loops: other weights", name)
    expect(run.losses == expected.losses, "%s in loops: losses %s, not %s", name, run.losses, expected.losses)
    expect(looped.evaluate(expected.path) == whole.evaluate(expected.path), "%s in loops: other metrics", name)
    expect(looped.predict(expected.path) == whole.predict(expected.path), "%s in loops: another picture", name)
    return "%s: heads in loops take %d bytes, and %d without" % (
        name, looped.plan["arena"]["bytes"], whole.plan["arena"]["bytes"])


def write_labels(folder):
    """For each picture of the folder classes of its points, of which some count nowhere."""
    os.mkdir(folder + "/labels")
    for name in os.listdir(folder + "/noisy"):
        with open(folder + "/noisy/" + name, "rb") as file:
            width, height = struct.unpack(">II", file.read(24)[16:])
        rows = b"".join(bytes([0] + [(h // 7 + w // 5) % 2 if h % 11 else 255 for w in range(width)]) for h in range(height))
        chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
        with open(folder + "/labels/" + name, "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + b"".join(
                struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks))


def check_ways(shop):
    banded = shop.cuda(TALL, "--bands=4", SINGLE)
    check_rings(banded.plan, "4 bands")
    plain = banded.train()
    for way in ("single launches", "permuted", "interleaved"):
        run = banded.train(UNET_SHIM_REPORT="1", **steps.WAYS[way])
        steps.same_bits(run, plain, "4 bands, " + way)
        steps.check_report(run, banded.plan["arena"]["bytes"], "UNET_CUDA_GRAPH" not in steps.WAYS[way], way)
    return "4 bands: the same bits in each way, in %d bytes" % banded.plan["arena"]["bytes"]


def check_budget(shop):
    """The smallest budgets with bands and without, each found by halving."""
    def least(*options):
        low, high = 1, shop.plan(HIGH, WHOLE)["arena"]["bytes"]
        while high - low > 16384:
            middle = (low + high) // 2
            fits = shop.plan(HIGH, "--mem=%d" % middle, *options, accept=(0, steps.DOES_NOT_FIT))["arena"]["fits"]
            low, high = (low, middle) if fits else (middle, high)
        return high
    without, needed = least(WHOLE), least()
    expect(needed < 0.9 * without, "bands need %d bytes; without them %d do", needed, without)
    budget = (needed + without) // 2
    program = shop.cuda(HIGH, "--mem=%d" % budget)
    expect(any(path[-1] == "bands" for path in loops(program.plan, "train")), "a budget of %d bytes: no bands", budget)
    run = program.train(UNET_SHIM_REPORT="1")
    steps.check_report(run, program.plan["arena"]["bytes"], True, "a budget of %d bytes" % budget)
    whole = shop.cuda(HIGH, WHOLE).train()
    difference = steps.largest_difference(run.weights(), whole.weights())
    expect(difference <= TOLERANCE["f32"][0], "a budget of %d bytes: weights differ by %g", budget, difference)
    return "%d bytes do with bands, %d without; trained in %d: weights %.1e" % (
        needed, without, program.plan["arena"]["bytes"], difference)


def check_judge(shop):
    """Each ring of training that is smaller by a row."""
    plan = shop.plan(TALL, "--bands=4", SINGLE)
    rings = [i for i, b in enumerate(plan["buffers"]) if "ring" in (b["alias"] or {})]
    expect(len(rings) > 20, "only %d rings", len(rings))
    for i in rings[::9]:
        smaller = copy.deepcopy(plan)
        smaller["buffers"][i]["alias"]["ring"] -= 1
        expect(check_plan.judge(smaller), "%s: a ring that is too small is not noticed", plan["buffers"][i]["name"])
    return "%d rings: each of some of them is as small as can be" % len(rings)


FAULTS = [("a row in the place of another", r"p\.h % g\.ring", "(p.h + (p.h == 40)) % g.ring"),
          ("a row that is gathered in the place of another", r"h % kept\)", "(h + 1) % kept)"),
          ("rows that a part does not need", r"h >= wanted\.begin && h < wanted\.end", "h >= 0 && h < s.height"),
          ("a part that is put a row too low", r"p\.h -= first;", "p.h -= first + (first > 0);"),
          ("the sums of a band forgotten", r"ACCUMULATE \|\| begin > 0 \? (\w+_finish<1>)", r"ACCUMULATE ? \1")]


def check_faults(shop):
    options = ["--bands=4", TOGETHER]
    net = (TALL[0], TALL[1], TALL[2] + ["--batch=1"])
    plain = shop.cuda(net, *options).train()
    said = []
    for name, pattern, wrong in FAULTS:
        edit = ("_kernels.cu", lambda text: steps.changed(text, (pattern, wrong)))
        found = steps.symptom(shop, net, edit, plain, {}, options)
        expect(found is not None, "%s is not noticed", name)
        said.append("%s: %s" % (name, found))
    return "\n".join(said)


def jobs(shop, pool, long):
    yield pool.submit(check_judge, shop)
    write_labels(shop.pictures[0])
    for net, count in [(OHEM, 4)] + ([(ENLARGED, 2), (DICE, 4)] if long else []):
        yield pool.submit(check_heads, shop, net, count)
    yield pool.submit(compare, shop, TALL, "bf16", SINGLE, (4,))
    yield pool.submit(compare, shop, CHAIN, "f32", TOGETHER, (5,))
    yield pool.submit(check_ways, shop)
    if not long:
        return
    yield pool.submit(compare, shop, POOLS, "f32", SINGLE, (3,))
    yield pool.submit(compare, shop, TALL, "f32", SINGLE, (2, 4))
    for net, bands in (IRREGULAR, (3,)), (CHAIN, (2, 5)):
        yield pool.submit(compare, shop, net, "f32", SINGLE, bands)
    yield pool.submit(compare, shop, CHAIN, "bf16", TOGETHER, (5,))
    yield pool.submit(check_budget, shop)
    yield pool.submit(check_faults, shop)


if __name__ == "__main__":
    height = "1030" if "--long" in sys.argv else "260"  # at least that of the highest net
    sys.exit(steps.run_jobs(__doc__, jobs, [["12", height, "37"]]))

#!/usr/bin/env python3
"""Plants one fault at a time in small plans made by hand and looks whether check_plan.py names the law."""

import copy
import sys

import check_plan


def buffer(number, name, kind, offset, size=64, lifetime="step", alias=None, shape=None, space="device"):
    return {"id": number, "name": name, "class": kind, "lifetime": lifetime, "line": 1, "dtype": "f32",
            "shape": shape or [size // 4], "space": space, "bytes": size, "offset": offset, "alias": alias}


def slot(number, offset):
    """Of the loader ring."""
    return buffer(number, "loader slot", "staging", offset, lifetime="persistent", space="host")


def step(name, reads, writes, op="conv", rows=None, in_place=None):
    result = {"op": op, "name": name, "line": 1, "reads": reads, "writes": writes, "recompute": False, "flops": 0}
    if in_place is not None:
        result["in_place"] = in_place
    if rows is not None:
        result["rows"] = {str(number): triple for number, triple in rows.items()}
    return result


def plan(buffers, programs, arena, bound, extent, ring=0):
    return {"schema": "unetc-plan/1", "model": "m", "source": "m.unet", "target": "cpu", "batch": 1,
            "micro_batches": 1, "precision": "f32",
            "arena": {"bytes": arena, "align": 64, "lower_bound": bound, "budget": None, "fits": True,
                      "extent": extent},
            "beside": {"loader_ring": ring, "context_estimate": 0},
            "cost": {"flops": 0, "recompute_flops": 0, "recompute_lower_bound_flops": None},
            "buffers": buffers, "programs": programs}


def straight():
    """w persists; a -> b, in place -> c; d is a whole of two slices e and f; g takes a's place."""
    buffers = [buffer(0, "w", "parameter", 0, lifetime="persistent"), buffer(1, "a", "activation", 64),
               buffer(2, "b", "activation", 128), buffer(3, "c", "activation", 128, alias={"same": 2}),
               buffer(4, "d", "activation", 192, 128), buffer(5, "e", "activation", 192, alias={"slice": 4}),
               buffer(6, "f", "activation", 256, alias={"slice": 4}), buffer(7, "g", "activation", 64),
               buffer(8, "loss", "metric", 320), buffer(9, "photo", "staging", 384), slot(10, 0), slot(11, 64)]
    train = [step("one", [0, 9], [1]), step("two", [1], [2]), step("relu", [2], [3], in_place=[3, 2]), step("e", [3], [5]),
             step("f", [3], [6]), step("g", [5, 6], [7]), step("loss", [7], [8]), step("update", [0], [0])]
    predict = [step("one", [0, 9], [1])]
    return plan(buffers, {"train": train, "predict": predict}, 448, 256, {"train": 448, "predict": 448}, 128)


def looped():
    """A loop over samples that adds to `sum`, hands `t` from step to step within one iteration, and averages what a
    running statistic holds."""
    buffers = [buffer(0, "sum", "parameter_gradient", 0), buffer(1, "x", "activation", 64),
               buffer(2, "t", "activation", 128), buffer(3, "u", "activation", 192), buffer(4, "out", "metric", 128),
               buffer(5, "mean", "running_statistic", 256, lifetime="persistent")]
    train = [step("zero", [], [0]), step("x", [], [1]),
             {"loop": "samples", "times": 3,
              "body": [step("t", [1], [2]), step("add", [0, 2], [0]), step("u", [], [3]), step("use", [3], []),
                       step("track", [5, 1], [5])]},
             step("out", [0], [4])]
    return plan(buffers, {"train": train}, 320, 256, {"train": 320})


def banded():
    """Three bands of at most two rows of five, in a loop over samples: a, in place -> b, and c through a window of three
    rows, so that it stays one row behind; u is before the loop over bands what d is behind it."""
    image = {"size": 64, "shape": [1, 1, 5, 3]}
    buffers = [buffer(0, "x", "activation", 0, **image), buffer(1, "a", "activation", 64, **image),
               buffer(2, "b", "activation", 64, alias={"same": 1}, **image), buffer(3, "c", "activation", 128, **image),
               buffer(4, "u", "activation", 192), buffer(5, "loss", "metric", 256), buffer(6, "d", "activation", 192)]
    same = [0, 2, 2]
    bands = [step("a", [0], [1], rows={0: same, 1: same}), step("b", [1], [2], op="relu", rows={1: same, 2: same}, in_place=[2, 1]),
             step("c", [2], [3], op="max_pool", rows={2: [-2, 2, 2], 3: [-1, 1, 2]})]
    body = [step("x", [], [0]), step("u", [], [4]), step("use", [4], [0]), {"loop": "bands", "times": 3, "body": bands},
            step("d", [3], [6]), step("loss", [6], [5])]
    return plan(buffers, {"train": [{"loop": "samples", "times": 3, "body": body}]}, 320, 192, {"train": 320})


def rolling():
    """Ten rows in bands of two: a, a ring of four; b through a window of three rows, in a ring that its reader, the sum, is
    done with in the same iteration; the sum has workspace that lasts from band to band."""
    image = {"size": 64, "shape": [1, 1, 10, 3]}
    buffers = [buffer(0, "a", "activation", 0, alias={"ring": 4}, **image),
               buffer(1, "b", "activation", 64, alias={"ring": 2}, **image), buffer(2, "loss", "metric", 128),
               buffer(3, "scratch", "workspace", 192), buffer(4, "d", "activation", 0)]
    bands = [step("a", [], [0], rows={0: [0, 2, 2]}), step("b", [0], [1], rows={0: [-2, 2, 2], 1: [-1, 1, 2]}),
             step("sum", [1], [2, 3], op="mse", rows={1: [-1, 1, 2]})]
    return plan(buffers, {"train": [{"loop": "bands", "times": 6, "body": bands}, step("d", [], [4])]}, 256, 256, {"train": 256})


def uneven():
    """The same, where b says of each iteration which rows it reads."""
    return change(rolling, (ROLLING + (1, "rows", "0"), [[-1, 2], [0, 4], [2, 6], [4, 8], [6, 10], [8, 11]]))


def leaving():
    """A loss leaves sums for its gradient; behind that their place is free, while the loss itself is returned."""
    buffers = [buffer(0, "loss", "metric", 0), buffer(1, "sums", "metric", 64), buffer(2, "d", "activation_gradient", 128),
               buffer(3, "more", "activation_gradient", 64)]
    train = [step("loss", [], [0, 1], op="dice_loss"), step("d", [1], [2]), step("more", [2], [3]), step("return", [0], [], op="return")]
    return plan(buffers, {"train": train}, 192, 192, {"train": 192})


def packing():
    """Weights are packed once for many predictions."""
    buffers = [buffer(0, "w", "parameter", 0, lifetime="persistent"),
               buffer(1, "packed", "workspace", 64, lifetime="program"), buffer(2, "x", "staging", 128),
               buffer(3, "y", "activation", 192)]
    predict = [dict(step("pack", [0], [1], op="conv_pack"), once=True), step("load", [], [2], op="load"),
               step("conv", [1, 2], [3])]
    return plan(buffers, {"predict": predict}, 256, 256, {"predict": 256})


def side_by_side():
    """Two steps that may run at once, each from a result of its own to one of its own; then one that reads both, in the place of
    what only they read."""
    buffers = [buffer(0, "a", "activation", 0), buffer(1, "b", "activation", 64), buffer(2, "c", "activation", 128),
               buffer(3, "d", "activation", 192), buffer(4, "e", "activation", 0)]
    train = [step("a", [], [0]), step("b", [], [1]), dict(step("c", [0], [2]), section=[1, 1]),
             dict(step("d", [1], [3]), section=[1, 2]), step("e", [2, 3], [4])]
    return plan(buffers, {"train": train}, 256, 256, {"train": 256})


def side_by_side_in_loop():
    """The same at the end of a loop over samples: what reads both stands behind it, in the place of what a step of them read."""
    result = side_by_side()
    train = result["programs"]["train"]
    train[:4] = [{"loop": "samples", "times": 3, "body": train[:4]}]
    result["buffers"][4]["offset"] = 64
    return result


def branches():
    """A gradient by weights in a stream of its own, beside one by data and two that take the place of that."""
    buffers = [buffer(0, "x", "activation", 0), buffer(1, "dy", "activation_gradient", 64),
               buffer(2, "dw", "activation_gradient", 128), buffer(3, "dx", "activation_gradient", 192),
               buffer(4, "dz", "activation_gradient", 192, alias={"same": 3}),
               buffer(5, "dv", "activation_gradient", 192, alias={"same": 4})]
    train = [step("x", [], [0]), step("dy", [0], [1]), dict(step("dw", [0, 1], [2]), section=[1, 2], stream=2),
             dict(step("dx", [1], [3]), section=[1, 1], stream=1),
             dict(step("dz", [3], [4], op="relu", in_place=[4, 3]), section=[1, 1], stream=1),
             dict(step("dv", [4], [5], op="relu", in_place=[5, 4]), section=[1, 1], stream=1), step("end", [2, 5], [])]
    return plan(buffers, {"train": train}, 256, 256, {"train": 256})


def sending():
    """Two gradients, of which one is sent while the other is computed."""
    buffers = [buffer(0, "gradients", "parameter_gradient", 0, 128), buffer(1, "d two", "parameter_gradient", 0, alias={"slice": 0}),
               buffer(2, "d one", "parameter_gradient", 64, alias={"slice": 0}), buffer(3, "room", "parameter_gradient", 128)]
    train = [step("two", [], [1]), step("room", [], [3]), step("first", [1, 3], [], op="rank_start"), step("one", [], [2]),
             step("second", [2, 3], [], op="rank_start"), step("ranks", [1, 2, 3], [1, 2], op="rank_sum"), step("update", [1, 2], [])]
    return plan(buffers, {"train": train}, 192, 192, {"train": 192})


BODY = ("programs", "train", 0, "body")
BANDS = BODY + (3, "body")
ROLLING = ("programs", "train", 0, "body")


def change(make, *changes):
    """A plan of MAKE with values set: each change is (path, value)."""
    result = copy.deepcopy(make())
    for path, value in changes:
        place = result
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
    return result


# What is planted: the law that must be named, and the changes.
FAULTS = [
    ("schema", straight, [(("schema",), "unetc-plan/2")]),
    ("schema", straight, [(("buffers", 1, "id"), 2)]),
    ("schema", straight, [(("buffers", 1, "class"), "leftover")]),
    ("schema", straight, [(("buffers", 3, "alias"), {"same": 99})]),
    ("schema", straight, [(("buffers", 2, "alias"), {"same": 3})]),
    ("schema", straight, [(("programs", "train", 1, "reads"), [77])]),
    ("written", straight, [(("programs", "train", 0, "writes"), [])]),
    ("overlap", straight, [(("buffers", 2, "offset"), 64), (("buffers", 3, "offset"), 64)]),
    ("overlap", straight, [(("buffers", 7, "offset"), 192)]),
    ("overlap", straight, [(("buffers", 8, "offset"), 0)]),
    ("overlap", straight, [(("buffers", 9, "offset"), 0)]),
    ("overlap", straight, [(("buffers", 3, "alias"), None)]),
    ("same", straight, [(("programs", "train", 4, "reads"), [2])]),
    ("same", straight, [(("buffers", 3, "offset"), 64)]),
    # an operator that cannot work in place, or in the place of another operand; what the step does not touch
    ("same", straight, [(("programs", "train", 2), step("conv", [2], [3]))]),
    ("same", straight, [(("programs", "train", 2), step("conv", [2, 1], [3], in_place=[3, 1]))]),
    ("schema", straight, [(("programs", "train", 2, "in_place"), [3, 1])]),
    ("slice", straight, [(("buffers", 6, "offset"), 192)]),
    ("slice", straight, [(("buffers", 6, "offset"), 320)]),
    ("align", straight, [(("buffers", 1, "offset"), 32)]),
    ("bounds", straight, [(("buffers", 9, "offset"), 448)]),
    ("bounds", straight, [(("arena", "extent", "predict"), 64)]),
    ("bytes", straight, [(("buffers", 1, "shape"), [17])]),
    ("arena", straight, [(("arena", "bytes"), 512)]),
    ("arena", straight, [(("arena", "bytes"), 512), (("arena", "extent", "train"), 512)]),
    ("lower_bound", straight, [(("arena", "lower_bound"), 320)]),
    ("budget", straight, [(("arena", "budget"), 400)]),
    ("budget", straight, [(("arena", "bytes"), 2**63 - 1)]),
    ("cost", straight, [(("cost", "recompute_lower_bound_flops"), 1)]),
    # x is needed again in the next turn: what the body reads it may not overwrite
    ("overlap", looped, [(("buffers", 3, "offset"), 64)]),
    ("overlap", looped, [(("buffers", 3, "offset"), 0)]),
    # with this read, t is carried around the loop and out may not take its place any earlier than it does,
    # while u may not share its place at all
    ("overlap", looped, [(("programs", "train", 2, "body", 3, "reads"), [2, 3]), (("buffers", 3, "offset"), 128)]),
    ("written", looped, [(("programs", "train", 2, "body", 0, "reads"), [1, 2])]),
    # the optimiser's parameters lie on an activation that is alive; an activation is moved onto them
    ("overlap", straight, [(("buffers", 0, "offset"), 64)]),
    ("overlap", straight, [(("buffers", 4, "offset"), 0), (("buffers", 5, "offset"), 0), (("buffers", 6, "offset"), 64)]),
    # the optimiser writes what it does not say it reads; a parameter's storage is given back
    ("persistent", straight, [(("programs", "train", 7, "reads"), [])]),
    ("persistent", straight, [(("buffers", 0, "lifetime"), "step")]),
    ("updated", straight, [(("programs", "train", 0), step("update", [0, 9], [0, 1])), (("programs", "train", 5, "reads"), [0, 5, 6])]),
    # a running statistic is summed in a loop: set to zero in front of it, with or without reading it
    ("persistent", looped, [(("programs", "train", 0), step("zero", [], [5], op="zero"))]),
    ("persistent", looped, [(("programs", "train", 0), step("zero", [5], [5], op="zero"))]),
    ("persistent", looped, [(("programs", "train", 2, "body", 4, "reads"), [1])]),
    # the second prediction finds something else than what was packed; reads an input of the first; what it reads was
    # made behind what it is told
    ("once", packing, [(("buffers", 1, "lifetime"), "step")]),
    ("once", packing, [(("programs", "predict", 0, "reads"), [0, 2])]),
    ("once", packing, [(("programs", "predict", 1, "once"), True)]),
    ("loaded", packing, [(("buffers", 0, "lifetime"), "step"), (("buffers", 0, "class"), "staging"), (("programs", "predict", 1, "reads"), [0, 1, 2])]),
    ("once", packing, [(("programs", "predict", 0), step("load", [], [2], op="load")),
                       (("programs", "predict", 1), dict(step("pack", [0], [1]), once=True))]),
    ("space", straight, [(("buffers", 11, "offset"), 32)]),
    ("space", straight, [(("buffers", 11, "offset"), 128)]),
    ("space", straight, [(("beside", "loader_ring"), 192)]),
    ("space", straight, [(("buffers", 11, "class"), "activation")]),
    ("space", straight, [(("programs", "train", 0, "reads"), [0, 10])]),
    ("schema", straight, [(("buffers", 10, "space"), "moon")]),
    ("overlap", straight, [(("buffers", 10, "space"), "device")]),
    # a band reads rows that are not computed yet; leaves out rows; computes some twice; does not come to the end
    ("bands", banded, [(BANDS + (2, "rows", "2"), [-2, 3, 2])]),
    ("bands", banded, [(BANDS + (2, "rows", "2"), [-1, 3, 2]), (BANDS + (2, "rows", "3"), [0, 2, 2])]),
    ("bands", banded, [(BANDS + (2, "rows", "3"), [-1, 1, 3])]),
    ("bands", banded, [(BANDS + (2, "rows", "3"), [-2, 1, 2])]),
    ("bands", banded, [(BODY + (3, "times"), 2)]),
    # the same where rows are said for each iteration
    ("bands", banded, [(BANDS + (2, "rows", "2"), [[-2, 2], [0, 5], [2, 6]])]),
    # a band reads all of what the loop writes; does not say which rows it writes
    ("bands", banded, [(BANDS + (2, "rows"), {"3": [-1, 1, 2]})]),
    ("schema", banded, [(BANDS + (2, "rows"), {"2": [-2, 2, 2]})]),
    # in place by rows: the row that c reads was overwritten by b, an iteration ago
    ("bands", banded, [(BANDS + (2, "reads"), [1]), (BANDS + (2, "rows"), {"1": [-2, 2, 2], "3": [-1, 1, 2]})]),
    # what was there in front of the loop, or is read behind it, cannot be taken row by row
    ("same", banded, [(BODY + (4, "reads"), [1, 3])]),
    ("overlap", banded, [(("buffers", 2, "alias"), None)]),
    # an activation of the loop lives through all of it: a scratch of its first step may not lie on its last result
    ("overlap", banded, [(("buffers", 3, "offset"), 0)]),
    # a ring that is too short, that something else touches, or that a step takes as a whole; sums that two steps share
    ("bands", rolling, [(("buffers", 0, "alias"), {"ring": 3})]),
    ("bands", rolling, [(("buffers", 1, "alias"), {"ring": 1})]),
    ("schema", rolling, [(("buffers", 1, "alias"), {"ring": 0})]),
    ("bytes", rolling, [(("buffers", 0, "alias"), {"ring": 6})]),
    ("ring", rolling, [(("programs", "train", 1, "reads"), [1])]),
    ("ring", rolling, [(ROLLING + (2, "rows"), {"0": [-1, 1, 2]}), (ROLLING + (2, "reads"), [0, 1])]),
    ("bands", rolling, [(ROLLING + (1, "writes"), [1, 2])]),
    # the scratch of a sum takes the place of what another step makes in each band
    ("overlap", rolling, [(("buffers", 3, "offset"), 64)]),
    # rows of iterations that do not move on evenly: one that is not there yet; none at all; an end in front of a beginning
    ("bands", uneven, [(ROLLING + (1, "rows", "0", 1), [0, 5])]),
    ("schema", uneven, [(ROLLING + (1, "rows", "0"), [])]),
    ("schema", uneven, [(ROLLING + (1, "rows", "0", 2), [6, 2])]),
    # what is returned is overwritten; and what the gradient still reads
    ("overlap", leaving, [(("buffers", 3, "offset"), 0)]),
    ("overlap", leaving, [(("buffers", 2, "offset"), 64)]),
    # nobody returns the loss: all that it writes may be it
    ("overlap", leaving, [(("programs", "train", 3, "reads"), [])]),
    # of two steps that run at once: the second takes the place of what the first reads; reads what the first writes, in
    # front of their join; writes the same; what reads both is one of them; a section in two pieces
    ("overlap", side_by_side, [(("buffers", 3, "offset"), 0)]),
    ("section", side_by_side, [(("buffers", 3, "offset"), 0)]),
    ("section", side_by_side, [(("programs", "train", 3, "reads"), [2])]),
    ("section", side_by_side, [(("programs", "train", 3, "writes"), [2, 3])]),
    ("section", side_by_side, [(("programs", "train", 4, "section"), [1, 3])]),
    ("section", side_by_side, [(("programs", "train", 0, "section"), [1, 1])]),
    ("section", side_by_side_in_loop, [(("programs", "train", 1, "section"), [1, 3])]),
    ("schema", side_by_side, [(("programs", "train", 2, "section"), [1])]),
    # the branch reads what the other one computes, in front of their join; the other one takes the place of what the branch
    # reads; one of the steps has no stream, a wrong one, or a stream and no section
    ("section", branches, [(("programs", "train", 2, "reads"), [0, 3])]),
    ("section", branches, [(("programs", "train", 2, "reads"), [0, 4])]),
    ("section", branches, [(("buffers", 4, "alias"), {"same": 1}), (("buffers", 4, "offset"), 64)]),
    ("section", branches, [(("programs", "train", 3), dict(step("dx", [1], [3]), section=[1, 1]))]),
    ("schema", branches, [(("programs", "train", 3, "stream"), 2)]),
    ("schema", branches, [(("programs", "train", 6, "stream"), 1)]),
    # a gradient is written behind its bucket, or read before all are summed; one is not sent; nobody waits
    ("bucket", sending, [(("programs", "train", 3, "writes"), [2, 1])]),
    ("bucket", sending, [(("programs", "train", 3, "reads"), [1])]),
    ("bucket", sending, [(("programs", "train", 4, "reads"), [3])]),
    ("bucket", sending, [(("programs", "train", 5, "op"), "add")]),
    ("schema", banded, [(BANDS + (0,), step("a", [0], [1]))]),
    ("schema", banded, [(BANDS + (0, "rows"), {"0": [0, 2, 2]})]),
    ("schema", banded, [(BODY + (0,), step("x", [], [0], rows={0: [0, 2, 2]}))]),
    ("schema", banded, [(BODY + (3, "loop"), "columns")]),
]


def main():
    failures = 0
    for make in (straight, looped, banded, rolling, uneven, leaving, packing, side_by_side, side_by_side_in_loop, branches, sending):
        complaints = check_plan.judge(make())
        if complaints:
            failures += 1
            print("%s is sound, but: %s" % (make.__name__, complaints))
    for law, make, changes in FAULTS:
        complaints = check_plan.judge(change(make, *changes))
        if not any(complaint.startswith(law + ":") for complaint in complaints):
            failures += 1
            print("planted %s by %s, found %s" % (law, changes, complaints))
    print("%d planted faults, %d not found" % (len(FAULTS), failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

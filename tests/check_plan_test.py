#!/usr/bin/env python3
"""Plants one fault at a time in small plans made by hand and looks whether check_plan.py names the law."""

import copy
import sys

import check_plan


def buffer(number, name, kind, offset, size=64, lifetime="step", alias=None):
    return {"id": number, "name": name, "class": kind, "lifetime": lifetime, "line": 1, "dtype": "f32",
            "shape": [size // 4], "bytes": size, "offset": offset, "alias": alias}


def step(name, reads, writes):
    return {"op": "conv", "name": name, "line": 1, "reads": reads, "writes": writes, "recompute": False, "flops": 0}


def plan(buffers, programs, arena, bound, extent):
    return {"schema": "unetc-plan/1", "model": "m", "source": "m.unet", "target": "cpu", "batch": 1,
            "micro_batches": 1, "precision": "f32",
            "arena": {"bytes": arena, "align": 64, "lower_bound": bound, "budget": None, "fits": True,
                      "extent": extent},
            "beside": {"loader_ring": 0, "context_estimate": 0},
            "cost": {"flops": 0, "recompute_flops": 0, "recompute_lower_bound_flops": None},
            "buffers": buffers, "programs": programs}


def straight():
    """w persists; a -> b, in place -> c; d is a whole of two slices e and f; g takes a's place."""
    buffers = [buffer(0, "w", "parameter", 0, lifetime="persistent"), buffer(1, "a", "activation", 64),
               buffer(2, "b", "activation", 128), buffer(3, "c", "activation", 128, alias={"same": 2}),
               buffer(4, "d", "activation", 192, 128), buffer(5, "e", "activation", 192, alias={"slice": 4}),
               buffer(6, "f", "activation", 256, alias={"slice": 4}), buffer(7, "g", "activation", 64),
               buffer(8, "loss", "metric", 320), buffer(9, "photo", "staging", 384)]
    train = [step("one", [0, 9], [1]), step("two", [1], [2]), step("relu", [2], [3]), step("e", [3], [5]),
             step("f", [3], [6]), step("g", [5, 6], [7]), step("loss", [7], [8]), step("update", [0], [0])]
    predict = [step("one", [0, 9], [1])]
    return plan(buffers, {"train": train, "predict": predict}, 448, 256, {"train": 448, "predict": 448})


def looped():
    """A loop over samples that adds to `sum` and hands `t` from step to step within one turn."""
    buffers = [buffer(0, "sum", "parameter_gradient", 0), buffer(1, "x", "activation", 64),
               buffer(2, "t", "activation", 128), buffer(3, "u", "activation", 192), buffer(4, "out", "metric", 128)]
    train = [step("zero", [], [0]), step("x", [], [1]),
             {"loop": "samples", "times": 3,
              "body": [step("t", [1], [2]), step("add", [0, 2], [0]), step("u", [], [3]), step("use", [3], [])]},
             step("out", [0], [4])]
    return plan(buffers, {"train": train}, 256, 192, {"train": 256})


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
    ("cost", straight, [(("cost", "recompute_lower_bound_flops"), 1)]),
    # x is needed again in the next turn: what the body reads it may not overwrite
    ("overlap", looped, [(("buffers", 3, "offset"), 64)]),
    ("overlap", looped, [(("buffers", 3, "offset"), 0)]),
    # with this read, t is carried around the loop and out may not take its place any earlier than it does,
    # while u may not share its place at all
    ("overlap", looped, [(("programs", "train", 2, "body", 3, "reads"), [2, 3]), (("buffers", 3, "offset"), 128)]),
    ("written", looped, [(("programs", "train", 2, "body", 0, "reads"), [1, 2])]),
]


def main():
    failures = 0
    for make in (straight, looped):
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

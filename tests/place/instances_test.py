#!/usr/bin/env python3
"""The program `place` on published problems: the answers are judged here, the time is bounded.

A to F of MiniMalloc's challenging set into 1,048,576 bytes, all six within three seconds; a ResNet-50 of 1,042
buffers and recompute plans of U-Nets into the largest number of bytes alive at a time.

The problems lie in $UNETC_SHARED/instances, by default in ../shared/instances beside the repository.

usage: instances_test.py PLACE [FACTOR]
FACTOR: by how much the build may be slower than an optimised one, for sanitizers.
"""
import csv
import glob
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


def read(path):
    with open(path, newline="", encoding="ascii") as file:
        return [{key: int(value) for key, value in row.items()} for row in csv.DictReader(file)]


def largest_alive(rows):
    change = sorted([(r["upper"], -r["size"]) for r in rows] + [(r["lower"], r["size"]) for r in rows])
    alive = most = 0
    for _, size in change:
        alive += size
        most = max(most, alive)
    return most


def judge(given, placed, capacity):
    assert [dict(row, offset=0) for row in given] == [dict(row, offset=0) for row in placed], "rows changed"
    for i, a in enumerate(placed):
        assert 0 <= a["offset"] and a["offset"] + a["size"] <= capacity, a
        for b in placed[:i]:
            together = a["lower"] < b["upper"] and b["lower"] < a["upper"]
            apart = a["offset"] + a["size"] <= b["offset"] or b["offset"] + b["size"] <= a["offset"]
            assert not together or apart, (a, b)


def solve(place, path, output, capacity=None):
    given = read(path)
    bound = largest_alive(given)
    capacity = capacity or bound
    answer = subprocess.run([place, path, "--capacity", str(capacity), "--output", output],
                            capture_output=True, text=True, timeout=120, check=False)
    assert answer.returncode == 0, (path, answer)
    found = dict(line.split() for line in answer.stdout.splitlines())
    assert int(found["lower_bound"]) == bound, path
    placed = read(output)
    judge(given, placed, capacity)
    assert int(found["arena"]) == max(row["offset"] + row["size"] for row in placed), path
    seconds = float(found["seconds"])
    print(f"{os.path.basename(path)}: {found['arena']} of {bound}, {1000 * seconds:.2f} ms")
    return seconds


def main():
    place = sys.argv[1]
    factor = float(sys.argv[2]) if len(sys.argv) > 2 else 1
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    folder = os.path.join(os.environ.get("UNETC_SHARED", os.path.join(root, "..", "shared")), "instances")
    hard = sorted(glob.glob(os.path.join(folder, "[A-F].1048576.csv")))
    plans = sorted(glob.glob(os.path.join(folder, "offset", "*.csv")))
    large = os.path.join(folder, "resnet50.csv")
    if len(hard) != 6 or not plans or not os.path.exists(large):
        print(f"SKIPPED: there are no problems in {folder}")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as scratch:
        output = os.path.join(scratch, "out.csv")
        seconds = sum(solve(place, path, output, 1048576) for path in hard)
        print(f"A to F: {1000 * seconds:.2f} ms")
        assert seconds < 3 * factor
        assert solve(place, large, output, 1515472556) < 3 * factor
        for path in plans:
            assert min(solve(place, path, output) for _ in range(3)) < 0.01 * factor


main()

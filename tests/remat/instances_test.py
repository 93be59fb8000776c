#!/usr/bin/env python3
"""The program `remat` on published problems; every schedule is judged here.

A U-Net with a VGG16 encoder: batch 61 in 16e9 bytes less two copies of its parameters, at no more than one extra
forward pass.  A U-Net of 64 to 512 channels at four budgets: within 0.05 % of 2.661, 8.143, 12.631 and 19.210 %.
(Optima for the given order are 2.661, 11.638 and 17.504 % for the first three; 11.535 and 18.113 % are known for the last two.)

The problems lie in $UNETC_SHARED/instances, by default in ../shared/instances beside the repository.

usage: instances_test.py REMAT
"""
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


class Graph:
    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            rows = [tuple(map(int, line.split())) for line in file]
        self.count, nedge, self.forward = rows[0]
        self.bytes = [row[0] for row in rows[1:self.count + 1]]
        self.cost = [row[1] for row in rows[1:self.count + 1]]
        self.reads = [set() for _ in range(self.count)]
        for writer, reader in rows[self.count + 1:]:
            self.reads[reader].add(writer)
        assert len(rows) == 1 + self.count + nedge

    def judge(self, order):
        """The peak and the cost of a schedule."""
        assert set(order) == set(range(self.count))
        alive, peak = set(), 0
        for operation in reversed(order):
            during = alive | self.reads[operation] | {operation}
            peak = max(peak, sum(self.bytes[tensor] for tensor in during))
            alive = during - {operation}
        assert not alive, f"read before they are written: {alive}"
        return peak, sum(self.cost[operation] for operation in order)


def solve(remat, path, memory, most_cost, output):
    answer = subprocess.run([remat, path, "--mem", str(memory), "--max-cost", str(most_cost), "--output", output],
                            capture_output=True, text=True, timeout=300, check=False)
    assert answer.returncode == 0, answer
    printed = dict(line.split() for line in answer.stdout.splitlines())
    with open(output, encoding="ascii") as file:
        order = [int(line) for line in file]
    graph = Graph(path)
    peak, cost = graph.judge(order)
    assert peak == int(printed["peak"]) <= memory, printed
    assert int(printed["cost_lower_bound"]) <= cost == int(printed["cost"]) <= most_cost, printed
    assert int(printed["peak_lower_bound"]) <= peak
    base = sum(graph.cost)
    print(f"{os.path.basename(path)} in {memory}: {100 * (cost / base - 1):.3f} % more, "
          f"at least {100 * (int(printed['cost_lower_bound']) / base - 1):.3f} %, {printed['seconds']} s")


def main():
    shared = os.environ.get("UNETC_SHARED") or os.path.join(os.path.dirname(__file__), "../../../shared")
    folder = os.path.join(shared, "instances")
    vgg, plain = os.path.join(folder, "vggunet.txt"), os.path.join(folder, "plain_unet_b16_512.txt")
    if not os.path.exists(vgg) or not os.path.exists(plain):
        print(f"SKIPPED: no problems in {folder}")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as scratch:
        output = os.path.join(scratch, "operations.txt")
        graph = Graph(vgg)
        most = sum(graph.cost) + sum(graph.cost[:graph.forward])
        solve(sys.argv[1], vgg, (16 * 10**9 - 8 * 12332755) // 61, most, output)
        base = sum(Graph(plain).cost)
        for mebibytes, percent in ((7000, 2.661), (5200, 8.143), (4608, 12.631), (4200, 19.210)):
            most = int(base * (1 + percent / 100) * 1.0005)
            solve(sys.argv[1], plain, mebibytes * 1024, most, output)


main()

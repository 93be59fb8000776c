#!/usr/bin/env python3
"""The optimum of recomputation for the given order of first runs, by integer programming (HiGHS through SciPy).

usage: remat_ilp.py FILE.txt --mem N [--seconds S]

FILE.txt is what `remat` reads.  Prints the cost, the bound that the solver proved and the seconds it took; `remat`
may undercut both, since it orders the operations anew.

Stage t computes operation t for the first time, after any operations i < t again.  R[t, i]: operation i runs in
stage t.  S[t, i]: its tensor is alive when stage t begins.  F[t, i, k]: tensor i is freed in stage t after k ran.
The bytes alive after each operation of each stage follow from these, and are bounded by N.
"""
import argparse
import time

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix


class Program:
    """Variables and rows of an integer program, added one by one."""

    def __init__(self):
        self.cost, self.low, self.high, self.whole = [], [], [], []
        self.row, self.column, self.value, self.row_low, self.row_high = [], [], [], [], []

    def variable(self, cost=0.0, low=0.0, high=1.0, whole=True):
        self.cost.append(cost)
        self.low.append(low)
        self.high.append(high)
        self.whole.append(whole)
        return len(self.cost) - 1

    def constrain(self, terms, low, high):
        for variable, value in terms:
            self.row.append(len(self.row_low))
            self.column.append(variable)
            self.value.append(value)
        self.row_low.append(low)
        self.row_high.append(high)

    def solve(self, seconds):
        matrix = csr_matrix((self.value, (self.row, self.column)), (len(self.row_low), len(self.cost)))
        return milp(np.array(self.cost), integrality=np.array(self.whole, dtype=int),
                    bounds=Bounds(self.low, self.high),
                    constraints=LinearConstraint(matrix, self.row_low, self.row_high),
                    options={"time_limit": seconds, "mip_rel_gap": 1e-4})


def read_graph(path):
    with open(path, encoding="ascii") as file:
        rows = [tuple(map(int, line.split())) for line in file]
    count = rows[0][0]
    edges = sorted(set(rows[count + 1:]))
    return [row[0] for row in rows[1:count + 1]], [row[1] for row in rows[1:count + 1]], edges


def freed_variables(program, stage, readers, runs, alive, last):
    """F of one stage: tensor i is freed after k, one of its readers or i itself, if k runs, i is not alive in the
    next stage and no later reader runs in this one."""
    freed = {}
    for i in range(stage + 1):
        for k in [i] + [reader for reader in readers[i] if reader <= stage]:
            f = freed[i, k] = program.variable(whole=False)
            later = [runs[stage, j] for j in readers[i] if k < j <= stage]
            blockers = later + ([] if stage == last else [alive[stage + 1, i]])
            program.constrain([(f, 1), (runs[stage, k], -1)], -np.inf, 0)
            for blocker in blockers:
                program.constrain([(f, 1), (blocker, 1)], -np.inf, 1)
    return freed


def formulate(size, cost, edges, memory):
    program, count = Program(), len(size)
    unit = float(max(size)) or 1.0
    reads = [[u for u, v in edges if v == i] for i in range(count)]
    readers = [[v for u, v in edges if u == i] for i in range(count)]
    runs = {(t, i): program.variable(cost=cost[i], low=float(i == t)) for t in range(count) for i in range(t + 1)}
    alive = {(t, i): program.variable() for t in range(1, count) for i in range(t)}
    for (t, i), run in runs.items():
        for u in reads[i]:
            kept = [(alive[t, u], -1)] if (t, u) in alive else []
            program.constrain([(run, 1), (runs[t, u], -1)] + kept, -np.inf, 0)
    for (t, i), kept in alive.items():
        before = [(alive[t - 1, i], -1)] if (t - 1, i) in alive else []
        program.constrain([(kept, 1), (runs[t - 1, i], -1)] + before, -np.inf, 0)
    for t in range(count):
        freed = freed_variables(program, t, readers, runs, alive, count - 1)
        used = program.variable(high=memory / unit, whole=False)
        start = [(alive[t, i], -size[i] / unit) for i in range(t)] if t > 0 else []
        program.constrain([(used, 1), (runs[t, 0], -size[0] / unit)] + start, 0, 0)
        for k in range(t):
            following = program.variable(high=memory / unit, whole=False)
            released = [(freed[i, k], size[i] / unit) for i in reads[k] + [k]]
            program.constrain([(following, 1), (used, -1), (runs[t, k + 1], -size[k + 1] / unit)] + released, 0, 0)
            used = following
    return program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--mem", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=600)
    arguments = parser.parse_args()
    size, cost, edges = read_graph(arguments.file)
    start = time.monotonic()
    answer = formulate(size, cost, edges, arguments.mem).solve(arguments.seconds)
    base = sum(cost)
    for name, value in (("cost", answer.fun), ("bound", getattr(answer, "mip_dual_bound", None))):
        if value is not None:
            print(f"{name} {round(value)} ({100 * (value / base - 1):.3f} % more)")
    print(f"{answer.message}\nseconds {time.monotonic() - start:.1f}")


main()

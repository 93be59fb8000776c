#!/usr/bin/env python3
"""The optimum of recomputation for the given order of first runs, by integer programming (HiGHS through SciPy).

usage: remat_ilp.py FILE.txt --mem N [--order OPS] [--at-most C] [--seconds S]

FILE.txt is what `remat` reads.  Prints the cost, the bound that the solver proved and the seconds it took; `remat`
may undercut both, since it orders the operations anew.  With --order, first runs are in the order of a schedule that
`remat` found; with --at-most, only schedules of at most that cost are sought, which makes it easier to show that
there are none.

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


class Graph:
    """What `remat` reads, or the same operations in another order."""

    def __init__(self, path):
        with open(path, encoding="ascii") as file:
            texts = [line.split("#")[0].split() for line in file]
        rows = [list(map(int, text)) for text in texts if text]
        count = rows[0][0]
        operations = [row + [0, 0, 0] for row in rows[1:count + 1]]
        self.bytes, self.cost, self.scratch, self.once, self.kept = (
            [operation[k] for operation in operations] for k in range(5))
        self.reads = [set() for _ in range(count)]
        self.place = [-1] * count  # the operation whose tensor's place may be taken
        for row in rows[count + 1:]:
            self.reads[row[1]].add(row[0])
            if row[2:] == [1] and self.bytes[row[1]] <= self.bytes[row[0]] and not self.kept[row[0]]:
                self.place[row[1]] = row[0]

    def reorder(self, order):
        """Numbers the operations anew: ORDER lists them as they are now."""
        new = {old: k for k, old in enumerate(order)}
        for name in ("bytes", "cost", "scratch", "once", "kept"):
            setattr(self, name, [getattr(self, name)[old] for old in order])
        self.reads = [{new[u] for u in self.reads[old]} for old in order]
        self.place = [new.get(self.place[old], -1) for old in order]


def first_runs(path):
    with open(path, encoding="ascii") as file:
        return list(dict.fromkeys(int(line) for line in file))


def freed_variables(program, graph, stage, readers, runs, alive):
    """F of one stage: tensor i is freed after k, one of its readers or i itself, if k runs, i is not alive in the
    next stage and no later reader runs in this one."""
    freed = {}
    for i in range(stage + 1):
        if graph.kept[i]:
            continue
        for k in [i] + [reader for reader in readers[i] if reader <= stage]:
            f = freed[i, k] = program.variable(whole=False)
            later = [runs[stage, j] for j in readers[i] if k < j <= stage]
            blockers = later + ([alive[stage + 1, i]] if (stage + 1, i) in alive else [])
            program.constrain([(f, 1), (runs[stage, k], -1)], -np.inf, 0)
            for blocker in blockers:
                program.constrain([(f, 1), (blocker, 1)], -np.inf, 1)
    return freed


def bound_memory(program, graph, stage, memory, runs, alive, freed):
    """The bytes alive while and after each operation of one stage; U, kept small, are those after it."""
    unit = float(max(graph.bytes)) or 1.0
    used = [(alive[stage, i], graph.bytes[i] / unit) for i in range(stage) if (stage, i) in alive]
    for k in range(stage + 1):
        run, place = runs[stage, k], graph.place[k]
        during = used + [(run, (graph.bytes[k] + graph.scratch[k]) / unit)]
        if place >= 0:
            during = during + [(freed[place, k], -graph.bytes[k] / unit)]
        program.constrain(during, -np.inf, memory / unit)
        after = program.variable(high=memory / unit, whole=False)
        released = [(freed[i, k], graph.bytes[i] / unit) for i in graph.reads[k] | {k} if (i, k) in freed]
        program.constrain([(after, 1), (run, -graph.bytes[k] / unit)] + released +
                          [(variable, -value) for variable, value in used], 0, 0)
        used = [(after, 1.0)]


def formulate(graph, memory, most_cost):
    program, count = Program(), len(graph.bytes)
    readers = [[v for v in range(count) if u in graph.reads[v]] for u in range(count)]
    runs = {(t, i): program.variable(cost=graph.cost[i], low=float(i == t),
                                     high=float(i == t or (readers[i] != [] and not graph.once[i])))
            for t in range(count) for i in range(t + 1)}
    alive = {(t, i): program.variable(low=float(graph.kept[i]))
             for t in range(1, count) for i in range(t) if readers[i] or graph.kept[i]}
    for (t, i), run in runs.items():
        for u in graph.reads[i]:
            kept = [(alive[t, u], -1)] if (t, u) in alive else []
            program.constrain([(run, 1), (runs[t, u], -1)] + kept, -np.inf, 0)
    for (t, i), kept in alive.items():
        before = [(alive[t - 1, i], -1)] if (t - 1, i) in alive else []
        program.constrain([(kept, 1), (runs[t - 1, i], -1)] + before, -np.inf, 0)
    for t in range(count):
        freed = freed_variables(program, graph, t, readers, runs, alive)
        bound_memory(program, graph, t, memory, runs, alive, freed)
    if most_cost is not None:
        base = float(sum(graph.cost))
        program.constrain([(run, graph.cost[i] / base) for (t, i), run in runs.items()], -np.inf, most_cost / base)
    return program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--mem", type=int, required=True)
    parser.add_argument("--order", help="first runs in the order of this file, as `remat --output` writes it")
    parser.add_argument("--at-most", type=int, help="a cost")
    parser.add_argument("--seconds", type=float, default=600)
    arguments = parser.parse_args()
    graph = Graph(arguments.file)
    if arguments.order:
        graph.reorder(first_runs(arguments.order))
    start = time.monotonic()
    base = sum(graph.cost)
    answer = formulate(graph, arguments.mem, arguments.at_most).solve(arguments.seconds)
    for name, value in (("cost", answer.fun), ("bound", getattr(answer, "mip_dual_bound", None))):
        if value is not None and np.isfinite(value):
            print(f"{name} {round(value)} ({100 * (value / base - 1):.3f} % more)")
    print(f"{answer.message}\nseconds {time.monotonic() - start:.1f}")


main()

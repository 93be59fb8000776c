"""Draws problems of what to compute again, and compares what `remat` finds with the best that is known.

    families.py [--record] [--effort=N] [--numbers=BEGIN:END] REMAT

A problem is one step of training of a drawn net: a chain, a U-Net, residual or dense blocks, or branches.  Its sizes and costs are
those of real layers.  It has no need of the compiler, so it never changes.  Each problem has one capacity, drawn between the least
bytes that can do and the bytes of everything kept.  best.json beside this file has the least cost that any search ever found.

The test fails if an answer is worse than LIMITS say.  --record searches LONG times as long and keeps what is better.
"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BEST = os.path.join(HERE, "best.json")
NUMBERS = range(0, 40)
EFFORT = 50_000_000
LONG = 100
LIMITS = {"median": 0.1, "90th percentile": 3.0, "largest": 6.0}  # per cent above the best cost


class Net:
    """The operations of the forward pass.  A tensor is the number of the operation that makes it; the picture is -1."""

    def __init__(self, r):
        self.r = r
        self.batch, self.side = r.choice([1, 2, 4, 8]), r.choice([64, 96, 128])
        self.kind, self.inputs, self.shape, self.cost = [], [], [], []
        self.picture = (3, self.side)

    def shape_of(self, x):
        return self.picture if x < 0 else self.shape[x]

    def elements(self, x):
        c, side = self.shape_of(x)
        return self.batch * c * side * side

    def add(self, kind, inputs, shape, work=1):
        """WORK: operations for each element of the result."""
        self.kind.append(kind)
        self.inputs.append(inputs)
        self.shape.append(shape)
        made = len(self.kind) - 1
        self.cost.append(work * self.elements(made) + 16 * (self.elements(made) + sum(map(self.elements, inputs))))
        return made

    def layer(self, x, width):
        c, side = self.shape_of(x)
        k = self.r.choice([1, 3, 3, 3])
        x = self.add("conv", [x], (width, side), 2 * k * k * c)
        if self.r.random() < 0.6:
            x = self.add("norm", [x], (width, side), 8)
        return self.add("act", [x], (width, side), 2)

    def layers(self, x, width, count):
        for _ in range(count):
            x = self.layer(x, width)
        return x

    def pool(self, x):
        c, side = self.shape_of(x)
        return self.add("pool", [x], (c, side // 2), 4)

    def up(self, x, width):
        c, side = self.shape_of(x)
        return self.add("conv", [x], (width, 2 * side), 2 * c)

    def concat(self, inputs):
        return self.add("concat", inputs, (sum(self.shape_of(x)[0] for x in inputs), self.shape_of(inputs[0])[1]))


def chain(net, r):
    x, width = -1, r.choice([8, 16, 32])
    for _ in range(r.randint(5, 12)):
        width = r.choice([width, width, min(96, 2 * width), max(8, width // 2)])
        x = net.layer(x, width)
    return x


def unet(net, r):
    levels, count, base = r.randint(2, 4), r.randint(1, 2), r.choice([8, 16, 24])
    x, skips = -1, []
    for k in range(levels):
        skips.append(net.layers(x, base << k, count))
        x = net.pool(skips[-1])
    x = net.layers(x, base << levels, count)
    for k in reversed(range(levels)):
        x = net.layers(net.concat([net.up(x, base << k), skips[k]]), base << k, count)
    return x


def residual(net, r):
    width = r.choice([8, 16, 32])
    x = net.layer(-1, width)
    for _ in range(r.randint(2, 6)):
        x = net.add("add", [x, net.layers(x, width, r.randint(1, 2))], net.shape_of(x))
    return x


def dense(net, r):
    x, growth = net.layer(-1, 16), r.choice([4, 8, 12])
    for _ in range(r.randint(1, 2)):
        for _ in range(r.randint(2, 5)):
            x = net.concat([x, net.layer(x, growth)])
        x = net.layer(x, 16)
    return x


def branches(net, r):
    x = net.layer(-1, 16)
    for _ in range(r.randint(1, 3)):
        x = net.layer(net.concat([net.layers(x, r.choice([4, 8, 16]), r.randint(1, 2)) for _ in range(r.randint(2, 4))]), 16)
    return x


class Problem:
    """All operations of a step: rows `bytes cost scratch once kept`, and what reads what."""

    def __init__(self, number):
        r = random.Random(number)
        net = Net(r)
        (chain, unet, residual, dense, branches)[number % 5](net, r)
        self.net, self.rows, self.edges = net, [], []
        for o, inputs in enumerate(net.inputs):
            self.add(4 * net.elements(o), net.cost[o], [x for x in inputs if x >= 0], in_place=net.kind[o] == "act")
        self.nforward, last = len(self.rows), len(net.inputs) - 1
        gradient = {last: self.add(4 * net.elements(last), 4 * net.elements(last), [last], once=1)}
        for o in reversed(range(len(net.inputs))):
            self.add_gradients(o, gradient)
        self.share = r.uniform(0.05, 0.5)

    def add(self, size, cost, reads, once=0, kept=0, in_place=False):
        self.rows.append((size, cost, 0, once, kept))
        made = len(self.rows) - 1
        self.edges += [(u, made, int(in_place and i == 0)) for i, u in enumerate(dict.fromkeys(reads))]
        return made

    def add_gradients(self, o, gradient):
        """The gradients of what operation O reads, of the gradient of its result."""
        net, dy = self.net, gradient[o]
        kind, cost = net.kind[o], net.cost[o]
        if kind == "conv":
            x = net.inputs[o][0]
            self.add(4 * net.shape_of(x)[0] * net.shape[o][0], cost, [dy] + [x] * (x >= 0), once=1, kept=1)
        for x in net.inputs[o]:
            if x < 0:
                continue
            reads = {"norm": [dy, x], "act": [dy, o], "pool": [dy, x]}.get(kind, [dy])
            dx = dy if kind == "add" else self.add(4 * net.elements(x), cost, reads, in_place=kind == "act")
            if x in gradient:
                dx = self.add(4 * net.elements(x), 12 * net.elements(x), [dx, gradient[x]])
            gradient[x] = dx

    def text(self):
        head = f"{len(self.rows)} {len(self.edges)} {self.nforward}"
        edges = [f"{u} {v} 1" if place else f"{u} {v}" for u, v, place in self.edges]
        return "\n".join([head] + [" ".join(map(str, row)) for row in self.rows] + edges) + "\n"


def answer(remat, path, memory, effort):
    """What the program prints; its cost is None where nothing fits."""
    done = subprocess.run([remat, path, "--mem", str(memory), "--effort", str(effort)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"{path}: {done.stderr}")
    found = dict(line.split() for line in done.stdout.splitlines())
    return {name: float(value) if name == "seconds" else int(value) for name, value in found.items()} | (
        {"cost": None} if done.returncode == 3 else {})


def solve(remat, folder, number, effort):
    problem, path = Problem(number), os.path.join(folder, f"{number}.txt")
    with open(path, "w", encoding="ascii") as file:
        file.write(problem.text())
    whole = answer(remat, path, 2**60, 1)
    least, most = whole["peak_lower_bound"], whole["peak"]
    return answer(remat, path, int(least + problem.share * (most - least)), effort)["cost"]


def record(best, numbers, costs):
    for number, cost in zip(numbers, costs):
        if cost is not None and cost < best.get(str(number), cost + 1):
            best[str(number)] = cost
    with open(BEST + ".new", "w", encoding="ascii") as file:
        json.dump(best, file, indent=0, sort_keys=True)
        file.write("\n")
    os.replace(BEST + ".new", BEST)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--effort", type=int, default=EFFORT)
    parser.add_argument("--numbers", default=f"{NUMBERS.start}:{NUMBERS.stop}")
    parser.add_argument("remat")
    options = parser.parse_args()
    numbers = range(*map(int, options.numbers.split(":")))
    best = {}
    if os.path.exists(BEST):
        with open(BEST, encoding="ascii") as file:
            best = json.load(file)
    effort = options.effort * (LONG if options.record else 1)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        costs = list(pool.map(lambda number: solve(options.remat, folder, number, effort), numbers))
    if options.record:
        record(best, numbers, costs)
    nothing = [n for n, cost in zip(numbers, costs) if cost is None and str(n) in best]
    if not best:
        sys.exit(f"{BEST} is missing: --record makes it")
    gaps = sorted(100 * (cost / best[str(n)] - 1) for n, cost in zip(numbers, costs) if cost is not None and str(n) in best)
    found = {"median": gaps[len(gaps) // 2], "90th percentile": gaps[int(0.9 * len(gaps))], "largest": gaps[-1]}
    print(f"{len(gaps)} problems, above the best cost: " + ", ".join(f"{name} {gap:.3f} %" for name, gap in found.items()))
    failures = [f"{name}: {gap:.3f} %, the limit is {LIMITS[name]} %" for name, gap in found.items() if gap > LIMITS[name]]
    failures += [f"problem {n}: nothing was found, but there is a schedule" for n in nothing]
    for failure in failures:
        print("FAILED: " + failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

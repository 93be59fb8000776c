"""How near the search for what to compute again comes to the best that is known, on families of nets that nobody chose.

    planner_families.py [--count=N] [--half=development|unseen] [--best=FILE] [--times=N] UNETC NAME=REMAT...

Nets are drawn: chains, U-Nets of 3 to 6 levels with one to four convolutions, dense and residual blocks, several heads, branches of
unequal width; sizes, widths, batches and precisions too.  Even numbers are the half for development, odd ones are unseen: they are for
the figures that are told, not for choosing anything by them.  `unetc --emit=remat` prints each problem, and every REMAT (the program
of tests/bench/remat.c, perhaps built from changed sources) is asked for the cheapest schedule within three capacities between the least
that can do and what keeps everything.

The gap of an answer is its cost beside the best that any run ever found; the best are kept in FILE.  With --times the searches take so
many times the default effort.  What no run has found within a capacity is left out.  Prints median, 90th percentile and largest gap of
each program, and how often it found nothing where another did.
"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

EFFORT = 800_000_000  # REMAT_EFFORT of compiler/solve/remat.c
SHARES = (0.08, 0.2, 0.45)  # of the way from the least bytes to all
HEAD = "input  x : image(3, {h}, {w})\ntarget t : image(3)\n\n"
TRAIN = "\ntrain {{\n    loss      {loss}\n    optimizer adam(lr = 1e-3)\n    batch     {batch}\n    epochs    1\n}}\n"


def layer(r, x, width):
    """One convolution and what stands behind it, as text."""
    norm = r.choice(["", "batch_norm", "group_norm", "instance_norm"])
    text = f"conv({x}, {width}, {r.choice([1, 3, 3, 3, 5])})"
    if norm == "group_norm":
        text = f"group_norm({text}, groups = 2)"
    elif norm:
        text = f"{norm}({text})"
    return r.choice(["relu({})", "leaky_relu({})", "silu({})"]).format(text)


def convolutions(r, x, width, count):
    for _ in range(count):
        x = layer(r, x, width)
    return x


def chain(r):
    lines = ["h = x"]
    width = r.choice([8, 16, 24, 32])
    for _ in range(r.randint(6, 24)):
        width = r.choice([width, width, 2 * width if width < 96 else width, max(8, width // 2)])
        lines.append(f"h = {layer(r, 'h', width)}")
    return lines


def unet(r):
    levels, count, base = r.randint(2, 5), r.randint(1, 4), r.choice([8, 12, 16, 24])
    if levels >= 4:
        count = min(count, 2)
    lines = ["h = x"]
    for k in range(levels):
        lines += [f"h = {convolutions(r, 'h', base << k, count)}", f"s{k} = h", "h = max_pool(h)"]
    lines.append(f"h = {convolutions(r, 'h', base << levels, count)}")
    join = r.choice(["concat(u, s{k})", "concat(u, s{k})", "u + s{k}"])
    for k in reversed(range(levels)):
        lines += [f"u = upconv(h, {base << k})", f"h = {convolutions(r, join.format(k=k), base << k, count)}"]
    return lines


def dense(r):
    lines, growth, pools = [f"h = {layer(r, 'x', 16)}"], r.choice([4, 8, 12]), 0
    for b in range(r.randint(1, 4)):
        for _ in range(r.randint(2, 6)):
            lines += [f"d = {layer(r, 'h', growth)}", "h = concat(h, d)"]
        lines.append(f"h = {layer(r, 'h', 16 << min(b, 2))}")
        if r.random() < 0.4:
            lines.append("h = max_pool(h)")
            pools += 1
    return lines + [f"h = resize(h, scale = {2**pools})"] * (pools > 0)


def residual(r):
    width = r.choice([8, 16, 32])
    lines = [f"h = {layer(r, 'x', width)}"]
    for _ in range(r.randint(3, 14)):
        lines.append(f"h = h + {convolutions(r, 'h', width, r.randint(1, 3))}")
    return lines


def branches(r):
    lines = [f"h = {layer(r, 'x', 16)}"]
    for _ in range(r.randint(2, 5)):
        parts = []
        for k in range(r.randint(2, 5)):
            lines.append(f"b{k} = {convolutions(r, 'h', r.choice([4, 8, 16, 24]), r.randint(1, 3))}")
            parts.append(f"b{k}")
        lines.append(f"h = {layer(r, 'concat(' + ', '.join(parts) + ')', 16)}")
    return lines


def heads(r):
    lines = unet(r)
    for k in range(r.randint(1, 3)):
        lines.append(f"y{k} = conv({r.choice(['h', 's0'])}, 3, 3)")
    return lines


FAMILIES = (chain, unet, dense, residual, branches, heads)


def net(number):
    """The text of net NUMBER and the options that it is planned with."""
    r = random.Random(number)
    family = FAMILIES[number // 2 % len(FAMILIES)]
    lines = family(r)
    losses = ["mse(y, t)"] + [f"mse({line.split()[0]}, t)" for line in lines if line.startswith("y")]
    size, batch = r.choice([64, 96, 128, 192]), r.choice([1, 2, 4, 8, 16])
    text = HEAD.format(h=size, w=r.choice([size, 64])) + "\n".join(lines + ["output y = conv(h, 3, 1)"])
    text += "\n" + TRAIN.format(loss=" + ".join(losses), batch=batch)
    options = ["--micro-batches=off"] + r.choice([[], ["--precision=bf16"], ["--target=cuda"]])
    return family.__name__, text, options


class Problem:
    """A problem in a file, with the capacities that are asked for."""

    def __init__(self, unetc, remat, number, folder):
        self.family, text, options = net(number)
        source, self.path = (os.path.join(folder, f"{number}.{end}") for end in ("unet", "txt"))
        with open(source, "w", encoding="ascii") as file:
            file.write(text)
        made = subprocess.run([unetc, source, "--emit=remat"] + options, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            sys.exit(f"net {number}: {made.stderr}\n{text}")
        with open(self.path, "w", encoding="ascii") as file:
            file.write(made.stdout)
        whole = answer(remat, self.path, 2**60, 1)
        least, most = whole["peak_lower_bound"], whole["peak"]
        self.capacities = [int(least + share * (most - least)) for share in SHARES]


def answer(remat, path, memory, times):
    """What the program prints, or None where it found nothing within so much memory."""
    done = subprocess.run([remat, path, "--mem", str(memory), "--effort", str(times * EFFORT)],
                          capture_output=True, text=True, check=False)
    if done.returncode == 3:
        return None
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr}")
    return {name: float(value) if name == "seconds" else int(value)
            for name, value in (line.split() for line in done.stdout.splitlines())}


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else float("nan")


def report(programs, answers, best):
    print(f"{'':14} {'asked':>6} {'median':>8} {'90th':>8} {'largest':>8} {'nothing':>8} {'seconds':>8}")
    for name in programs:
        found = {key: value for key, value in answers[name].items() if str(key) in best}
        gaps = [100 * (value["cost"] / best[str(key)] - 1) for key, value in found.items() if value]
        seconds = [value["seconds"] for value in found.values() if value]
        print(f"{name:14} {len(found):6} {percentile(gaps, 0.5):7.3f}% {percentile(gaps, 0.9):7.3f}% "
              f"{max(gaps, default=0):7.3f}% {len(found) - len(gaps):8} {percentile(seconds, 0.5):8.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--half", choices=("development", "unseen"), default="development")
    parser.add_argument("--best")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("unetc")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    programs = dict(program.split("=", 1) for program in options.program)
    best = {}
    if options.best and os.path.exists(options.best):
        with open(options.best, encoding="ascii") as file:
            best = json.load(file)
    numbers = [2 * k + (options.half == "unseen") for k in range(options.count)]
    answers = {name: {} for name in programs}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        one = next(iter(programs.values()))
        problems = dict(zip(numbers, pool.map(lambda k: Problem(options.unetc, one, k, folder), numbers)))
        asked = [(name, k, share) for k in numbers for share in range(len(SHARES)) for name in programs]
        for (name, k, share), found in zip(asked, pool.map(
                lambda a: answer(programs[a[0]], problems[a[1]].path, problems[a[1]].capacities[a[2]], options.times), asked)):
            key = f"{k}/{share}"
            answers[name][key] = found
            if found:
                best[key] = min(found["cost"], best.get(key, found["cost"]))
    if options.best:
        with open(options.best, "w", encoding="ascii") as file:
            json.dump(best, file, indent=0, sort_keys=True)
    report(programs, answers, best)


main()

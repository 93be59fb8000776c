#!/usr/bin/env python3
"""Random U-Nets: what the planner and the fast kernels may not change.

    random_nets.py --unetc=build/unetc --runtime=build/lib/libunet_runtime.a [--from=NET] [--count=N] [--keep=FOLDER]

Each net (random_net.py: signals, pictures or volumes, f32, bf16 or f16, losses of all kinds, shared and idle weights, larger targets) is
predicted, takes three steps on random numbers, and is evaluated after the first.  With the reference kernels,
  without a budget, with one thread and with three,
  with --no-reuse,
  in bands of rows,
  under a budget, every other time the smallest that the compiler finds, and every other time without bands and micro-batches,
outputs, losses, metrics and weights must be the same bit for bit.  A quarter of the nets have them from the fast
kernels as well, with one thread and three and by one of these plans, and they are close to those of the others.  These nets keep
gradients in the arena until a step ends, so that gradients are compared, too; in the others the optimiser may take them early.
The plans of all builds pass check_plan.py, and what fits into a budget fits when it is asked for by itself.
A net follows from its number alone: a run that was stopped goes on by --from.  Standard library only.
"""

import argparse
import array
import concurrent.futures
import functools
import hashlib
import json
import math
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import check_plan  # noqa: E402
import emitted  # noqa: E402
import random_net  # noqa: E402
from random_net import STEPS  # noqa: E402

IGNORED = 255
KEEPS = "--keep-gradients"
REMEMBERED = 195,  # numbers that once failed: they run behind the first
DOES_NOT_FIT = 3
THREADS = 3  # beside one
# Relative, in the L2 norm of a tensor.  Losses and gradients differ by the order of sums; what three steps
# add to the weights differs more where a gradient is close to zero.  In 16 bits a number now and then is rounded to
# a neighbour, and weights that differ by little are after the first step; a norm makes a small difference large: of
# net 1228, with batch norm over few points, the reference in f32 is 1.3e-5 from the one in f64.  With `compress` a number near
# a border between two codes has another code now and then.
TOLERANCE = {"f32": {"output": 1e-5, "loss": 3e-6, "gradient": 3e-5, "evaluation": 1e-5, "change": 1e-3},
             "bf16": {"output": 1e-3, "loss": 1e-2, "gradient": 3e-2, "evaluation": 1e-2, "change": 1e-1}}
TOLERANCE["f16"] = TOLERANCE["bf16"]


class Failure(Exception):
    pass


def execute(command, accept=(0,), **arguments):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **arguments)
    if result.returncode not in accept:
        raise Failure("%s: exit code %d\n%s" % (" ".join(command[:8]), result.returncode,
                                                 result.stderr.decode(errors="replace")[-2000:]))
    return result.stdout


# ---- builds --------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=8)
def plan_text(unetc, file, options):
    return execute([unetc, "mem", "--format=json", *options, file], (0, DOES_NOT_FIT))


def plan_of(tools, file, options):
    """The plan, whether it fits or not; a search for one that fits takes a while, and each is asked for twice."""
    return json.loads(plan_text(tools.unetc, file, tuple(options)))


def compiler():
    return shlex.split(os.environ.get("CC", "cc"))


class Objects:
    """Compiles what it has not compiled before: many files of a net are the same under all plans but for comments."""

    COMMENT = re.compile(r"/\*.*?\*/", re.S)
    INCLUDE = re.compile(r'^ *#include +"([^"]+)"', re.M)
    PLACE = re.compile(r"^#define B\d+_.*\n", re.M)  # where a buffer lies

    def __init__(self, folder):
        self.folder = folder
        self.declares_model = os.path.join(folder, "model.h")  # in place of net.h, which is another under each plan
        with open(self.declares_model, "w") as out:
            out.write('#include "unet/model.h"\nextern const UnetModel net_model;\n')

    def of(self, source, flags, folder):
        """The object of SOURCE, whose headers of its own lie in FOLDER."""
        text = "".join(self.texts(source, folder, []))
        if not re.search(r"\bB\d+_", self.PLACE.sub("", text)):
            text = self.PLACE.sub("", text)
        name = os.path.join(self.folder, hashlib.sha256(repr((flags, text)).encode()).hexdigest() + ".o")
        if not os.path.exists(name):
            execute(compiler() + flags + ["-I" + folder, "-c", source, "-o", name])
        return name

    def texts(self, path, folder, seen):
        seen.append(path)
        with open(path) as file:
            text = self.COMMENT.sub("", file.read())
        headers = [os.path.join(folder, name) for name in self.INCLUDE.findall(text)]
        return [text] + [part for header in headers if header not in seen and os.path.exists(header)
                         for part in self.texts(header, folder, seen)]


class Build:
    def __init__(self, tools, net, file, name, options):
        self.net, self.folder = net, os.path.join(os.path.dirname(file), name.replace(" ", "_"))
        plan = plan_of(tools, file, options)
        complaints = check_plan.judge(plan) + ([] if plan["arena"]["fits"] else ["it does not fit"])
        if complaints:
            raise Failure("the plan of %s: %s" % (name, "; ".join(complaints[:5])))
        if '"op": "dropout' in json.dumps([plan["programs"]["predict"], plan["programs"]["eval"]]):
            raise Failure("prediction or evaluation drops something")
        execute([tools.unetc, "-S", self.folder] + options + [file])
        self.arena = plan["arena"]["bytes"]
        buffers = {buffer["name"]: buffer for buffer in plan["buffers"]}
        with open(os.path.join(self.folder, "net.c")) as source:
            self.names = re.findall(r"^    \{\"([^\"]+)\", \d, \{", source.read(), re.M)
        self.counts = [math.prod(buffers[name]["shape"]) for name in self.names]
        offsets = emitted.gradient_offsets(plan) if KEEPS in options else {}
        self.offsets = [str(offsets.get(name, -1)) for name in self.names]  # running statistics and idle weights have none
        self.trained = [name in offsets for name in self.names]
        self.compile(tools, "-O1" if name.startswith("fast") else "-O0")

    def compile(self, tools, level):
        flags = [
            "-std=gnu11", "-D_POSIX_C_SOURCE=200809L", "-march=native", "-fopenmp", "-fno-math-errno",
            "-fno-trapping-math", "-ffp-contract=fast", "-I" + os.path.join(ROOT, "runtime", "include"),
            '-DMODEL_HEADER="%s"' % tools.objects.declares_model, "-DMODEL=net_model", level] + tools.flags
        sources = [os.path.join(ROOT, "tests", "oracle", "harness.c"), *emitted.sources(self.folder)]
        objects = [tools.objects.of(source, flags, self.folder) for source in sources]
        self.program = os.path.join(self.folder, "harness")
        execute(compiler() + flags + objects + [tools.runtime, "-o", self.program, *emitted.libraries(tools.runtime)])

    def run(self, numbers, threads):
        # With more threads than idle processors, those that wait actively take most of the time.
        return execute([self.program, "evaluate", str(self.net.valid), str(STEPS)] + self.offsets, input=numbers.tobytes(),
                       env={**os.environ, "THREADS": str(threads), "OMP_WAIT_POLICY": "passive"})


def budget(tools, net, file, options, free):
    """A budget below the arena FREE as an option: every other time the smallest, which is what does not fit names."""
    asked = 1 if net.number % 4 < 2 else free * (5 + net.number % 5) // 10
    arena = plan_of(tools, file, options + ["--mem=%dB" % asked])["arena"]
    return "--mem=%dB" % (asked if arena["fits"] else arena["bytes"])


def variant(tools, net, file, options, which, free):
    """The options of a plan that is not the one without a budget, whose arena is FREE."""
    if which == "no reuse":
        return ["--no-reuse"]
    if which == "bands":
        return ["--bands=%d" % (1 + net.number % net.size[-2:][0])]
    how = ["--micro-batches=off", "--bands=off"] if net.number % 2 else []  # then all it can do is to compute again
    return how + [budget(tools, net, file, options + how, free)]


def random_numbers(rng, net, build):
    """Parameters, variances among them, then the valid samples of input and targets."""
    numbers, points = array.array("d"), math.prod(net.size)
    for name, count in zip(build.names, build.counts):
        numbers.extend(rng.uniform(-1, 1) * 0.25 + name.endswith("running_var") for _ in range(count))
    for size in points, points * net.factor**net.AXES:
        numbers.extend(rng.random() for _ in range(net.valid * net.channels * size))
    for classes in net.labels:
        numbers.extend(rng.choice([*range(classes), IGNORED]) for _ in range(net.valid * points))
    return numbers


# ---- comparison ----------------------------------------------------------------------------------------


class Answer:
    """The numbers that `harness evaluate` writes, cut up by what they mean."""

    def __init__(self, net, build, before, raw):
        counts = build.counts
        self.numbers, self.parts, self.taken = array.array("d", raw), [], 0
        points = math.prod(net.size)
        for _ in range(net.valid):
            self.take("output", net.channels * points * net.factor**net.AXES)
            self.take("classes", points if net.labels else 0)
        for step in range(STEPS):
            self.take_results("loss", net)
            if step > 0:
                continue
            for count, trained in zip(counts, build.trained):
                self.take("gradient", count if trained else 0)
            for _ in range(0, net.valid, net.eval_batch):
                self.take_results("evaluation", net)
        first = 0
        for count in counts:
            self.take("change", count)
            after, old = self.parts[-1][1], before[first:first + count]
            self.parts[-1] = ("change", [a - b for a, b in zip(after, old)])
            first += count
        if self.taken != len(self.numbers):
            raise Failure("the harness wrote %d numbers, expected %d" % (len(self.numbers), self.taken))

    def take(self, kind, count):
        self.parts.append((kind, self.numbers[self.taken:self.taken + count]))
        self.taken += count

    def take_results(self, kind, net):
        self.take(kind, len(net.losses))
        self.take("metrics", len(net.metrics))


def norm_of(values):
    return math.sqrt(math.fsum(v * v for v in values))


def largest_errors(answer, exact):
    """The gradient of a bias whose sum a norm removes is nothing but rounding: a hundredth of the largest is the least norm."""
    worst = dict.fromkeys(TOLERANCE["f32"], 0)
    least = 0.01 * max(norm_of(values) for kind, values in exact.parts if kind == "gradient")
    for (kind, values), (_, expected) in zip(answer.parts, exact.parts):
        if kind not in worst or list(values) == list(expected):
            continue
        norm = max(norm_of(expected), least if kind == "gradient" else 0)
        error = math.sqrt(math.fsum((a - b)**2 for a, b in zip(values, expected)))
        relative = error / norm if norm else error
        worst[kind] = relative if not relative <= worst[kind] else worst[kind]
    return worst


def differing(name, build, numbers, raw, threads):
    return [] if build.run(numbers, threads) == raw else ["%s, %d threads: other bits" % (name, threads)]


def check(tools, folder, net, rng):
    """Complaints about one net, and the largest errors against the reference."""
    file = os.path.join(folder, "net.unet")
    with open(file, "w") as out:
        out.write(net.text())
    is_compared = net.is_fast and net.number <= tools.fast_to # compilation of fast kernels takes ten times as long
    options = ["--programs=train,eval,predict", "--precision=" + net.precision] + [KEEPS] * is_compared
    reference = options + ["--kernels=reference"]
    build = Build(tools, net, file, "reference", reference)
    numbers = random_numbers(rng, net, build)
    raw = build.run(numbers, 1)
    complaints = differing("reference", build, numbers, raw, THREADS)
    for which, threads in ("no reuse", 1), ("bands", 2), ("budget", THREADS):
        more = variant(tools, net, file, reference, which, build.arena)
        other = Build(tools, net, file, which, reference + more)
        complaints += differing(" ".join(more), other, numbers, raw, threads)
    if not is_compared:
        return complaints, {}
    fast = options + ["--conv=" + net.method]
    build = Build(tools, net, file, "fast", fast)
    fast_raw = build.run(numbers, 1)
    complaints += differing("fast", build, numbers, fast_raw, THREADS)
    more = variant(tools, net, file, fast, ["bands", "budget", "no reuse"][net.number // 2 % 3], build.arena)
    complaints += differing("fast " + " ".join(more), Build(tools, net, file, "fast variant", fast + more), numbers, fast_raw,
                            THREADS)
    before = numbers.tolist()
    worst = largest_errors(Answer(net, build, before, fast_raw), Answer(net, build, before, raw))
    tolerance = TOLERANCE["bf16" if net.codes else net.precision]
    complaints += ["%s, %s: off by %.1e from the reference" % (net.precision, kind, error) for kind, error in worst.items()
                   if not error <= tolerance[kind]]
    return complaints, worst


def job(options, number):
    net = random_net.Varied(number)
    with tempfile.TemporaryDirectory() as folder:
        try:
            tools = argparse.Namespace(objects=Objects(folder), **vars(options))
            complaints, worst = check(tools, folder, net, random.Random("numbers %d" % number))
        except Failure as failure:
            complaints, worst = [str(failure)], {}
    for complaint in complaints:
        print("net %d: %s" % (number, complaint), flush=True)
    if options.verbose:
        print("net %d: done" % number, flush=True)
    if complaints and options.keep:
        with open(os.path.join(options.keep, "random%d.unet" % number), "w") as out:
            out.write(net.text())
    return complaints, "%s%s" % (net.precision, " in codes" if net.codes else ""), worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--runtime", required=True, help="the library that generated programs link")
    parser.add_argument("--flags", default="", help="more flags for the C compiler, such as sanitizers")
    parser.add_argument("--from", dest="first", type=int, default=1, help="the number of the first net")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--fast-to", type=int, default=sys.maxsize, help="no fast kernels in nets beyond this number")
    parser.add_argument("--jobs", type=int, default=2, help="nets at a time")
    parser.add_argument("--keep", help="a folder for the files of nets that fail")
    parser.add_argument("--verbose", action="store_true", help="a line for each net that is done")
    options = parser.parse_args()
    options.flags = shlex.split(options.flags)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        numbers = [*range(options.first, options.first + options.count), *(REMEMBERED if options.first == 1 else ())]
        results = list(pool.map(lambda number: job(options, number), numbers))
    failed = sum(bool(complaints) for complaints, _, _ in results)
    print("%d nets, %d failed; fast against reference kernels, largest relative errors:" % (len(numbers), failed))
    for precision, kinds in [(precision + codes, kinds) for codes in ("", " in codes") for precision, kinds in TOLERANCE.items()]:
        worst = [worst for _, of, worst in results if of == precision and worst]
        print("  %s: %s" % (precision, ", ".join("%s %.1e" % (kind, max([w[kind] for w in worst] or [0])) for kind in kinds)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

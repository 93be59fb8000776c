#!/usr/bin/env python3
"""Compares compiled nets with what PyTorch computed (vectors/, made by record.py).

    run_oracle.py --unetc=build/unetc --runtime=build/lib/libunet_runtime.a MODE [CASE...]

double   the reference build in double: output, losses, every gradient and ten optimiser steps agree with
         PyTorch's float64 to 1e-9 relative (L2 per tensor)
looped   the same, a batch being trained one sample at a time
float    the fast build: losses of ten steps within 1e-5 of float64; the error of each gradient at most four
         times that of PyTorch's own float32
initial  the initial weights of the nets at full size are PyTorch's bit for bit, for several seeds

Standard library only.
"""

import argparse
import array
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile

import cases
import safetensors

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import emitted  # noqa: E402

DOUBLE_TOLERANCE = 1e-9
LOSS_TOLERANCE = 1e-5
GRADIENT_FACTOR = 4
# Half a unit in the last place: an exact gradient is off by that much when it is stored as float32, and
# PyTorch's may be closer only by luck.
FLOAT_EPSILON = 2.0**-24


class Failure(Exception):
    pass


def execute(command, **arguments):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **arguments)
    if result.returncode:
        raise Failure("%s: exit code %d\n%s" %
                      (" ".join(command[:3]), result.returncode, result.stderr.decode(errors="replace")[-2000:]))
    return result.stdout


class Model:
    """A .unet file compiled together with harness.c."""

    def __init__(self, tools, folder, file, defines, size, batch, options):
        self.command = [tools.unetc, "--keep-gradients", "--staging=f32"] # harness.c reads gradients and hands any floats over
        self.command += ["-D%s=%s" % item for item in defines.items()]
        self.command += ["--size=" + "x".join(map(str, size)), "--batch=%d" % batch] + options
        self.file = file
        self.program = os.path.join(folder, "harness")
        name = os.path.splitext(os.path.basename(file))[0]
        execute(self.command + ["-S", folder, file])
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "harness.c")
        level = "-O1" if "--kernels=reference" in options else "-O2"
        flags = ["-std=gnu11", "-D_POSIX_C_SOURCE=200809L", level, "-fopenmp", "-march=native", "-fno-math-errno",
                 "-fno-trapping-math", "-ffp-contract=fast", "-I" + folder, "-I" + tools.include,
                 '-DMODEL_HEADER="%s.h"' % name, "-DMODEL=%s_model" % name, *tools.flags]
        emitted.program(execute, flags, [source, *emitted.sources(folder)], [tools.runtime, *emitted.libraries(tools.runtime)],
                        self.program)
        self.parameters, self.results = {}, []
        for line in execute([self.program, "describe"]).decode().splitlines():
            kind, name, *rest = line.split()
            if kind == "parameter":
                self.parameters[name] = [int(size) for size in rest]
            elif kind == "result":
                self.results.append((name, rest[0] == "1", float(rest[1])))

    def gradient_offsets(self):
        """Where the plan keeps the gradient of each parameter; -1: it has none (a running statistic)."""
        plan = json.loads(execute(self.command[:1] + ["mem", "--format=json"] + self.command[1:] + [self.file]))
        offsets = emitted.gradient_offsets(plan)
        return [offsets.get(name, -1) for name in self.parameters]

    def run(self, valid, vectors):
        numbers = array.array("d")
        for name in self.parameters:
            numbers.extend(vectors["initial/" + name].values.tolist())
        numbers.extend(vectors["input"].values.tolist())
        numbers.extend(vectors["target"].values.tolist())
        return self.train(valid, numbers, len(vectors["output"].values))

    def train(self, valid, numbers, output_count):
        """The doubles that `harness run` writes, cut up by what they mean; NUMBERS: all parameters and inputs."""
        self.offsets = dict(zip(self.parameters, self.gradient_offsets()))
        offsets = [str(offset) for offset in self.offsets.values()]
        answer = array.array("d")
        answer.frombytes(execute([self.program, "run", str(valid), str(cases.STEPS)] + offsets,
                                 input=numbers.tobytes()))
        return Answer(self, answer, output_count)


class Answer:
    """OUTPUT_COUNT: None, if the outputs are what all the rest is not."""

    def __init__(self, model, numbers, output_count):
        taken = 0
        if output_count is None:
            after = sum(math.prod(shape) for shape in model.parameters.values())
            trained = sum(math.prod(shape) for name, shape in model.parameters.items() if model.offsets[name] >= 0)
            output_count = len(numbers) - cases.STEPS * len(model.results) - after - trained

        def take(count):
            nonlocal taken
            taken += count
            return numbers[taken - count:taken]

        def take_parameters(trained=False):
            return {name: take(math.prod(shape)) for name, shape in model.parameters.items()
                    if not trained or model.offsets[name] >= 0}

        self.output = take(output_count)
        steps = []
        for step in range(cases.STEPS):
            steps.append(take(len(model.results)))
            if step == 0:
                self.gradients = take_parameters(trained=True)
        self.after = take_parameters()
        if taken != len(numbers):
            raise Failure("the harness wrote %d numbers, expected %d" % (len(numbers), taken))
        self.losses = [sum(weight * value for (_, is_loss, weight), value in zip(model.results, values) if is_loss)
                       for values in steps]
        self.metrics = [(name, value) for (name, _, _), value in zip(model.results, steps[0]) if name in ("psnr", "ssim", "miou")]


def relative_error(values, exact):
    difference = math.fsum((a - b)**2 for a, b in zip(values, exact))
    norm = math.fsum(b * b for b in exact)
    return math.sqrt(difference / norm) if norm else math.sqrt(difference)


class Report:
    """Collects comparisons; remembers the worst of each kind."""

    def __init__(self):
        self.worst, self.failures = {}, []

    def compare(self, kind, name, error, bound):
        share = error / bound
        if not error <= bound:  # also when it is not a number
            self.failures.append("%s %s: off by %.3g, allowed %.3g" % (kind, name, error, bound))
        if share >= self.worst.get(kind, (0, 0))[0] or share != share:
            self.worst[kind] = (share, error)


def compare_parameters(model, vectors):
    expected = {name[len("initial/"):]: tensor.shape for name, tensor in vectors.items()
                if name.startswith("initial/")}
    if list(expected.items()) != list(model.parameters.items()):
        raise Failure("parameters are %s, PyTorch's %s" % (model.parameters, expected))


def compare_double(answer, vectors, _, report):
    report.compare("output", "", relative_error(answer.output, vectors["output"].values), DOUBLE_TOLERANCE)
    for step, (loss, exact) in enumerate(zip(answer.losses, vectors["losses"].values)):
        report.compare("loss", "of step %d" % (step + 1), abs(loss / exact - 1), DOUBLE_TOLERANCE)
    for name, value in answer.metrics:
        report.compare(name, "", abs(value / vectors[name].values[0] - 1), DOUBLE_TOLERANCE)
    for kind, tensors in (("gradient", answer.gradients), ("after", answer.after)):
        for name, values in tensors.items():
            error = relative_error(values, vectors["%s/%s" % (kind, name)].values)
            report.compare(kind, name, error, DOUBLE_TOLERANCE)


def compare_float(answer, vectors, metadata, report):
    for step, (loss, exact) in enumerate(zip(answer.losses, vectors["losses"].values)):
        report.compare("loss", "of step %d" % (step + 1), abs(loss / exact - 1), LOSS_TOLERANCE)
    own = json.loads(metadata["float_gradient_errors"])
    for name, values in answer.gradients.items():
        error = relative_error(values, vectors["gradient/" + name].values)
        report.compare("gradient", name, error, GRADIENT_FACTOR * max(own[name], FLOAT_EPSILON))


DOUBLE = ["--precision=f64", "--kernels=reference"]
MODES = {"double": (compare_double, DOUBLE),
         "looped": (compare_double, DOUBLE + ["--micro-batches=%d" % max(case["batch"] for case in cases.CASES)]),
         "float": (compare_float, [])}


def run_case(tools, mode, case):
    compare, options = MODES[mode]
    options = options + (case.get("float_options", []) if mode == "float" else [])
    vectors, metadata = safetensors.read(case["vectors"])
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        model = Model(tools, folder, case["file"], case["defines"], case["size"], case["batch"], options)
        compare_parameters(model, vectors)
        compare(model.run(case["valid"], vectors), vectors, metadata, report)
    worst = ", ".join("%s %.1e" % (kind, error) for kind, (_, error) in report.worst.items())
    print("%-7s %-20s largest errors: %s" % (mode, case["name"], worst))
    return report.failures


def run_initial(tools, name, seeds):
    failures, file = [], os.path.join(cases.ROOT, "examples", "denoise", name + ".unet")
    with open(cases.CHECKSUMS) as sums:
        expected = json.load(sums)[name]
    with tempfile.TemporaryDirectory() as folder:
        model = Model(tools, folder, file, {}, (8, 8), 1, [])
        found = {}
        for line in execute([model.program, "checksums"] + [str(seed) for seed in seeds]).decode().splitlines():
            seed, parameter, value = line.split()
            found.setdefault(seed, {})[parameter] = value
        for seed in found:
            if list(found[seed].items()) != list(expected[seed].items()):
                failures.append("%s: initial weights of seed %s differ from PyTorch's" % (name, seed))
    count = sum(math.prod(shape) for shape in model.parameters.values())
    print("initial %-20s %d tensors, %d numbers, seeds %s" %
          (name, len(model.parameters), count, ", ".join(str(seed) for seed in seeds)))
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--runtime", required=True, help="the library that generated programs link")
    parser.add_argument("--flags", default="", help="more flags for the C compiler, such as sanitizers")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="run each Nth case alone")
    parser.add_argument("mode", choices=["double", "looped", "float", "initial"])
    parser.add_argument("case", nargs="*")
    tools = parser.parse_args()
    tools.flags = shlex.split(tools.flags)
    tools.include = os.path.join(cases.ROOT, "runtime", "include")

    if tools.mode == "initial":
        jobs = [(name, lambda name=name: run_initial(tools, name, cases.SEEDS)) for name, _, _ in cases.FULL_SIZE]
    else:
        jobs = [(case["name"], lambda case=case: run_case(tools, tools.mode, case)) for case in cases.CASES]
    loops = {case["name"]: case["loops"] for case in cases.CASES}
    failed = False
    for name, job in jobs if tools.case else jobs[::tools.every]:
        if (tools.case and name not in tools.case) or (tools.mode == "looped" and not loops[name]):
            continue
        try:
            failures = job()
        except Failure as failure:
            failures = [str(failure)]
        for failure in failures:
            print("FAILED %s: %s" % (name, failure))
        failed = failed or bool(failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

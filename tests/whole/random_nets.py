#!/usr/bin/env python3
"""Random U-Nets: what the planner and the fast kernels may not change.

    random_nets.py --unetc=build/unetc --runtime=build/lib/libunet_runtime.a [--seed=N] [--nets=N] [--keep=FOLDER]

Each net takes three steps of Adam on random numbers,
  planned and fast, with one thread and with three,
  in bands of rows, with three threads,
  fast with --no-reuse: weights, outputs, losses and gradients must be the same bit for bit,
  and with the reference kernels and --no-reuse: they must be close.
Every third net has normalisations; every fourth has losses over classes, some of them of enlarged logits, and every
fourth losses over images.  Every fifth net keeps its tensors in 16 bits; convolutions are direct, by Winograd's method, or as the compiler chooses.
The plans of all builds pass check_plan.py.  Standard library only.
"""

import argparse
import array
import concurrent.futures
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

STEPS = 3
IGNORED = 255
DEPTHS = [1, 2, 1, 3, 2, 4, 1, 2, 1, 2, 3, 1]
BUILDS = {"fast": [], "bands": [], "no reuse": ["--no-reuse"], "reference": ["--kernels=reference", "--no-reuse"]}
PRECISIONS = ["f32", "f32", "f32", "f32", "bf16"]  # of one net after the other
METHODS = ["auto", "direct", "winograd"]           # of the fast builds of one net after the other
# Relative, in the L2 norm of a tensor.  Losses and gradients differ by the order of sums; what three steps
# add to the weights differs more where a gradient is close to zero.  In 16 bits a number now and then is rounded to
# a neighbour, and weights that differ by little are after the first step.
# In bf16 a sum in another order rounds to the next number now and then, and a norm makes a small difference large.
TOLERANCE = {"f32": {"output": 1e-5, "loss": 3e-6, "gradient": 1e-5, "change": 1e-3},
             "bf16": {"output": 1e-4, "loss": 1e-2, "gradient": 3e-2, "change": 1e-1}}


# Which points the first two count, or in which order, can differ where rounding does.
CLASS_LOSSES = [["ohem_cross_entropy(classes, seen, keep = 0.3)", "lovasz_loss(classes, seen)", "lovasz_loss(single, marked)",
                 "bce_with_logits(single, marked, pos_weight = 3)", "dice_loss(classes, seen)",
                 "focal_loss(classes, seen, gamma = 1.5, alpha = [1, 0.5, 2])"],
                ["cross_entropy(classes, seen, weight = [1, 0.5, 2], label_smoothing = 0.1)",
                 "cross_entropy(classes, seen, ignore_index = 1, pixel_weight = channel_max(photo))",
                 "tversky_loss(classes, seen, per_class = false)", "focal_loss(single, marked, alpha = 0.25)",
                 "dice_loss(single, marked, batch = false, squared = true)"]]
LEAST_FOR_WINDOWS = 11  # points, of ssim


class Failure(Exception):
    pass


def execute(command, **arguments):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **arguments)
    if result.returncode:
        raise Failure("%s: exit code %d\n%s" % (" ".join(command[:4]), result.returncode,
                                                 result.stderr.decode(errors="replace")[-2000:]))
    return result.stdout


# ---- a random U-Net ------------------------------------------------------------------------------------


class Net:
    """The text of a U-Net, and what the harness must be told about it.  Subclasses draw from other choices."""

    BASES, BATCHES, MOST_CONVOLUTIONS = [3, 5, 7, 9], (2, 3), 2
    UPCONVS = 0.5  # of the ways up
    NORMS = ["batch_norm", "batch_norm(eps = 1e-3)", "instance_norm(affine = true)", "group_norm(1, eps = 1e-3)",
             "layer_norm(eps = 0.01)"]
    BETWEEN = ["dropout(0.3)", "dropout_channels(0.3)", "tanh", "elu", "gelu", "softmax", "prelu", "scale(init = 0.8)"]  # behind a convolution, at times
    JOINS = ["concat(up%d, {0})", "concat({0}, up%d)", "up%d + {0}"]

    UPDATES = [["    optimizer adam(lr = 1e-3, eps = 1e-3)"],
               ["    optimizer adamw(lr = 1e-3, eps = 1e-2, amsgrad = true, decay = \"weights\")", "    clip      0.05"],
               ["    optimizer sgd(lr = 0.01, momentum = 0.9, nesterov = true)", "    clip      value = 0.01", "    ema       0.5"],
               ["    optimizer rmsprop(lr = 1e-3, eps = 1e-2, momentum = 0.5, centered = true)", "    clip      0.05",
                "    ema       0.5"]]

    def __init__(self, rng, depth, norms=False, number=0):
        self.norms = norms  # between some convolutions and their relu
        self.labels = []    # of further targets, the classes
        self.rng, self.lines = rng, []
        self.depth, self.base = depth, rng.choice(self.BASES)
        self.batch = rng.randint(*self.BATCHES)
        self.valid = self.batch - rng.randint(0, 1)
        self.channels = rng.choice([1, 2, 3])
        self.size = [self.extent() for _ in range(2)]
        self.write()
        self.updates = self.UPDATES[self.BASES.index(self.base) % len(self.UPDATES)]
        self.losses = ["mse(answer, truth)"] + {2: self.image_losses, 3: self.class_losses}.get(number % 4, lambda _: [])(number // 4)

    def image_losses(self, _):
        scale = -(-LEAST_FOR_WINDOWS // min(self.size))
        windows = "(resize(answer, scale = %d), resize(photo, scale = %d))" % (scale, scale) if scale > 1 else "(answer, truth)"
        return ["smooth_l1(answer, truth, beta = 0.3)", "0.01 * psnr_loss(answer, truth)", "0.5 * charbonnier(answer, truth)",
                "0.2 * ssim_loss" + windows]

    def class_losses(self, which):
        self.labels = [3, 2]
        self.lines += ["classes = resize(conv(bottom, 3, 1), like = photo, mode = \"bilinear\")",
                       "single = conv(dec0, 1, 3)"]
        return ["0.2 * " + loss for loss in CLASS_LOSSES[which % len(CLASS_LOSSES)]]

    def extent(self):
        return 2**self.depth * self.rng.randint(*((3, 7) if self.depth < 3 else (1, 2)))

    def convolutions(self, name, x, channels, count):
        """A chain of convolutions, each with or without bias and relu."""
        links = []
        for _ in range(count):
            kernel = self.rng.choice([3, 3, 3, 1, 5]) if self.depth < 3 else 3
            links.append("conv(%d, %d%s)" % (channels, kernel, self.rng.choice(["", "", ", bias = false"])))
            if self.norms and name != "bottom" and self.rng.random() < 0.5:  # there may be one point
                links[-1] = "conv(%d, %d, bias = false)" % (channels, kernel)  # a bias would have no gradient
                links.append(self.rng.choice(self.NORMS))
            links += ["relu"] * (self.rng.random() < 0.8)
            if self.BETWEEN and self.rng.random() < 0.2:
                links.append(self.rng.choice(self.BETWEEN))
        self.lines.append("%s = %s -> %s" % (name, x, " -> ".join(links)))

    def write(self):
        rng, x, skips = self.rng, "photo", []
        for level in range(self.depth):
            channels = self.base + 4 * level
            self.convolutions("enc%d" % level, x, channels, rng.randint(1, self.MOST_CONVOLUTIONS))
            skips.append((channels, "enc%d" % level))
            x = "down%d" % level
            down = rng.choice(["max_pool(enc%d)", "conv(enc%d, {0}, 3, stride = 2)",
                               "conv(enc%d, {0}, 2, stride = 2, padding = \"valid\")"])
            self.lines.append("%s = %s" % (x, (down % level).format(channels + 1)))
        self.convolutions("bottom", x, self.base + 4 * self.depth, rng.randint(1, self.MOST_CONVOLUTIONS))
        x = "bottom"
        for level, (channels, skip) in reversed(list(enumerate(skips))):
            join = rng.choice(self.JOINS)
            up = channels if "+" in join else rng.choice([channels, channels + 3])
            self.lines.append("up%d = " % level + self.up(x, up, skip))
            self.convolutions("dec%d" % level, "(%s)" % (join % level).format(skip), channels, rng.randint(1, self.MOST_CONVOLUTIONS))
            x = "dec%d" % level
        residual = " + photo" if rng.random() < 0.5 else ""
        self.lines.append("output answer = conv(%s, %d, 1)%s" % (x, self.channels, residual))

    def up(self, x, channels, skip):
        """X as large as SKIP, and of so many channels."""
        if self.UPCONVS == 1 or self.rng.random() < self.UPCONVS:
            return "upconv(%s, %d)" % (x, channels)
        mode = self.rng.choice(['"nearest"', '"nearest_exact"', '"bilinear"', '"bilinear", align_corners = true'])
        if self.rng.random() < 0.3:
            how = self.rng.choice(["pad", "replicate"])
            return 'match(%s, %s, "%s") -> conv(%d, 3)' % (x, skip, how, channels)
        return "resize(%s, %s, mode = %s) -> conv(%d, 3)" % (x, self.rng.choice(["scale = 2", "like = " + skip]), mode, channels)

    def text(self):
        return "\n".join(["input  photo : image(%d, %d, %d)" % (self.channels, *self.size),
                          "target truth : image(%d)" % self.channels] +
                         ["target %s : labels(%d)" % target for target in zip(("seen", "marked"), self.labels)] + self.lines +
                         ["train {", *["    loss      " + loss for loss in self.losses],
                          *self.updates, "    batch     %d" % self.batch,
                          "    steps     %d" % STEPS, "}"]) + "\n"


# ---- builds --------------------------------------------------------------------------------------------


class Build:
    def __init__(self, tools, folder, name, options):
        self.folder = os.path.join(folder, name.replace(" ", "_"))
        command = ["--programs=train,predict"] + options + [os.path.join(folder, "net.unet")]
        execute([tools.unetc, "-S", self.folder] + command)
        plan = json.loads(execute([tools.unetc, "mem", "--format=json"] + command))
        complaints = check_plan.judge(plan)
        if complaints:
            raise Failure("the plan: " + "; ".join(complaints[:5]))
        if '"op": "dropout' in json.dumps(plan["programs"]["predict"]):
            raise Failure("prediction drops something")
        buffers = {buffer["name"]: buffer for buffer in plan["buffers"]}
        with open(os.path.join(self.folder, "net.c")) as source:
            names = re.findall(r"^    \{\"([^\"]+)\", \d, \{", source.read(), re.M)
        self.names, self.counts = names, [math.prod(buffers[name]["shape"]) for name in names]
        gradients = [buffers.get("d " + name) for name in names]  # running statistics have none
        self.trained = [gradient is not None for gradient in gradients]
        self.offsets = [str(gradient["offset"] if gradient else -1) for gradient in gradients]
        self.compile(tools)

    def compile(self, tools):
        flags = shlex.split(os.environ.get("CC", "cc")) + [
            "-std=gnu11", "-D_POSIX_C_SOURCE=200809L", "-O1", "-march=native", "-fopenmp", "-fno-math-errno",
            "-fno-trapping-math", "-ffp-contract=fast", "-I" + self.folder,
            "-I" + os.path.join(ROOT, "runtime", "include")] + tools.flags
        objects = [source + ".o" for source in emitted.sources(self.folder)]
        for model in objects:
            execute(flags + ["-c", model[:-len(".o")], "-o", model])
        for threads in (1, 3):
            execute(flags + ["-DTHREADS=%d" % threads, '-DMODEL_HEADER="net.h"', "-DMODEL=net_model",
                             os.path.join(ROOT, "tests", "oracle", "harness.c"), *objects, tools.runtime,
                             "-o", self.program(threads), *emitted.libraries(tools.runtime)])

    def program(self, threads):
        return os.path.join(self.folder, "harness%d" % threads)

    def run(self, valid, numbers, threads):
        return execute([self.program(threads), "run", str(valid), str(STEPS)] + self.offsets, input=numbers.tobytes())


def random_numbers(rng, net, build):
    """Parameters, variances among them, then the valid samples of input and target."""
    numbers = array.array("d")
    for name, count in zip(build.names, build.counts):
        numbers.extend(rng.uniform(-1, 1) * 0.25 + name.endswith("running_var") for _ in range(count))
    samples = 2 * net.valid * net.channels * net.size[0] * net.size[1]
    numbers.extend(rng.random() for _ in range(samples))
    for classes in net.labels:
        numbers.extend(rng.choice([*range(classes), IGNORED]) for _ in range(net.valid * net.size[0] * net.size[1]))
    return numbers


# ---- comparison ----------------------------------------------------------------------------------------


class Answer:
    """The numbers that `harness run` writes: outputs, then per step the loss, gradients after the first."""

    def __init__(self, net, build, before, raw):
        counts = build.counts
        numbers, self.parts, self.taken = array.array("d", raw), [], 0
        self.take("output", numbers, net.valid * net.channels * net.size[0] * net.size[1])
        for step in range(STEPS):
            self.take("loss", numbers, len(net.losses))
            for count, trained in zip(counts, build.trained) if step == 0 else []:
                if trained:
                    self.take("gradient", numbers, count)
        first = 0
        for count in counts:
            self.take("change", numbers, count)
            after, old = self.parts[-1][1], before[first:first + count]
            self.parts[-1] = ("change", [a - b for a, b in zip(after, old)])
            first += count
        if self.taken != len(numbers):
            raise Failure("the harness wrote %d numbers, expected %d" % (len(numbers), self.taken))

    def take(self, kind, numbers, count):
        self.parts.append((kind, numbers[self.taken:self.taken + count]))
        self.taken += count


def largest_errors(answer, exact):
    worst = dict.fromkeys(TOLERANCE["f32"], 0)
    for (kind, values), (_, expected) in zip(answer.parts, exact.parts):
        norm = math.sqrt(math.fsum(b * b for b in expected))
        error = math.sqrt(math.fsum((a - b)**2 for a, b in zip(values, expected)))
        relative = error / norm if norm else error
        worst[kind] = relative if not relative <= worst[kind] else worst[kind]
    return worst


def check(tools, folder, net, rng, precision, method):
    """Complaints about one net, and the largest errors against the reference."""
    with open(os.path.join(folder, "net.unet"), "w") as file:
        file.write(net.text())
    how = ["--precision=" + precision, "--conv=" + method]
    rows = ["--bands=%d" % rng.randint(2, net.size[0])]
    builds = {name: Build(tools, folder, name, options + how + (rows if name == "bands" else []))
              for name, options in BUILDS.items()}
    numbers = random_numbers(rng, net, builds["fast"])
    raw = {name: build.run(net.valid, numbers, 3 if name == "bands" else 1) for name, build in builds.items()}
    complaints = []
    if builds["fast"].run(net.valid, numbers, 3) != raw["fast"]:
        complaints.append("three threads give other bits than one")
    if raw["no reuse"] != raw["fast"]:
        complaints.append("--no-reuse gives other bits")
    if raw["bands"] != raw["fast"]:
        complaints.append("%s gives other bits" % rows[0])
    before = numbers.tolist()
    answers = [Answer(net, builds[name], before, raw[name]) for name in ("fast", "reference")]
    worst = largest_errors(*answers)
    tolerance = TOLERANCE[precision]
    complaints += ["%s, %s: off by %.1e from the reference" % (precision, kind, error) for kind, error in worst.items()
                   if not error <= tolerance[kind]]
    return complaints, worst


def job(options, number):
    rng = random.Random("%d %d" % (options.seed, number))
    net = Net(rng, DEPTHS[number % len(DEPTHS)], norms=number % 3 == 1, number=number)
    precision, method = PRECISIONS[number % len(PRECISIONS)], METHODS[number % len(METHODS)]
    with tempfile.TemporaryDirectory() as folder:
        try:
            complaints, worst = check(options, folder, net, rng, precision, method)
        except Failure as failure:
            complaints, worst = [str(failure)], {}
    for complaint in complaints:
        print("net %d: %s" % (number, complaint))
    if complaints and options.keep:
        with open(os.path.join(options.keep, "random%d.unet" % number), "w") as out:
            out.write(net.text())
    return complaints, precision, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--runtime", required=True, help="the library that generated programs link")
    parser.add_argument("--flags", default="", help="more flags for the C compiler, such as sanitizers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nets", type=int, default=10)
    parser.add_argument("--keep", help="a folder for the files of nets that fail")
    options = parser.parse_args()
    options.flags = shlex.split(options.flags)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda number: job(options, number), range(options.nets)))
    failed = sum(bool(complaints) for complaints, _, _ in results)
    print("%d nets, %d failed; against the reference, largest relative errors:" % (options.nets, failed))
    for precision, kinds in TOLERANCE.items():
        worst = [worst for _, of, worst in results if of == precision and worst]
        print("  %s: %s" % (precision, ", ".join("%s %.1e" % (kind, max([w[kind] for w in worst] or [0])) for kind in kinds)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""half.py --unetc=UNETC --runtime=LIBRARY --make-pictures=MAKE_PICTURES --cudnn=FOLDER: tensors of 16 bits.

Small nets train for ten steps, by the reference kernels of the CPU, by its fast ones and by those of a GPU through the
shim, in each type that all can store; the weights agree within the rounding of that type, and differ from those of f32. All
but the fast kernels, which other tests judge, stop at the first access outside of a buffer's life. In f16 a run that was resumed ends as one that was not, to the bit; and
where the scaled gradients overflow, steps are skipped until they do not, the log says so, and where that has no end a
warning does; a training that began in f32 goes on in f16, and back. A plan gives every tensor between operators half
of its bytes. The short form has one of the nets in f16, and overflows and changes of the precision on cuda alone."""
import argparse
import concurrent.futures
import csv
import json
import math
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "oracle")]
import program  # noqa: E402
import safetensors  # noqa: E402

STEPS, LONGER = 10, 16
# Of the weights after ten steps, relative to their size: a fraction of the type's unit for bf16; in f16, which is finer,
# more depends on the few numbers that come to lie on the other side of a ReLU.
TOLERANCE = {"f32": 2e-6, "bf16": 1e-3, "f16": 5e-4}
# A weight with which the first steps overflow, and a rate that makes up for it.
OVERFLOWS = ["-Dweight=5e3", "-Drate=1e-5"]
# With this one they overflow whatever the scale.
COLLAPSES, LONG_ENOUGH = ["-Dweight=1e30"], 45
NETS = {"half": (os.path.join(HERE, "half.unet"), []),
        "irregular": (os.path.join(os.path.dirname(HERE), "planner", "irregular.unet"), ["--micro-batches=2"])}
LONG = [("irregular", "f16")]
# In f32, which other tests compare, the short form trains what numbers of 16 bits are held against, and one net on a GPU.
PLAIN = {"half": ["cpu"], "irregular": ["cpu", "cuda"]}
TARGETS = {"cpu": ["--kernels=reference", "--poison"], "cpu, fast": [], "cuda": ["--target=cuda", "--poison"]}


class Run:
    """One net trained on one target."""

    def __init__(self, tools, shim, folder, net, target, precision, more=()):
        self.folder = tempfile.mkdtemp("_%s_%s_%s" % (net, target, precision), dir=folder)
        file, options = NETS[net]
        self.model = os.path.splitext(os.path.basename(file))[0]
        command = [tools.unetc, "--precision=" + precision] + options + TARGETS[target] + list(more)
        self.program = os.path.join(self.folder, "program")
        if target == "cuda":
            program.execute(command + ["-S", self.folder, file], env={**os.environ, "UNETC_CUDNN": tools.cudnn})
            shim.build(self.folder, self.program)
        else:
            program.execute(command + ["-o", self.program, file])

    def train(self, data, steps=STEPS, more=()):
        """Names and numbers of the checkpoint after STEPS steps."""
        out = os.path.join(self.folder, "out")
        self.said = program.execute([self.program, "train", "--data=" + data, "--out=" + out, "--steps=%d" % steps,
                                     "--threads=1"] + list(more) + ([] if "--resume" in more else ["--overwrite"]))
        tensors, _ = safetensors.read(self.checkpoint())
        return {name: tensor.values for name, tensor in tensors.items()}

    def checkpoint(self):
        return os.path.join(self.folder, "out", self.model + ".checkpoint.safetensors")

    def log(self):
        """The rows of the log."""
        with open(os.path.join(self.folder, "out", "log.csv"), newline="") as text:
            return list(csv.DictReader(text))


def distance(a, b):
    """The largest of the distances between weights, relative to their size."""
    weights = [name for name in a if not name.startswith("optimizer.")]
    found = 0.0
    for name in weights:
        apart = math.sqrt(sum((x - y) ** 2 for x, y in zip(a[name], b[name])))
        found = max(found, apart / math.sqrt(sum(y * y for y in b[name])))
    return found


def check_steps(tools, shim, folder, data, net):
    failures, weights = [], {}
    precisions = [precision for precision in TOLERANCE if tools.long or (net, precision) not in LONG]
    for precision in precisions:
        for target in PLAIN[net] if precision == "f32" and not tools.long else TARGETS:
            weights[target, precision] = Run(tools, shim, folder, net, target, precision).train(data)
    for target, precision in weights:
        apart = distance(weights[target, precision], weights["cpu", precision])
        from_f32 = distance(weights[target, precision], weights["cpu", "f32"])
        print("%s, %s, %s: %.1e apart, %.1e from f32" % (net, target, precision, apart, from_f32), flush=True)
        if not apart <= TOLERANCE[precision]:
            failures.append("%s, %s, %s: %.1e apart from the reference" % (net, target, precision, apart))
        if precision != "f32" and not from_f32 > 1e-5:
            failures.append("%s, %s, %s: nothing was rounded" % (net, target, precision))
    return failures


def check_scaling(tools, shim, folder, data, target):
    """What the scale of the loss did. Filter gradients of a GPU are f16 before they are widened: they overflow sooner."""
    failures = []
    run = Run(tools, shim, folder, "half", target, "f16")
    whole = run.train(data)
    run.train(data, STEPS // 2)
    if run.train(data, STEPS, ["--resume"]) != whole:
        failures.append("%s: a run that was resumed ends otherwise" % target)
    if list(whole["optimizer.loss_scale"]) != [65536, STEPS, STEPS, 1 / 65536]:
        failures.append("%s: the scale of a run without overflows: %s" % (target, list(whole["optimizer.loss_scale"])))
    if [(row["loss_scale"], row["skipped"]) for row in run.log()] != [("65536", "0")] * len(run.log()) or "skipped" in run.said:
        failures.append("%s: overflows that were none are logged" % target)
    run = Run(tools, shim, folder, "half", target, "f16", OVERFLOWS)
    found = run.train(data, LONGER)
    scale, good, taken, unscale = found["optimizer.loss_scale"]
    print("%s: %d of %d steps taken, the scale is %g" % (target, taken, LONGER, scale))
    if not 0 < taken < LONGER or scale != 65536 / 2 ** (LONGER - taken) or unscale not in (0, 1 / scale):
        failures.append("%s: overflows, and then %s" % (target, [scale, good, taken, unscale]))
    if any(not math.isfinite(x) for values in found.values() for x in values):
        failures.append("%s: an overflow came through" % target)
    last = run.log()[-1]
    if float(last["loss_scale"]) != scale or int(last["skipped"]) != LONGER - taken:
        failures.append("%s: %d steps were skipped, the log says %s" % (target, LONGER - taken, last))
    if "%d of %d steps were skipped" % (LONGER - taken, LONGER) not in run.said:
        failures.append("%s: %d steps were skipped, and all it says is:\n%s" % (target, LONGER - taken, run.said))
    run = Run(tools, shim, folder, "half", target, "f16", COLLAPSES)
    run.train(data, LONG_ENOUGH)
    if "warning: gradients overflow at every loss scale" not in run.said:
        failures.append("%s: no step is taken, and all it says is:\n%s" % (target, run.said))
    return failures


def check_change(tools, shim, folder, data, target):
    """Training goes on in another precision, and on another target."""
    failures = []
    plain = Run(tools, shim, folder, "half", "cpu", "f32")
    whole = plain.train(data)
    plain.train(data, STEPS // 2)
    run = Run(tools, shim, folder, "half", target, "f16")
    found = run.train(data, STEPS, ["--resume=" + plain.checkpoint()])
    apart = distance(found, whole)
    print("%s: begun in f32, ended in f16: %.1e from f32" % (target, apart))
    if not 1e-6 < apart <= 1e-3:
        failures.append("%s: f16 goes on behind f32, and ends %.1e apart" % (target, apart))
    if list(found["optimizer.loss_scale"]) != [65536, STEPS - STEPS // 2, STEPS, 1 / 65536]:
        failures.append("%s: a scale that begins late: %s" % (target, list(found["optimizer.loss_scale"])))
    wanted = ["by a program for cpu in f32, and this one is for %s in f16" % target, "has no loss scale; it starts at 65536"]
    longer = plain.train(data, STEPS + 2, ["--resume=" + run.checkpoint()])
    if "optimizer.loss_scale" in longer or "is not used in f32" not in plain.said:
        failures.append("%s: f32 goes on behind f16, and says:\n%s" % (target, plain.said))
    return failures + ["%s: it does not say '%s':\n%s" % (target, text, run.said) for text in wanted if text not in run.said]


def bytes_between_operators(tools, options, precision):
    """Of each activation and each gradient of one, where all are kept."""
    text = program.execute([tools.unetc, "mem", "--format=json", "--precision=" + precision, "--no-recompute",
                            "--micro-batches=off"] + options, env={**os.environ, "UNETC_CUDNN": tools.cudnn})
    found = {}
    for buffer in json.loads(text)["buffers"]:
        if buffer["class"] in ("activation", "activation_gradient"):
            found[buffer["name"]] = found.get(buffer["name"], 0) + buffer["bytes"]
    return {name: size for name, size in found.items() if not name.endswith(" cast")}


def check_memory(tools):
    """Channels that fill whole pieces in either type, so that padding is the same."""
    options = TARGETS["cpu"] + ["-Dbase=16", NETS["half"][0]]
    sizes = {precision: bytes_between_operators(tools, options, precision) for precision in TOLERANCE}
    print("bytes between operators: %s" % {precision: sum(size.values()) for precision, size in sizes.items()})
    return ["`%s` takes %d bytes in f32, %d in %s" % (name, whole, sizes[precision][name], precision)
            for precision in TOLERANCE if precision != "f32" for name, whole in sizes["f32"].items()
            if abs(sizes[precision][name] - whole / 2) > 64]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("unetc", "runtime", "make-pictures", "cudnn"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--long", action="store_true", help="the irregular net in f16, too")
    tools = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as workers:
        data = os.path.join(folder, "data")
        program.execute([tools.make_pictures, data, "10", "30", "30", "8"])
        failures = check_memory(tools)
        shim = program.Shim(folder, tools.runtime)
        jobs = [workers.submit(check_steps, tools, shim, folder, data, net) for net in NETS]
        jobs += [workers.submit(check, tools, shim, folder, data, target) for check in (check_scaling, check_change)
                 for target in (("cpu", "cuda") if tools.long else ("cuda",))]
        for job in jobs:
            failures += job.result()
    for failure in failures:
        print("FAILED: " + failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""The networks of examples/ against their public implementations in PyTorch (vectors/, made by record.py).

    run.py --unetc=build/unetc names [MODEL...]
    run.py --unetc=build/unetc --runtime=build/lib/libunet_runtime.a [--every=N] double|float|poison [MODEL...]

names    the full networks have as many parameters, with the same names and shapes; a window of 128 x 128 x 128 voxels trains in
         what nnU-Net's convolutions alone leave, their norms and activations being computed again
onnx     small ones are written as ONNX, and some of them, evaluated node by node, give the same output to 1e-5
double   small ones, of the reference kernels in double: outputs, losses and all gradients agree to 1e-9, the parameters
         after ten steps of the file's own optimizer and loss to 1e-7
float    small ones as they are built by default: outputs, losses and gradients are at most 4 times as far from PyTorch's
         float64 as PyTorch's float32 is
poison   the same, in bands of rows, by programs that stop at the first access outside of a buffer's life, or to a row that
         is not there

Standard library only.
"""

import argparse
import array
import json
import math
import os
import re
import shlex
import sys
import tempfile

import models

sys.path.insert(0, os.path.join(models.ROOT, "tests", "oracle"))
import run_oracle  # noqa: E402
import safetensors  # noqa: E402

TOLERANCE, AFTER_STEPS = 1e-9, 1e-7
# The factor by which float32 may be farther off than PyTorch's; half a unit in the last place is nobody's error.
FLOAT_FACTOR, FLOAT_EPSILON = 4, 2.0**-24
# In ONNX: what a float32 of the largest number in the output, or so, cannot tell; networks that the evaluator takes seconds for.
ONNX_TOLERANCE = 1e-5
EVALUATED = ("dncnn", "drunet", "resunet", "nafnet")

failures = []


def expect(good, *words):
    if not good:
        failures.append(" ".join(str(word) for word in words))


def check_names(tools, model):
    recorded = models.read(os.path.join(models.RECORDED, "names.json"))
    for definitions, count in model.full:
        key = model.key(definitions)
        command = [tools.unetc, "mem", "--format=json", "--batch=2"] + models.options(definitions)
        plan = json.loads(run_oracle.execute(command + [model.file]))
        shapes, trained = {}, 0
        for buffer in plan["buffers"]:
            if buffer["class"] == "running_statistic" or (buffer["class"] == "parameter" and buffer["alias"]):
                shapes[buffer["name"]] = buffer["shape"]
                trained += models.elements(buffer["shape"]) if buffer["class"] == "parameter" else 0
        expect(trained == count, key + ":", trained, "parameters, not", count)
        expect(models.names_digest(shapes) == recorded[key], key + ": other names or shapes")
        print("%-40s %10d parameters in %d tensors" % (key, trained, len(shapes)))


def check_voxels(tools, model, voxels, most_bytes, most_work):
    """Training takes at most so many bytes a voxel, beside parameters and the optimizer's state, for so much more work."""
    command = [tools.unetc, "mem", "--format=json", "--batch=1", model.file]
    fixed = sum(buffer["bytes"] for buffer in json.loads(run_oracle.execute(command))["buffers"]
                if buffer["class"] in ("parameter", "parameter_gradient", "state") and buffer["alias"] is None)
    plan = json.loads(run_oracle.execute(command + ["--mem=%d" % (fixed + voxels * most_bytes)]))
    each, work = (plan["arena"]["bytes"] - fixed) / voxels, plan["cost"]["recompute_flops"] / plan["cost"]["flops"]
    expect(each <= most_bytes and work <= most_work, model.name, "takes", each, "bytes a voxel for", work, "more work")
    print("%-40s %10.1f bytes a voxel for %.2f %% more work" % (model.name, each, 100 * work))


def logits_instead(file, folder):
    """The file with the output of what it takes classes or probabilities of, and with noise that is an input."""
    with open(file) as source:
        text = source.read()
    text = re.sub(r"^output (\w+) *= (argmax|sigmoid)\((.*)\)$", r"\1 = \2(\3)\noutput answer_ = \3", text, flags=re.M)
    text = re.sub(r"^data \{\n(    .*\n)*    .*diffuse\(.*\n(    .*\n)*\}\n", "", text, flags=re.M)
    path = os.path.join(folder, os.path.basename(file))
    with open(path, "w") as out:
        out.write(text)
    return path


def judge(what, found, expected, tolerance, least=0.0):
    error = models.difference(found, expected) / max(expected[0], least, 1e-300)
    expect(error <= tolerance, "%s: off by %.3g of %.3g, allowed %.3g" % (what, error, expected[0], tolerance))
    return error


def train(tools, model, definitions, recorded, more):
    """What a program of the file with MORE options answers, or None where it has other parameters."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as sources:
        file = logits_instead(model.file, sources)
        net = run_oracle.Model(tools, folder, file, {}, model.size, model.batch, models.options(definitions) + more)
        expected = {name: shape for name, (shape, _, _) in recorded["parameters"].items()}
        if models.names_digest(expected) != models.names_digest(net.parameters):
            return expect(False, model.key(definitions), "has other parameters:",
                          sorted(set(expected.items()) ^ set(net.parameters.items())))
        numbers = array.array("d")
        for name, shape in net.parameters.items():
            numbers.extend(models.weight(name, recorded["parameters"][name][0]).tolist())
        for values in models.batches(model):
            numbers.extend(list(values))
        return net.train(model.batch, numbers, None)


def check_poison(tools, model, definitions):
    check_double(tools, model, definitions, ("--poison", "--bands=5"))


def check_double(tools, model, definitions, more=()):
    key, recorded = model.key(definitions), models.read(model.vectors(definitions))
    answer = train(tools, model, definitions, recorded, ["--precision=f64", "--kernels=reference", "--no-recompute", *more])
    if answer is None:
        return
    worst = [judge(key + " output", models.digest("output", answer.output), recorded["output"], TOLERANCE)]
    worst.append(max(abs(loss / exact - 1) for loss, exact in zip(answer.losses[:1], recorded["losses"])))
    expect(worst[-1] <= TOLERANCE, key, "loss off by", worst[-1])
    later = max(abs(loss / exact - 1) for loss, exact in zip(answer.losses, recorded["losses"]))
    expect(later <= AFTER_STEPS, key, "losses off by", later)
    known = recorded["parameters"]
    largest = max(gradient[0] for _, gradient, _ in known.values() if gradient)
    worst.append(max(judge("%s gradient of %s" % (key, name), models.digest("gradient " + name, values), known[name][1],
                           TOLERANCE, models.ZERO * largest) for name, values in answer.gradients.items()))
    worst.append(max(judge("%s %s after %d steps" % (key, name, models.STEPS), models.digest("after " + name, values),
                           known[name][2], AFTER_STEPS) for name, values in answer.after.items()))
    print("%-40s output %.1e, loss %.1e, gradients %.1e, after %d steps %.1e" % (key, *worst[:3], models.STEPS, worst[3]))


def check_float(tools, model, definitions):
    key, recorded = model.key(definitions), models.read(model.vectors(definitions))
    answer = train(tools, model, definitions, recorded, [])
    if answer is None:
        return
    exact, known = recorded["output"], recorded["parameters"]
    output = models.digest("output", answer.output, models.OUTPUT_SIGNS)
    off = {name: (models.squared_error(models.digest("gradient " + name, values), known[name][1]), known[name][1][0]**2)
           for name, values in answer.gradients.items()}
    found = {"output": math.sqrt(models.squared_error(output, exact)) / exact[0],
             "loss": abs(answer.losses[0] / recorded["losses"][0] - 1), **models.gradient_errors(off)}
    known = recorded["float32"]
    for what, error in found.items():
        # The loss is one number, which is near by luck: how near follows from what it is of.
        least = known["output"] if what == "loss" else FLOAT_EPSILON
        judged = "%s, float32: %s off by %.3g, PyTorch by %.3g" % (key, what, error, known[what])
        expect(error <= FLOAT_FACTOR * max(known[what], least), judged)
    print("%-40s %s" % (key, ", ".join("%s %.1e (PyTorch %.1e)" % (what, error, known[what]) for what, error in found.items())))


def write_weights(path, recorded):
    safetensors.write(path, {name: safetensors.Tensor([n for n in shape], models.weight(name, shape))
                             for name, (shape, _, _) in recorded["parameters"].items()})


def evaluated(path, model):
    import onnx_test
    net, (count, values), numbers = onnx_test.Model(path), photos(model), []
    each = len(values) // count
    for sample in range(count):
        shape = [model.inputs[0][2], *model.size]
        numbers += net.run(onnx_test.Tensor(shape, values[sample * each:(sample + 1) * each])).values
    for failure in onnx_test.failures:
        expect(False, model.name, failure)
    return numbers


def photos(model):
    return model.batch, list(models.batches(model)[0])


def check_onnx(tools, model, definitions):
    key, recorded = model.key(definitions), models.read(model.vectors(definitions))
    with tempfile.TemporaryDirectory() as folder:
        weights, path = os.path.join(folder, "weights.safetensors"), os.path.join(folder, "model.onnx")
        write_weights(weights, recorded)
        run_oracle.execute([tools.unetc, "onnx", "--weights=" + weights, "-o", path, "--size=" + "x".join(map(str, model.size))] +
                           models.options(definitions) + [logits_instead(model.file, folder)])
        if model.name not in EVALUATED:
            return print("%-40s %d bytes of ONNX" % (key, os.path.getsize(path)))
        error = judge(key + " in ONNX", models.digest("output", evaluated(path, model)), recorded["output"], ONNX_TOLERANCE)
    print("%-40s in ONNX off by %.1e" % (key, error))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--runtime", help="the library that generated programs link")
    parser.add_argument("--flags", default="", help="more flags for the C compiler, such as sanitizers")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth network alone")
    parser.add_argument("mode", choices=["names", "double", "float", "poison", "onnx"])
    parser.add_argument("model", nargs="*")
    tools = parser.parse_args()
    tools.flags = shlex.split(tools.flags) + ["-DTHREADS=1"]  # on small maps they would only wait for each other
    if tools.mode == "poison":
        tools.flags.append("-fsanitize=address")
        os.environ["ASAN_OPTIONS"] = "detect_leaks=0"  # of the harness
    tools.include = os.path.join(models.ROOT, "runtime", "include")
    for model in models.MODELS[::tools.every]:
        if tools.model and model.name not in tools.model:
            continue
        if tools.mode == "names":
            check_names(tools, model)
            if model.name == "nnunet":
                check_voxels(tools, model, 128**3, 900, 0.01)
        else:
            for definitions in model.small:
                {"double": check_double, "float": check_float, "poison": check_poison, "onnx": check_onnx}[tools.mode](
                    tools, model, definitions)
    for failure in failures:
        print("FAILED: " + failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

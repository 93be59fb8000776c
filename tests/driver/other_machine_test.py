#!/usr/bin/env python3
"""other_machine_test.py [--long] UNETC HOME - programs for AArch64 by one command: `unetc --cc=aarch64-linux-gnu-gcc --no-images
--isa=armv8-a`, on an emulator, predict what programs for this processor do, within rounding.

The short form takes one network, and options that are refused; the long one takes every network of the examples that predicts from one
picture, and SVE besides.  HOME: the folder of the runtime library.  Exits with 77 without the cross compiler, an emulator
(qemu-user) or jansson for AArch64."""
import array
import ast
import glob
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))
import safetensors  # noqa: E402

LONG = "--long" in sys.argv
UNETC, HOME = [os.path.abspath(word) for word in sys.argv[1:] if word != "--long"]
CROSS, EMULATOR = "aarch64-linux-gnu-gcc", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
SCRIPT = os.path.join(ROOT, "runtime", "package", "other_machine.sh")
SHORT = ["denoise/tiny_unet"]  # tests/kernels has every operator on the emulator
SIDE = 64
NEAR = 1e-4   # of the largest number of an output; sums are in another order where vectors have another width
CLASSES = 0.5  # percent of the points of a map of classes that may differ, for where two are nearly alike
failures = []


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)


def expect(condition, message, *words):
    if not condition:
        failures.append(message % words)
        print("FAILED: " + message % words, flush=True)


def weight(name, shape, draws):
    """Numbers that keep activations in their range."""
    count = math.prod(shape)
    if name.endswith("running_var"):
        return [draws.uniform(0.5, 1.5) for _ in range(count)]
    bound = math.sqrt(3 / math.prod(shape[1:])) if len(shape) > 1 else 0.1
    middle = 1 if len(shape) == 1 and name.endswith("weight") else 0
    return [middle + draws.uniform(-bound, bound) for _ in range(count)]


def write_weights(path, parameters):
    draws = random.Random(1)
    safetensors.write(path, {p["name"]: safetensors.Tensor(p["shape"], array.array("f", weight(p["name"], p["shape"], draws)))
                             for p in parameters})


def write_picture(path, channels, height, width):
    with open(path, "wb") as file:
        file.write(b"P%d\n%d %d\n255\n" % (6 if channels == 3 else 5, width, height))
        file.write(random.Random(2).randbytes(channels * height * width))


def read_npy(path):
    """The numbers, and whether they are whole."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<H", data, 8)[0]
    kind = ast.literal_eval(data[10:10 + length].decode())["descr"][1:]
    numbers = array.array({"f4": "f", "u1": "B", "u2": "H"}[kind])
    numbers.frombytes(data[10 + length:])
    return numbers, kind != "f4"


def compare(what, here, there):
    (ours, whole), (theirs, _) = read_npy(here), read_npy(there)
    expect(len(ours) == len(theirs), "%s: %d numbers here, %d there", what, len(ours), len(theirs))
    if whole:
        share = 100 * sum(a != b for a, b in zip(ours, theirs)) / len(ours)
        expect(share <= CLASSES, "%s: %.2f %% of the classes differ", what, share)
        return "%.3f %% of the classes differ" % share
    most = max(map(abs, ours))
    error = max(abs(a - b) for a, b in zip(ours, theirs)) / most
    expect(most > 0 and error <= NEAR, "%s: differs by %.1e of the largest number", what, error)
    return "differs by %.1e" % error


def picture_net(file):
    """Channels, height and width of the one picture from which the network predicts one output, or None."""
    told = run(UNETC, "check", "--format=json", "--no-images", file)
    if told.returncode != 0:
        return None
    inputs = [i for i in json.loads(told.stdout)["inputs"] if not i["target"]]
    one = len(inputs) == 1 and len(inputs[0]["shape"]) == 3 and inputs[0]["shape"][0] in (1, 3)
    return inputs[0]["shape"] if one and len(json.loads(told.stdout)["outputs"]) == 1 else None


def check_net(folder, file, isa, environment):
    name = os.path.basename(file)[:-len(".unet")]
    size = ["--size=%dx%d" % (SIDE, SIDE)]
    if run(UNETC, "check", *size, file).returncode != 0:
        size = []
    here, there = (os.path.join(folder, name + end) for end in ("_here", "_there"))
    common = ["--no-images", *size, file]
    for command in ([UNETC, "-o", here, *common], [UNETC, "-o", there, "--cc=" + CROSS, "--isa=" + isa, *common]):
        made = run(*command, env=environment)
        expect(made.returncode == 0, "%s: %s", " ".join(command), made.stdout)
        if made.returncode != 0:
            return
    info = json.loads(run(here, "info", "--format=json").stdout)
    weights, picture = os.path.join(folder, name + ".safetensors"), os.path.join(folder, name + ".ppm")
    write_weights(weights, info["parameters"])
    write_picture(picture, picture_net(file)[0], *info["programs"][0]["size"][1:])
    for program in ([here], [*EMULATOR, there]):
        done = run(*program, "predict", "--weights=" + weights, "--bits=32", picture, "-o", program[-1] + ".npy")
        expect(done.returncode == 0, "%s %s: %s", name, " ".join(program), done.stdout)
        if done.returncode != 0:
            return
    print("%s, %s: %s" % (name, isa, compare("%s, %s" % (name, isa), here + ".npy", there + ".npy")), flush=True)


def check_refused(folder, environment, file):
    for options, said in ((["--isa=armv8-a"], "add --no-images"), (["--no-images"], "as in --isa=armv8-a"),
                          (["--no-images", "--isa=armv8-a"], "other_machine.sh " + CROSS)):
        made = run(UNETC, "-o", os.path.join(folder, "none"), "--cc=" + CROSS, *options, file, env=environment)
        expect(made.returncode == 5 and said in made.stdout, "%s: not refused by `%s`: %s", options, said, made.stdout)


def main():
    for tool in (CROSS, EMULATOR[0]):
        if not shutil.which(tool):
            print("SKIPPED: no " + tool)
            sys.exit(77)
    nets = [os.path.join(ROOT, "examples", name + ".unet") for name in SHORT]
    if LONG:
        nets = [net for net in sorted(glob.glob(os.path.join(ROOT, "examples", "*", "*.unet"))) if picture_net(net)]
    with tempfile.TemporaryDirectory() as folder:
        home = os.path.join(folder, "home")
        os.mkdir(home)
        for name in os.listdir(HOME):
            if not name.startswith("aarch64"):
                os.symlink(os.path.join(HOME, name), os.path.join(home, name))
        environment = {**os.environ, "UNETC_RUNTIME": home}
        check_refused(folder, environment, nets[0])
        built = run("sh", SCRIPT, CROSS, home)
        if "finds no libjansson.a" in built.stdout:
            print("SKIPPED: " + built.stdout)
            sys.exit(77)
        expect(built.returncode == 0, "%s: %s", SCRIPT, built.stdout)
        for isa in ("armv8-a", "armv8-a+sve") if LONG else ("armv8-a",):
            for net in nets:
                check_net(folder, net, isa, environment)
    sys.exit(1 if failures else 0)


main()

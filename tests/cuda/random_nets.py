"""random_nets.py --unetc=UNETC --runtime=LIBRARY --cudnn=FOLDER [--from=N] [--count=N]: random U-Nets on both targets.

Nets of tests/whole/random_net.py, signals and pictures of them, at a batch from 1 to 40 that is drawn for each, train three steps on
noise, by the kernels of the CPU and by those of a GPU through the shim, whose steps may touch their operands and nothing
else (--poison). Each is planned without a budget, or, every other one, under the smallest that the compiler finds. What three
steps change the weights by is the same but for rounding. A net follows from its number. Exits with 77 without the headers of CUDA
and cuDNN. Standard library only."""
import argparse
import array
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "oracle"), os.path.join(os.path.dirname(HERE), "whole")]
import cuda  # noqa: E402
import program  # noqa: E402
import random_net  # noqa: E402
import safetensors  # noqa: E402

MOST_SAMPLES = 40
DOES_NOT_FIT = 3
# Relative, of what training changes a tensor by, or of a hundredth of what it changes the one by that it changes most.
TOLERANCE = {"f32": 1e-3, "bf16": 1e-1, "f16": 1e-1}


class Net(random_net.Varied):
    def __init__(self, number):
        super().__init__(number)
        rng = random.Random("batch %d" % number)
        self.batch, self.eval_batch = rng.randint(1, MOST_SAMPLES), rng.randint(1, MOST_SAMPLES)
        self.samples = self.batch + rng.randint(0, 3)

    def text(self):
        labels = ["    %s = labels(\"%s/*.npy\")" % (name, name) for name in ("seen", "marked")[:len(self.labels)]]
        reads = "signals" if self.AXES == 1 else "images"
        return super().text() + "\n".join(["data {", *["    %s = %s(\"%s/*.npy\")" % (name, reads, name) for name in ("photo", "truth")],
                                            *labels, "}"]) + "\n"


def write_array(path, kind, shape, numbers):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % ({"B": "|u1", "f": "<f4"}[kind], tuple(shape))).encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + array.array(kind, numbers).tobytes())


def write_data(net, folder):
    rng, points = random.Random("data %d" % net.number), math.prod(net.size)
    for name, factor in (("photo", 1), ("truth", net.factor)):
        os.makedirs(os.path.join(folder, name))
        size = [n * factor for n in net.size]
        shape = [net.channels, *size] if net.AXES == 1 else [*size, net.channels]
        for k in range(net.samples):
            write_array(os.path.join(folder, name, "%d.npy" % k), "f", shape, [rng.random() for _ in range(math.prod(shape))])
    for name, classes in zip(("seen", "marked"), net.labels):
        os.makedirs(os.path.join(folder, name))
        for k in range(net.samples):
            write_array(os.path.join(folder, name, "%d.npy" % k), "B", net.size, [rng.randrange(classes) for _ in range(points)])


def budget(tools, net, file, options, environment):
    """Of every other net, as an option: the least that the compiler names."""
    if net.number % 2 == 0:
        return []
    said = subprocess.run([tools.unetc, "mem", "--format=json", "--mem=1B", *options, file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
                          check=False)
    return ["--mem=%dB" % json.loads(said.stdout)["arena"]["bytes"]] if said.returncode == DOES_NOT_FIT else []


def weights(built, folder, more=()):
    out = os.path.join(folder, "out")
    program.execute([built, "train", "--data=" + folder, "--out=" + out, "--threads=1", "--overwrite", *more])
    tensors, _ = safetensors.read(os.path.join(out, "net.safetensors"))
    return {name: list(tensor.values) for name, tensor in tensors.items()}


def norm_of(values):
    return math.sqrt(math.fsum(v * v for v in values))


def largest_error(before, cpu, gpu):
    changes = {name: [a - b for a, b in zip(cpu[name], before[name])] for name in cpu}
    least = 0.01 * max(norm_of(change) for change in changes.values())
    return max((norm_of([a - b for a, b in zip(cpu[name], gpu[name])]) / max(norm_of(changes[name]), least), name) for name in cpu)


def check(tools, shim, number):
    net = Net(number)
    environment = {**os.environ, "UNETC_CUDNN": tools.cudnn}
    with tempfile.TemporaryDirectory() as folder:
        write_data(net, folder)
        file, options = os.path.join(folder, "net.unet"), ["--precision=" + net.precision, "--poison"]
        with open(file, "w", encoding="utf-8") as out:
            out.write(net.text())
        cpu, sources = os.path.join(folder, "cpu"), os.path.join(folder, "sources")
        program.execute([tools.unetc, *options, "-o", cpu, file])
        device = [*options, "--target=cuda"]
        device += budget(tools, net, file, device, environment)
        program.execute([tools.unetc, *device, "-S", sources, file], env=environment)
        gpu = shim.build(sources, os.path.join(folder, "gpu"))
        before = weights(cpu, folder, ["--steps=1", "--lr=1e-30"])
        error, name = largest_error(before, weights(cpu, folder), weights(gpu, folder))
    print("net %d, %s, batch %d%s: %.1e (%s)" % (number, net.precision, net.batch, " ".join([""] + device[3:]), error, name), flush=True)
    return error <= TOLERANCE[net.precision]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in "--unetc", "--runtime", "--cudnn":
        parser.add_argument(name, required=True)
    parser.add_argument("--make-pictures", help="as other tests have it; not used")
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--count", type=int, default=3)
    tools = parser.parse_args()
    if cuda.home("include/cudnn_graph.h") is None:
        sys.exit(77)
    failed, number, done = [], tools.first, 0
    with tempfile.TemporaryDirectory() as folder:
        shim = program.Shim(folder, tools.runtime)
        while done < tools.count:
            if Net(number).AXES < 3:
                failed += [] if check(tools, shim, number) else [number]
                done += 1
            number += 1
    if failed:
        sys.exit("other weights: nets %s" % failed)


main()

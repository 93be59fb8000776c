#!/usr/bin/env python3
"""tokens.py --unetc=UNETC: networks of words, from arrays of numbers to weights and back.

  next     texts in which each word says the next one: a network learns them; its weights are the same with a sample at a time, with
           one thread and with three, under a budget, and resumed; predict reads numbers of 8, 16 and 32 bits alike
  hidden   words are hidden; a text with a number that is no word is named by check-data; a table that two layers share stands in
           the weights once
  memory   the logits of all words are no tensor of training

Lengths and words are drawn from a seed.  Standard library only."""

import argparse
import array
import csv
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

NET = """let words = %(words)d
input  text : signal(1, %(length)d)
target told : signal(1)
layer table = embedding(words, 16, std = 0.3)
x = table(text)
x = x + positions(x)
q, k, v = chunk(linear(x, 48), 3)
x = x + linear(attention(q, k, v, heads = 2, causal = true), 16)
x = x + linear(gelu(linear(x, 32)), 16)
logits = linear(layer_norm(x), words, tied = "table")
output guess = logits
data {
    text = tokens("texts/*.npy", vocabulary = words)
    told = %(told)s
    crop
    holdout 0.3
}
train {
    loss      cross_entropy(logits, told)
    metric    accuracy(logits, told)
    optimizer adam(lr = 2e-2)
    batch     4
    steps     %(steps)d
}
"""
KINDS = {"B": "|u1", "H": "<u2", "i": "<i4", "f": "<f4"}


def expect(good, *said):
    if not good:
        sys.exit("tokens.py: " + " ".join(map(str, said)))


def run(*command, code=0):
    """What it prints, or, where it fails as it should, what it says of the reason."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expect(done.returncode == code, " ".join(command), "ends with", done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr if code else done.stdout


def write_array(path, kind, numbers):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (KINDS[kind], len(numbers))).encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + array.array(kind, numbers).tobytes())


def write_file(path, text):
    with open(path, "w") as out:
        out.write(text)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def last_of(folder, split, *names):
    """The last numbers of a run, by what the head of their columns begins with."""
    with open(os.path.join(folder, "log.csv"), newline="") as file:
        row = [row for row in csv.DictReader(file) if row["split"] == split][-1]
    return [float(next(value for key, value in row.items() if key.startswith(name))) for name in names]


class Texts:
    """Each word but the last of a circle has one behind it."""

    def __init__(self, folder, rng, words, length):
        self.circle = rng.sample(range(words), words)
        os.makedirs(os.path.join(folder, "texts"))
        for number in range(12):
            begin, count = rng.randrange(words), length + rng.randrange(3 * length)
            text = [self.circle[(begin + i) % words] for i in range(count)]
            write_array(os.path.join(folder, "texts", "%d.npy" % number), rng.choice("BHi"), text)


def check_next(tools, folder, words, length):
    net = write_file(os.path.join(folder, "net.unet"), NET % {"words": words, "length": length, "told": "next(text)", "steps": 120})
    built = lambda name, *options: (run(tools.unetc, *options, "-o", os.path.join(folder, name), net), os.path.join(folder, name))[1]
    least = json.loads(run(tools.unetc, "mem", "--format=json", "--micro-batches=1", net))["arena"]["bytes"]
    whole = built("whole", "--micro-batches=off")
    train = lambda program, out, *more: run(program, "train", "--data=" + folder, "--out=" + os.path.join(folder, out), *more)
    train(whole, "first", "--threads=1")
    loss, right = last_of(os.path.join(folder, "first"), "eval", "loss", "accuracy")
    expect(loss < 0.5 * math.log(words), "the loss is", loss, "and of no knowledge", math.log(words))
    expect(right > 0.5 and right <= 1 and (loss > 0.2 or right > 0.9), "the accuracy is", right, "and the loss", loss)
    weights = read(os.path.join(folder, "first", "net.safetensors"))
    train(whole, "threads", "--threads=3")
    train(built("by_one", "--micro-batches=1"), "single", "--threads=2")
    train(built("in_little", "--mem=%d" % least), "small", "--threads=2")
    train(whole, "resumed", "--steps=50")
    train(whole, "resumed", "--resume")
    for out in ("threads", "single", "small", "resumed"):
        expect(read(os.path.join(folder, out, "net.safetensors")) == weights, out, "trains other weights")
    return whole, os.path.join(folder, "first", "net.safetensors")


def check_predict(folder, program, weights, rng, words, length):
    text, answers = [rng.randrange(words) for _ in range(length)], set()
    for kind in "BHif":
        write_array(os.path.join(folder, "one.npy"), kind, text)
        run(program, "predict", "--weights=" + weights, os.path.join(folder, "one.npy"), "-o", os.path.join(folder, "out.npy"))
        answers.add(read(os.path.join(folder, "out.npy")))
    expect(len(answers) == 1, "the numbers of a text depend on how many bits they have")


def check_hidden(tools, folder, words, length):
    net = write_file(os.path.join(folder, "hidden.unet"),
                     NET % {"words": words, "length": length, "told": "hide(text, mask = 1, first = 2, share = 0.4)", "steps": 4})
    program = os.path.join(folder, "hidden")
    run(tools.unetc, "-o", program, net)
    run(program, "check-data", "--data=" + folder)
    run(program, "train", "--data=" + folder, "--out=" + os.path.join(folder, "masked"))
    weights = read(os.path.join(folder, "masked", "hidden.safetensors"))
    head = json.loads(weights[8:8 + struct.unpack("<Q", weights[:8])[0]])
    shapes = {name: value["shape"] for name, value in head.items() if name != "__metadata__"}
    tables = [name for name, shape in shapes.items() if shape == [words, 16]]
    expect(tables == ["table.weight"] and shapes["logits.bias"] == [words], "the weights are", shapes)
    write_array(os.path.join(folder, "texts", "wrong.npy"), "i", [0, words - 1, words] * length)
    said = run(program, "check-data", "--data=" + folder, code=4)
    expect("wrong.npy has the number %d" % words in said, said)
    os.remove(os.path.join(folder, "texts", "wrong.npy"))


def check_memory(tools, folder):
    """A larger vocabulary has a larger table and bias, with gradients and state, and no logits."""
    trained, (few, many), length = [], (4000, 32000), 400
    for words in few, many:
        net = write_file(os.path.join(folder, "large.unet"), NET % {"words": words, "length": length, "told": "next(text)", "steps": 1})
        plan = json.loads(run(tools.unetc, "mem", "--format=json", "--micro-batches=off", net))
        trained.append(plan["arena"]["extent"]["train"])
    most = 6 * (many - few) * (16 + 1) * 4
    expect(trained[1] - trained[0] <= most, "training grows by", trained[1] - trained[0], "bytes, and not by", most)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--seed", type=int, default=1)
    tools = parser.parse_args()
    rng = random.Random(tools.seed)
    words, length = rng.randint(20, 40), rng.randint(12, 30)
    with tempfile.TemporaryDirectory() as folder:
        Texts(folder, rng, words, length)
        program, weights = check_next(tools, folder, words, length)
        check_predict(folder, program, weights, rng, words, length)
        check_hidden(tools, folder, words, length)
        check_memory(tools, folder)


if __name__ == "__main__":
    main()

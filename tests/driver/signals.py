#!/usr/bin/env python3
"""signals.py --unetc=UNETC: programs for signals, from files to files.

  sounds   WAV files of two channels: what check-data says; training, killed in no way, but resumed: the same weights; a file that
           is longer than the network's input goes by windows, which compute what the whole file gives, to the bit; results have
           the rate and the channels of their input; the command `eval` measures whole files as Python does
  rates    files of two rates, or of two lengths, are an error that names both
  labels   a class for each frame, from arrays of one axis

Lengths, rates and numbers are drawn from a seed.  Exits with 77 where WAV files are not read.  Standard library only."""

import argparse
import array
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import wave

NET = """input  mixture : signal(2, 48)
target voice   : signal(2)
first  = relu(conv(mixture, 6, 5))
small  = relu(conv(max_pool(first), 8, 3, dilation = 2))
output apart = conv(concat(upconv(small, 6), first), 2, 3)
data {
    mixture = signals("mixture/*.wav")
    voice   = signals("voice/*.wav")
    crop
    flip
    holdout 0.4
}
train {
    loss      mse(apart, voice)
    metric    l1(apart, voice)
    optimizer adam(lr = 5e-3)
    batch     2
    steps     12
}
"""
LABELLED = """input  beat : signal(1, 32)
target kind : labels(3)
logits = conv(relu(conv(beat, 6, 5)), 3, 3)
output kinds = argmax(logits)
data {
    beat = signals("beat/*.npy")
    kind = labels("kind/*.npy")
    crop
}
train {
    loss      cross_entropy(logits, kind)
    metric    accuracy(kinds, kind)
    optimizer adam(lr = 1e-2)
    batch     3
    steps     6
}
"""


def expect(good, *said):
    if not good:
        sys.exit("signals.py: " + " ".join(map(str, said)))


def run(*command, code=0):
    """What it prints, or, where it fails as it should, what it says of the reason."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expect(done.returncode == code, " ".join(command), "ends with", done.returncode, done.stdout, done.stderr)
    return done.stderr if code else done.stdout


def write_wave(path, channels, rate, frames):
    with wave.open(path, "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(struct.pack("<%dh" % len(frames), *frames))


def write_array(path, kind, shape, numbers):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % ({"B": "|u1", "f": "<f4"}[kind], ", ".join(map(str, shape)))).encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + array.array(kind, numbers).tobytes())


def read_array(path):
    """The shape and the numbers of an array of floats or bytes."""
    with open(path, "rb") as file:
        data = file.read()
    head = 10 + struct.unpack("<H", data[8:10])[0]
    shape = [int(n) for n in re.findall(r"\d+", re.search(rb"'shape': \(([^)]*)\)", data).group(1).decode())]
    values = array.array("f" if b"<f4" in data[:head] else "B")
    values.frombytes(data[head:])
    return shape, values


def write_file(path, text):
    with open(path, "w") as out:
        out.write(text)
    return path


class Sounds:
    """Pairs of WAV files below FOLDER, of drawn lengths."""

    def __init__(self, folder, rng):
        self.folder, self.rate, self.frames = folder, rng.choice([8000, 16000, 44100]), {}
        for part in ("mixture", "voice"):
            os.makedirs(os.path.join(folder, part))
        for number in range(5):
            count = rng.randint(50, 150)
            voice = [rng.randrange(-16000, 16000) for _ in range(2 * count)]
            self.frames[number] = voice
            self.write("voice", number, voice)
            self.write("mixture", number, [v // 2 + rng.randrange(-8000, 8000) for v in voice])

    def path(self, part, number):
        return os.path.join(self.folder, part, "%d.wav" % number)

    def write(self, part, number, frames, rate=None):
        write_wave(self.path(part, number), 2, rate or self.rate, frames)


def check_windows(tools, folder, program, net, sounds):
    """Windows of a long file, and the program that takes the whole file at once."""
    rng, count = random.Random("long"), 96
    long = os.path.join(folder, "long.wav")
    write_wave(long, 2, sounds.rate, [rng.randrange(-9000, 9000) for _ in range(2 * count)])
    weights = "--weights=" + os.path.join(folder, "run", "net.safetensors")
    whole = os.path.join(folder, "whole")
    run(tools.unetc, "--programs=predict", "--size=%d" % count, "-o", whole, net)
    for name in ("out.wav", "out.npy"):
        parts = [os.path.join(folder, part + name) for part in ("windows_", "whole_")]
        for built, out in zip((program, whole), parts):
            run(built, "predict", weights, long, "-o", out)
        both = [open(out, "rb").read() for out in parts]
        expect(both[0] == both[1], name, "by windows differs from the whole file")
    with wave.open(parts[0].replace(".npy", ".wav")) as made:
        found = made.getnchannels(), made.getframerate(), made.getnframes(), made.getsampwidth()
    expect(found == (2, sounds.rate, count, 2), "the result has", found)
    expect(read_array(parts[0])[0] == [2, count], "an array of", read_array(parts[0])[0])


def mean_difference(folder, program, sounds, number):
    """The metric l1 of a whole file."""
    out = os.path.join(folder, "measured.npy")
    run(program, "predict", "--weights=" + os.path.join(folder, "run", "net.safetensors"), "--bits=32", sounds.path("mixture", number), "-o", out)
    (channels, count), values = read_array(out)
    voice = sounds.frames[number]
    return sum(abs(values[c * count + i] - voice[2 * i + c] / 32768) for c in range(channels) for i in range(count)) / (channels * count)


def check_sounds(tools, folder):
    sounds = Sounds(os.path.join(folder, "sounds"), random.Random("sounds"))
    net, program = write_file(os.path.join(folder, "net.unet"), NET), os.path.join(folder, "program")
    run(tools.unetc, "-o", program, net)
    data, out = "--data=" + sounds.folder, os.path.join(folder, "run")
    said = run(program, "check-data", data)
    expect("10 files" in said, "check-data says", said)
    run(program, "train", data, "--out=" + out)
    weights = open(os.path.join(out, "net.safetensors"), "rb").read()
    with open(os.path.join(out, "report.html")) as page:
        expect("48 frames" in page.read(), "the page shows no signals")
    again = os.path.join(folder, "again")
    run(program, "train", data, "--out=" + again, "--steps=5")
    run(program, "train", data, "--out=" + again, "--resume", "--steps=12")
    expect(open(os.path.join(again, "net.safetensors"), "rb").read() == weights, "a run that was resumed has other weights")
    check_windows(tools, folder, program, net, sounds)
    said = json.loads(run(program, "eval", data, "--weights=" + os.path.join(out, "net.safetensors"), "--format=json"))
    for sample in said["images"]:
        number = int(re.search(r"\d+", os.path.basename(sample["image"])).group())
        expected = mean_difference(folder, program, sounds, number)
        expect(abs(sample["values"]["l1(apart, voice)"] - expected) <= 1e-5, sample, "and not", expected)
    return sounds, program


def check_rates(folder, sounds, program):
    data = "--data=" + sounds.folder
    sounds.write("voice", 3, sounds.frames[3], sounds.rate + 1)
    said = run(program, "train", data, "--out=" + os.path.join(folder, "rates"), code=4)
    expect(all(text in said for text in (str(sounds.rate), str(sounds.rate + 1), "3.wav", "sox")), "two rates:", said)
    sounds.write("voice", 3, sounds.frames[3][:-2])
    said = run(program, "train", data, "--out=" + os.path.join(folder, "lengths"), code=4)
    expect("%d frames" % (len(sounds.frames[3]) // 2 - 1) in said and "3.wav" in said, "two lengths:", said)


def check_labels(tools, folder):
    rng, count = random.Random("labels"), 32
    for part in ("beat", "kind"):
        os.makedirs(os.path.join(folder, "marked", part))
    for number in range(4):
        kinds = [rng.randrange(3) for _ in range(count)]
        write_array(os.path.join(folder, "marked/kind/%d.npy" % number), "B", [count], kinds)
        write_array(os.path.join(folder, "marked/beat/%d.npy" % number), "f", [count], [k + rng.uniform(-0.1, 0.1) for k in kinds])
    net, program, out = write_file(os.path.join(folder, "marked.unet"), LABELLED), os.path.join(folder, "marker"), os.path.join(folder, "marks")
    run(tools.unetc, "-o", program, net)
    run(program, "train", "--data=" + os.path.join(folder, "marked"), "--out=" + out)
    made = os.path.join(folder, "kinds.npy")
    run(program, "predict", "--weights=" + os.path.join(out, "marked.safetensors"), os.path.join(folder, "marked/beat/0.npy"), "-o", made)
    shape, kinds = read_array(made)
    expect(shape == [1, count] and max(kinds) <= 2, "classes of", shape, list(kinds))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    tools = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check_labels(tools, folder)
        net = write_file(os.path.join(folder, "net.unet"), NET)
        checked = subprocess.run([tools.unetc, "check", net], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if "reads no WAV files" in checked.stderr:
            sys.exit(77)
        sounds, program = check_sounds(tools, folder)
        check_rates(folder, sounds, program)


if __name__ == "__main__":
    main()

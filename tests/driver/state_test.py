"""state_test.py UNETC: an optimizer that keeps its state in 8 bits trains the same under every plan, and its checkpoints hold the codes.

A net whose second convolution is large enough is trained with `state 8`: the same bits under a budget, one sample at a time, in bands of
rows, by one thread and by three, by two processes, and after a run that was killed.  The checkpoint has codes and maxima, which are
those of the state in 32 bits after one step, by the rules of runtime/include/unet/codes.h.  A run in 32 bits goes on in 8, and the other
way round, with a note.  Standard library only."""
import bisect
import fractions
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib

UNETC = os.path.abspath(sys.argv[1])

NET = """
input  noisy : image(3, 16, 16)
target clean : image(3)
output net = noisy -> conv(24, 3) -> relu -> conv(23, 3) -> relu -> conv(3, 3)
data {
    noisy = images("noisy/*.png")
    clean = images("clean/*.png")
}
train {
    loss      mse(net, clean)
    optimizer adam(lr = 1e-3, weight_decay = 0.01)
    clip      0.5
    ema       0.9
    batch     4
    steps     12
    save      1, "steps"
    state     BITS
}
"""
CODED = "net.2.weight"
ELEMENTS = 24 * 23 * 9


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == status, "%s exits %d: %s%s" % (command, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def png(path, numbers):
    rows = b"".join(b"\0" + bytes(numbers[y * 48:(y + 1) * 48]) for y in range(16))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def tensors(path):
    """Type, shape and bytes of each tensor."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    found = json.loads(data[8:8 + length])
    found.pop("__metadata__")
    return {name: (t["dtype"], t["shape"], data[8 + length + t["data_offsets"][0]:8 + length + t["data_offsets"][1]])
            for name, t in found.items()}


def checkpoint(folder):
    return tensors(os.path.join(folder, "net.checkpoint.safetensors"))


# ---- the codes, by their definition ------------------------------------------------------------------


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def borders(has_sign):
    shares = [fractions.Fraction(0), fractions.Fraction(1)]
    for decade in range(7):
        parts = 2**decade * (1 if has_sign else 2)
        middles = [fractions.Fraction(2 * parts + 18 * k + 9, 20 * parts) / 10**(6 - decade) for k in range(parts)]
        shares += middles + ([-x for x in middles] if has_sign else [])
    shares = [float(share) for share in sorted(shares)]
    return [single((a + b) / 2) for a, b in zip(shares, shares[1:])]


def encoded(numbers, has_sign):
    """Codes and maxima."""
    between, codes, maxima = borders(has_sign), [], []
    for start in range(0, len(numbers), 256):
        block = numbers[start:start + 256]
        maxima.append(max(map(abs, block)))
        codes += [bisect.bisect_left(between, single(x / maxima[-1]) if maxima[-1] else 0.0) for x in block]
    return codes, maxima


def check_codes(eight, thirty_two):
    for moment, has_sign in (("exp_avg", True), ("exp_avg_sq", False)):
        name = "optimizer.%s.%s" % (moment, CODED)
        kind, shape, data = eight[name]
        assert (kind, shape) == ("U8", [23, 24, 3, 3]), (kind, shape)
        assert thirty_two[name][0] == "F32"
        numbers = struct.unpack("<%df" % ELEMENTS, thirty_two[name][2])
        codes, maxima = encoded(numbers, has_sign)
        kind, shape, stored = eight["optimizer.absmax.%s.%s" % (moment, CODED)]
        assert (kind, shape) == ("F32", [len(maxima)]), (kind, shape)
        assert list(struct.unpack("<%df" % len(maxima), stored)) == maxima, moment
        assert list(data) == codes, "%s: %d codes are others" % (moment, sum(a != b for a, b in zip(data, codes)))
        assert eight["optimizer.%s.net.0.weight" % moment] == thirty_two["optimizer.%s.net.0.weight" % moment]
    assert eight["optimizer.ema." + CODED][0] == "F32"


# ---- runs ---------------------------------------------------------------------------------------------


class Shop:
    def __init__(self, folder):
        self.folder = folder
        for bits in (8, 32):
            os.mkdir(os.path.join(folder, "of%d" % bits))
            with open(os.path.join(folder, "of%d" % bits, "net.unet"), "w", encoding="utf-8") as file:
                file.write(NET.replace("BITS", str(bits)))
        for k, name in enumerate(("noisy", "clean")):
            os.mkdir(os.path.join(folder, name))
            for i in range(8):
                png(os.path.join(folder, name, "%d.png" % i), [(37 * i + 11 * n * (n % 7) + 5 * k) % 256 for n in range(768)])

    def program(self, name, *options, bits=8):
        path = os.path.join(self.folder, name)
        run(UNETC, *options, "-o", path, os.path.join(self.folder, "of%d" % bits, "net.unet"))
        return path

    def trained(self, program, out, *options):
        """The folder of a run, and what it said."""
        folder = os.path.join(self.folder, out)
        return folder, run(program, "train", "--data=" + self.folder, "--out=" + folder, *options)


def check_plans(shop, plain):
    whole = checkpoint(shop.trained(plain, "whole", "--threads=3")[0])
    for name, options in (("one", ["--micro-batches=4"]), ("bands", ["--bands=4", "--micro-batches=4"]), ("tight", ["--mem=950KiB"]),
                          ("checked", ["--poison"])):
        folder, _ = shop.trained(shop.program(name, *options), "run_" + name, "--threads=1")
        assert checkpoint(folder) == whole, "%s: other bits" % options
    return whole


def check_ranks(shop):
    """Two processes, that find each other as those of torchrun do, train the weights of one; both keep all of the state."""
    program = shop.program("ranks", "--ranks=2")
    alone = checkpoint(shop.trained(program, "alone")[0])
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    folder = os.path.join(shop.folder, "together")
    told = {"WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": port}
    processes = [subprocess.Popen([program, "train", "--data=" + shop.folder, "--out=" + folder], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True,
                                  env={**os.environ, **told, "RANK": rank, "LOCAL_RANK": rank}) for rank in "01"]
    said = "".join(process.communicate(timeout=120)[0] for process in processes)
    assert [process.returncode for process in processes] == [0, 0], said
    assert checkpoint(folder) == alone, "two processes: other bits"


def check_kill(shop, plain, whole):
    """A run that is killed at once after some step goes on to the same bits."""
    folder = os.path.join(shop.folder, "killed")
    running = subprocess.Popen([plain, "train", "--data=" + shop.folder, "--out=" + folder], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    saved = os.path.join(folder, "net.checkpoint.safetensors")
    for _ in range(600):
        if os.path.exists(saved) or running.poll() is not None:
            break
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    said = shop.trained(plain, "killed", "--resume")[1]
    assert "bits, and this program" not in said, said
    assert checkpoint(folder) == whole, "a run that was killed: other bits"


def check_conversion(shop, plain, floats):
    eight, _ = shop.trained(plain, "eight", "--steps=1")
    thirty_two, _ = shop.trained(floats, "thirty_two", "--steps=1")
    check_codes(checkpoint(eight), checkpoint(thirty_two))
    before = checkpoint(eight)
    for program, start, there, here in ((plain, thirty_two, 32, 8), (floats, eight, 8, 32)):
        folder = os.path.join(shop.folder, "from%d" % there)
        shutil.copytree(start, folder)
        said = shop.trained(program, "from%d" % there, "--resume", "--steps=2")[1]
        note = "has the optimizer's state in %d bits, and this program keeps it in %d" % (there, here)
        assert note in said, said
        kinds = {name: t[0] for name, t in checkpoint(folder).items()}
        assert kinds["optimizer.exp_avg." + CODED] == ("U8" if here == 8 else "F32"), kinds
    # the state in 32 bits that was encoded is the state of the run in 8 bits: both go on to the same weights
    straight, _ = shop.trained(plain, "straight", "--steps=2")
    converted = checkpoint(os.path.join(shop.folder, "from32"))
    assert converted == checkpoint(straight), "a state that was encoded on the way trains another net"
    assert before["optimizer.exp_avg." + CODED] != converted["optimizer.exp_avg." + CODED]


def main():
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(folder)
        plain, floats = shop.program("plain"), shop.program("floats", bits=32)
        whole = check_plans(shop, plain)
        check_ranks(shop)
        check_kill(shop, plain, whole)
        check_conversion(shop, plain, floats)
    print("state in 8 bits: five plans, two processes, a run that was killed, codes and conversions")


main()

"""compress_test.py UNETC: activations that wait in codes train the same under every plan, and give the gradients of exact ones, but for
noise whose mean is zero.

A net of what `compress` treats in different ways is trained with codes of 8 and of 2 bits, and 4 by the reference kernels: the same bits under a budget, one sample at a
time, in bands of rows, with checked accesses, by one thread and by three, by two processes, by the reference kernels in another plan, and
after a run that was stopped.  Then a step of `sgd` tells the gradients: by codes of 8 bits they are within 2 % of the exact ones, and the
mean over many seeds, of 2 bits, is much nearer to them than one of these.  Standard library only."""
import math
import os
import socket
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "oracle"))
import safetensors  # noqa: E402

UNETC = os.path.abspath(sys.argv[1])
HEIGHT, WIDTH, SEEDS = 18, 21, 16

# An odd width, so that the pool leaves a column out.
NET = """
input  noisy : image(3, %d, %d)
target clean : image(3)
top = noisy -> conv(20, 3) -> relu -> conv(18, 3) -> instance_norm(affine = true) -> leaky_relu
low = max_pool(top) -> conv(24, 3) -> relu -> conv(20, 3) -> silu
up = upconv(low, 18) -> relu
wide = concat(top, match(up, top, "pad")) -> conv(20, 3) -> group_norm(4) -> relu
gate = sigmoid(conv(wide, 20, 1))
output net = (wide * gate) -> conv(20, 3) -> relu -> conv(3, 3)
data {
    noisy = images("noisy/*.png")
    clean = images("clean/*.png")
    shuffle false
}
train {
    loss      mse(net, clean)
    optimizer OPTIMIZER
    batch     4
    steps     4
    save      1, "steps"
}
""" % (HEIGHT, WIDTH)


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == status, "%s exits %d: %s%s" % (command, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def png(path, numbers):
    rows = b"".join(b"\0" + bytes(numbers[y * 3 * WIDTH:(y + 1) * 3 * WIDTH]) for y in range(HEIGHT))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


class Shop:
    def __init__(self, folder):
        self.folder = folder
        for k, name in enumerate(("noisy", "clean")):
            os.mkdir(os.path.join(folder, name))
            for i in range(8):
                png(os.path.join(folder, name, "%d.png" % i),
                    [(37 * i + 11 * n * (n % 7) + 5 * k) % 256 for n in range(3 * HEIGHT * WIDTH)])

    def program(self, name, *options, optimizer="adam(lr = 1e-3)", more=""):
        file = os.path.join(self.folder, "net.unet")
        with open(file, "w", encoding="utf-8") as out:
            out.write(NET.replace("OPTIMIZER", optimizer).replace("    batch ", more + "    batch "))
        path = os.path.join(self.folder, name)
        run(UNETC, "--size=%dx%d" % (HEIGHT, WIDTH), *options, "-o", path, file)
        return path

    def trained(self, program, out, *options):
        folder = os.path.join(self.folder, out)
        run(program, "train", "--data=" + self.folder, "--out=" + folder, *options)
        with open(os.path.join(folder, "net.safetensors"), "rb") as file:
            return file.read()


def check_plans(shop, bits):
    codes = "--compress=%d" % bits
    plain = shop.program("plain%d" % bits, codes)
    whole = shop.trained(plain, "whole%d" % bits, "--threads=3")
    plans = [("one", ["--micro-batches=4"]), ("bands", ["--bands=3", "--micro-batches=4"]), ("tight", ["--mem=2300KiB"]),
             ("checked", ["--poison"])]
    for name, options in plans if bits == 8 else plans[2:3]:
        assert shop.trained(shop.program(name, codes, *options), "run_%s%d" % (name, bits), "--threads=1") == whole, (
            "%d bits, %s: other bits" % (bits, options))
    shop.trained(plain, "stopped%d" % bits, "--steps=2")
    assert shop.trained(plain, "stopped%d" % bits, "--resume", "--steps=4") == whole, "a run that was stopped: other bits"


def check_reference(shop):
    of_reference = [shop.trained(shop.program("reference", "--compress=4", "--kernels=reference", *options), "run_reference_%d" % k)
                    for k, options in enumerate(([], ["--micro-batches=2", "--no-recompute"]))]
    assert of_reference[0] == of_reference[1], "reference kernels, two plans: other bits"


def check_ranks(shop):
    program = shop.program("ranks", "--ranks=2", "--compress=8")
    alone = shop.trained(program, "alone")
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
    with open(os.path.join(folder, "net.safetensors"), "rb") as file:
        assert file.read() == alone, "two processes: other bits"


def norm(numbers):
    return math.sqrt(math.fsum(x * x for x in numbers))


def check_gradients(shop):
    """The weights of a step of `sgd` with a rate of 1 are the first ones less the gradients."""
    shop.trained(shop.program("exact", optimizer="sgd(lr = 1e-30)"), "first", "--steps=1")
    more = "    pretrained \"%s\"\n" % os.path.join(shop.folder, "first", "net.safetensors")
    made = {bits: shop.program("sgd%d" % bits, "--compress=%d" % bits, optimizer="sgd(lr = 1)", more=more) for bits in (32, 8, 4, 2)}

    def weights(bits, seed):
        out = "step%d_%d" % (bits, seed)
        shop.trained(made[bits], out, "--steps=1", "--seed=%d" % seed)
        return {name: t.values for name, t in safetensors.read(os.path.join(shop.folder, out, "net.safetensors"))[0].items()}
    first = {name: t.values for name, t in safetensors.read(os.path.join(shop.folder, "first", "net.safetensors"))[0].items()}
    exact = weights(32, 0)
    gradient = {name: [a - b for a, b in zip(first[name], exact[name])] for name in first}
    apart = lambda name, there: norm([a - b for a, b in zip(there[name], exact[name])]) / norm(gradient[name])
    trained = [name for name in gradient if name.endswith(".weight")]
    for bits, most in ((8, 0.02), (4, 0.3)):
        there = weights(bits, 1)
        worst = max((apart(name, there), name) for name in trained)
        assert 0 < worst[0] < most, "%d bits: the gradient of %s is off by %.3f" % (bits, worst[1], worst[0])
    drawn = [weights(2, seed) for seed in range(SEEDS)]
    mean = {name: [math.fsum(x) / SEEDS for x in zip(*(one[name] for one in drawn))] for name in trained}
    for name in trained:
        single, together = math.sqrt(sum(apart(name, one)**2 for one in drawn) / SEEDS), apart(name, mean)
        assert together < 2 * single / math.sqrt(SEEDS) + 0.02, "2 bits: %s is off by %.3f, the mean by %.3f" % (name, single, together)


def main():
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(folder)
        for bits in (8, 2):
            check_plans(shop, bits)
        check_reference(shop)
        check_ranks(shop)
        check_gradients(shop)
    print("activations in codes: plans with codes of three kinds, two processes, a run that was stopped, gradients")


main()

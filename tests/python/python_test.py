#!/usr/bin/env python3
"""python_test.py UNETC [--long] [--here] [NAME...] - the package unetc: plans and diagnostics as objects; models that compute what their
programs do, to the bit; arrays in and out by every door; errors that name the argument; memory that does not grow.

It goes on in the Python of the system where that alone has NumPy.  Without NumPy, or without PyTorch, what needs it is left out,
and all the same arrays are read without.  --here: in this Python, whatever it has.  --long: ten steps of three nets, a thousand steps, the peak of a process.
"""

import array
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SYSTEM = "/usr/bin/python3"
LONG, STAYS = "--long" in sys.argv, "--here" in sys.argv
sys.path.insert(0, os.path.join(ROOT, "runtime", "python"))


def has(python, module):
    return subprocess.run([python, "-c", "import " + module], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


if not STAYS and not has(sys.executable, "numpy") and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM) and os.access(
        SYSTEM, os.X_OK) and has(SYSTEM, "numpy"):
    os.execv(SYSTEM, [SYSTEM, "-B"] + sys.argv)

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # the machine may be busy
import unetc  # noqa: E402
from unetc import _arrays  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

SIZE = 16
NET = """
input  noisy : image(2, 16, 16)
target clean : image(2)
a = noisy -> conv(4, 3) -> relu
output denoised = conv(concat(upconv(max_pool(a), 4), a), 2, 3, name = "last")
data {
    noisy = images("noisy/*.npy")
    clean = images("clean/*.npy")
    shuffle false
}
train {
    loss      mse(denoised, clean)
    metric    psnr(denoised, clean)
    optimizer adam(lr = 1e-2)
    batch     2
    steps     10
}
eval { batch 1 }
"""
CLASSES = """
input  photo : image(1, 16, 16)
target truth : labels(3)
logits = photo -> conv(8, 3) -> relu -> dropout(0.3) -> conv(3, 1)
output mask = argmax(logits)
data {
    photo = images("noisy/*.npy")
    truth = labels("truth/*.npy")
    normalize mean = [0.4], std = [0.2]
    shuffle false
}
train {
    loss      cross_entropy(logits, truth)
    metric    miou(mask, truth)
    optimizer sgd(lr = 1e-1, momentum = 0.9)
    batch     2
    steps     10
}
eval { batch 1 }
"""
NORMED = """
input  noisy : image(2, 16, 16)
target clean : image(2)
a = noisy -> conv(4, 3) -> batch_norm -> relu
output denoised = conv(a, 2, 1)
data {
    noisy = images("noisy/*.npy")
    clean = images("clean/*.npy")
    shuffle false
}
train {
    loss      l1(denoised, clean)
    optimizer adamw(lr = 1e-2)
    ema       0.9
    batch     2
    steps     10
}
eval { batch 1 }
"""
PROGRAMS = {"net": NET, "classes": CLASSES, "normed": NORMED}


def model_of(text=NET, **options):
    return unetc.compile(text, **{"kernels": None if LONG else "reference", "name": "net", **options})


def numbers(shape, seed, kind="f"):
    """Random ones, from 0 to 1, as a memoryview; of labels 0 to 2."""
    state, values = seed * 2654435761 % 2**32, []
    for _ in range(_arrays.elements(shape)):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append(state / 2**32 if kind in "fd" else state >> 16 & 1)
    return memoryview(array.array(kind, values)).cast("B").cast(kind, shape)


def pair(n=2, channels=2):
    return numbers((n, channels, SIZE, SIZE), 1), numbers((n, channels, SIZE, SIZE), 2)


def bits(value):
    """The bytes of an array."""
    return bytes(memoryview(value.data if isinstance(value, unetc.Array) else value).cast("B"))


def npy(path, view, descr):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, tuple(view.shape))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + bytes(view.cast("B")))


def tensors(path):
    """The tensors of a safetensors file, and its notes."""
    with open(path, "rb") as file:
        data = file.read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:begin])
    notes = head.pop("__metadata__", {})
    return {name: data[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]] for name, entry in head.items()}, notes


class Answers(unittest.TestCase):
    """check, mem, fit, and mistakes in a file."""

    def test_check(self):
        found = unetc.check(NET)
        self.assertEqual([(tensor.name, tensor.shape) for tensor in found.inputs + found.targets + found.outputs],
                         [("noisy", (2, 16, 16)), ("clean", (2, 16, 16)), ("denoised", (2, 16, 16))])
        self.assertEqual((found.multiples, found.tensors, found.model), ((2, 2), 6, "model"))
        path = os.path.join(ROOT, "examples", "denoise", "tiny_unet.unet")
        self.assertEqual(unetc.check(path, define={"base": 4}).outputs[0].shape, (3, 256, 256))

    def test_plan(self):
        plan = unetc.mem(NET, batch=4)
        data = json.loads(plan.json)
        self.assertEqual((plan.arena.bytes, plan.batch, len(plan.buffers)), (data["arena"]["bytes"], 4, len(data["buffers"])))
        self.assertTrue(plan.arena.fits and all(step.op for step in plan.steps()))
        self.assertIn("<iframe", plan._repr_html_())
        self.assertEqual(plan, unetc.mem(NET, batch=4))
        with self.assertRaises(AttributeError):
            plan.batch = 3

    def test_fit(self):
        found = unetc.fit(NET, mem="8MiB")
        self.assertEqual(found.best, found.rows[0].best)
        self.assertGreater(found.best.batch, 100)
        self.assertIn("<table>", found._repr_html_())

    def test_does_not_fit(self):
        with self.assertRaises(unetc.DoesNotFit) as caught:
            unetc.mem(NET, mem=4096)
        error = caught.exception
        self.assertEqual((error.plan.arena.budget, error.plan.arena.fits, error.code), (4096, False, "U0701"))

    def test_diagnostics(self):
        with self.assertRaises(unetc.FileError) as caught:
            unetc.check(NET.replace("max_pool(a)", "max_pool(b)"), name="wrong")
        error = caught.exception
        self.assertEqual((error.code, error.file, error.span.line, error.span.column), ("U0201", "wrong.unet", 5, 47))
        self.assertIn("^", str(error))
        self.assertIn("<pre", error._repr_html_())
        for mistake, kind in (("unetc.mem(NET, bacth=3)", unetc.UsageError), ("unetc.check('nothing.unet')", unetc.FileError),
                              ("unetc.compile(NET, output='x')", unetc.UsageError), ("unetc.check(3)", TypeError)):
            with self.assertRaises(kind):
                eval(mistake)


class Training(unittest.TestCase):
    """The same bits as the program's."""

    def data(self, folder):
        for k in range(2):
            for name, seed, channels in (("noisy", 1, 2), ("clean", 2, 2)):
                whole = numbers((2, channels, SIZE, SIZE), seed)
                at = k * channels * SIZE * SIZE * 4
                one = whole.cast("B")[at:at + channels * SIZE * SIZE * 4].cast("f", (channels, SIZE, SIZE))
                rows = memoryview(array.array("f", [one[c, h, w] for h in range(SIZE) for w in range(SIZE) for c in range(channels)]))
                npy(os.path.join(folder, name, "%d.npy" % k), rows.cast("B").cast("f", (SIZE, SIZE, channels)), "<f4")
            labels = numbers((2, SIZE, SIZE), 3, "B").cast("B")[k * SIZE * SIZE:(k + 1) * SIZE * SIZE].cast("B", (SIZE, SIZE))
            npy(os.path.join(folder, "truth", "%d.npy" % k), labels, "|u1")

    def one_net(self, name, steps):
        text = PROGRAMS[name].replace("image(1,", "image(2,").replace("mean = [0.4], std = [0.2]", "mean = [0.4, 0.5], std = [0.2, 0.3]")
        kernels = [] if LONG else ["--kernels=reference"]
        options = {} if LONG else {"kernels": "reference"}
        with tempfile.TemporaryDirectory() as folder:
            self.data(folder)

            def run(*words):
                result = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
                self.assertEqual(result.returncode, 0, result.stderr)
                return result.stdout
            with open(os.path.join(folder, name + ".unet"), "w") as file:
                file.write(text)
            run(unetc.compiler(), *kernels, name + ".unet")
            run("./" + name, "train", "--steps=%d" % steps, "--out=run")
            own = unetc.compile(os.path.join(folder, name + ".unet"), threads=2, **options)
            noisy, clean = pair()
            target = clean if name != "classes" else numbers((2, SIZE, SIZE), 3, "B")
            half = steps // 2
            for _ in range(half):
                own.train_step(noisy, target)
            own.checkpoint(os.path.join(folder, "half.safetensors"))
            own.close()
            with unetc.compile(os.path.join(folder, name + ".unet"), threads=1, seed=99, **options) as other:
                other.resume(os.path.join(folder, "half.safetensors"))
                for _ in range(steps - half):
                    loss = other.train_step(noisy, target)
                self.assertEqual(other.steps, steps)
                state, (theirs, _) = other.state_dict(), tensors(os.path.join(folder, "run", name + ".safetensors"))
                self.assertEqual(list(state), [info.name for info in other.parameters])
                self.assertEqual({key: bits(value) for key, value in state.items()}, theirs)
                other.checkpoint(os.path.join(folder, "all.safetensors"))
                mine, notes = tensors(os.path.join(folder, "all.safetensors"))
                theirs, theirs_notes = tensors(os.path.join(folder, "run", name + ".checkpoint.safetensors"))
                theirs.pop("optimizer.unlogged")
                self.assertEqual(mine, theirs)
                self.assertEqual(notes["unet.step"], theirs_notes["unet.step"])
                # evaluation as the program's
                said = json.loads(run("./" + name, "eval", "--format=json", "--out=run", "--eval-data=."))["all"]
                found = other.evaluate(noisy, target)
                self.assertEqual({key: value for key, value in said.items() if key in found}, dict(found))
                self.assertEqual(found.samples, 2)
                self.assertTrue(loss > 0 and found.loss > 0)
                again = other.evaluate([(noisy, target)])
                self.assertEqual(dict(again), dict(found))
            # the program goes on from a checkpoint of ours
            run("./" + name, "train", "--steps=%d" % steps, "--out=other", "--resume=half.safetensors")
            self.assertEqual(tensors(os.path.join(folder, "other", name + ".safetensors"))[0],
                             tensors(os.path.join(folder, "run", name + ".safetensors"))[0])

    def test_bits(self):
        for name in PROGRAMS if LONG else ["classes"]:
            with self.subTest(name):
                self.one_net(name, 10 if LONG else 4)

    def test_weights(self):
        with model_of() as model, model_of(seed=5) as other, tempfile.TemporaryDirectory() as folder:
            x, y = pair()
            model.train_step(x, y)
            self.assertNotEqual(bits(model.forward(x)), bits(other.forward(x)))
            self.assertEqual(other.load_state_dict(model.state_dict()), ([], []))
            self.assertEqual(bits(model.forward(x)), bits(other.forward(x)))
            path = os.path.join(folder, "w.safetensors")
            model.train_step(noisy=x, clean=y, lr=0.1)
            model.save(path)
            other.load(path)
            self.assertEqual(bits(model.forward(x)), bits(other.forward(noisy=x)))
            state = model.state_dict()
            self.assertEqual(other.load_state_dict({"last.bias": state["last.bias"]}, strict=False)[1], [])

    def test_train(self):
        x, y = pair()
        with model_of() as model, model_of() as other:
            losses = model.train([(x, y), {"noisy": x, "clean": y}], epochs=2, progress=False)
            for _ in range(4):
                last = other.train_step(x, y)
            self.assertEqual(len(losses), 2)
            self.assertEqual(bits(model.forward(x)), bits(other.forward(x)))
            self.assertLess(last, losses[0])
            self.assertEqual(model.rate(1, 10), model.learning_rate)


class Arrays(unittest.TestCase):
    """Every kind of array gives the same bits."""

    @classmethod
    def setUpClass(cls):
        cls.model = model_of()
        cls.x, cls.y = pair()
        cls.right = bits(cls.model.forward(cls.x))

    @classmethod
    def tearDownClass(cls):
        cls.model.close()

    def same(self, value):
        self.assertEqual(bits(self.model.forward(value)), self.right)

    def test_buffers(self):
        self.same(self.x)
        doubles = memoryview(array.array("d", self.x.cast("B").cast("f"))).cast("B").cast("d", self.x.shape)
        self.same(doubles)
        self.same(memoryview(bytes(b"\0" * 4 + bytes(self.x.cast("B"))))[4:].cast("f", self.x.shape))
        self.same(memoryview(bytes(b"\0" + bytes(self.x.cast("B"))))[1:].cast("f", self.x.shape))  # in no place of a float

    def test_one_sample(self):
        one = self.x.cast("B")[:len(self.right) // 2].cast("f", self.x.shape[1:])
        self.assertEqual(bits(self.model.forward(one)), self.right[:len(self.right) // 2])

    def test_out(self):
        memory = bytearray(len(self.right))
        out = memoryview(memory).cast("f", self.x.shape)
        self.assertIs(self.model.forward(self.x, out=out), out)
        self.assertEqual(bytes(memory), self.right)
        self.model.forward(self.x, out={"denoised": out})

    def test_own_array(self):
        own = unetc.Array(self.x.shape, "f4")
        own.data.cast("B")[:] = self.x.cast("B")
        self.same(own)
        self.assertEqual(own.tolist(), self.x.tolist())

    def test_without_numpy(self):
        """As where NumPy is not installed: copies are made one by one, and results are arrays of our own."""
        taken = _arrays._numpy
        _arrays._numpy = lambda: None
        try:
            result = self.model.forward(memoryview(array.array("d", self.x.cast("B").cast("f"))).cast("B").cast("d", self.x.shape))
            self.assertIsInstance(result, unetc.Array)
            self.assertEqual(bits(result), self.right)
            self.same(self.x)
        finally:
            _arrays._numpy = taken
        if numpy:
            self.assertEqual(numpy.asarray(result).tobytes(), self.right)
            self.assertEqual(numpy.asarray(result).ctypes.data, result.address)

    @unittest.skipUnless(numpy, "no NumPy")
    def test_numpy(self):
        x = numpy.asarray(self.x)
        self.assertIsInstance(self.model.forward(x), numpy.ndarray)
        strided = numpy.zeros((2, 2, 16, 32), "f4")
        strided[..., ::2] = x
        for value in (x, x.astype("f8"), strided[..., ::2], numpy.asfortranarray(x), x[::-1][::-1]):
            self.same(value)
        read_only = x.copy()
        read_only.flags.writeable = False
        self.same(read_only)
        out = numpy.empty_like(x)
        self.model.forward(x, out=out)
        self.assertEqual(out.tobytes(), self.right)
        self.assertEqual(self.model.forward(x.astype("f2")).shape, x.shape)

    @unittest.skipUnless(numpy and hasattr(numpy, "from_dlpack"), "no DLPack in NumPy")
    def test_dlpack(self):
        class Foreign:
            """An array that has nothing but DLPack."""

            def __init__(self, array_):
                self.array = array_

            def __dlpack__(self, **more):
                return self.array.__dlpack__(**more)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()
        x = numpy.asarray(self.x).copy()
        self.same(Foreign(x))
        out = numpy.empty_like(x)
        self.model.forward(Foreign(x), out=Foreign(out))
        self.assertEqual(out.tobytes(), self.right)
        if numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0":  # DLPack 1.0 tells of arrays that are read-only
            out.flags.writeable = False
            self.same(Foreign(out * 0 + x))
            with self.assertRaises(unetc.ArgumentError):
                self.model.forward(x, out=Foreign(out))
        own = unetc.Array(self.x.shape, "f4")
        own.data.cast("B")[:] = self.x.cast("B")
        view = numpy.from_dlpack(own)
        self.assertEqual(view.ctypes.data, own.address)
        del own
        self.assertEqual(view.tobytes(), x.tobytes())
        del view
        self.assertEqual(len(_arrays._lent), 0)
        capsule = unetc.Array((2,), "f4").__dlpack__()
        del capsule  # nobody has read it
        self.assertEqual(len(_arrays._lent), 0)

    @unittest.skipUnless(torch, "no PyTorch")
    def test_torch(self):
        x = torch.tensor(self.x.tolist())
        self.same(x)
        self.same(x.double())
        self.same(x.permute(1, 0, 2, 3).contiguous().permute(1, 0, 2, 3))
        out = torch.empty_like(x)
        self.model.forward(x, out=out)
        self.assertEqual(out.numpy().tobytes(), self.right)
        own = unetc.Array(self.x.shape, "f4")
        own.data.cast("B")[:] = self.x.cast("B")
        self.assertTrue(torch.equal(torch.from_dlpack(own), x))


class OwnLoss(unittest.TestCase):
    """train_by: the gradient of a function in Python; the same steps as by the file's own loss."""

    def trained(self, step, loss="mse(denoised, clean)"):
        with model_of(NET.replace("mse(denoised, clean)", loss, 1), kernels="reference", seed=3) as model:
            losses = [step(model) for _ in range(4)]
            return losses, {name: bytes(bits(value)) for name, value in model.state_dict().items()}

    def near(self, mine, theirs, tolerance=1e-5):
        for a, b in zip(mine[0], theirs[0]):
            self.assertLess(abs(a / b - 1), tolerance)
        for name, value in mine[1].items():
            for a, b in zip(array.array("f", value), array.array("f", theirs[1][name])):
                self.assertLess(abs(a - b), tolerance)

    def test_squares(self):
        noisy, clean = pair()
        count = _arrays.elements(clean.shape)

        def squares(output):
            far = [x - y for x, y in zip(memoryview(output).cast("B").cast("f") if numpy is not None else output.data.cast("B").cast("f"),
                                         clean.cast("B").cast("f"))]
            gradient = memoryview(array.array("f", [2 * x / count for x in far])).cast("B").cast("f", clean.shape)
            return sum(x * x for x in far) / count, gradient
        self.near(self.trained(lambda model: model.train_by(squares, noisy)), self.trained(lambda model: model.train_step(noisy, clean)))

    @unittest.skipUnless(torch, "no PyTorch")
    def test_torch(self):
        noisy, clean = pair()
        truth = torch.tensor(clean.tolist())
        loss = unetc.torch_loss(lambda y: torch.nn.functional.smooth_l1_loss(y, truth))
        self.near(self.trained(lambda model: model.train_by(loss, noisy)),
                  self.trained(lambda model: model.train_step(noisy, clean), "smooth_l1(denoised, clean)"))

    def test_refused(self):
        noisy, clean = pair()
        with model_of(NET.replace("mse(denoised, clean)", "l1(denoised, clean)", 1)) as model:
            with self.assertRaisesRegex(unetc.UsageError, "l1\\(denoised, clean\\)"):
                model.train_by(lambda output: (0, output), noisy)
        with model_of() as model:
            with self.assertRaisesRegex(unetc.ArgumentError, "gradient"):
                model.train_by(lambda output: (0, numbers((2, 2, 4, 4), 1)), noisy)
            with self.assertRaises(unetc.ArgumentError):
                model.train_by(lambda output: (0, output))


class Kinds(unittest.TestCase):
    """Signals, volumes, numbers, labels."""

    TRAIN = "train { loss %s\n optimizer sgd(lr = 0)\n batch 2\n steps 1 }\n"

    def one(self, text, loss, shapes, dtypes):
        with model_of(text + self.TRAIN % loss, kernels="reference") as model:
            tensors = model.train_inputs + model.outputs
            self.assertEqual(([info.shape for info in tensors], [info.dtype for info in tensors]), (shapes, dtypes))
            kinds = {"float32": "f", "uint8": "B"}
            arrays = [numbers((2,) + info.shape, 7, kinds[info.dtype]) for info in model.train_inputs]
            self.assertGreater(model.train_step(*arrays), 0)
            result = model.forward(**{info.name: array_ for info, array_ in zip(model.train_inputs, arrays) if info in model.inputs})
            self.assertEqual(tuple(result.shape), (2,) + shapes[-1])

    def test_signals(self):
        self.one("\ninput s : signal(2, 64)\ntarget t : signal(1)\noutput out = conv(s, 1, 3)\n", "mse(out, t)",
                 [(2, 64), (1, 64), (1, 64)], ["float32"] * 3)

    def test_volumes(self):
        self.one("\ninput v : volume(1, 4, 8, 8)\ntarget t : labels(3)\nl = conv(v, 3, 3)\noutput out = argmax(l)\n",
                 "cross_entropy(l, t)", [(1, 4, 8, 8), (4, 8, 8), (4, 8, 8)], ["float32", "uint8", "uint8"])

    def test_numbers(self):
        self.one("\ninput p : image(2, 16, 16)\ninput n : number\ntarget t : image(2)\noutput out = conv(p, 2, 3) + conv(n, 2, 1)\n",
                 "mse(out, t)", [(2, 16, 16), (), (2, 16, 16), (2, 16, 16)], ["float32"] * 4)


class Refusals(unittest.TestCase):
    """Each names its argument."""

    @classmethod
    def setUpClass(cls):
        cls.model = model_of()
        cls.x, cls.y = pair()

    @classmethod
    def tearDownClass(cls):
        cls.model.close()

    def refused(self, argument, words, call, *arrays, **named):
        with self.assertRaises(unetc.ArgumentError) as caught:
            call(*arrays, **named)
        self.assertEqual(caught.exception.argument, argument)
        self.assertIn(words, str(caught.exception))

    def test_inputs(self):
        step, x, y = self.model.train_step, self.x, self.y
        self.refused("clean", "is missing", step, x)
        self.refused("noisy", "the shape (3, 2, 8, 16)", step, numbers((3, 2, 8, 16), 1), y)
        self.refused("noisy", "the shape (512,)", step, numbers((512,), 1), y)
        self.refused("noisy", "has 3 samples", step, numbers((3, 2, 16, 16), 1), y)
        self.refused("clean", "has 1 samples, and noisy has 2", step, x, numbers((1, 2, 16, 16), 1))
        self.refused("noisy", "a str is no array", step, "x", y)
        self.refused("noisy", "a list is no array", step, [1.0], y)
        self.refused("lr", "is -1", step, x, y, lr=-1)
        self.refused("lr", "is nan", step, x, y, lr=float("nan"))
        self.refused("noisy", "not read", step, memoryview(bytearray(2 * 16 * 16 * 8)).cast("@P"), y)
        with self.assertRaises(unetc.UsageError):
            step(x, y, x)
        with self.assertRaises(unetc.UsageError):
            step(x, cleen=y)
        with self.assertRaises(unetc.UsageError):
            step(x, y, noisy=x)

    def test_outputs(self):
        forward, x = self.model.forward, self.x
        size = 2 * 2 * 16 * 16
        self.refused("out", "is read-only", forward, x, out=memoryview(bytes(4 * size)).cast("f", x.shape))
        self.refused("out", "is float64", forward, x, out=memoryview(bytearray(8 * size)).cast("d", x.shape))
        self.refused("out", "has the shape", forward, x, out=memoryview(bytearray(4 * size)).cast("f", (2, 2, 256)))
        self.refused("out", "has `mask`", forward, x, out={"mask": x})
        if numpy:
            self.refused("out", "C order", forward, x, out=numpy.empty((2, 2, 16, 32), "f4")[..., ::2])
            self.refused("out", "C order", forward, x, out=numpy.empty((2, 2, 16, 16), "f4", order="F"))

    def test_labels(self):
        with model_of(CLASSES, name="classes") as model:
            photo = numbers((2, 1, 16, 16), 1)
            truth = memoryview(array.array("q", [-100] * 512)).cast("B").cast("q", (2, 16, 16))
            self.refused("truth", "has the label -100", model.train_step, photo, truth)
            self.refused("truth", "whole numbers", model.train_step, photo, numbers((2, 16, 16), 1))
            whole = memoryview(array.array("q", [1] * 512)).cast("B").cast("q", (2, 16, 16))
            small = memoryview(bytearray([1] * 512)).cast("B", (2, 16, 16))
            with model_of(CLASSES, name="classes") as other:
                self.assertEqual(model.train_step(photo, whole), other.train_step(photo, small))
            self.assertEqual(model.outputs[0].dtype, "uint8")
            self.assertEqual(len(bits(model.forward(photo))), 512)

    def test_weights(self):
        state = self.model.state_dict()
        self.refused("last.bias", "is missing", self.model.load_state_dict, {k: v for k, v in state.items() if k != "last.bias"})
        self.refused("more", "is no weight", self.model.load_state_dict, {**state, "more": state["last.bias"]})
        self.refused("last.bias", "has the shape", self.model.load_state_dict, {**state, "last.bias": numbers((5,), 1)})
        bad = memoryview(array.array("f", [0, float("nan")]))
        with self.assertRaises(unetc.ModelError) as caught:
            self.model.load_state_dict({**state, "last.bias": bad})
        self.assertIn("last.bias has values that are not finite", str(caught.exception))
        with self.assertRaises(unetc.ModelError):
            self.model.load("/nothing/w.safetensors")
        with self.assertRaises(unetc.ModelError):
            self.model.save("/nothing/w.safetensors")

    def test_buffer(self):
        size = self.model.buffer_bytes
        with unetc.Model(self.model.library, buffer=unetc.buffer(size)) as model:
            model.train_step(self.x, self.y)
        for buffer, words in ((bytes(10), "read-only"), (bytearray(10), "has 10 bytes"), (unetc.buffer(size + 64)[1:], "multiple of 64")):
            self.refused("buffer", words, unetc.Model, self.model.library, buffer=buffer)
        self.refused("seed", "is -1", unetc.Model, self.model.library, seed=-1)
        self.refused("threads", "is -1", unetc.Model, self.model.library, threads=-1)

    def test_closed(self):
        model = model_of()
        model.close()
        model.close()
        self.assertTrue(model.closed)
        for call in (lambda: model.train_step(self.x, self.y), lambda: model.forward(self.x), model.state_dict, lambda: model.save("x")):
            with self.assertRaises(unetc.ClosedError):
                call()

    def test_libraries(self):
        model = model_of(name="deleted")
        os.remove(model.library)
        model.train_step(self.x, self.y)  # it is loaded
        with self.assertRaises(unetc.ModelError) as caught:
            unetc.Model(model.library)
        self.assertIn("was deleted", str(caught.exception))
        model_of(name="deleted").close()
        with open(model.library + ".other", "w") as file:
            file.write("no library\n")
        with self.assertRaises(unetc.ModelError):
            unetc.Model(file.name)
        with self.assertRaises(unetc.UsageError):
            model_of(programs="predict").train_step(self.x, self.y)
        with self.assertRaises(unetc.UsageError):
            unetc.Model(model.library).plan
        before, os.environ["CC"] = os.environ.get("CC", ""), "/nothing/cc"
        try:
            with self.assertRaises(unetc.ToolError):
                model_of(name="other")
        finally:
            os.environ["CC"] = before


class Processes(unittest.TestCase):
    """Several models, threads and processes; memory."""

    def test_threads(self):
        x, y = pair()
        with model_of() as one, model_of() as two, model_of() as alone:
            threads = [threading.Thread(target=lambda m=model: [m.train_step(x, y) for _ in range(20)]) for model in (one, two)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for _ in range(20):
                alone.train_step(x, y)
            self.assertEqual(bits(one.forward(x)), bits(alone.forward(x)))
            self.assertEqual(bits(two.forward(x)), bits(alone.forward(x)))

    def test_gil(self):
        """Python goes on while a model computes."""
        with model_of(size=(512, 512), batch=1, threads=1, kernels="reference") as model:
            picture = unetc.Array((1, 2, 512, 512), "f4")
            worker = threading.Thread(target=lambda: model.forward(picture))
            ticks = 0
            worker.start()
            while worker.is_alive():
                time.sleep(0.001)
                ticks += 1
            self.assertGreater(ticks, 3)

    def test_cache(self):
        """Four processes compile the same file at the same time."""
        with tempfile.TemporaryDirectory() as folder:
            code = "import unetc, sys; m = unetc.compile(sys.argv[1], kernels='reference', name='net'); print(m.library)"
            jobs = [subprocess.Popen([sys.executable, "-B", "-c", code, NET], stdout=subprocess.PIPE, env={
                **os.environ, "XDG_CACHE_HOME": folder, "PYTHONPATH": os.path.join(ROOT, "runtime", "python")}) for _ in range(4)]
            said = {job.communicate()[0] for job in jobs}
            self.assertEqual([job.returncode for job in jobs], [0] * 4)
            self.assertEqual(len(said), 1)
            self.assertEqual(len([name for name in os.listdir(os.path.join(folder, "unetc")) if name.endswith(".so")]), 1)

    def test_no_growth(self):
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        steps = 1000 if LONG else 200
        x, y = pair()
        with model_of() as model:
            for _ in range(50):
                model.train_step(x, y)
            before = resident()
            for _ in range(steps):
                model.train_step(x, y)
                model.forward(x)
            self.assertLess(resident() - before, 1 << 19)

    @unittest.skipUnless(LONG, "in the long form")
    def test_peak(self):
        """A process takes the planned bytes, and half a MiB for each thread."""
        code = """if True:
            import unetc, sys
            def status(key):
                return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith(key))
            path = sys.argv[1]
            model = unetc.compile(path, size=(128, 128), batch=4)  # it is in the cache from now on
            x, y = (unetc.Array((4, 3, 128, 128), "f4") for _ in range(2))
            out = unetc.Array((4, 3, 128, 128), "f4")
            model.forward(x, out=out)
            model.close()
            before = status("VmRSS")
            model = unetc.Model(model.library, threads=2)
            for _ in range(3):
                model.train_step(x, y)
            model.forward(x, out=out)
            print(status("VmHWM") - before, model.buffer_bytes)
            """
        path = os.path.join(ROOT, "examples", "denoise", "tiny_unet.unet")
        said = subprocess.run([sys.executable, "-B", "-c", code, path], stdout=subprocess.PIPE, check=True, universal_newlines=True, env={
            **os.environ, "PYTHONPATH": os.path.join(ROOT, "runtime", "python")}).stdout
        taken, planned = map(int, said.split())
        print("peak %d, planned %d" % (taken, planned))
        self.assertLess(taken, planned + (2 << 20))

    @unittest.skipUnless(torch, "no PyTorch")
    def test_module(self):
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = torch.nn.Conv2d(2, 4, 3, padding=1)
                self.n = torch.nn.BatchNorm2d(4)
                self.b = torch.nn.Conv2d(4, 2, 1)

            def forward(self, x):
                return self.b(torch.relu(self.n(self.a(x))))
        torch.manual_seed(1)
        net, other = Net(), Net()
        network = unetc.from_torch(net, (2, 16, 16))
        self.assertIn("conv(", network.text)
        sections = "target clean : image(2)\ntrain { loss mse(result, clean)\n optimizer sgd(lr = 1e-1)\n epochs 1\n batch 2 }"
        x, y = (torch.tensor(values.tolist()) for values in pair())
        with unetc.compile(net, (2, 16, 16), sections=sections, kernels="reference") as model:
            optimizer = torch.optim.SGD(net.parameters(), lr=1e-1)
            for _ in range(3):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(net(x), y)
                loss.backward()
                optimizer.step()
                self.assertAlmostEqual(model.train_step(x, y), loss.item(), places=6)
            self.assertEqual(model.to_torch(other), [])
            for name, tensor in net.state_dict().items():
                self.assertTrue(torch.allclose(tensor.float(), other.state_dict()[name].float(), atol=1e-5) or "num_batches" in name, name)
        with self.assertRaises(unetc.ConversionError):
            unetc.from_torch(torch.nn.LSTM(2, 2), (2, 16, 16))
        with self.assertRaises(unetc.UsageError):
            unetc.from_torch(net, None)


def main():
    words = [word for word in sys.argv[1:] if word not in ("--long", "--here")]
    os.environ["UNETC"] = os.path.abspath(words[0])
    with tempfile.TemporaryDirectory() as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        result = unittest.main(argv=[sys.argv[0]] + words[1:], exit=False, verbosity=1).result
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()

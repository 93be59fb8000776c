#!/usr/bin/env python3
"""Arrays of Python in the memory of a GPU, on this processor: `unetc --shared --target=cuda` compiles kernels through the shim, and
links with a libcudnn that is the shim and the stand-in for cuDNN.

    arrays.py --unetc=UNETC --runtime=libunet_runtime.a --make-pictures=MAKE_PICTURES --cudnn=FOLDER

  same bits   losses, metrics, outputs and weights from arrays on the GPU (DLPack, __cuda_array_interface__) and from arrays of the
              host, for pictures that are normalised, a batch in turns, labels that the host counts and a map of classes, in 16 bits,
              also when the caller's copies end late (UNET_SHIM_LAZY)
  mistakes    another type, another order, an array of another GPU: an ArgumentError or a ModelError that names the array

Exits with 77 without the headers of CUDA and cuDNN.  Standard library only."""
import argparse
import ctypes
import glob
import os
import subprocess
import sys
import tempfile

import cuda
import program

sys.path.insert(0, os.path.join(cuda.ROOT, "runtime", "python"))
import unetc  # noqa: E402
from unetc import _arrays  # noqa: E402

NETS = {"numbers": ("""input  noisy : image(3, 16, 24)
input  more  : image(1, 16, 24)
target clean : image(3)
a = concat(noisy, more) -> conv(8, 3) -> group_norm(groups = 2) -> relu
output denoised = conv(a, 3, 3)
train {
    loss      mse(denoised, clean)
    metric    psnr(denoised, clean)
    optimizer adam(lr = 1e-2)
    batch     4
    steps     3
}
eval {
    batch 2
}
data {
    noisy = images("noisy/*.png")
    more  = images("more/*.png")
    clean = images("clean/*.png")
    normalize mean = 0.45, std = 0.27
}
""", ["--micro-batches=2"]), "classes": ("""input  photo : image(3, 16, 24)
target truth : labels(5, ignore = 255)
a = photo -> conv(8, 3, stride = 2) -> batch_norm -> relu
scores = upconv(a, 5)
output map = argmax(scores)
train {
    loss      cross_entropy(scores, truth)
    metric    miou(map, truth)
    optimizer adam(lr = 1e-2)
    batch     4
    steps     3
}
eval {
    batch 2
}
""", ["--precision=bf16"])}
WAYS = [{}, {"UNET_CUDA_GRAPH": "0"}, {"UNET_SHIM_LAZY": "1"}, {"UNET_SHIM_LAZY": "2"}]
NVCC = """#!/bin/sh
# nvcc, as unetc calls it, through the shim.
for word; do
    shift
    case $word in
    -arch=* | -Xcompiler) ;;
    -fPIC,*) set -- "$@" -fPIC ;;
    -O3) set -- "$@" -O0 ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec g++ -fno-strict-aliasing -include %s/shim.h -x c++ "$@"
"""


# ---- a CUDA that is none ----

def make_home(folder):
    """A folder for $CUDA_HOME, and an nvcc."""
    include = os.path.join(cuda.home("include/cudnn_graph.h"), "include")
    shim = os.path.join(cuda.ROOT, "tests", "cuda", "shim")
    os.makedirs(os.path.join(folder, "lib64"))
    os.symlink(include, os.path.join(folder, "include"))
    objects = []
    for source in glob.glob(shim + "/*.cpp") + glob.glob(os.path.join(cuda.ROOT, "tests", "cuda", "cudnn_reference", "*.c")):
        if not source.endswith("shim_test.cpp"):
            words = program.CXX if source.endswith(".cpp") else program.C
            objects.append(os.path.join(folder, os.path.basename(source) + ".o"))
            program.execute(words + ["-O1", "-fPIC", "-I" + os.path.join(cuda.ROOT, "runtime", "include"), "-isystem", include, "-c", source,
                                     "-o", objects[-1]])
    library = os.path.join(folder, "lib64", "libcudnn.so.9")
    program.execute(["g++", "-shared", "-Wl,-soname,libcudnn.so.9", *objects, "-fopenmp", "-o", library])
    program.execute(["ar", "rcs", os.path.join(folder, "lib64", "libcudart_static.a")])
    nvcc = os.path.join(folder, "nvcc")
    with open(nvcc, "w", encoding="utf-8") as file:
        file.write(NVCC % shim)
    os.chmod(nvcc, 0o755)
    return {"CUDA_HOME": folder, "NVCC": nvcc}


def make_library(tools, folder, name, home):
    text, options = NETS[name]
    source, library = os.path.join(folder, name + ".unet"), os.path.join(folder, "lib%s.so" % name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    program.execute([tools.unetc, "--shared", "--target=cuda", "--staging=f32", *options, "-o", library, source],
                    env={**os.environ, **home, "UNETC_CUDNN": tools.cudnn})
    return library


# ---- in a process of its own: one library ----

class Gpu:
    """The memory of the GPU, by the runtime of CUDA that the library has loaded."""

    def __init__(self, path):
        self.runtime = ctypes.CDLL(path)
        self.stream = ctypes.c_void_p()
        self.must(self.runtime.cudaStreamCreateWithFlags(ctypes.byref(self.stream), 1))

    @staticmethod
    def must(code):
        assert code == 0, "CUDA answers %d" % code

    def array(self, host, **more):
        """The numbers of HOST in an array of the GPU; they may still be on their way."""
        memory = _arrays.memory_of("host", host)
        size, place = _arrays.elements(memory.shape) * _arrays.BYTES[memory.kind], ctypes.c_void_p()
        self.must(self.runtime.cudaMalloc(ctypes.byref(place), ctypes.c_size_t(size)))
        self.must(self.runtime.cudaMemcpyAsync(place, ctypes.c_void_p(memory.address), ctypes.c_size_t(size), 1, self.stream))
        return OnGpu(self, place.value, memory.shape, memory.kind, **more)

    def read(self, array):
        """The bytes of an array of the GPU."""
        room = ctypes.create_string_buffer(_arrays.elements(array.shape) * _arrays.BYTES[array.kind])
        self.must(self.runtime.cudaMemcpy(room, ctypes.c_void_p(array.address), ctypes.c_size_t(len(room)), 2))
        return room.raw


class OnGpu:
    """An array as CuPy has them, by __cuda_array_interface__."""

    def __init__(self, gpu, address, shape, kind, strides=None):
        self.gpu, self.address, self.shape, self.kind, self.strides = gpu, address, shape, kind, strides

    @property
    def __cuda_array_interface__(self):
        return {"version": 3, "shape": self.shape, "typestr": "<" + self.kind, "data": (self.address, False), "strides": self.strides,
                "stream": None}


class Lent:
    """The same array, by __dlpack__ alone, as PyTorch has them; of the GPU NUMBER."""

    def __init__(self, array):
        self.array = array
        self.shape = (ctypes.c_int64 * len(array.shape))(*array.shape)
        code = {"f": 2, "u": 1}[array.kind[0]]
        self.managed = _arrays._Managed(_arrays._Tensor(array.address, 2, 0, len(array.shape), code, 8 * _arrays.BYTES[array.kind], 1,
                                                        self.shape, None, 0), None, _arrays._DELETER())

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, *, stream=None):
        assert stream == -1, "the library waits by itself"
        return _arrays._api.PyCapsule_New(ctypes.addressof(self.managed), b"dltensor", None)


def numbers(info, samples, turn):
    """An array for an input of a model, on the host."""
    array = unetc.Array((samples,) + info.shape, {"float32": "f4", "uint8": "u1"}[info.dtype])
    count = _arrays.elements(array.shape)
    values = memoryview(array.data).cast("B").cast(_arrays.WORDS[array._kind])
    for k in range(count):
        values[k] = (255 if (k + turn) % 7 == 0 else k * 5 % 17 % info.classes) if info.classes else (k * (7 + turn) + len(info.name)) % 101 / 101
    return array


def raw(array):
    return bytes(memoryview(array.data).cast("B")) if hasattr(array, "data") and not hasattr(array, "tobytes") else array.tobytes()


def check_steps(gpu, host, device):
    for turn in range(3):
        inputs = [numbers(info, 1 if turn == 1 else 4, turn) for info in host.train_inputs]
        wraps = [lambda array: array, Lent][turn % 2]
        losses = host.train_step(*inputs), device.train_step(*[wraps(gpu.array(array)) for array in inputs])
        assert losses[0] == losses[1], losses
    inputs = [numbers(info, 3, 5) for info in host.eval_inputs]
    measured = host.evaluate(*inputs), device.evaluate(*map(gpu.array, inputs))
    assert measured[0] == measured[1], measured
    return losses[0]


def check_prediction(gpu, host, device):
    inputs = [numbers(info, 2, 6) for info in host.inputs]
    there = [gpu.array(array) for array in inputs]
    expected = host.forward(*inputs)
    info = host.outputs[0]
    out = gpu.array(numbers(info, 2, 9))
    assert device.forward(*there, out=out) is out
    assert gpu.read(out) == raw(expected), "other outputs on the GPU"
    assert raw(device.forward(*there)) == raw(expected), "other outputs on the host"
    assert device.forward(there[0], *inputs[1:], out=out) is out  # one array on each side
    assert gpu.read(out) == raw(expected), "other outputs from both sides"


def check_mistakes(gpu, device):
    info = device.train_inputs[0]
    good = [numbers(info, 1, 0) for info in device.train_inputs]
    shape = (1,) + info.shape
    place = gpu.array(unetc.Array(shape, "f8"))
    turned = OnGpu(gpu, place.address, shape, "f4", (4, 4, 4, 4))
    for wrong, error, what in ((place, unetc.ArgumentError, "float64"), (turned, unetc.ArgumentError, "C order"),
                               (OnGpu(gpu, place.address, shape[1:] + (1,), "f4"), unetc.ArgumentError, "shape")):
        try:
            device.train_step(wrong, *good[1:])
            raise AssertionError("no error: " + what)
        except error as found:
            assert info.name in str(found) and what in str(found), found


def child(library, cudnn):
    gpu = Gpu(cudnn)
    with unetc.Model(library, seed=7) as host, unetc.Model(library, seed=7) as device:
        loss = check_steps(gpu, host, device)
        check_prediction(gpu, host, device)
        check_mistakes(gpu, device)
        for (name, a), b in zip(host.state_dict().items(), device.state_dict().values()):
            assert raw(a) == raw(b), "other weights: " + name
    print("loss %.9g" % loss)


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("unetc", "runtime", "make-pictures", "cudnn"):
        parser.add_argument("--" + name, required=True)
    tools = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        home = make_home(os.path.join(folder, "cuda"))
        for name in NETS:
            library = make_library(tools, folder, name, home)
            for way in WAYS:
                done = subprocess.run([sys.executable, "-B", os.path.abspath(__file__), "--child", library, home["CUDA_HOME"] + "/lib64/libcudnn.so.9"],
                                      env={**os.environ, **way}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                print("%s, %s: %s" % (name, way, done.stdout.strip()), flush=True)
                failures += done.returncode != 0
    print("%d failures" % failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

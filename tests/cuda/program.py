"""program.py - builds what `unetc -S --target=cuda` wrote to run on this processor: kernels through the shim, cuDNN
by its reference interpreter, the runtime as it is, all under sanitizers."""
import concurrent.futures
import glob
import hashlib
import os
import subprocess
import sys
import tempfile

import cuda

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import emitted  # noqa: E402

SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-g1", "-O1"]
QUICK = ["-O0"]  # for the files of one program, which runs for moments
# Kernels of a program take a third of the time to compile in this way. The tests of the kernels look for undefined behaviour.
KERNELS = ["-fsanitize=address", "--param", "asan-instrumentation-with-call-threshold=0", "-g1", "-O0"]
CACHED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cached_cc")
C = [CACHED, "gcc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-Wno-unknown-pragmas"]
# Floating point contracts to fused operations on a device; results are compared within a tolerance.
CXX = [CACHED, "g++", "-std=c++17", "-fno-strict-aliasing"]


def execute(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError("%s exits %d:\n%s" % (" ".join(command), done.returncode, done.stdout))
    return done.stdout


class Shim:
    """What all programs share, compiled once into FOLDER.  RUNTIME is libunet_runtime.a."""

    def __init__(self, folder, runtime):
        self.folder, self.runtime = folder, runtime
        self.include = ["-I" + os.path.join(cuda.ROOT, "runtime", "include"), "-isystem",
                        os.path.join(cuda.home("include/cudnn_graph.h"), "include")]
        self.shim = os.path.join(cuda.ROOT, "tests", "cuda", "shim")
        here = os.path.join(cuda.ROOT, "tests", "cuda")
        sources = [s for s in glob.glob(self.shim + "/*.cpp") if not s.endswith("shim_test.cpp")]
        sources += glob.glob(here + "/cudnn_reference/*.c") + glob.glob(cuda.ROOT + "/runtime/cuda/*.c")
        with concurrent.futures.ThreadPoolExecutor(2) as workers:
            header = workers.submit(self.compile_header)
            self.objects = list(workers.map(self.compile, sources))
            header.result()

    def compile(self, source, output=None, more=()):
        output = output or os.path.join(self.folder, os.path.basename(source) + ".o")
        if source.endswith(".cu"):
            flags = CXX + ["-x", "c++", "-include", self.header] + KERNELS
        else:
            flags = (C if source.endswith(".c") else CXX) + SANITIZE
        execute(flags + self.include + ["-DUNET_CHECK_OPERANDS", *more, "-c", source, "-o", output])
        return output

    def compile_header(self):
        """Compiles what stands in front of all kernels; the compiler takes it in place of the text."""
        self.header = os.path.join(self.folder, "shim.h")
        with open(self.header, "w") as text:
            text.write('#include "%s/shim.h"\n' % self.shim)
        execute(CXX[1:] + KERNELS + self.include + ["-DUNET_CHECK_OPERANDS", "-x", "c++-header", self.header, "-o", self.header + ".gch"])

    def kernels(self, source):
        """The object of a .cu, compiled once whatever programs have these kernels: it depends on nothing else of them."""
        with open(source) as text:
            body = text.read().split("*/", 1)[1]
        kept = os.path.join(self.folder, hashlib.sha256(body.encode()).hexdigest() + ".o")
        if not os.path.exists(kept):
            with tempfile.TemporaryDirectory(dir=self.folder) as folder:
                os.replace(self.compile(source, os.path.join(folder, "kernels.o")), kept)
        return kept

    def build(self, folder, program):
        """The sources of `unetc -S` in FOLDER as PROGRAM."""
        objects = [self.kernels(source) for source in glob.glob(folder + "/*.cu")]
        objects += [self.compile(source, source + ".o", QUICK) for source in glob.glob(folder + "/*.c")]
        self.link(objects, program)
        return program

    def link(self, objects, program):
        execute(["g++"] + SANITIZE + objects + self.objects + [self.runtime, "-o", program] +
                emitted.libraries(self.runtime))

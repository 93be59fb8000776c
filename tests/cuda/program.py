"""program.py - builds what `unetc -S --target=cuda` wrote to run on this processor: kernels through the shim, cuDNN
by its reference interpreter, the runtime as it is, all under sanitizers."""
import concurrent.futures
import glob
import os
import subprocess

import cuda

SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-g1", "-O1"]
C = ["gcc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-Wno-unknown-pragmas"]
# Floating point contracts to fused operations on a device; results are compared within a tolerance.
CXX = ["g++", "-std=c++17", "-fno-strict-aliasing"]


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
            self.objects = list(workers.map(self.compile, sources))

    def compile(self, source, output=None):
        output = output or os.path.join(self.folder, os.path.basename(source) + ".o")
        common = SANITIZE + self.include + ["-DUNET_CHECK_OPERANDS", "-c", source, "-o", output]
        if source.endswith(".c"):
            execute(C + common)
        elif source.endswith(".cu"):
            execute(CXX + ["-x", "c++", "-include", self.shim + "/shim.h"] + common)
        else:
            execute(CXX + common)
        return output

    def build(self, folder, program):
        """The sources of `unetc -S` in FOLDER as PROGRAM."""
        sources = glob.glob(folder + "/*.c") + glob.glob(folder + "/*.cu")
        with concurrent.futures.ThreadPoolExecutor(2) as workers:
            objects = list(workers.map(lambda s: self.compile(s, s + ".o"), sources))
        execute(["g++"] + SANITIZE + objects + self.objects + [self.runtime, "-o", program] +
                "-lpng -lz -ljansson -lpthread -lm".split())
        return program

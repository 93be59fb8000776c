"""run.py - every CUDA kernel, run on the CPU through tests/cuda/shim, against the reference on random geometries: for f32,
bf16 and f16, by gcc and clang, under sanitizers, the threads in three orders, which must agree to the bit.  Then faults
are planted in the kernels, and each must be noticed.  See cases.py and test.h.

Tensors of these geometries are small; all kernels also run once on tensors of more than 2^16 vectors or parameters and
2^18 elements, where an index of 16 bits is too short, and `unsigned` has 18 bits in place of 32 (narrow.h).

Usage: run.py [--long] ROWS [SEED]; ROWS: the program that prints the rows of the operators.  --long: more
geometries and compilers, all cases for each type of 16 bits, which else share them, and for large tensors, and all faults, of which else only every eighth one is planted."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import cuda  # noqa: E402

SHIM = os.path.join(cuda.ROOT, "tests", "cuda", "shim")
FLAGS = ("-std=c++17 -g1 -Wall -Wextra -Werror -Wno-unknown-pragmas -Wno-missing-field-initializers "
         "-fno-strict-aliasing -fsanitize=address,undefined -fno-sanitize-recover=undefined")
CLANG = "-Wno-constant-logical-operand"  # kernels have constants for operands
ORDERS = ("forward", "reverse", "permuted")
LONG = "--long" in sys.argv
ARGUMENTS = [word for word in sys.argv[1:] if word != "--long"]
BUILDS = [("g++", "float", 4), ("g++", "__half", 3), ("clang++", "__nv_bfloat16", 3)]
# By the number of a build its share of the cases; large tensors have a share as well.
LARGE = 3
SHARES = {} if LONG else {1: ["--share=0/2"], 2: ["--share=1/2"], LARGE: ["--share=0/2"]}
if LONG:
    BUILDS += [("clang++", "float", 3), ("g++", "__nv_bfloat16", 4)]
SHORT_ROUNDS, FAULT_ROUNDS = 1, 4
# Compilers take three times as long with optimisations as without. The short form has them where much runs: in the shim and on
# large tensors, where all kernels are compiled once more.  A check of an address is a call, which takes half the time to compile.
QUICK = [] if LONG else ["-O0"]
CALLS = [] if LONG else ["--param", "asan-instrumentation-with-call-threshold=0"]

# Each fault: its name, the cases (cases.py) whose kernels have it, the text and its replacement, and the words by which one of the
# orders must report it.
FAULTS = [
    ("a missing barrier", ("losses",), "        of_warp[threadIdx.x / WARP] = x;\n    __syncthreads();",
     "        of_warp[threadIdx.x / WARP] = x;", "mse: it is -nan"),
    ("a barrier that most threads do not reach", ("losses",), "    __syncthreads();\n    if (threadIdx.x > 0)\n        return;",
     "    if (threadIdx.x > 0)\n        return;\n    __syncthreads();", "a barrier that some threads do not reach"),
    ("a shuffle that some lanes do not reach", ("convolution",), "    if (busy) {\n#pragma unroll 4",
     "    if (threadIdx.x % 2)\n        __shfl_down_sync(~0u, 1, 1);\n    if (busy) {\n#pragma unroll 4",
     "a shuffle that some lanes of the warp do not reach"),
    ("an overrun of an operand", ("mapping",), "return i < range.count ?", "return i <= range.count ?", "AddressSanitizer: heap-"),
    ("sums of bands in the places of others", ("losses",), "scratch[(long)sample * bands + band] = total;",
     "scratch[(long)sample * bands + band % 2] = total;", "mse"),
    ("rows of another range", ("mapping",), "rows.begin * row, length,", "0, length,", "by rows: other bits"),
    ("an overrun of a shared array", ("convolution",), "SHARED(real, part, [HEIGHT][WARP]);", "SHARED(real, part, [HEIGHT - 1][WARP]);",
     "out of bounds"),
    ("points of a cell that are in other rows", ("pooling",), " || !inside(rows, in, p)", " || rows.end < 0", "max_pool_grad by argmax, added, in place: number"),
    ("a misaligned access", ("mapping",), "reinterpret_cast<const uint4 *>(p)[i];", "reinterpret_cast<const uint4 *>(p + 1)[i];",
     "misaligned address"),
    ("padding that is not zero", ("casting",), "? staged(from[column * LANES + l]) : 0;",
     "? staged(from[column * LANES + l]) : 1;", "not 0.000000"),
    ("an argmax of other windows", ("pooling",), ">> (l * BITS % 8) & ((1 << BITS) - 1);", ">> (l * BITS % 8);", "by argmax: other bits"),
    ("samples that do not count", ("losses",), "sample < control->n;", "sample <= control->n;", "mse_grad: number"),
    ("a partial sum of a bias that is dropped", ("convolution",), "for (int band = row; band < bands; band += HEIGHT)",
     "for (int band = row; band < bands - 1; band += HEIGHT)", "wgrad, db: "),
    ("a sum before its parts are there", ("losses",), "atomicInc(arrived, others) == others;", "atomicInc(arrived, others) == (others > 1 ? 1 : others);",
     "mse: it is"),
    ("a block that counts itself before all its threads have written", ("normalising",), "SHARED(int, last, [1]);\n    __syncthreads();", "SHARED(int, last, [1]);",
     "wgrad, sums: number"),
    ("a comparison that is not launched", ("losses",), "all->of[all->count++] = comparison;", "all->of[all->count] = comparison, all->count = 1;",
     "with others: other bits"),
    ("the jobs of another block", ("convolution",), "if (jobs.job[middle].first <= blockIdx.x)", "if (jobs.job[middle].first < blockIdx.x)",
     "filter_pack: "),
    ("a bias added twice", ("convolution",), "Vector v = sum(load_vector(y, i + k * stride), bias);",
     "Vector v = sum(sum(load_vector(y, i + k * stride), bias), bias);", "upconv: number"),
    ("a sum of what was not masked yet", ("convolution",), "store_vector(dx, i, v);\n        return v;",
     "const Vector sum = load_vector(dx, i);\n        store_vector(dx, i, v);\n        return sum;", "dgrad, sums: number"),
    ("a second moment that the first does not bound", ("coded_updates",), "bound > before ? bound : before", "before", "adam in codes"),
    ("the head of another group", ("coding",), "heads[threadIdx.x / WARP];", "heads[0];", "compress: byte"),
    ("codes of other points", ("coding",), "p % apart * UNET_GROUP_CHANNELS", "p * UNET_GROUP_CHANNELS % (apart * 8)", "decompress: number"),
    ("a group that is left out", ("merging",), "for (int i = 0; i + apart < n; i += 2 * apart) {", "for (int i = 0; i + 2 * apart < n; i += 2 * apart) {",
     "norm_merge: number"),
]

# Said by a sanitizer. All else that is said of a fault says the shim, or the comparison.
OF_SANITIZERS = ("AddressSanitizer: heap-", "out of bounds", "misaligned address")

# The same, where numbers have 16 bits. The short form plants the first one.
TILE_FAULTS = [
    ("factors of a tile before all are there", ("cells",), "put(factors[(share + 1) % 2], next);\n        __syncthreads();",
     "put(factors[(share + 1) % 2], next);", "upconv of cells: number"),
    ("sums of a warp before they are there", ("cells",), "            __syncwarp();\n#pragma unroll", "#pragma unroll", "upconv of cells: number"),
    ("a row of a tile that is not there", ("cells",), "first + row < points.count && v < deep;", "v < deep;", "AddressSanitizer: heap-"),
    ("terms of other filters", ("cells",), "term < deep * LANES && column + v < wide, term", "true, term", "AddressSanitizer: heap-"),
    ("a fragment between two rows", ("cells",), "&of.a[row + i * CORE][k]", "&of.a[row + i * CORE][k + 1]", "tensor cores do not take"),
]

# The same, noticed on large tensors, of which the kernels of one kind are enough.
WIDE_FAULTS = [
    ("an index cut to 16 bits", ("mapping",), "return blockIdx.x * THREADS + threadIdx.x;",
     "return (unsigned short)(blockIdx.x * THREADS + threadIdx.x);", "relu: number"),
    ("elements counted in 32 bits", ("mapping",), "reinterpret_cast<const uint4 *>(p)[i];", "*reinterpret_cast<const uint4 *>(p + i * LANES);",
     "relu: number"),
]

# Where one arm of ?: is an index and the other a constant, C++ wants to be told that both are.
ARMS = ["* row : 0", "blocks_for(count) : 1056", "2 * count : 0", "0 : 2 * count", "decayed - CODED : 0", "channel_blocks(CO) : 0",
        "deep + v : 0"]


def narrow(kernels):
    """With narrow.h's numbers in place of `unsigned`."""
    text = re.sub(r"\bunsigned\b(?! long| short)", "Index", kernels)
    for arm in ARMS:
        first, second = arm.split(" : ")
        text = text.replace(arm, "Index(%s) : %s" % (first, second) if first == "0" else "%s : Index(%s)" % (first, second))
    return '#include "narrow.h"\n' + text


class Failure(Exception):
    pass


def run(command, folder, environment=None, fails=False):
    done = subprocess.run(command, cwd=folder, env={**os.environ, **(environment or {})}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0 and not fails:
        raise Failure("%s\n%s" % (" ".join(command), done.stdout[-4000:]))
    return done.stdout


class Shim:
    """What stands for a device: compiled once for all builds with one compiler and its FLAGS."""

    def __init__(self, compiler, flags, folder):
        os.mkdir(folder)
        self.objects = []
        for part in ("launch", "stream", "memory"):
            self.objects.append(os.path.join(folder, part + ".o"))
            run([compiler, *flags, "-c", os.path.join(SHIM, part + ".cpp"), "-o", self.objects[-1]], folder)


class Workshop:
    """Makes builds in folders of its own."""

    def __init__(self, home, seed, folder, pool):
        self.home, self.seed, self.folder, self.pool, self.shims = home, seed, folder, pool, {}

    def flags(self, compiler, wide):
        flags = [flag for flag in FLAGS.split() if not (wide and "sanitize" in flag)] + (CLANG.split() if compiler == "clang++" else [])
        return flags + ["-O1", "-isystem", self.home + "/include", "-I", cuda.ROOT + "/runtime/include", "-I", SHIM, "-I", HERE]

    def shim(self, compiler, wide):
        """To be asked for before the builds that take it, which wait for it."""
        if (compiler, wide) not in self.shims:
            folder = os.path.join(self.folder, "shim%d" % len(self.shims))
            self.shims[compiler, wide] = self.pool.submit(Shim, compiler, self.flags(compiler, wide), folder)
        return self.shims[compiler, wide]


class Build:
    """WIDE: on large tensors, with narrow numbers, and without sanitizers, since operands on small ones show what these look
    for.  ONLY: the names of some cases, in place of all."""

    def __init__(self, shop, compiler, stored, number, rounds, wide=False, only=()):
        self.shop, self.compiler, self.stored, self.wide, self.quick = shop, compiler, stored, wide, [] if wide else QUICK
        self.seed, self.flags = shop.seed + number, shop.flags(compiler, wide)
        self.flags += ["-Wno-unused-function"] * bool(only)
        self.folder = os.path.join(shop.folder, "_".join(["wide" if wide else str(number), *only]))
        os.mkdir(self.folder)
        run([sys.executable, "-B", os.path.join(HERE, "cases.py"), self.folder, str(self.seed), stored, str(rounds),
             os.path.abspath(ARGUMENTS[0])] + ["--wide"] * wide + ([] if only else SHARES.get(LARGE if wide else number, [])) + ["--only=" + ",".join(only)] * bool(only), self.folder)
        run(["gcc", "-std=gnu11", "-O2", "-I", cuda.ROOT + "/runtime/include", "-c", "reference.c", "-Wno-unknown-pragmas"], self.folder)
        self.number, self.narrower, self.making = number, {}, threading.Lock()
        own = ["cases.cpp"] + ([] if only else [os.path.join(HERE, "test.cpp")])
        for source in own:
            run([compiler, *self.flags, *(QUICK if source in own[:1] else self.quick), "-DUNET_STORED=" + stored, "-c", source], self.folder)
        self.objects = [os.path.join(self.folder, name) for name in ("cases.o", "reference.o")]
        self.shared = [os.path.join(self.folder, "test.o"), *shop.shim(compiler, wide).result().objects]

    def of(self, cases):
        """More rounds of these cases alone, made once."""
        with self.making:
            if cases not in self.narrower:
                few = Build(self.shop, self.compiler, self.stored, self.number, 1 if self.wide else FAULT_ROUNDS, self.wide, cases)
                few.shared = self.shared
                self.narrower[cases] = few
            return self.narrower[cases]

    def kernels(self):
        with open(os.path.join(self.folder, "kernels.cu")) as f:
            return f.read()

    def write(self, text, name):
        with open(os.path.join(self.folder, name), "w") as f:
            f.write(narrow(text) if self.wide else text)

    def link(self, kernels, program, more=(), sanitized=True):
        """SANITIZED: the kernels, too, which takes two thirds of the time of compiling them."""
        flags = [flag for flag in self.flags if sanitized or not flag.startswith(("-fsanitize", "-fno-sanitize"))]
        flags += CALLS if sanitized and not self.wide and self.compiler == "g++" else []
        run([self.compiler, *flags, *more, "-x", "c++", "-include", "shim.h", "-c", kernels, "-o", program + ".o"], self.folder)
        run([self.compiler, *self.flags, *self.objects, *self.shared, program + ".o", "-o", program], self.folder)

    def run(self, program, order, fails=False):
        return run(["./" + program], self.folder, {"UNET_SHIM_ORDER": order}, fails)


def compare(shop, compiler, stored, rounds, number):
    build = Build(shop, compiler, stored, number, rounds)
    build.link("kernels.cu", "kernels", build.quick)
    said = [text.strip().splitlines()[-1] for text in (build.run("kernels", order) for order in ORDERS)]
    if len(set(said)) > 1:
        raise Failure("%s, %s, seed %d: the orders differ: %s" % (compiler, stored, build.seed, said))
    print("%s, %s, seed %d: %s" % (compiler, stored, build.seed, said[0]), flush=True)
    return build


def compare_wide(shop):
    build = Build(shop, "g++", "__nv_bfloat16", 0, 1, wide=True)
    build.write(build.kernels(), "narrow.cu")
    build.link("narrow.cu", "narrow")
    print("large tensors, seed %d: %s" % (build.seed, build.run("narrow", "forward").strip().splitlines()[-1]), flush=True)
    for fault in WIDE_FAULTS:
        plant(build, fault)


def plant(build, fault):
    name, cases, right, wrong, expected = fault
    few = build.of(cases)
    text = few.kernels()
    if right not in text:
        raise Failure("%s: nowhere to plant it" % name)
    program = "fault_" + "_".join(name.split())
    few.write(text.replace(right, wrong), program + ".cu")
    few.link(program + ".cu", program, few.quick, expected in OF_SANITIZERS)
    for order in ORDERS:
        said = few.run(program, order, fails=True)
        if expected in said:
            print("%s: noticed, order %s" % (name, order), flush=True)
            return
    raise Failure("%s was not noticed:\n%s" % (name, said[-2000:]))


def main():
    seed = int(ARGUMENTS[1]) if len(ARGUMENTS) > 1 else 1
    home = cuda.home("include/cuda_runtime_api.h")
    if not shutil.which("g++"):
        print("SKIPPED: no g++")
        sys.exit(77)
    failed = False
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        shop, builds = Workshop(home, seed, folder, pool), [(i, build) for i, build in enumerate(BUILDS) if shutil.which(build[0])]
        for compiler, wide in [(compiler, False) for _, (compiler, _, _) in builds] + [("g++", True)]:
            shop.shim(compiler, wide)
        jobs = [pool.submit(compare, shop, compiler, stored, rounds if LONG else SHORT_ROUNDS, i)
                for i, (compiler, stored, rounds) in builds]
        jobs.append(pool.submit(compare_wide, shop))
        try: # the first is of floats by g++, the second of 16 bits
            jobs += [pool.submit(plant, jobs[0].result(), fault) for fault in FAULTS[::1 if LONG else 8]]
            jobs += [pool.submit(plant, jobs[1].result(), fault) for fault in TILE_FAULTS[:None if LONG else 1]]
        except Failure:
            print("no faults are planted where the kernels fail without them", flush=True)
        for job in jobs:
            try:
                job.result()
            except Failure as failure:
                print(failure, flush=True)
                failed = True
    for compiler in sorted({b[0] for b in BUILDS if not shutil.which(b[0])}):
        print("%s is not installed: its builds are left out" % compiler)
    sys.exit(1 if failed else 0)


main()

"""run.py - every fast kernel against the reference on random geometries, by both compilers, for every width of
vector, for tensors of 32 and of 16 bits, under sanitizers (of threads, too) and as generated programs are compiled, and for AArch64 where
there are a cross compiler (gcc-aarch64-linux-gnu) and an emulator (qemu-user).  See cases.py, instances.c and kernels.c;
for ranges of rows in rings winograd_rings.c.

Usage: run.py [--long] INSTANCES [SEED]; INSTANCES: the program of instances.c.  --long: every
width of vector and each type with both compilers; else each of these once."""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIME = os.path.join(HERE, "../../runtime/include")
LONG = "--long" in sys.argv
ARGUMENTS = [word for word in sys.argv[1:] if word != "--long"]
INSTANCES = os.path.abspath(ARGUMENTS[0])
FLAGS = "-std=gnu11 -D_POSIX_C_SOURCE=200809L -fopenmp -fno-math-errno -fno-trapping-math -ffp-contract=fast"
SANITIZERS = "-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
RACES = "-O1 -g1 -fsanitize=thread" # by clang; Archer tells it of OpenMP's barriers
LEVEL = "-O2" if LONG else "-O1" # the former takes half as long again
OPTIMISED = LEVEL + " -Wall -Wextra -Werror -Wno-pass-failed" # as a compiler sees whole kernels, warnings included
MATRICES = " -Wno-psabi -DUNET_MATRIX_MODEL" # as where the processor has registers for matrices, by a model of them
BASELINE = "x86-64"
EMULATORS = {"aarch64-linux-gnu-gcc": "qemu-aarch64"} # by compiler: runs its programs, which are linked statically
# compiler, flags, processor, convolutions, type of tensors, --conv: 160 convolutions in all, a different set for each
BUILDS = [(cc, SANITIZERS, processor, 11, "F32", conv) for cc, convs in (("gcc", ("winograd", "direct", "winograd")),
                                                                          ("clang", ("direct", "winograd", "direct")))
          for processor, conv in zip(("native", "x86-64-v3", BASELINE), convs)]
BUILDS += [("gcc", OPTIMISED, "native", 14, "F32", "auto"), ("clang", OPTIMISED, "native", 8, "F32", "winograd"),
           ("gcc", OPTIMISED, "x86-64-v3", 8, "F32", "winograd"), ("clang", OPTIMISED, BASELINE, 8, "F32", "winograd")]
BUILDS += [("gcc", SANITIZERS, "native", 8, "BF16", "auto"), ("clang", SANITIZERS, "x86-64-v3", 6, "F16", "winograd"),
           ("gcc", OPTIMISED, "native", 6, "F16", "direct"), ("clang", OPTIMISED, "native", 6, "BF16", "winograd"),
           ("gcc", OPTIMISED, "x86-64-v3", 6, "F16", "winograd"), ("gcc", OPTIMISED, BASELINE, 6, "BF16", "auto"),
           ("clang", OPTIMISED, BASELINE, 6, "BF16", "direct")]
BUILDS += [("gcc", SANITIZERS, "native", 6, "BF16", "fast"), ("clang", OPTIMISED, "native", 6, "F32", "fast")]
BUILDS += [("gcc", OPTIMISED + MATRICES, BASELINE, 12, "BF16", "direct"), ("clang", SANITIZERS + MATRICES, BASELINE, 8, "BF16", "auto")]
BUILDS += [("clang", RACES, "native", 6, "F32", "auto")]
BUILDS += [("aarch64-linux-gnu-gcc", OPTIMISED + " -static", "armv8-a", 6, stored, conv)
           for stored, conv in (("F32", "winograd"), ("F16", "direct"))]
BUILDS += [("aarch64-linux-gnu-gcc", OPTIMISED + " -static", "armv8-a+sve", 6, "F32", "direct")]


# The short form: each compiler, width of vector and type once, and two ways to convolve; fewer convolutions, and fewer rounds
# of the other operators: each round compiles another kernel. The builds under sanitizers have all cases; the optimised ones
# of an instruction set share them. clang takes twice as long where there are sanitizers or the widest vectors; whole nets have
# --conv=fast in other tests.
ROUNDS, SHORT_CONVOLUTIONS, SHORT_ROUNDS = 4, 3, 1
SHORT = [("gcc", OPTIMISED + MATRICES, BASELINE, "BF16", "direct"), ("gcc", SANITIZERS, "native", "F32", "winograd"), ("gcc", OPTIMISED, "x86-64-v3", "F16", "winograd"),
         ("clang", OPTIMISED, BASELINE, "BF16", "direct"),
         ("aarch64-linux-gnu-gcc", OPTIMISED + " -static", "armv8-a", "F32", "winograd")]
SHARING = [("gcc", OPTIMISED), ("clang", OPTIMISED)]
CALLS = ["--param", "asan-instrumentation-with-call-threshold=0"] # a check of an address is a call, which compiles sooner


def supported(processor, conv):
    flags = open("/proc/cpuinfo").read()
    if conv == "fast" and "avx512_bf16" not in flags:
        return False
    return processor != "x86-64-v3" or all(f in flags for f in ("avx2", "fma", "bmi2", "movbe"))


def archer():
    """The library beside clang's that tells the thread sanitizer of OpenMP; "" if it is not installed."""
    folder = subprocess.run(["clang", "-print-resource-dir"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    library = os.path.join(folder, "../../libarcher.so")
    return library if os.path.exists(library) else ""


def build_and_run(build, seed, folder):
    """Empty if all is well, else what went wrong."""
    cc, flags, processor, convolutions, stored, conv = build
    what = "%s --conv=%s %s -march=%s %s" % (stored, conv, cc, processor, flags)
    emulator = [EMULATORS[cc]] if cc in EMULATORS else []
    os.mkdir(folder)
    flags = [*FLAGS.split(), *flags.split(), "-march=" + processor, "-I" + HERE, "-I" + RUNTIME, "-I.",
             *(["-DUNET_FAST_PRODUCTS"] if conv == "fast" else []), *(CALLS if build[:2] == ("gcc", SANITIZERS) and not LONG else [])]
    reference = [f for f in flags if not f.startswith("-fsanitize") and f not in ("-O1", *CALLS)]
    fast = lambda: [cc, *flags, os.path.join(HERE, "kernels.c"), *glob.glob("fast_*.c", root_dir=folder), "cases.o",
                    "reference_kernels.o", "-o", "kernels", "-lm"]
    count, rounds = (convolutions, ROUNDS) if LONG else (SHORT_CONVOLUTIONS, SHORT_ROUNDS)
    share = [] if LONG or build[:2] not in SHARING else [str(SHARING.index(build[:2])), str(len(SHARING))]
    if MATRICES in build[1]: # only convolutions know of them
        count, rounds, share = (convolutions, 0, ["0", "1"]) if LONG else (SHORT_CONVOLUTIONS + 2, 0, ["0", "1"])
    steps = [lambda: [sys.executable, "-B", os.path.join(HERE, "cases.py"), "cases", str(seed), str(count), str(rounds), *share],
             lambda: [INSTANCES, ".", "cases", stored.lower(), conv, *share[:1]],
             lambda: [cc, *reference, "-O1", "-c", "reference_kernels.c", "cases.c"], fast,
             lambda: [*emulator, "./kernels"]]
    if conv != "direct":
        rings = [cc, *flags, "-DUNET_STORED_" + stored, os.path.join(HERE, "winograd_rings.c"), "-o", "rings", "-lm"]
        steps[:0] = [lambda: rings, lambda: [*emulator, "./rings"]]
    # threads share their processors with other tests: let them sleep at barriers
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive", "ASAN_OPTIONS": "detect_leaks=0"}
    if "-fsanitize=thread" in flags:
        environment.update(OMP_TOOL_LIBRARIES=archer(), TSAN_OPTIONS="ignore_noninstrumented_modules=1")
    for step in (make() for make in steps):
        done = subprocess.run(step, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            return "%s, seed %d: %s\n%s" % (what, seed, " ".join(step), done.stdout[-4000:])
    print("%s: %s" % (what, done.stdout.strip()), flush=True)
    return ""


def main():
    first_seed = int(ARGUMENTS[1]) if len(ARGUMENTS) > 1 else 1
    missing = {cc: tool for cc in sorted({b[0] for b in BUILDS}) for tool in (EMULATORS.get(cc), cc)
               if tool and not shutil.which(tool)}
    builds = [b for b in BUILDS if b[0] not in missing and supported(b[2], b[5]) and
              (b[1] != RACES or archer()) and (LONG or b[:3] + b[4:] in SHORT)]
    if LONG and not any(b[5] == "fast" for b in builds):
        print("the processor has no products of bf16: --conv=fast is left out")
    if LONG and "clang" not in missing and not archer():
        print("libarcher.so is not installed: races of threads are not looked for")
    for cc, tool in missing.items():
        print("%s is not installed: the builds of %s are left out" % (tool, cc))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(build_and_run, build, first_seed + i, os.path.join(folder, str(i)))
                for i, build in enumerate(builds)]
        failures = [f for f in (job.result() for job in jobs) if f]
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


main()

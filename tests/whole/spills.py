#!/usr/bin/env python3
"""No loop of multiplications keeps its sums or weights on the stack.

    spills.py --unetc=UNETC FILE...

The fast kernels of each file, f32, are compiled as `unetc` does it, by gcc and by clang, for processors with registers of
256 and of 512 bits, and disassembled: an innermost loop with at least eight fused multiplications may not touch the stack by
a vector instruction.  A compiler that runs out of registers there halves the speed and changes nothing else, so that no
other test sees it.  The first file is compiled with --conv=direct, too, in bf16 with --conv=fast for a processor that
multiplies these, and with more sums than registers, which has to be seen.  Products of bf16 take what they broadcast from
the stack where they are those of an image, and may keep one register there for eight products.  Needs objdump, an x86
processor and one of the compilers."""

import argparse
import collections
import concurrent.futures
import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
# gcc weighs registers against the stack by the costs of a processor, which -march=native names, too.
PROCESSORS = ["-march=x86-64-v3 -mtune=generic", "-march=x86-64-v4 -mtune=znver3"]
WITH_BF16 = "-march=x86-64-v4 -mavx512bf16 -mtune=znver3"
# Functions by compiler that may touch it, and why.
SPARED = {"gcc": {}, "clang": {
    "weights_map": "it unrolls the loops over the taps, which lie on the stack; this runs once a step",
    "gradient_products_single": "how many rows a tile has is no constant to it; there are pairs where registers have 256 bits"}}
MULTIPLICATION = re.compile(r"\bvfn?m(add|sub)\d+p[sd]\b")
PRODUCTS = re.compile(r"\bvdpbf16ps\b")
STACK = r"\(%s\).*%%[xyz]mm|%%[xyz]mm.*\(%s\)" # with an index it is an array of the program's
WHOLE = re.compile(r"^(?!.*(broadcast|1to16)).*%zmm")
JUMP = re.compile(r"\bj[a-z]+\s+([0-9a-f]+)\b")


def run(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def flags_of(folder):
    """What unetc gives to the C compiler, but for the processor."""
    with open(os.path.join(folder, "CMakeLists.txt")) as file:
        flags = re.search(r"target_compile_options\(\S+ PRIVATE ([^)]*)\)", file.read()).group(1).split()
    return [flag for flag in flags if not flag.startswith("-march")]


def functions(text):
    """Name and instructions, each (address, text), of every function in the output of objdump."""
    for part in re.split(r"^[0-9a-f]+ <", text, flags=re.M)[1:]:
        name, _, body = part.partition(">:\n")
        yield name, [(int(m.group(1), 16), m.group(2)) for m in re.finditer(r"^\s*([0-9a-f]+):\s+(.*)$", body, flags=re.M)]


def innermost_loops(instructions):
    """The instructions from the target of each jump backwards to it, where no other such jump lies between."""
    position = {address: i for i, (address, _) in enumerate(instructions)}
    last = -1
    for i, (address, text) in enumerate(instructions):
        jump = JUMP.search(text)
        target = position.get(int(jump.group(1), 16)) if jump else None
        if target is None or target > i:
            continue
        if target > last:
            yield instructions[target:i + 1]
        last = i


def on_the_stack(instructions):
    """What finds instructions that touch the stack; %rbp is any register unless the function makes it the frame's."""
    framed = any(re.search(r"\bmov\s+%rsp,%rbp\b", text) for _, text in instructions)
    registers = "%r[sb]p" if framed else "%rsp"
    return re.compile(STACK % (registers, registers))


def spilling(objects):
    """How many loops of multiplications there are, and what functions spill in how many instructions of theirs."""
    loops, spills = 0, collections.Counter()
    for path in objects:
        for name, instructions in functions(run(["objdump", "-d", "--no-show-raw-insn", path])):
            stack = on_the_stack(instructions)
            for loop in innermost_loops(instructions):
                products = sum(bool(PRODUCTS.search(text)) for _, text in loop)
                if products + sum(bool(MULTIPLICATION.search(text)) for _, text in loop) < 8:
                    continue
                loops += 1
                touching = [text for _, text in loop if stack.search(text)]
                if products:
                    touching = [text for text in touching if WHOLE.search(text)]
                if len(touching) > products / 8:
                    spills[name] += len(touching)
    return loops, spills


def compiled(unetc, sources, compiler, processor):
    """The objects of the files SOURCES.  Kernels that are the same but for their names are counted apart: gcc has one
    function for them otherwise."""
    apart = ["-fno-ipa-icf"] if compiler == "gcc" else []
    include = os.path.join(run([unetc, "--runtime"]).strip(), "include")
    for source in sources:
        run([compiler, *flags_of(os.path.dirname(source)), *processor.split(), *apart, "-I" + include, "-c", source,
             "-o", source + ".o"])
    return [source + ".o" for source in sources]


def check(unetc, model, options, compiler, processor, folder):
    """Lines that say what is wrong."""
    run([unetc, "-S", folder, *options.split(), model])
    sources = sorted(glob.glob(os.path.join(folder, "*conv*.c")) + glob.glob(os.path.join(folder, "*matrix.c")))
    loops, spills = spilling(compiled(unetc, sources, compiler, processor))
    what = "%s %s, %s %s: %d loops" % (os.path.basename(model), options, compiler, processor, loops)
    spared = ["    %s: %d instructions on the stack, as %s" % (name, spills.pop(name), why)
              for name, why in SPARED[compiler].items() if name in spills]
    if loops < 6:
        return ["FAILED: %s: that is too few to be all" % what]
    if spills:
        return ["FAILED: %s" % what] + ["    %s: %d instructions on the stack" % spill for spill in sorted(spills.items())]
    return [what] + spared


def check_the_check(unetc, model, compiler, folder):
    """16 sums do not fit in 16 registers, beside what they are made of."""
    run([unetc, "-S", folder, "--conv=direct", model])
    header, = glob.glob(os.path.join(folder, "*_kernels.h"))
    with open(header) as file:
        text = file.read()
    with open(header, "w") as file:
        file.write(text.replace("ROWS = 6", "ROWS = 8"))
    _, spills = spilling(compiled(unetc, glob.glob(os.path.join(folder, "*_conv.c")), compiler, PROCESSORS[0]))
    return [] if spills else ["FAILED: %s: 16 sums in 16 registers go unseen" % compiler]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    compilers = [compiler for compiler in SPARED if shutil.which(compiler)]
    if platform.machine() != "x86_64" or not (compilers and shutil.which("objdump")):
        print("SKIPPED: gcc or clang, objdump and a processor of x86-64 are needed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        unetc, first = os.path.abspath(arguments.unetc), arguments.models[0]
        cases = [(model, "--conv=auto", processor) for model in arguments.models for processor in PROCESSORS]
        cases += [(first, "--conv=direct", processor) for processor in PROCESSORS]
        cases += [(first, "--precision=bf16 --conv=fast", WITH_BF16)]
        jobs = [(check, model, options, compiler, processor) for model, options, processor in cases for compiler in compilers]
        jobs += [(check_the_check, first, compiler) for compiler in compilers]
        results = [pool.submit(job[0], unetc, *job[1:], os.path.join(folder, str(i))) for i, job in enumerate(jobs)]
        lines = [line for result in results for line in result.result()]
    print("\n".join(lines))
    return int(any(line.startswith("FAILED") for line in lines))


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""No loop of multiplications keeps its sums or weights on the stack.

    spills.py --unetc=UNETC FILE...

The fast kernels of each file, f32, are compiled as `unetc` does it, by gcc, for processors with registers of
256 and of 512 bits, and disassembled: an innermost loop with at least eight fused multiplications may not touch the stack by
a vector instruction.  A compiler that runs out of registers there halves the speed and changes nothing else, so that no
other test sees it.  Needs gcc, objdump and an x86 processor."""

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
MULTIPLICATION = re.compile(r"\bvfn?m(add|sub)\d+p[sd]\b")
STACK = re.compile(r"\(%r[sb]p[,)].*%[xyz]mm|%[xyz]mm.*\(%r[sb]p[,)]")
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


def spilling(objects):
    """How many loops of multiplications there are, and what functions spill in how many instructions of theirs."""
    loops, spills = 0, collections.Counter()
    for path in objects:
        for name, instructions in functions(run(["objdump", "-d", "--no-show-raw-insn", path])):
            for loop in innermost_loops(instructions):
                if sum(bool(MULTIPLICATION.search(text)) for _, text in loop) < 8:
                    continue
                loops += 1
                touching = sum(bool(STACK.search(text)) for _, text in loop)
                if touching:
                    spills[name] += touching
    return loops, spills


def check(unetc, model, processor, folder):
    """Lines that say what is wrong."""
    os.mkdir(folder)
    run([unetc, "-S", folder, model])
    include = os.path.join(run([unetc, "--runtime"]).strip(), "include")
    objects = []
    for source in sorted(glob.glob(os.path.join(folder, "*conv*.c"))):
        objects.append(source + ".o")
        run(["gcc", *flags_of(folder), *processor.split(), "-I" + include, "-c", source, "-o", objects[-1]])
    loops, spills = spilling(objects)
    what = "%s, %s: %d loops" % (os.path.basename(model), processor, loops)
    if loops < 10:
        return ["FAILED: %s: that is too few to be all" % what]
    if spills:
        return ["FAILED: %s" % what] + ["    %s: %d instructions on the stack" % spill for spill in sorted(spills.items())]
    return [what]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("models", nargs="+")
    arguments = parser.parse_args()
    if platform.machine() != "x86_64" or not (shutil.which("gcc") and shutil.which("objdump")):
        print("SKIPPED: gcc, objdump and a processor of x86-64 are needed")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(model, processor) for model in arguments.models for processor in PROCESSORS]
        results = [pool.submit(check, os.path.abspath(arguments.unetc), *job, os.path.join(folder, str(i)))
                   for i, job in enumerate(jobs)]
        lines = [line for result in results for line in result.result()]
    print("\n".join(lines))
    return int(any(line.startswith("FAILED") for line in lines))


if __name__ == "__main__":
    sys.exit(main())

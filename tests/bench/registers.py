#!/usr/bin/env python3
"""registers.py - what the compiler of CUDA makes of a network's kernels: registers, shared memory, spills, and how many
blocks of so many threads an SM has room for.  No device is needed.

    registers.py UNETC [--arch=sm_90] [--rows=N] [--nvcc=PATH] FILE.unet [OPTION of unetc]...

Lists the N kernels (20) of most registers, then how many kernels there are, how many spill, and how many leave an SM
room for fewer than four blocks.  Exits with 1 if a kernel spills or has a stack."""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
THREADS, WARP = 256, 32
REGISTERS, GRANULE = 65536, 8  # of an SM; a warp is given registers in multiples of so many a thread
SHARED, RESERVED = 227 << 10, 1 << 10  # bytes of an SM of sm_90; what each block takes beside its own
MOST_THREADS, MOST_BLOCKS = 2048, 32
ENTRY = re.compile(r"Compiling entry function '(\S+)'")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?, (\d+) bytes smem)?")


class Kernel:
    def __init__(self, name):
        self.name, self.registers, self.shared, self.stack, self.spills = name, 0, 0, 0, 0

    def blocks(self):
        """So many an SM has room for at a time."""
        of_thread = -(-self.registers // GRANULE) * GRANULE
        by_registers = REGISTERS // (of_thread * WARP) // (THREADS // WARP) if of_thread else MOST_BLOCKS
        by_shared = SHARED // (self.shared + RESERVED)
        return min(by_registers, by_shared, MOST_THREADS // THREADS, MOST_BLOCKS)


def compiled(options, folder):
    """What ptxas says of the kernels in FOLDER."""
    said = ""
    for source in sorted(glob.glob(os.path.join(folder, "*.cu"))):
        done = subprocess.run([options.nvcc, "-std=c++17", "-O3", "-arch=" + options.arch, "-Xptxas", "-v", "-I", folder,
                               "-I", os.path.join(ROOT, "runtime", "include"), "-c", source, "-o", os.devnull],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit("%s: nvcc failed\n%s" % (source, done.stdout[-2000:]))
        said += done.stdout
    return said


def kernels_of(said):
    kernels = []
    for line in said.splitlines():
        entry, stack, used = ENTRY.search(line), STACK.search(line), USED.search(line)
        if entry:
            kernels.append(Kernel(entry.group(1)))
        elif stack and kernels:
            kernels[-1].stack, kernels[-1].spills = int(stack.group(1)), int(stack.group(2)) + int(stack.group(3))
        elif used and kernels:
            kernels[-1].registers, kernels[-1].shared = int(used.group(1)), int(used.group(2) or 0)
    return kernels


def readable(kernels):
    """Names as they stand in the source."""
    if shutil.which("c++filt") and kernels:
        names = subprocess.run(["c++filt", "-p"], input="\n".join(k.name for k in kernels), stdout=subprocess.PIPE, text=True, check=True)
        for kernel, name in zip(kernels, names.stdout.splitlines()):
            kernel.name = re.sub(r"^void |\(.*|<.*", "", name)


def report(kernels, rows):
    print("%-52s %9s %8s %7s %6s" % ("kernel", "registers", "shared B", "spills", "blocks"))
    for k in sorted(kernels, key=lambda k: (-k.registers, k.name))[:rows]:
        print("%-52s %9d %8d %7d %6d" % (k.name, k.registers, k.shared, k.spills, k.blocks()))
    faulty = [k for k in kernels if k.spills or k.stack]
    few = [k for k in kernels if k.blocks() < 4]
    print("%d kernels, %d with spills or a stack, %d with room for fewer than 4 blocks of %d threads an SM"
          % (len(kernels), len(faulty), len(few), THREADS))
    return 1 if faulty else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unetc")
    parser.add_argument("file")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    options, more = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.unetc, "-S", folder, "--target=cuda:" + options.arch, options.file, *more], check=True)
        kernels = kernels_of(compiled(options, folder))
    if not kernels:
        sys.exit("ptxas names no kernel")
    readable(kernels)
    return report(kernels, options.rows)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""resident.py UNETC [--budget=PERCENT] FILE.unet... - whether a program takes the memory that its plan says.

Each file is compiled and takes two steps of its `bench`.  Prints the arena that `mem` reports, the largest resident memory
of the process, and the difference: code, libraries and stacks of threads.  With --budget, also of a plan within so much of
the arena without a budget.  `bench` first measures the rate of memory with arrays of its own, and gives them back: they show
where the arena is smaller."""
import argparse
import json
import os
import subprocess
import tempfile

MIB = 1 << 20


def run(command):
    """Standard output, and the largest resident bytes of the process."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, err):
            file.seek(0)
        if process.returncode != 0:
            raise SystemExit("%s: exit code %d\n%s" % (" ".join(command), process.returncode, err.read().decode()))
        return out.read().decode(), usage.ru_maxrss * 1024


def measure(unetc, file, options, folder):
    program = os.path.join(folder, "program")
    plan = json.loads(run([unetc, "mem", "--format=json", *options, file])[0])
    run([unetc, "-o", program, *options, file])
    _, resident = run([program, "bench", "--steps=2"])
    arena = plan["arena"]["bytes"]
    name = os.path.splitext(os.path.basename(file))[0] + "".join(" " + option for option in options)
    print("| %s | %.1f | %.1f | %.1f |" % (name, arena / MIB, resident / MIB, (resident - arena) / MIB), flush=True)
    return arena


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unetc")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--budget", type=int, metavar="PERCENT")
    arguments = parser.parse_args()
    unetc = os.path.abspath(arguments.unetc)
    print("| | arena, MiB | largest resident memory, MiB | beside the arena, MiB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for file in arguments.files:
            arena = measure(unetc, file, [], folder)
            if arguments.budget:
                measure(unetc, file, ["--mem=%dB" % (arena * arguments.budget // 100)], folder)


main()

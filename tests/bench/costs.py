"""costs.py - measures the rates of compiler/cpu/costs.def: how long the kernels take for an operation and for a byte.

Usage: costs.py UNETC [--threads=N] [--rounds=N] [--check]

Compiles nets of several widths by each method and in each precision, runs `bench`, and joins its steps with those of
the plan. Prints the table; with --check, beside the sum of each program's steps by the table that UNETC holds. Rates are
sums over all steps of a class, of the fastest of the rounds; run it on a machine that does nothing else."""
import collections
import json
import os
import subprocess
import sys
import tempfile

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/denoise")
NETS = [("tiny_unet", "-D base=16 --batch=6"), ("unet_denoiser", "-D base=64 --batch=2"), ("tiny_unet", "-D base=32 --batch=2")]
METHODS = [(precision, conv) for precision in ("f32", "bf16") for conv in ("auto", "direct")]
CLASSES = (1, 16, 32, 64, 128, 256)  # of channels
ARITHMETIC = ("conv", "upconv")      # kernels that begin so and do not pack are bound by arithmetic

HEAD = """/* costs.def - measured rates of the CPU's kernels, by tests/bench/costs.py.
 *
 * kernel, bits of a tensor's elements, from how many channels on; picoseconds for 1000 floating point operations, and for
 * a kibibyte. */"""


def steps_of(plan, program):
    """By position: the step, and how often it runs."""
    found = []

    def walk(steps, times):
        for step in steps:
            found.append((step, times))
            if "loop" in step:
                walk(step["body"], times * (step["times"] if step["loop"] == "samples" else 1))

    walk(plan["programs"][program], 1)
    return found


def fewest_channels(plan, step):
    shapes = [plan["buffers"][number]["shape"] for number in step["reads"] + step["writes"]
              if plan["buffers"][number]["class"].startswith("activation")]
    shapes = [shape for shape in shapes if len(shape) > 3]
    return min(shape[1] for shape in shapes) if len(shapes) > 1 else 1  # else it reads an image outside of the arena


def class_of(plan, step):
    if step["kernel"].startswith(ARITHMETIC) and not step["kernel"].endswith("pack"):
        return max(least for least in CLASSES if least <= max(1, fewest_channels(plan, step))), "flops"
    return 1, "bytes"


def fastest(program, threads, rounds):
    """By program and position: FLOPs, bytes, seconds of the fastest round."""
    best = {}
    for _ in range(rounds):
        told = json.loads(subprocess.run([program, "bench", "--steps=5", "--threads=%d" % threads, "--format=json"],
                                         check=True, stdout=subprocess.PIPE).stdout)
        for each in told["programs"]:
            for part in each["parts"]:
                key = each["name"], part["position"]
                if key not in best or part["seconds"] < best[key]["seconds"]:
                    best[key] = part
    return best


def measure(unetc, folder, threads, rounds):
    """Yields for each net and method its plan and what bench told."""
    for net, size in NETS:
        for precision, conv in METHODS:
            options = ["--precision=" + precision, "--conv=" + conv, *size.split(), os.path.join(EXAMPLES, net + ".unet")]
            program = os.path.join(folder, "program")
            subprocess.run([unetc, "-o", program, *options], check=True)
            plan = json.loads(subprocess.run([unetc, "mem", "--format=json", *options], check=True,
                                             stdout=subprocess.PIPE).stdout)
            yield " ".join([net, size, precision, conv]), precision, plan, fastest(program, threads, rounds)


def main():
    unetc, words = sys.argv[1], dict(word.split("=") for word in sys.argv[2:] if "=" in word)
    threads, rounds = int(words.get("--threads", os.cpu_count())), int(words.get("--rounds", 5))
    work, seconds = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, precision, plan, told in measure(unetc, folder, threads, rounds):
            by_table, measured = collections.Counter(), collections.Counter()
            for (program, position), part in told.items():
                step, times = steps_of(plan, program)[position]
                channels, unit = class_of(plan, step)
                key = step["kernel"], 32 if precision == "f32" else 16, channels, unit
                work[key] += part[unit]
                seconds[key] += part["seconds"]
                by_table[program] += times * step["ns"] * 1e-6
                measured[program] += part["seconds"] * 1e3
            for program in measured if "--check" in sys.argv else ():
                print("/* %s, %s: %.2f ms, by the table %.2f */" % (name, program, measured[program], by_table[program]),
                      flush=True)
    print(HEAD)
    for kernel, bits, channels, unit in sorted(work):
        rate = seconds[kernel, bits, channels, unit] * 1e12 / work[kernel, bits, channels, unit]
        per_flop, per_byte = (rate * 1000, 0) if unit == "flops" else (0, rate * 1024)
        print("COST(%s, %d, %d, %.0f, %.0f)" % (kernel, bits, channels, per_flop, per_byte))


main()

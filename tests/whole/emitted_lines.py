"""emitted_lines.py UNETC - lines of the C that unetc writes, by what they are: TinyUNet's, and those of a net that is larger and has
more kinds of layers.

The lines of kernels are those of templates: a net with other sizes has as many.  What grows with a net is a call for each step, offsets of
buffers and a kernel's sizes for each set of them; the limits are for one of each, whatever the net.  No text stands in two places."""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
NETS = [("denoise/tiny_unet", []), ("denoise/tiny_unet", ["--programs=predict"]), ("nafnet/nafnet", ["--size=64x64"])]
SAME = 40  # lines in a row that stand in two places are a copy; the loops around two kernels may be alike
INSTANCES = "\n#undef SIZES\n#else\n"  # between a kernel's body and its sizes
STEPS, OFFSETS, SIZES = "steps, tables, interface", "offsets of buffers", "sizes of kernels"
FIXED = {STEPS: 250, OFFSETS: 20, SIZES: 20}  # lines of any net


def code(path):
    with open(path) as file:
        return file.read().splitlines()


def copies(files):
    """Places where SAME lines in a row stand a second time."""
    seen, found = {}, []
    for name, lines in files.items():
        lines = [line.strip() for line in lines if line.strip()]
        for at in range(len(lines) - SAME + 1):
            run = tuple(lines[at:at + SAME])
            if run in seen:
                found.append((name, run[0], seen[run]))
            seen.setdefault(run, name)
    return found


def parts(name, files):
    """Lines by what they are."""
    found = collections.Counter()
    for file, lines in files.items():
        text = "\n".join(lines)
        if file == name + "_plan.h":
            found[OFFSETS] += len(lines)
        elif file == name + "_declarations.h":
            found["declarations of kernels"] += len(lines)
        elif file == name + "_sizes.h":
            found[SIZES] += len(lines)
        elif file in (name + ".c", name + ".h", "main.c"):
            found[STEPS] += len(lines)
        elif INSTANCES in text:
            body = text[:text.index(INSTANCES)].count("\n") + 1
            found["kernels, as in templates"] += body
            found[SIZES] += len(lines) - body
        else:
            found["kernels, as in templates"] += len(lines)
    return found


def check(unetc, net, options, folder):
    subprocess.run([unetc, "-S", folder] + options + [os.path.join(EXAMPLES, net + ".unet")], check=True)
    files = {os.path.basename(path): code(path) for path in sorted(glob.glob(folder + "/*.[ch]"))}
    found = parts(os.path.basename(net), files)
    text = "\n".join(line for lines in files.values() for line in lines)
    steps, buffers = text.count("begin(step, "), len(re.findall(r"^#define B\d+_", text, re.M))
    kernels = len(re.findall(r"^#define KERNEL\(part\)", text, re.M))
    sets = kernels + len(re.findall(r"_sizes_\d+ (?:=|\(const) ", text))
    print("%s: %d lines: %s; %d steps, %d buffers, %d kernels and sets of sizes" % (
        " ".join([net] + options), sum(found.values()), ", ".join("%d %s" % (n, what) for what, n in found.most_common()), steps, buffers, sets))
    wrong = ["%s: \"%s\" and the lines behind it stand in %s, too" % one for one in copies(files)[:5]]
    for what, count, most in ((STEPS, steps, 5), (OFFSETS, buffers, 1), (SIZES, sets, 12)):
        if found[what] - FIXED[what] > most * count:
            wrong.append("%d lines are %s: more than %d and %d for each of %d" % (found[what], what, FIXED[what], most, count))
    return wrong


def main():
    wrong = []
    for net, options in NETS:
        with tempfile.TemporaryDirectory() as folder:
            wrong += check(sys.argv[1], net, options, folder)
    for line in wrong:
        print(line)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

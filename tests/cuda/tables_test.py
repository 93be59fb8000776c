"""tables_test.py - every convolution of the complete examples, as unetc writes it into a program for a GPU, has an engine that
cuDNN itself chose: for both architectures and all precisions, within the cap, the same in a second run.  For sm_90
none is left to the slow engine that is always there, unless memory is scarce or cuDNN itself lists that engine first.
Where results may differ from run to run, some have other engines.

    tables_test.py UNETC EXAMPLES [--long]     exits with 77 where unetc finds no cuDNN to ask

--long: every example.
"""
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

CAP = 32 << 20
ARCHITECTURES = "sm_80", "sm_90"
PRECISIONS = "f32", "tf32", "bf16"
NONDETERMINISTIC = "--nondeterministic"
PLAIN = 0  # the engine that is always there
PREFERRED = ("BACKWARD_FILTER", "F32", ".kernel = {1, 2, 2}, .stride = {1, 2, 2}")  # cuDNN 9.19 lists PLAIN first for some of these
TABLE = re.compile(r"static const UnetConvolution convolution\[\] = \{\n(.*?)\n\};", re.S)
ENTRY = re.compile(r"/\* (\d+) \*/ \{\.kind = UNET_(\w+), \.type = UNET_(\w+), \.result_type = UNET_(\w+), (.*?), "
                   r"\.engine = \{\.version = (\d+), \.engine = (\d+), (.*?)\.workspace = (\d+)\}\}")


def emit(unetc, example, architecture, precision, *options):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([unetc, "-S", folder, "--target=cuda:" + architecture, "--precision=" + precision, *options, example],
                       check=True, stdout=subprocess.DEVNULL)
        name = os.path.splitext(os.path.basename(example))[0]
        with open(os.path.join(folder, name + ".c")) as f:
            return " ".join(TABLE.search(f.read()).group(1).split())


def operand_bytes(sizes, operand):
    """Of x, y and the filters."""
    batch, first, second = (int(re.search(r"\.%s = (\d+)" % name, sizes).group(1))
                            for name in ("batch", "in_channels", "out_channels"))
    points = {name: math.prod(map(int, re.search(r"\.%s = \{(.*?)\}" % name, sizes).group(1).split(",")))
              for name in ("in", "out", "kernel")}
    return (2 if operand == "BF16" else 4) * (
        batch * (points["in"] * first + points["out"] * second) + points["kernel"] * first * second)


def check(table, where):
    """The number of entries, of those that nobody asked cuDNN about, and of those left to the plain engine."""
    entries, unasked, plain = ENTRY.findall(table), 0, 0
    assert len(entries) == table.count("UNET_BACKWARD") + table.count("UNET_FORWARD"), where + ": not understood"
    for index, kind, operand, result, sizes, version, engine, knobs, workspace in entries:
        print("  %s %-15s %s to %s, %s: engine %s, %s%s bytes" % (
            index, kind.lower(), operand.lower(), result.lower(), sizes, engine, knobs, workspace))
        assert int(workspace) <= CAP + operand_bytes(sizes, operand), (
            "%s, convolution %s: %s bytes of workspace" % (where, index, workspace))
        unasked += int(version) == 0
        plain += int(version) > 0 and int(engine) == PLAIN and not (
            (kind, operand) == PREFERRED[:2] and PREFERRED[2] in sizes)
    return len(entries), unasked, plain


def check_budget(unetc, example, plain):
    """Where memory is scarce, convolutions take less of it; PLAIN of them had the plain engine before."""
    options = [unetc, "mem", "--format=json", "--target=cuda", "--precision=f32", "--no-recompute", "--micro-batches=off"]
    arena = json.loads(subprocess.run(options + [example], capture_output=True, check=True).stdout)["arena"]["bytes"]
    budget = ["--mem=%d" % (arena * 9 // 10), "--no-recompute", "--micro-batches=off"]
    table = emit(unetc, example, "sm_90", "f32", *budget)
    assert check(table, "under a budget")[2] > plain, "under a budget as without"
    assert all(int(entry[-1]) <= CAP for entry in ENTRY.findall(table)), "under a budget: workspace above the cap"


def others_if_nondeterministic(table, freed, where):
    """How many convolutions of the second table have other engines than in the first."""
    note = " .nondeterministic = true,"
    assert note not in table, where + ": nobody asked for this"
    before, after = table.split("/*")[1:], freed.split("/*")[1:]
    assert len(before) == len(after) and all(note in entry for entry in after), where + ": not all are marked"
    return sum(one != other.replace(note, "") for one, other in zip(before, after))


def check_usage(unetc, examples):
    """The CPU has no such choice."""
    example = sorted(glob.glob(os.path.join(examples, "*", "*.unet")))[0]
    done = subprocess.run([unetc, "mem", NONDETERMINISTIC, example], capture_output=True, text=True)
    assert done.returncode == 2 and "--target=cuda" in done.stderr, "%s for the CPU: %s" % (NONDETERMINISTIC, done.stderr)


def main():
    unetc, examples = sys.argv[1:3]
    folders = ["*"] if "--long" in sys.argv else ["denoise", "segment"]
    check_usage(unetc, examples)
    total = unasked_total = plain_total = others = 0
    for example in sorted(path for folder in folders for path in glob.glob(os.path.join(examples, folder, "*.unet"))):
        for architecture in ARCHITECTURES:
            for precision in PRECISIONS:
                where = "%s, %s, %s" % (os.path.basename(example), architecture, precision)
                print(where)
                table = emit(unetc, example, architecture, precision)
                assert table == emit(unetc, example, architecture, precision), where + ": differs in a second run"
                entries, unasked, plain = check(table, where)
                assert plain == 0 or architecture != "sm_90", "%s: %d with the plain engine" % (where, plain)
                total, unasked_total, plain_total = total + entries, unasked_total + unasked, plain_total + plain
                others += others_if_nondeterministic(table, emit(unetc, example, architecture, precision, NONDETERMINISTIC), where)
    if unasked_total == total:
        print("SKIPPED: unetc found no cuDNN to ask")
        sys.exit(77)
    check_budget(unetc, os.path.join(examples, "denoise", "unet_denoiser.unet"), 0)
    print("%d convolutions, %d without an engine, %d with the plain one; %d have others with %s" % (
        total, unasked_total, plain_total, others, NONDETERMINISTIC))
    sys.exit(unasked_total > 0 or others == 0)


main()

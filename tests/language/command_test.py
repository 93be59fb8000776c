"""The command line: what unetc answers to a wrong one, and its help.

    command_test.py UNETC
"""
import filecmp
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

FILE = str(sorted((pathlib.Path(__file__).parent / "right").glob("*.unet"))[0])
LARGE = str(pathlib.Path(__file__).parents[2] / "examples/nafnet/nafnet.unet")
DONE, ERRORS, USAGE, NO_FIT, INPUT = 0, 1, 2, 3, 4
LOADER = 127  # libraries cannot be loaded

# arguments, exit code, words of the answer
CASES = [
    ([], USAGE, "no .unet file given"),
    (["--help"], DONE, "usage: unetc [OPTIONS] [-o PROG]"),
    (["--help"], DONE, "--conv=auto|direct|winograd|fast"),
    (["check", "--help"], DONE, "usage: unetc check"),
    (["mem", "--help"], DONE, "usage: unetc mem"),
    (["fit", "-h"], DONE, "usage: unetc fit"),
    (["explain", "--help"], DONE, "usage: unetc explain"),
    (["explain"], USAGE, "`unetc explain U0401`"),
    (["explain", "U9999"], USAGE, "no diagnostic, operator or setting `U9999`; `unetc explain operators`"),
    (["explain", "convv"], USAGE, "no diagnostic, operator or setting `convv`: did you mean `conv`?\n"),
    (["explain", "0201"], DONE, "unknown name"),
    (["explain", "batch"], DONE, "train: batch(n)\neval: batch(n)\n"),
    (["fit", FILE], USAGE, "--max=batch or --max=size"),
    (["mem", "--diff", FILE], USAGE, "`unetc mem --diff A B`"),
    (["help"], DONE, "usage: unetc [OPTIONS] [-o PROG]"),
    (["help", "mem"], DONE, "usage: unetc mem"),
    (["help", "mme"], USAGE, "did you mean `mem`?"),
    (["train", FILE], USAGE, "`train` is a command of the program that unetc makes: `unetc NAME.unet`, then `./NAME COMMAND`"),
    (["chek", FILE], USAGE, "no file of this name: did you mean `check`?"),
    (["zzzz", FILE], USAGE, "(commands: check, mem, fit, onnx, explain, words, completion, runtime)"),
    (["mem", FILE, "--memory=4GiB"], USAGE, "`unetc mem` has no option `--memory`: did you mean `--mem`?"),
    (["--batch-size=4", FILE], USAGE, "did you mean `--batch`?"),
    (["--micro=4", FILE], USAGE, "did you mean `--micro-batches`?"),
    (["--Werror", FILE], USAGE, "did you mean `-Werror`?"),
    (["--learning_rate=1e-3", FILE], USAGE, "optimizer adam(lr = ...)"),
    (["--weight=x", FILE], USAGE, "has no option `--weight`"),
    (["--weight=x", FILE], USAGE, "\nrun `unetc --help` for the options\n"),
    (["mem", "--membudget=8GiB", FILE], USAGE, "did you mean `--mem`?\nrun `unetc mem --help` for the options\n"),
    (["mem", "--foo", FILE], USAGE, "`unetc mem` has no option `--foo`\nrun `unetc mem --help` for the options\n"),
    (["fit", "--max=x", FILE], USAGE, "\nrun `unetc fit --help` for the options\n"),
    (["explain"], USAGE, "\nrun `unetc explain --help` for the options\n"),
    (["nothing.unet"], INPUT, "nothing.unet: No such file"),
    (["check", "nothing"], INPUT, "nothing: No such file"),
    (["explain", "U0201", "U0202"], USAGE, "only one code at a time: remove `U0202`"),
    (["-o", "", FILE], USAGE, "`-o` needs a value: PROG"),
    (["-S", "", FILE], USAGE, "`-S` needs a value: DIR"),
    (["-S", "--size=64x64", FILE], USAGE, "`--size=64x64` behind it is another option"),
    (["mem", "--format=json", "-o", "-", FILE], DONE, '"unetc-plan/'),
    (["-o", "-", FILE], USAGE, "-o -: this does not go to standard output"),
    (["onnx", "--weights=w", "-o", "-", FILE], USAGE, "-o -: this does not go to standard output"),
    (["--bands=0", FILE], USAGE, "use auto, off, or a whole number from 1"),
    (["--micro-batches=0", FILE], USAGE, "use auto, off, or a whole number from 1"),
    (["mem", "-S", "d", FILE], USAGE, "`unetc mem` does not take -S: write `unetc -S DIR FILE.unet`"),
    (["check", "-o", "p", FILE], USAGE, "write `unetc -o PROG FILE.unet`"),
    (["check", "--format=json", FILE], DONE, '"schema": "unetc-check/1"'),
    (["check", "--format=html", FILE], USAGE, "use text or json"),
    (["--shared", "-S", "folder", FILE], USAGE, "leave one out"),
    (["--shared", "--poison", FILE], USAGE, "leave one out"),
    (["--shared", "--no-images", FILE], USAGE, "leave one out"),
    (["mem", "--shared", FILE], USAGE, "write `unetc --shared FILE.unet`"),
    (["check", "--max=batch", FILE], USAGE, "`unetc fit --max=batch FILE.unet`"),
    (["--format=json", FILE], USAGE, "`unetc FILE.unet` does not take --format"),
    (["--diff", FILE, FILE], USAGE, "`unetc mem --diff A B`"),
    (["fit", "--max=size", "--emit=ast", FILE], USAGE, "`unetc --emit=graph FILE.unet`"),
    (["fit", "--max=batch", "--batch=4", FILE], USAGE, "leave out --batch"),
    (["-S", "d", "-o", "p", FILE], USAGE, "leave one out"),
    (["--emit=ast", "-o", "p", FILE], USAGE, "leave out -o"),
    (["--no-recompute", "--emit=remat", FILE], USAGE, "leave out --no-recompute"),
    (["--isa=AVX 9", FILE], USAGE, "native or portable"),
    (["--isa=portable", "--target=cuda", FILE], USAGE, "is for --target=cpu"),
    (["mem", "--target=cuda:h200", FILE], DONE, "cuda:h200"),
    (["mem", "--target=cuda:h2000", FILE], USAGE, "use one of cpu, cuda, cuda:sm_90, "),
    (["--engines=x", FILE], USAGE, "--engines is for --target=cuda"),
    (["mem", "--target=cuda", "--engines=nothing.json", FILE], INPUT, "unetc: --engines: nothing.json: No such file"),
    (["mem", "--target=cuda", "--engines=" + FILE, FILE], INPUT, ":1: "),
    (["tune", FILE], USAGE, "the program that unetc makes"),
    (["--runtime", FILE], USAGE, "takes no file"),
    (["--runtime", "--mem=1GiB"], USAGE, "`unetc --runtime` does not take --mem: it is for `unetc FILE.unet`"),
    (["mem", "--runtime", FILE], USAGE, "write `unetc --runtime`"),
    (["explain", "--batch=2", "U0201"], USAGE, "`unetc explain` does not take --batch"),
    (["explain", "--color=never", "U0201"], DONE, "unknown name"),
    (["check", "--mem=1GiB", "-D", "absent=3", "--target=cpu", FILE], ERRORS, "no `let absent`"),
    ([FILE, FILE], USAGE, "only one file"),
    (["--nonsense", FILE], USAGE, "`--nonsense`"),
    (["--batch=0", FILE], USAGE, "from 1 to 1048576"),
    (["--mem=8", FILE], USAGE, "are bytes meant?  Write --mem=8GiB, 8MiB or, for bytes, 8B"),
    (["--mem=8EB", FILE], USAGE, "8GiB"),
    (["--mem=8Gi B", FILE], USAGE, "8GiB"),
    (["--mem=0x10", FILE], USAGE, "8GiB"),
    (["--mem=1e9", FILE], USAGE, "8GiB"),
    (["--mem=0.5", FILE], USAGE, "8GiB"),
    (["--mem=-1", FILE], USAGE, "8GiB"),
    (["--mem=.5GiB", FILE], USAGE, "8GiB"),
    (["check", "--mem=1.5GiB", FILE], DONE, ""),
    (["--programs=", FILE], USAGE, "train,eval,predict"),
    (["--programs=,", FILE], USAGE, "train, eval, predict"),
    (["--size=8x", FILE], USAGE, "HEIGHTxWIDTH"),
    (["--size=8", FILE], ERRORS, "--size gives 1 size, and `photo` is an image"),
    (["--emit=graph:after=", FILE], USAGE, "name of a pass is missing"),
    (["--emit=tree", FILE], USAGE, "ast, graph, plan, remat or graph:after=PASS"),
    (["--emit=graph:before=fuse", FILE], USAGE, "graph:after=PASS"),
]

# sizes, and the bytes they are
SIZES = {"8G": 8 << 30, "8GiB": 8 << 30, "8gib": 8 << 30, "8GB": 8 * 10**9, "1.5M": 3 << 19, "500kB": 500000, "2T": 2 << 40,
         "150000": 150000, "8B": 8}


def wrong_sizes():
    """How many sizes of memory are read otherwise."""
    failures = 0
    for size, expected in SIZES.items():
        plan = subprocess.run([sys.argv[1], "mem", "--format=json", "--programs=predict", "--mem=" + size, FILE],
                              capture_output=True, text=True).stdout
        found = json.loads(plan)["arena"]["budget"]
        if found != expected:
            failures += 1
            print(f"FAILED --mem={size}: {found} bytes, expected {expected}")
    return failures


def wide_help():
    """How many lines of help are too wide for a terminal, or not about the command."""
    failures = 0
    for command in ("check", "mem", "fit", "onnx", "explain"):
        text = subprocess.run([sys.argv[1], command, "--help"], capture_output=True, text=True).stdout
        foreign = {"check": "--diff", "mem": "--max=", "fit": "--diff", "onnx": "--mem", "explain": "--mem"}[command]
        if foreign in text or any(len(line) > 80 for line in text.splitlines()):
            failures += 1
            print(f"FAILED unetc {command} --help:\n{text}")
    return failures


# All that is printed; where it cannot be, they exit with 4.
PRINTED = [["--help"], ["--version"], ["--runtime"], ["mem", "--help"], ["explain", "U0201"], ["check", FILE],
           ["--emit=ast", FILE], ["--emit=graph", FILE], ["--emit=plan", FILE], ["mem", FILE], ["mem", "--format=json", FILE],
           ["mem", "--format=csv", FILE], ["mem", "--format=html", FILE], ["mem", "--diff", FILE, FILE]]


def check_output():
    failures = 0
    for arguments in PRINTED:
        with open("/dev/full", "w") as full:
            result = subprocess.run([sys.argv[1], *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
        if result.returncode != INPUT or result.stderr.count("standard output") != 1:
            failures += 1
            print(f"FAILED unetc {' '.join(arguments)} >/dev/full: exit {result.returncode}: {result.stderr}")
    return failures


def check_inputs():
    """No output takes the place of what was read."""
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        copy, link = folder + "/net.unet", folder + "/link.unet"
        shutil.copy(FILE, copy)
        os.symlink(copy, link)
        for arguments in (["-o", copy, copy], ["mem", "-o", link, copy], ["mem", "-o", copy, link],
                          ["mem", "--diff", "-o", copy, FILE, copy]):
            result = subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True)
            if result.returncode != USAGE or not filecmp.cmp(FILE, copy, shallow=False):
                failures += 1
                print(f"FAILED unetc {' '.join(arguments)}: exit {result.returncode}: {result.stderr}")
    return failures


def limited(kibibytes, arguments):
    """What unetc says that may take so many KiB of addresses."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (kibibytes << 10, kibibytes << 10))  # noqa: E731
    return subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True, preexec_fn=limit)


def check_memory():
    """Too little memory is exit 4, with the limit in words; a build with sanitizers takes terabytes of addresses."""
    failures = 0
    if limited(4 << 20, ["--version"]).returncode != DONE:
        return 0
    tried = [limited(kibibytes, ["fit", "--max=batch", FILE]) for kibibytes in range(6000, 14000, 1000)]
    tried += [limited(20000, ["-o", "/tmp/unetc_command_test", FILE])]  # too little for the C compiler
    for result in tried:
        if result.returncode not in (DONE, INPUT, LOADER) or (result.returncode == INPUT and "`ulimit -v`" not in result.stderr):
            failures += 1
            print(f"FAILED {result.args}: exit {result.returncode}: {result.stderr}")
    if not any(result.returncode == INPUT for result in tried[:-1]) or tried[-1].returncode != INPUT:
        failures += 1
        print(f"FAILED: little memory is enough: {[result.returncode for result in tried]}")
    large = limited(36000, ["mem", "-Dmiddle=100", "--size=64x64", "--batch=4", LARGE])
    if large.returncode != INPUT or not re.search(r"not enough memory for a net of \d,\d{3} operations: `ulimit -v` is 36000 KiB\n.*raise the limit", large.stderr):
        failures += 1
        print(f"FAILED: a large net in little memory: exit {large.returncode}: {large.stderr}")
    return failures


def main():
    failures = wrong_sizes() + wide_help() + check_output() + check_inputs() + check_memory()
    for arguments, code, words in CASES:
        result = subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True)
        answer = result.stdout if code == DONE else result.stderr
        if result.returncode != code or words not in answer:
            failures += 1
            print(f"FAILED unetc {' '.join(arguments)}: exit {result.returncode}, expected {code} and `{words}`\n{answer}")
    print(f"{len(CASES) + len(PRINTED)} command lines, {failures} answered wrong")
    return 1 if failures else 0


sys.exit(main())

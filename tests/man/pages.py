#!/usr/bin/env python3
"""pages.py UNETC PROGRAM [--update]: the manual pages say what the programs say.

The commands and options of unetc(1) and unet-program(1) are those that --help prints, of PROGRAM for the latter; the
operators and settings of unet(5) are those of `unetc words`; and unetc-plan(5) names each member of a plan.  These
parts stand between marks and are written anew by --update.  Where mandoc is there, it finds nothing wrong with a page.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = {name: ROOT / folder / "man" / name for folder, name in (
    ("compiler", "unetc.1"), ("compiler", "unetc-plan.5"), ("runtime", "unet-program.1"), ("dsl", "unet.5"))}
TEXT_COLUMN = 26  # of the help: where what an option does begins


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# ---- mdoc ----------------------------------------------------------------------------------------------------------

def plain(text):
    """TEXT as mdoc shows it: no backslash, and no macro at the start of a line."""
    text = text.replace("\\", "\\e")
    return "\\&" + text if text[:1] in (".", "'") else text


def words(text):
    """TEXT behind a macro, where a word such as `No` would be one."""
    return " ".join("\\&" + word if re.fullmatch(r"[A-Z%][A-Za-z0-9]{1,2}|[,.:;()\[\]?!|]", word) else word
                    for word in text.split())


def sentences(text):
    """A sentence a line, as mdoc wants it."""
    return [plain(line) for line in re.sub(r"([a-z0-9)`])\.\s+(?=[A-Z-])", r"\1.\n", text).split("\n")]


def flag(left):
    """`-o, --output=PROG` in macros."""
    spellings = []
    for spelling in left.split(", "):
        name, maybe, join, value = re.fullmatch(r"-(-?[\w-]+)(\[?)([= ]?)(.*)", spelling).groups()
        value = value[:-1] if maybe else value  # of `[=DIR]`
        value = {"[=": f" Ns Oo = Ns Ar {value} Oc", "=": f" Ns = Ns Ar {value}", " ": f" Ar {value}", "": ""}[maybe + join]
        spellings.append(f"Fl {name}{value}")
    return ".It " + " , ".join(spellings)


# ---- the help ------------------------------------------------------------------------------------------------------

def entries(block):
    """(left column, text) of each entry; a text may begin in the line below, and go on in several."""
    found = []
    for line in block.split("\n"):
        if line.startswith("  ") and line[2:3].strip():
            left, text = re.fullmatch(r"  (\S.*?)(?:  +(.*))?", line).groups()
            found.append((left, [text] if text else []))
        elif line.strip():
            found[-1][1].append(line.strip())
    return [(left, " ".join(text)) for left, text in found]


def part(text, title):
    found = re.search(rf"^{title}[^\n]*:\n((?:  .*\n)+)", text, re.MULTILINE)
    return entries(found.group(1)) if found else []


def option_list(options):
    lines = [".Bl -tag -width Ds"]
    for left, text in options:
        lines += [flag(left), *sentences(text)]
    return lines + [".El"]


def commands(program, shown):
    """SHOWN: what the page calls the program."""
    everything = output(program, "--help")
    common = set(part(everything, "Options")) | {
        (left, re.sub(r" \([^()]*\)$", "", text)) for left, text in part(everything, "Options")}
    lines = [".Bl -tag -width Ds"]
    for left, _ in part(everything, "Commands"):
        name = left.split()[0]
        text = output(program, "help", name)
        usage, _, rest = text.partition("\n\n")
        about = rest.split("\nOptions")[0].split("\nExit codes")[0]
        lines.append(f".It Cm {name}")
        for line in usage.split("\n"):
            lines.append(".Dl " + words(re.sub(r"^(usage:)?\s*\S+", shown, line)))
        for paragraph in about.strip().split("\n\n"):
            lines += sentences(" ".join(paragraph.split()))
        own = [option for option in part(text, "Options") if option not in common]
        if own:
            lines += option_list(own)
    return lines + [".El"]


def options(program):
    return option_list(part(output(program, "--help"), "Options"))


# ---- the words -----------------------------------------------------------------------------------------------------

def word_list(unetc, kinds):
    table = [line.split("\t") for line in output(unetc, "words").splitlines()]
    lines = [".Bl -tag -width Ds -compact"]
    for kind in kinds:
        shown = [text for of_kind, text in table if of_kind == kind]
        if not shown:
            sys.exit(f"`unetc words` lists no {kind}")
        lines += [f".It Cm {kind}"] + [line for text in shown for line in (plain(text), ".br")][:-1]
    return lines + [".El"]


# ---- the pages -----------------------------------------------------------------------------------------------------

def replaced(text, mark, lines):
    name = mark.split(":")[0]
    pattern = re.compile(rf'^(\.\\" {re.escape(mark)}\n).*?^(\.\\" {name} end)$', re.MULTILINE | re.DOTALL)
    if not pattern.search(text):
        sys.exit(f"no mark `{mark}`")
    return pattern.sub(lambda m: m.group(1) + "\n".join(lines) + "\n" + m.group(2), text)


def fresh_pages(unetc, program):
    for name, who, shown in (("unetc.1", unetc, "unetc"), ("unet-program.1", program, "./PROGRAM")):
        text = PAGES[name].read_text()
        text = replaced(text, "help: commands", commands(who, shown))
        yield PAGES[name], replaced(text, "help: options", options(who))
    text = PAGES["unet.5"].read_text()
    for kinds in re.findall(r'^\.\\" words: (.*)$', text, re.MULTILINE):
        text = replaced(text, "words: " + kinds, word_list(unetc, kinds.split()))
    yield PAGES["unet.5"], text


def members(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if not key.isdigit():  # of `rows`: a buffer
                yield key
            if key != "device":  # what cuDNN says of a GPU
                yield from members(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner)


def unnamed_members(unetc):
    """Members of plans, of which one is in bands and one for cuda, that unetc-plan(5) does not name."""
    page = PAGES["unetc-plan.5"].read_text()
    named = {word for line in re.findall(r"\bCm ([^\n]*)", page) for word in re.findall(r"[a-z_]+", line)}
    example = ROOT / "examples" / "denoise" / "tiny_unet.unet"
    for more in (), ("--bands=4",), ("--mem=20MiB",), ("--target=cuda",):
        command = [unetc, "mem", "--format=json", "--size=64x64", *more, str(example)]
        plan = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
        yield from sorted(set(members(plan)) - named)


def complaints():
    for path in PAGES.values():
        result = subprocess.run(["mandoc", "-Tlint", "-W", "warning", path], capture_output=True, text=True)
        if result.returncode != 0:
            yield result.stdout


def main():
    unetc, program = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:3])
    stale = 0
    for path, text in fresh_pages(unetc, program):
        if text == path.read_text():
            continue
        if "--update" in sys.argv:
            path.write_text(text)
        else:
            stale = 1
            print(f"{path.relative_to(ROOT)} is stale: run tests/man/pages.py UNETC PROGRAM --update")
    for member in unnamed_members(unetc):
        stale = 1
        print(f"unetc-plan.5 does not name `{member}`")
    for complaint in complaints() if shutil.which("mandoc") else ():
        stale = 1
        print(complaint, end="")
    return stale


sys.exit(main())

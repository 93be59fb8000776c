"""Runs unetc over the files of this folder and compares what it says with what it said before.

errors/NAME.unet  a wrong file; NAME.expect holds what `unetc check` prints on stderr, and its exit code
right/NAME.unet   a right one;  NAME.ast and NAME.graph hold what --emit prints
programs/NAME.unet  NAME.prune holds what is left of the graph in each of its programs
passes/NAME.unet  a small one;  NAME.PASS holds the graph after that pass of pipeline.c, with the options of PASSES; NAME.compress,
                  if it has activations in codes

Every code that the compiler can report must have a text for `unetc explain`, and the JSON form of a diagnostic
must hold the human one.  `--every=N` takes each Nth file alone.  A first line `# options: ...` adds options.  `golden.py UNETC --update` writes the expectations anew: read the
difference before committing it.
"""
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FIRST = "# options:"
PASSES = {"autodiff": ["autodiff"], "compress": ["compress"], "fuse": ["fuse"], "cast": ["cast", "--precision=bf16"], "prepare_cpu": ["prepare"],
          "prepare_cuda": ["prepare", "--target=cuda"], "schedule": ["schedule"]}


def options(path):
    first = path.read_text(errors="replace").split("\n", 1)[0]
    return first[len(FIRST):].split() if first.startswith(FIRST) else []


def run(unetc, path, *arguments):
    command = [unetc, *arguments, *options(path), path.name]
    without_cudnn = {**os.environ, "UNETC_CUDNN": "/nonexistent"}  # what a plan for cuda says must not depend on it
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, errors="replace", env=without_cudnn)


def error_text(unetc, path):
    result = run(unetc, path, "check", "--color=never")
    return result.stderr + f"exit {result.returncode}\n"


def stage_text(unetc, path, stage, *more):
    result = run(unetc, path, f"--emit={stage}", *more)
    return result.stdout + result.stderr


EVERY = next((int(word[len("--every="):]) for word in sys.argv if word.startswith("--every=")), 1)


def files(folder):
    return sorted((HERE / folder).glob("*.unet"))[::EVERY]


def cases(unetc):
    for path in files("errors"):
        yield path.with_suffix(".expect"), error_text(unetc, path)
    for path in files("right"):
        for stage in ("ast", "graph"):
            yield path.with_suffix("." + stage), stage_text(unetc, path, stage)
    for path in files("programs"):
        yield path.with_suffix(".prune"), stage_text(unetc, path, "graph:after=prune")
    for path in files("passes"):
        for name, (last, *more) in PASSES.items():
            if name != "compress" or "compress" in path.read_text():
                yield path.with_suffix("." + name), stage_text(unetc, path, "graph:after=" + last, *more)


def unexplained(unetc):
    """The codes that appear in the sources and have no explanation."""
    codes = set()
    for folder in ("compiler", "dsl"):
        for path in (HERE.parent.parent / folder).rglob("*.[chly]"):
            codes |= set(re.findall(r'"(U\d{4})"', path.read_text()))
    for code in sorted(codes):
        result = subprocess.run([unetc, "explain", code], capture_output=True, text=True)
        if result.returncode != 0 or not result.stdout.strip():
            yield f"explain {code}: nothing\n"


DIAGNOSTIC = {"$message_type", "message", "code", "level", "spans", "children", "rendered"}
SPAN = {"file_name", "byte_start", "byte_end", "line_start", "line_end", "column_start", "column_end", "is_primary",
        "text", "label"}


def is_documented(diagnostic, source):
    """The fields that dsl/README.md promises, and places that are in the file."""
    good = diagnostic.keys() == DIAGNOSTIC and re.fullmatch(r"U\d{4}", diagnostic["code"]["code"])
    for span in diagnostic["spans"]:
        quoted = source[span["byte_start"]:span["byte_end"]].decode(errors="replace")
        width = span["column_end"] - span["column_start"]
        good = good and span.keys() == SPAN and (len(quoted) == width or width == 1)
    return good and sum(span["is_primary"] for span in diagnostic["spans"]) <= 1


def unlike_json(unetc):
    """Files of which the JSON diagnostics say something else than the human ones, or in other fields."""
    for path in files("errors"):
        human = run(unetc, path, "check", "--color=never").stderr
        lines = run(unetc, path, "check", "--error-format=json").stderr.splitlines()
        diagnostics = [json.loads(line) for line in lines]
        if "".join(diagnostic["rendered"] for diagnostic in diagnostics) != human:
            yield f"{path.name}: JSON differs\n"
        source = path.read_bytes()
        if not all(is_documented(diagnostic, source) for diagnostic in diagnostics):
            yield f"{path.name}: JSON is not as documented\n"


def main():
    unetc, update = sys.argv[1], "--update" in sys.argv[2:]
    different = count = 0
    for expected, found in cases(unetc):
        count += 1
        if update:
            expected.write_text(found)
            continue
        before = expected.read_text() if expected.exists() else ""
        if before != found:
            different += 1
            name = str(expected.relative_to(HERE))
            sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), found.splitlines(True), name, "found"))
    for complaint in (*unexplained(unetc), *unlike_json(unetc)):
        different += 1
        sys.stdout.write(complaint)
    print(f"{count} expectations, {different} different")
    return 1 if different else 0


sys.exit(main())

"""Runs unetc over the files of this folder and compares what it says with what it said before.

errors/NAME.unet  a wrong file; NAME.expect holds what `unetc check` prints on stderr, and its exit code
right/NAME.unet   a right one;  NAME.ast and NAME.graph hold what --emit prints

A first line `# options: ...` adds options.  `golden.py UNETC --update` writes the expectations anew: read the
difference before committing it.
"""
import difflib
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FIRST = "# options:"


def options(path):
    first = path.read_text(errors="replace").split("\n", 1)[0]
    return first[len(FIRST):].split() if first.startswith(FIRST) else []


def run(unetc, path, *arguments):
    command = [unetc, *arguments, *options(path), path.name]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, errors="replace")


def error_text(unetc, path):
    result = run(unetc, path, "check", "--color=never")
    return result.stderr + f"exit {result.returncode}\n"


def stage_text(unetc, path, stage):
    result = run(unetc, path, f"--emit={stage}")
    return result.stdout + result.stderr


def cases(unetc):
    for path in sorted((HERE / "errors").glob("*.unet")):
        yield path.with_suffix(".expect"), error_text(unetc, path)
    for path in sorted((HERE / "right").glob("*.unet")):
        for stage in ("ast", "graph"):
            yield path.with_suffix("." + stage), stage_text(unetc, path, stage)


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
    print(f"{count} expectations, {different} different")
    return 1 if different else 0


sys.exit(main())

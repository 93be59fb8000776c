#!/usr/bin/env python3
"""readme_test.py UNETC [--update]: the file, the memory report and the refusal that the README shows are those of the
examples."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
README = os.path.join(ROOT, "README.md")
FOLDER = os.path.join(ROOT, "examples", "denoise")


def shown(unetc):
    """What stands between the fences of the README, by its first words."""
    with open(os.path.join(FOLDER, "tiny_unet.unet")) as file:
        yield "# TinyUNet", file.read()
    with open(os.path.join(ROOT, "examples", "cells", "cells.unet")) as file:
        yield "# Cells in your own pictures", file.read()
    for arguments in ["mem", "tiny_unet.unet"], ["--mem=20MiB", "tiny_unet.unet"]:
        said = subprocess.run([unetc] + arguments, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        line = "$ unetc %s\n" % " ".join(arguments)
        yield line, line + said.stdout.decode().rstrip() + "\n"


def main():
    with open(README) as file:
        readme = file.read()
    fresh = readme
    for first, text in shown(os.path.abspath(sys.argv[1])):
        block = re.compile("```\n" + re.escape(first) + ".*?```\n", re.DOTALL)
        fresh = block.sub(lambda _: "```\n" + text + "```\n", fresh)
    if "--update" in sys.argv:
        with open(README, "w") as file:
            file.write(fresh)
    elif fresh != readme:
        print("README.md is stale: run tests/readme_test.py UNETC --update")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""readme_test.py UNETC: the file and the report that the README shows are those of the example."""

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    folder = os.path.join(ROOT, "examples", "denoise")
    with open(os.path.join(ROOT, "README.md")) as readme, open(os.path.join(folder, "tiny_unet.unet")) as file:
        blocks, source = readme.read().split("```\n")[1::2], file.read()
    command = "$ unetc mem tiny_unet.unet\n"
    report = subprocess.run([sys.argv[1], "mem", "tiny_unet.unet"], cwd=folder, stdout=subprocess.PIPE, check=True)
    failures = 0
    for what, text in (("file", source), ("memory report", command + report.stdout.decode())):
        if text not in blocks:
            failures += 1
            print("the %s in README.md is not this:\n%s" % (what, text))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

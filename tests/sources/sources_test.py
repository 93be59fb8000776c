#!/usr/bin/env python3
"""sources_test.py UNETC [MILLISECONDS]: `unetc -S` writes the same bytes from any folder, and quickly.

The time is that of the processor, the least of several runs, so that a busy machine does not fail the test.
"""

import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = ["examples/denoise/unet_denoiser.unet", "tests/sources/five_levels.unet"]
RUNS = 5


def generate(unetc, folder, file):
    """Runs `unetc -S out FILE` in FOLDER on a copy of FILE; returns name and bytes of what it writes."""
    os.makedirs(folder)
    shutil.copy(os.path.join(ROOT, file), folder)
    subprocess.run([unetc, "-S", "out", os.path.basename(file)], cwd=folder, check=True)
    written = {}
    for name in sorted(os.listdir(os.path.join(folder, "out"))):
        with open(os.path.join(folder, "out", name), "rb") as source:
            written[name] = source.read()
    return written


def milliseconds(unetc, folder, file):
    before = os.times()
    subprocess.run([unetc, "-S", folder, os.path.join(ROOT, file)], check=True)
    after = os.times()
    return 1000 * (after.children_user + after.children_system - before.children_user - before.children_system)


def main():
    unetc, failures = os.path.abspath(sys.argv[1]), 0
    allowed = float(sys.argv[2]) if len(sys.argv) > 2 else None
    for file in FILES:
        with tempfile.TemporaryDirectory() as folder:
            first = generate(unetc, os.path.join(folder, "here"), file)
            second = generate(unetc, os.path.join(folder, "some", "where", "else"), file)
            different = [name for name in first if second.get(name) != first[name]]
            least = min(milliseconds(unetc, os.path.join(folder, "timed"), file) for _ in range(RUNS))
        if different or first.keys() != second.keys():
            failures += 1
            print("%s: the sources depend on the folder: %s" % (file, ", ".join(different)))
        print("%s: %d files, %.0f ms" % (file, len(first), least))
        if allowed and least > allowed:
            failures += 1
            print("%s: slower than %.0f ms" % (file, allowed))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

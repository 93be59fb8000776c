#!/usr/bin/env python3
"""page_test.py UNETC [--notebook] - the code of runtime/python/README.md runs as it stands, in one process, from top to bottom.
--notebook: as a notebook, by nbconvert, if it is there."""

import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "runtime", "python", "README.md")
SYSTEM = "/usr/bin/python3"


def python():
    """One that has PyTorch, or else this."""
    found = subprocess.run([SYSTEM, "-c", "import torch"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if os.path.exists(
        SYSTEM) else None
    return SYSTEM if found and found.returncode == 0 else sys.executable


def blocks_of(text):
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


def notebook(text):
    """The page: each block of code is a cell."""
    cells = [{"cell_type": "code", "metadata": {}, "source": body, "outputs": [], "execution_count": None} for body in blocks_of(text)]
    return {"cells": cells, "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "nbformat": 4, "nbformat_minor": 4}


def main():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    blocks = blocks_of(text)
    assert len(blocks) > 3, "the page has no code"
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "UNETC": os.path.abspath(sys.argv[1]), "XDG_CACHE_HOME": folder, "OMP_WAIT_POLICY": "passive",
                       "PYTHONPATH": os.path.join(ROOT, "runtime", "python"), "TMPDIR": folder}
        path = os.path.join(folder, "page.py")
        command = [python(), "-B", path]
        if "--notebook" in sys.argv:
            if subprocess.run([sys.executable, "-m", "nbconvert", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                print("SKIPPED: no nbconvert")
                return 77
            path = os.path.join(folder, "page.ipynb")
            command = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", path]
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(notebook(text)) if path.endswith(".ipynb") else "\n".join(blocks))
        result = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if result.returncode:
        print(result.stdout)
        print("FAILED: the page stops")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())

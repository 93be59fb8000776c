#!/usr/bin/env python3
"""page_test.py UNETC [--notebook] - the code of runtime/python/README.md runs as it stands, in one process, from top to bottom.
--notebook: as a notebook, by nbconvert, if it is there; and the plan and a mistake show themselves there as HTML."""

import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "runtime", "python", "README.md")
SYSTEM = "/usr/bin/python3"


def python(module):
    """The Python of the system if it has MODULE, or else this."""
    found = subprocess.run([SYSTEM, "-c", "import " + module], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if os.path.exists(
        SYSTEM) else None
    return SYSTEM if found and found.returncode == 0 else sys.executable


def blocks_of(text):
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


def notebook(text):
    """The page: each block of code is a cell.  The last cells show the plan and a mistake."""
    shown = ["plan", "import IPython\ntry:\n    unetc.check(NET.replace('conv', 'convolve'))\nexcept unetc.FileError as error:\n    IPython.display.display(error)"]
    cells = [{"cell_type": "code", "metadata": {}, "source": body, "outputs": [], "execution_count": None} for body in blocks_of(text) + shown]
    return {"cells": cells, "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "nbformat": 4, "nbformat_minor": 4}


def html_of(cell):
    return "".join("".join(output.get("data", {}).get("text/html", "")) for output in cell["outputs"])


def complaint(path):
    """Whatever is wrong with the notebook that ran, or None."""
    with open(path, encoding="utf-8") as file:
        plan, mistake = json.load(file)["cells"][-2:]
    if "<iframe" not in html_of(plan):
        return "the plan shows no map: %s" % plan["outputs"]
    return None if "<pre" in html_of(mistake) else "the mistake shows no caret: %s" % mistake["outputs"]


def main():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    blocks = blocks_of(text)
    assert len(blocks) > 3, "the page has no code"
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "UNETC": os.path.abspath(sys.argv[1]), "XDG_CACHE_HOME": folder, "OMP_WAIT_POLICY": "passive",
                       "PYTHONPATH": os.path.join(ROOT, "runtime", "python"), "TMPDIR": folder}
        path = os.path.join(folder, "page.py")
        command = [python("torch"), "-B", path]
        if "--notebook" in sys.argv:
            runner = python("nbconvert, ipykernel")
            if subprocess.run([runner, "-c", "import nbconvert, ipykernel"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                print("SKIPPED: no nbconvert")
                return 77
            path = os.path.join(folder, "page.ipynb")
            command = [runner, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "done", path]
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(notebook(text)) if path.endswith(".ipynb") else "\n".join(blocks))
        result = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        wrong = complaint(os.path.join(folder, "done.ipynb")) if result.returncode == 0 and "--notebook" in sys.argv else None
    if wrong:
        print("FAILED: " + wrong)
        return 1
    if result.returncode:
        print(result.stdout)
        print("FAILED: the page stops")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())

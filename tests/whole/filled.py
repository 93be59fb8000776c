#!/usr/bin/env python3
"""filled.py FOLDER - keeps those lines of the kernels that `unetc -S` wrote there which no template has.

A kernel is the body of a template, with few holes that the compiler fills.  So a copy in generated/ would say twice what
templates/ says.  This replaces the files with kernels by filled.txt, which has their lines that no template has, file by
file: constants, names, sizes in comments, calls for one layout.  A template that changes changes nothing there, and a
compiler that fills in something else shows as a few lines.  Standard library only."""
import glob
import os
import re
import sys

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "templates")
# Files that are the compiler's own, behind the name of the model; all others hold kernels.
OWN = re.compile(r"(_plan\.h|_declarations\.h|_calls\.h|_sizes\.h|_steps_\d+\.c|\.c|\.h)$")


def lines(path):
    with open(path) as file:
        return [line.strip() for line in file]


def template_lines():
    found = set()
    for path in glob.glob(os.path.join(TEMPLATES, "*", "*")):
        if os.path.isfile(path):
            found.update(lines(path))
    return found


def main():
    folder, known = sys.argv[1], template_lines()
    names = sorted(os.listdir(folder))
    plan = next(name for name in names if name.endswith("_plan.h"))
    model = plan[:-len("_plan.h")]
    kernels = [name for name in names if name.startswith(model) and not OWN.fullmatch(name[len(model):])]
    with open(os.path.join(folder, "filled.txt"), "w") as out:
        out.write("What stands in the kernels of %s and in no template, file by file.\n" % model)
        for name in kernels:
            path = os.path.join(folder, name)
            all_lines = [line for line in lines(path) if line]
            own = [line for line in all_lines if line not in known]
            out.write("\n%s, %d lines of %d:\n" % (name, len(own), len(all_lines)))
            out.writelines("    %s\n" % line for line in own)
            os.remove(path)


main()

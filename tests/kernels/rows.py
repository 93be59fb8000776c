"""rows.py - what the rows of the operators (compiler/ir/ops.def) say of operands, for the tests of kernels: their order,
which are read and which are written, which may be absent.  The compiler's own parser reads them: rows.c prints the table.

A test names the operands of a kernel; the row says in which order it takes them.  For a new operator, write a case
for it wherever it has a template: templates/FOLDER without one is refused by name (Rows.check_tested)."""
import json
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TEMPLATES = os.path.join(ROOT, "templates")
WRITTEN = ("write", "sum", "update")
FOLDERS = ("cpu", "reference", "cuda")


class Rows:
    def __init__(self, program):
        """PROGRAM: what rows.c became."""
        self.row = json.loads(subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout)
        self.called = {folder: set() for folder in FOLDERS}

    def operands(self, operator, folder, given):
        """The operands of a call of the kernel of FOLDER, in its order: each with what GIVEN has under its name, or None
        where an optional one is absent.  Those that are left out of GIVEN must be the last outputs, or the last inputs."""
        row = self.row[operator]["operands"]
        strange = set(given) - {o["name"] for o in row}
        assert not strange, "%s: its row has no operand %s" % (operator, ", ".join(sorted(strange)))
        for output in (True, False):
            names = [o["name"] in given for o in row if o["output"] == output]
            assert names == sorted(names, reverse=True), "%s: an operand is left out before another" % operator
        called = [{**o, "is": given[o["name"]]} for o in row if o["name"] in given]
        for o in row:
            assert o["optional"] or given.get(o["name"]) is not None, "%s: its row wants `%s`" % (operator, o["name"])
        self.called[folder].add(operator)
        return called

    def check_tested(self, folder):
        """Ends the test if a kernel of FOLDER was not called, or an operator has no kernel anywhere."""
        there = lambda operator, in_folder: any(
            os.path.exists(os.path.join(TEMPLATES, in_folder, operator + suffix)) for suffix in (".c", ".cu"))
        wanted = [operator for operator in self.row if self.row[operator]["kernel"]]
        faults = ["no folder of templates/ has a kernel for `%s`" % o for o in wanted if not any(there(o, f) for f in FOLDERS)]
        faults += ["no case calls the kernel of `%s` in templates/%s" % (o, folder)
                   for o in wanted if there(o, folder) and o not in self.called[folder]]
        if faults:
            sys.exit("\n".join(faults))

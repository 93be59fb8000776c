"""rows.py - what the rows of the operators (compiler/ir/ops.def) say of operands: their order, which are read and which are
written, which may be absent.  The compiler's own parser reads them: rows.c prints the table."""
import json
import os
import subprocess
import sys

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "templates")
WRITTEN = ("write", "sum", "update")


class Rows:
    def __init__(self, program):
        """PROGRAM: what rows.c became."""
        self.row = json.loads(subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout)

    def operands(self, operator, given):
        """The operands of a call, in the order of a kernel: each with what GIVEN has under its name, None where an optional
        one is absent.  Those that are left out of GIVEN must be the last outputs, or the last inputs."""
        row = self.row[operator]["operands"]
        strange = set(given) - {o["name"] for o in row}
        assert not strange, "%s: its row has no operand %s" % (operator, ", ".join(sorted(strange)))
        for output in (True, False):
            there = [o["name"] in given for o in row if o["output"] == output]
            assert there == sorted(there, reverse=True), "%s: an operand is left out before another" % operator
        for o in row:
            assert o["optional"] or given.get(o["name"]) is not None, "%s: its row wants `%s`" % (operator, o["name"])
        return [{**o, "is": given[o["name"]]} for o in row if o["name"] in given]

    def check_tested(self, tested):
        """Ends the test if no case calls the kernel of an operator that has one."""
        there = lambda operator: os.path.exists(os.path.join(TEMPLATES, "cuda", operator + ".cu"))
        missing = [operator for operator in self.row if there(operator) and operator not in tested]
        if missing:
            sys.exit("\n".join("no case calls the kernel of `%s` in templates/cuda" % operator for operator in missing))

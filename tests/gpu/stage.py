"""stage.py - what the stages share: their arguments, the machine in words, programs with a limit of time, and files of
results.  Those are written anew with every result, so that a stage that is cut off leaves what it has measured."""
import argparse
import json
import os
import subprocess
import sys
import time

import programs

sys.path.insert(0, os.path.join(programs.ROOT, "tests", "oracle"))

LIMIT = 470  # seconds after which no program runs on


class Table:
    """A Markdown table that grows; TITLE stands above it."""

    def __init__(self, stage, title, head):
        self.stage, self.title, self.head, self.rows = stage, title, head, []

    def add(self, *row):
        self.rows.append(row)
        print(" | ".join(str(cell) for cell in row), flush=True)
        self.stage.save()

    def lines(self):
        rows = [self.head, ["---"] * len(self.head)] + self.rows
        return ["", self.title, ""] + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


class Stage:
    """One run of a stage; results go to NAME.md and NAME.json in the folder OUT."""

    def __init__(self, name, what):
        parser = argparse.ArgumentParser(description=what)
        parser.add_argument("programs", help="folder of the programs, see programs.py")
        parser.add_argument("out", help="folder for results")
        parser.add_argument("--spent", type=float, default=0, help="seconds of the stage's time that are over")
        parser.add_argument("--seconds", type=float, default=400, help="begin nothing new after so many")
        parser.add_argument("--dry-run", action="store_true", help="without a device: tiny programs for this processor")
        options = parser.parse_args()
        self.name, self.dry, self.folder, self.out = name, options.dry_run, options.programs, options.out
        start = time.monotonic() - options.spent
        self.end, self.limit = start + options.seconds, start + LIMIT
        self.lines, self.tables, self.failed, self.verdict = [], [], False, "not finished: cut off, or still running"
        self.results = {"stage": name, "dry run": self.dry, "machine": self.machine()}
        self.save()

    def machine(self):
        found = {"commit": commit()}
        if not self.dry:
            found["device"] = output(["nvidia-smi", "--query-gpu=name,driver_version,memory.total",
                                      "--format=csv,noheader"])
        try:
            import torch
            found["PyTorch"] = torch.__version__
            if torch.cuda.is_available():
                found["cuDNN of PyTorch"] = torch.backends.cudnn.version()
        except ImportError:
            found["PyTorch"] = "not installed"
        return found

    def path(self, spec, file):
        return os.path.join(self.folder, spec.name, file)

    def left(self):
        """Seconds that a program has."""
        return max(1, self.limit - time.monotonic())

    def run(self, command, **options):
        """The program, done: its code is 124 where the stage's time ran out."""
        options = dict({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}, **options)
        try:
            return subprocess.run(command, timeout=self.left(), **options)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, b"", b"the stage's time ran out")
        except OSError as problem:
            return subprocess.CompletedProcess(command, 127, b"", str(problem).encode())

    def plan(self, spec):
        """What programs.py kept of its plan; nothing if it could not be built."""
        if not self.check("%s: not built" % spec.name, os.path.exists(self.path(spec, "program"))):
            return None
        with open(self.path(spec, "plan.json")) as file:
            return json.load(file)

    # ---- results ----

    def say(self, line):
        print(line, flush=True)
        self.lines.append(line)
        self.save()

    def table(self, title, head):
        self.tables.append(Table(self, title, head))
        return self.tables[-1]

    def check(self, what, right):
        """Says that something was WRONG."""
        if not right:
            self.failed = True
            self.say("- WRONG: %s" % what)
        return right

    def is_late(self):
        """Too late to begin anything."""
        return time.monotonic() > self.end

    def late(self, what):
        """The same, and WRONG, for WHAT is a part of the stage."""
        return not self.check("%s: no time left" % what, not self.is_late())

    def save(self):
        self.results["failed"] = self.failed
        self.write(self.name + ".json", json.dumps(self.results, indent=1) + "\n")
        text = ["# %s: %s" % (self.name, self.verdict), "",
                "A DRY RUN, without a device: no figure means anything." if self.dry else "Measured on a device."]
        text += ["- %s: %s" % item for item in self.results["machine"].items()] + [""] + self.lines
        text += [line for table in self.tables for line in table.lines() if table.rows]
        self.write(self.name + ".md", "\n".join(text) + "\n")

    def write(self, file, text):
        """Whole or not at all."""
        os.makedirs(self.out, exist_ok=True)
        path = os.path.join(self.out, file)
        with open(path + ".part", "w") as f:
            f.write(text)
        os.replace(path + ".part", path)

    def done(self):
        self.verdict = "FAILED" if self.failed else "passed"
        self.save()
        print("%s: %s" % (self.name, self.verdict), flush=True)
        sys.exit(1 if self.failed else 0)


def output(command, **options):
    """What it prints, or why it does not."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, **options)
        return done.stdout.strip()
    except OSError as problem:
        return str(problem)


def commit():
    """Of the programs, as pack.sh noted it, or of this folder."""
    noted = os.path.join(os.environ.get("TOOLS", ""), "commit")
    if os.path.exists(noted):
        with open(noted) as file:
            return file.read().strip()
    return output(["git", "-C", programs.ROOT, "describe", "--always", "--dirty"])

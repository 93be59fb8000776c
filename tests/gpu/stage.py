"""stage.py - what the stages share: their arguments, the machine in words, programs with a limit of time, and files of
results.  Those are written anew with every result, so that a stage that is cut off leaves what it has measured.

What a program needs is not all that it says: which engines run, beside those that were planned, and what stands on its
stderr go into the results, too.  What there was no time for makes a stage UNFINISHED, and only what is wrong FAILED.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import programs

sys.path.insert(0, os.path.join(programs.ROOT, "tests", "oracle"))

MARGIN = 70  # so many seconds after nothing new is begun, programs are stopped
OUT_OF_TIME = (124, 137)  # codes of what was stopped
UNFINISHED = 3  # of a stage


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

    def __init__(self, name, what, seconds=400):
        parser = argparse.ArgumentParser(description=what)
        parser.add_argument("programs", help="folder of the programs, see programs.py")
        parser.add_argument("out", help="folder for results")
        parser.add_argument("--spent", type=float, default=0, help="seconds of the stage's time that are over")
        parser.add_argument("--seconds", type=float, default=seconds, help="begin nothing new after so many")
        parser.add_argument("--dry-run", action="store_true", help="without a device: tiny programs for this processor")
        options = parser.parse_args()
        self.name, self.dry, self.folder, self.out = name, options.dry_run, options.programs, options.out
        start = time.monotonic() - options.spent
        self.begun, self.end, self.limit = start, start + options.seconds, start + options.seconds + MARGIN
        self.lines, self.tables, self.failed, self.left_out = [], [], False, []
        self.verdict = "not finished: cut off, or still running"
        self.results = {"stage": name, "dry run": self.dry, "machine": self.machine(), "unfinished": self.left_out}
        self.save()

    def machine(self):
        found = {"commit": commit()}
        if not self.dry:
            found["device"] = output(["nvidia-smi", "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit",
                                      "--format=csv,noheader"])
        try:
            import torch
            found["PyTorch"] = "%s, CUDA %s" % (torch.__version__, torch.version.cuda)
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

    def run(self, command, spec=None, env=None, **options):
        """The program, done: its code is 124 where the stage's time ran out. Of a program of SPEC the engines are noted."""
        options = dict({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}, **options)
        with tempfile.NamedTemporaryFile() as engines:
            env = dict(env or os.environ, HARNESS_ENGINES=engines.name)
            try:
                done = subprocess.run(command, timeout=self.left(), env=env, **options)
            except subprocess.TimeoutExpired as late:
                done = subprocess.CompletedProcess(command, 124, late.stdout or b"", b"the stage's time ran out")
            except OSError as problem:
                done = subprocess.CompletedProcess(command, 127, b"", str(problem).encode())
            self.note_engines(spec, engines.read())
        self.note_said(spec, done.stderr or b"")
        return done

    def stream(self, command, take, spec, seconds):
        """Gives TAKE each line that the program writes, as it comes; returns its code, as `run` does."""
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, universal_newlines=True)
            clock = threading.Timer(min(seconds, self.left()), process.kill)
            clock.start()
            for line in process.stdout:
                take(line)
            code = process.wait()
            clock.cancel()
            said.seek(0)
            self.note_said(spec, said.read())
        return 124 if code == -9 else code

    def note_engines(self, spec, text):
        """Once for each program: how many of its engines are not those planned, and all of them."""
        known = self.results.setdefault("engines", {})
        if spec is None or not text or spec.name in known:
            return
        found = known[spec.name] = json.loads(text)
        all_of_them = found["convolutions"]
        others = found["not as planned"] = [one for one in all_of_them if not one["as planned"]]
        found["convolutions"] = len(all_of_them)
        found["run"] = [one["runs"] for one in all_of_them]
        same = found["cuDNN"] == found["planned with"]
        if others:
            self.say("- ENGINES of %s: %d of %d are not those planned: %s" % (
                spec.name, len(others), len(all_of_them), "cuDNN %d does not accept the pins" % found["cuDNN"] if same else
                "planned with cuDNN %d, chosen again by %d" % (found["planned with"], found["cuDNN"])))
        self.save()

    def note_said(self, spec, text):
        """What a program has on stderr, each line once."""
        known = self.results.setdefault("said", {}).setdefault(spec.name if spec else self.name, [])
        known += [line for line in text.decode(errors="replace").splitlines()[:100] if line not in known]

    def succeeded(self, what, done):
        """Whether WHAT did; where time ran out it is unfinished, else WRONG."""
        if done.returncode in OUT_OF_TIME:
            self.unfinished(what)
            return False
        said = (done.stderr or b"").decode(errors="replace")[-1000:]
        return self.check("%s: exit code %d: %s" % (what, done.returncode, said), done.returncode == 0)

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

    def unfinished(self, what):
        self.left_out.append(what)
        self.say("- UNFINISHED: %s: no time left" % what)

    def late(self, what):
        """The same of WHAT, a part of the stage, which is then unfinished."""
        if self.is_late():
            self.unfinished(what)
        return self.is_late()

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
        if self.left_out:
            self.verdict += ", UNFINISHED: %d left out" % len(self.left_out)
        self.results["seconds"] = round(time.monotonic() - self.begun)
        self.save()
        print("%s: %s" % (self.name, self.verdict), flush=True)
        sys.exit(1 if self.failed else UNFINISHED if self.left_out else 0)


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

"""stage.py - what the stages share: their arguments, the machine in words, programs with a limit of time, and files of
results.  The files are written anew with every result, so that a stage that is cut off leaves what it has measured.

A stage is made of parts.  Each has a limit of its own, and where one fails the next ones go on.  Which engines run, beside those that
were planned, and what a program writes on stderr go into the results, too.  A part without time left makes a stage
UNFINISHED; only what is wrong makes it FAILED.

A program that fails is examined: with each launch waited for, which names the kernel, and under compute-sanitizer.
"""
import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import programs

sys.path.insert(0, os.path.join(programs.ROOT, "tests", "oracle"))

BEHIND_PROGRAMS = 3  # seconds by which Python itself is interrupted later than programs
MARGIN = 70  # seconds from when nothing new is begun to when programs are stopped
EXAMINED_WITH = 60  # seconds that must be left for compute-sanitizer
HURRY = float(os.environ.get("GPU_KIT_HURRY", "1"))  # parts have their seconds divided by that: for the rehearsal
ONLY = dict(part.rsplit("=", 1) for part in os.environ.get("PARTS", "").split(",") if part)  # parts and their seconds; all if empty
OUT_OF_TIME = (124, 137)  # codes of what was stopped
MOST_LINES, LONGEST_LINE = 100, 1000  # of a program's stderr that are kept
MOST_BYTES = 12 << 20  # of a file of results; those that come back from a device may have 16 MiB
UNFINISHED = 3  # of a stage


class OutOfTime(Exception):
    """Raised in what runs when no time is left."""


def execute(command, seconds, input=None, **options):
    """The program, done, with code 124 where SECONDS were not enough: then it and all that it started are killed."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL, start_new_session=True, **options)
    try:
        told, said = process.communicate(input, timeout=seconds)
        return subprocess.CompletedProcess(command, process.returncode, told or b"", said or b"")
    except subprocess.TimeoutExpired:
        kill(process)
        told, said = process.communicate()
        return subprocess.CompletedProcess(command, 124, told or b"", (said or b"") + b"\nno time left")
    except BaseException:
        kill(process)
        process.wait()
        raise


def kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


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

    def __init__(self, name, what, seconds=400, margin=MARGIN):
        parser = argparse.ArgumentParser(description=what)
        parser.add_argument("programs", help="folder of the programs, see programs.py")
        parser.add_argument("out", help="folder for results")
        parser.add_argument("--spent", type=float, default=0, help="seconds of the stage's time that are over")
        parser.add_argument("--seconds", type=float, default=seconds, help="begin nothing new after so many")
        parser.add_argument("--dry-run", action="store_true", help="without a device: tiny programs for this processor")
        options = parser.parse_args()
        self.name, self.dry, self.folder, self.out = name, options.dry_run, options.programs, options.out
        start = time.monotonic() - options.spent
        self.begun, self.end, self.limit = start, start + options.seconds, start + options.seconds + margin
        self.lines, self.tables, self.failed, self.left_out, self.examined = [], [], False, [], False
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
                done = execute(command, self.left(), env=env, **options)
            except OSError as problem:
                done = subprocess.CompletedProcess(command, 127, b"", str(problem).encode())
            self.note_engines(spec, engines.read())
        self.note_said(spec, done.stderr or b"")
        return done

    def stream(self, command, take, spec, seconds):
        """Gives TAKE each line that the program writes, as it comes; returns its code, as `run` does."""
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, universal_newlines=True, start_new_session=True)
            clock = threading.Timer(min(seconds, self.left()), kill, [process])
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
        lines = [line[:LONGEST_LINE] for line in text.decode(errors="replace").splitlines()[:MOST_LINES]]
        known += [line for line in lines if line not in known][:MOST_LINES - len(known)]

    def succeeded(self, what, done):
        """Whether WHAT did; where time ran out it is unfinished, else WRONG."""
        if done.returncode in OUT_OF_TIME:
            self.unfinished(what)
            return False
        if done.returncode != 0:
            self.examine(what, done)
        said = (done.stderr or b"").decode(errors="replace")[-1000:]
        return self.check("%s: exit code %d: %s" % (what, done.returncode, said), done.returncode == 0)

    def examine(self, what, done):
        """Why a program failed: all that it said, what it says when each launch is waited for, and compute-sanitizer's complaints."""
        found = {"what": what, "command": done.args, "exit code": done.returncode, "said": (done.stderr or b"").decode(errors="replace")[-20000:]}
        self.results.setdefault("failures", []).append(found)
        self.save()
        if self.examined or not isinstance(done.args, list):
            return
        self.examined = True  # the first failure, of which others may follow
        waiting = dict(os.environ, CUDA_LAUNCH_BLOCKING="1", UNET_CUDA_GRAPH="0")
        found["each launch waited for"] = self.said_by(done.args, waiting)
        tool = sanitizer()
        if tool and self.limit - time.monotonic() > EXAMINED_WITH:
            found["memcheck"] = self.said_by([tool, "--tool", "memcheck", "--report-api-errors", "no"] + done.args, waiting)
        self.save()

    def said_by(self, command, env):
        try:
            done = execute(command, min(EXAMINED_WITH, self.left()), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
            return done.stderr.decode(errors="replace")[-20000:]
        except OSError as problem:
            return str(problem)

    # ---- parts ----

    @contextlib.contextmanager
    def alarm(self):
        """Raises OutOfTime within, when no time is left and programs had theirs."""
        def ring(*_):
            raise OutOfTime("no time left")
        before = signal.signal(signal.SIGALRM, ring)
        rest = signal.setitimer(signal.ITIMER_REAL, self.left() + BEHIND_PROGRAMS)[0]
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, rest)
            signal.signal(signal.SIGALRM, before)

    def part(self, what, seconds, work, *arguments):
        """WORK within so many seconds; where it fails, that is told, and the stage goes on."""
        if ONLY and what not in ONLY or self.late(what):
            return
        seconds = float(ONLY.get(what, seconds))
        stage_limit, begin = self.limit, time.monotonic()
        self.limit = min(stage_limit, begin + seconds / HURRY)
        try:
            with self.alarm():
                work(*arguments)
        except OutOfTime:
            self.unfinished(what)
        except Exception as problem:  # a part that fails must not lose the others
            self.results.setdefault("failures", []).append({"what": what, "said": traceback.format_exc()[-20000:]})
            self.check("%s: %s: %s" % (what, type(problem).__name__, str(problem)[:300]), False)
        self.limit = stage_limit
        self.results.setdefault("seconds of parts", {})[what] = round(time.monotonic() - begin, 1)
        self.save()

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
        self.write(self.name + ".json", self.as_json())
        text = ["# %s: %s" % (self.name, self.verdict), "",
                "A DRY RUN, without a device: no figure means anything." if self.dry else "Measured on a device."]
        text += ["- %s: %s" % item for item in self.results["machine"].items()] + [""] + self.lines
        text += [line for table in self.tables for line in table.lines() if table.rows]
        self.write(self.name + ".md", "\n".join(text) + "\n")

    def as_json(self):
        """All results; where they are too long to come back, without the longest of them."""
        text = json.dumps(self.results, indent=1) + "\n"
        while len(text) > MOST_BYTES:
            longest = max(self.results, key=lambda name: len(json.dumps(self.results[name])))
            self.results[longest] = "left out: too long"
            text = json.dumps(self.results, indent=1) + "\n"
        return text

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


def sanitizer():
    beside = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "compute-sanitizer")
    return beside if os.path.exists(beside) else shutil.which("compute-sanitizer")


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

"""stage.py - what the stages share: their arguments, the machine in words, and files of results."""
import argparse
import json
import os
import subprocess
import sys
import time

import programs

sys.path.insert(0, os.path.join(programs.ROOT, "tests", "oracle"))


class Stage:
    """One run of a stage; results go to NAME.md and NAME.json in the folder OUT."""

    def __init__(self, name, what):
        parser = argparse.ArgumentParser(description=what)
        parser.add_argument("programs", help="folder of the programs, see programs.py")
        parser.add_argument("out", help="folder for results")
        parser.add_argument("--seconds", type=float, default=400, help="begin nothing new after so many")
        parser.add_argument("--dry-run", action="store_true", help="without a device: tiny programs for this processor")
        options = parser.parse_args()
        self.name, self.dry, self.folder, self.out = name, options.dry_run, options.programs, options.out
        self.end = time.monotonic() + options.seconds
        self.lines, self.failed, self.results = [], False, {"stage": name, "dry run": self.dry, "machine": self.machine()}
        self.say("# %s" % name)
        self.say("")
        self.say("A DRY RUN, without a device: no figure means anything." if self.dry else "Measured on a device.")
        for key, value in self.results["machine"].items():
            self.say("- %s: %s" % (key, value))
        self.say("")

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

    def say(self, line):
        print(line, flush=True)
        self.lines.append(line)
        self.write(self.name + ".md", "\n".join(self.lines) + "\n")

    def check(self, what, right):
        """Says that something was WRONG."""
        if not right:
            self.failed = True
            self.say("- WRONG: %s" % what)
        return right

    def write(self, file, text):
        os.makedirs(self.out, exist_ok=True)
        with open(os.path.join(self.out, file), "w") as f:
            f.write(text)

    def late(self):
        return time.monotonic() > self.end

    def save(self):
        """What is known so far, for a run that is cut off."""
        self.results["failed"] = self.failed
        self.write(self.name + ".json", json.dumps(self.results, indent=1) + "\n")

    def done(self):
        self.save()
        self.say("")
        self.say("%s: %s" % (self.name, "FAILED" if self.failed else "passed"))
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


def table(stage, head, rows):
    """A Markdown table."""
    stage.say("| " + " | ".join(head) + " |")
    stage.say("|" + "---|" * len(head))
    for row in rows:
        stage.say("| " + " | ".join(str(cell) for cell in row) + " |")
    stage.say("")

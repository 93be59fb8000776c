#!/usr/bin/env python3
"""Names of other libraries get a remedy: each is there, has another name here, or a sentence says what to write.

    foreign_test.py UNETC [--list]

foreign_names.txt has the public names of layers, losses, metrics, transforms, optimizers, schedules and options.  Each is
written where a user would write it, in a file of its own.  A message that only lists what there is counts as none.  At
most one name in twenty may have none.  The table is printed; --list names those without.  Calls in a remedy are calls of
the language: a word in it that is followed by `(` is an operator, a function, a source, an optimizer or a schedule.
Settings in a remedy are settings of the language, with their arguments.  Standard library only."""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_WITHOUT = 0.05
FILE = """input x : image(4, 32, 32)
target t : labels(2)
target u : image(4)
a = conv(x, 4, 3)
%(call)s
output y = conv(a, 2, 3)
output z = conv(a, 4, 3)
data {
    x = images("x/*")
    t = labels("t/*")
    u = images("u/*")
    %(data)s
}
train {
    loss cross_entropy(y, t)
    steps 1
    %(train)s
}
"""
PLACES = {
    "call": ("call", ["a = %s(x)"]),
    "loss": ("train", ["loss %s(y, t)", "loss %s(z, u)"]),
    "metric": ("train", ["metric %s(y, t)", "metric %s(z, u)"]),
    "data": ("data", ["%s 1"]),
    "train": ("train", ["%s 1"]),
    "optimizer": ("train", ["optimizer %s()"]),
    "schedule": ("train", ["schedule %s()"]),
}
UNKNOWN = re.compile(r"U0202|U0602|U0618|U0622")
WRONG = re.compile(r"error\[U(01\d\d|02(?!01)\d\d|0602|0618|0622)\]")  # of words and arguments, not of values
NO_REMEDY = "did you mean"  # by letters alone


def read_groups(path):
    groups = []
    with open(path) as file:
        for line in file:
            head = re.match(r"\[(\w+)\] (.*)", line)
            if head:
                groups.append((head[1], head[2], []))
            elif groups:
                groups[-1][2].extend(line.split())
    return groups


def check(unetc, path, place, line):
    with open(path, "w") as file:
        file.write(FILE % {"call": "", "data": "", "train": "", **{place: line}})
    done = subprocess.run([unetc, "check", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit("FAILED: `%s` ends with exit code %d:\n%s" % (line, done.returncode, done.stdout))
    return done.stdout


def about(name, output):
    """The diagnostic that says NAME is not known, or None."""
    for part in re.split(r"\n(?=error)", output):
        if UNKNOWN.search(part.split("\n")[0]) and "`%s" % name in part.split("\n")[0]:
            return part
    return None


def judge(name, output):
    """"there", "another name", "a sentence" or "none", and the remedy."""
    part = about(name, output)
    if part is None:
        return "there", ""
    remedy = " ".join(line[6:] for line in part.split("\n") if line.startswith("help: "))
    if remedy == "" or (NO_REMEDY in remedy and plain(remedy.split("`")[1]) != plain(name)):
        return "none", remedy
    return ("another name" if "is called" in remedy or remedy.startswith("write `") else "a sentence"), remedy


def plain(name):
    return name.replace("_", "").lower()


def calls_in(text):
    return {word for code in re.findall(r"`([^`]*)`", text) for word in re.findall(r"(\w+)\(", code)}


def settings_in(text, sections):
    """The lines in TEXT that begin with a setting, each with its section."""
    for code in re.findall(r"`([^`]*)`", text):
        word = re.match(r"(\w+) \S", code)
        if word and word[1] in sections and "..." not in code:
            yield sections[word[1]], code


def main():
    unetc = sys.argv[1]
    words = subprocess.run([unetc, "words"], stdout=subprocess.PIPE, text=True, check=True).stdout
    known = set(re.findall(r"^\w+\t(\w+)", words, re.M))
    sections = {word: section for section, word in re.findall(r"^(data|train)\t(\w+)", words, re.M)}
    failures, total, without, tried = [], 0, [], set()
    with tempfile.TemporaryDirectory() as folder:
        for kind, library, names in read_groups(os.path.join(HERE, "foreign_names.txt")):
            place, lines = PLACES[kind]
            counts = dict.fromkeys(("there", "another name", "a sentence", "none"), 0)
            for name in names:
                verdict, remedy = judge(name, check(unetc, os.path.join(folder, "a.unet"), place, lines[0] % name))
                counts[verdict] += 1
                total += 1
                if verdict == "none":
                    without.append("%s (%s)" % (name, library))
                own = remedy.split("here: ", 1)[-1]
                for word in calls_in(own) - known - {"block", "double", name}:
                    failures.append("the remedy of `%s` calls `%s`, which is no word of the language: %s" % (name, word, remedy))
                for section, line in set(settings_in(remedy, sections)) - tried:
                    tried.add((section, line))
                    output = check(unetc, os.path.join(folder, "b.unet"), section, line)
                    if WRONG.search(output):
                        failures.append("the remedy of `%s` is no setting: %s\n%s" % (name, line, output))
            print("%-52s %s" % (library, "  ".join("%s %3d" % pair for pair in counts.items())))
    print("%d names, %d without a remedy" % (total, len(without)))
    if "--list" in sys.argv:
        print("\n".join(without))
    if len(without) > MOST_WITHOUT * total:
        failures.append("%d of %d names have no remedy: --list names them" % (len(without), total))
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


sys.exit(main())

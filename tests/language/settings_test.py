#!/usr/bin/env python3
"""settings_test.py UNETC [--update]: what dsl/README.md says of settings and operators is what the compiler's tables
say: every setting with its arguments and defaults, every operator as one calls it.  And what is said to hold without a
setting does: with it, the compiler writes the same program."""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
README = os.path.join(ROOT, "dsl", "README.md")

# One line of each section is left for the setting that is tried.
NET = """input  x : image(3, 16, 16)
target y : image(3)
output o = conv(x, 3, 3)
data {
    x = images("x/*.png")
    y = images("y/*.png")
    holdout 0.1
    #data
}
train {
    loss   mse(o, y)
    epochs 2
    #train
}
eval {
    #eval
}
predict {
    #predict
}
"""


def explained(unetc, what):
    return subprocess.run([unetc, "explain", what], stdout=subprocess.PIPE, check=True).stdout.decode()


def program(unetc, folder, section="", setting=""):
    """The program of NET with a setting, but for the sum over its text and what the optimizer is called."""
    path = os.path.join(folder, "net.unet")
    with open(path, "w") as file:
        file.write(NET.replace("#" + section, setting) if section else NET)
    subprocess.run([unetc, "-S", os.path.join(folder, "out"), path], check=True)
    text = ""
    for name in sorted(os.listdir(os.path.join(folder, "out"))):
        with open(os.path.join(folder, "out", name)) as file:
            text += file.read()
    return re.sub(r"\b[0-9a-f]{16,}\b", "SUM", text)


def check_defaults(unetc, settings):
    section, failures = "", 0
    with tempfile.TemporaryDirectory() as folder:
        plain = program(unetc, folder)
        for line in settings.splitlines():
            section = line[:-2] if line.endswith(" {") else section
            _, _, setting = line.partition("# without it: ")
            if setting and program(unetc, folder, section, setting) != plain:
                print("FAILED: %s { %s } is not what holds without it" % (section, setting))
                failures += 1
    return failures


def main():
    unetc = os.path.abspath(sys.argv[1])
    settings = explained(unetc, "settings")
    with open(README) as file:
        readme = file.read()
    first = "$ unetc explain settings\n"
    block = re.compile("```\n" + re.escape(first) + ".*?```\n", re.DOTALL)
    fresh = block.sub(lambda _: "```\n" + first + settings + "```\n", readme)
    failures = check_defaults(unetc, settings)
    if "--update" in sys.argv:
        with open(README, "w") as file:
            file.write(fresh)
    elif first + settings not in readme:
        print("FAILED: dsl/README.md is stale: run tests/language/settings_test.py UNETC --update")
        failures += 1
    for operator in explained(unetc, "operators").splitlines():
        if "`%s`" % operator not in readme:
            print("FAILED: dsl/README.md has no `%s`" % operator)
            failures += 1
    return 1 if failures else 0


sys.exit(main())

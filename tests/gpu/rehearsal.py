"""rehearsal.py [FOLDER] - the two commands of README.md as they are given where time is short, with the programs of a dry run in
place of those for a device, within the same limits: files, their names and sizes, and the time.  Then again with a fault of each
kind, which the results must tell:

    a wrong kernel, a library that is missing, another cuDNN, a driver that is too old, a program that hangs, one that says too much

A faulty program is a script in front of the right one.  Programs and results are left in FOLDER, if one is named.
Environment: as of programs.py.  SKIPPED (77) without PyTorch, or headers of CUDA and cuDNN."""
import importlib.util
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import programs  # noqa: E402

MOST_FILES, MOST_BYTES, NAME = 4, 16 << 20, re.compile(r"[A-Za-z0-9._-]+$")
HURRY = "4"  # parts have a quarter of their time
LONGEST = 120

# What stands in front of the program, what must be told, and what must have gone on.
FAULTS = {
    "a wrong kernel": ('if [ "$1" = steps ]; then "$0.right" "$@" | tr "\\077" "\\076"; else exec "$0.right" "$@"; fi', ["WRONG: tiny_unet", "off by"], "memory"),
    "a missing library": ('echo "error while loading shared libraries: libcudnn.so.9: cannot open shared object file" >&2; exit 127',
                          ["does not start", "libcudnn.so.9", "nothing else was tried"], None),
    "an old driver": ('echo "program: error: no GPU that CUDA can use was found: there is no driver, or it is older than CUDA 13.0" >&2; exit 3',
                      ["does not start", "older than CUDA 13.0"], None),
    "a program that hangs": ('if [ "$1" = assumptions ]; then sleep 1000; else exec "$0.right" "$@"; fi', ["UNFINISHED: assumptions of"], "sweep"),
    "a program that says too much": ('head -c 60000000 /dev/zero | tr "\\0" a >&2; yes "a complaint" | head -n 200000 >&2; exec "$0.right" "$@"',
                                     ["first: passed"], "sweep"),
}


def run(stage, folder, out, **environment):
    """Seconds, and what it leaves."""
    begin = time.monotonic()
    subprocess.run([sys.executable, "-B", os.path.join(HERE, stage + ".py"), folder, out, "--dry-run"], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=dict(os.environ, **environment), timeout=LONGEST * 4)
    with open(os.path.join(out, stage + ".md")) as file:
        text = file.read()
    return time.monotonic() - begin, text, sorted(os.listdir(out))


def problems_of(out, files):
    found = ["a name: %s" % name for name in files if not NAME.match(name)]
    found += ["%s has %d bytes" % (name, os.path.getsize(os.path.join(out, name))) for name in files
              if os.path.getsize(os.path.join(out, name)) > MOST_BYTES]
    return found + ["%d files: %s" % (len(files), files)] * (len(files) > MOST_FILES)


def plant(folder, to, script):
    """A copy of the programs of `first`, of which the first one is faulty."""
    for spec in programs.specs("first", True):
        shutil.copytree(os.path.join(folder, spec.name), os.path.join(to, spec.name))
    for name in os.listdir(folder):
        if name.startswith("kernels-"):
            shutil.copytree(os.path.join(folder, name), os.path.join(to, name))
    path = os.path.join(to, programs.specs("first", True)[0].name, "program")
    os.rename(path, path + ".right")
    with open(path, "w") as file:
        file.write("#!/bin/bash\n%s\n" % script)
    os.chmod(path, os.stat(path + ".right").st_mode | stat.S_IXUSR)


def told(name, out, wanted, part, seconds, text, files):
    """Whether the results have all of WANTED, and that PART was reached."""
    with open(os.path.join(out, "first.json")) as file:
        results = json.load(file)
    everything = text + json.dumps(results.get("failures", []))
    wrong = ["it does not tell %r" % words for words in wanted if words not in everything] + problems_of(out, files)
    if part and part not in results.get("seconds of parts", {}):
        wrong.append("it does not come to %s: %s" % (part, results.get("seconds of parts")))
    if seconds > LONGEST:
        wrong.append("it takes %d s" % seconds)
    print("%s: %s, %.0f s, %s" % (name, "told" if not wrong else "NOT TOLD: %s\n%s" % (wrong, text[:3000]), seconds,
                                 ", ".join("%s %d" % (f, os.path.getsize(os.path.join(out, f))) for f in files)), flush=True)
    return not wrong


def rehearse(home):
    folder, out = os.path.join(home, "programs"), os.path.join(home, "out")
    os.makedirs(folder, exist_ok=True)
    right = programs.build(folder, ["first", "second"], True)
    for stage in ("first", "second"):
        place = os.path.join(out, stage)
        seconds, text, files = run(stage, folder, place)
        wrong = problems_of(place, files) + ["it %s" % text.splitlines()[0]] * ("passed" not in text.splitlines()[0])
        print("%s: %s, %.0f s, %s" % (stage, wrong or "as it should be", seconds, ", ".join(
            "%s %d" % (f, os.path.getsize(os.path.join(place, f))) for f in files)), flush=True)
        right = right and not wrong
    for name, (script, wanted, part) in FAULTS.items():
        place = os.path.join(out, name.replace(" ", "-"))
        plant(folder, os.path.join(place, "programs"), script)
        right &= told(name, os.path.join(place, "out"), wanted, part, *run("first", os.path.join(place, "programs"), os.path.join(place, "out"), GPU_KIT_HURRY=HURRY))
    place = os.path.join(out, "another-cudnn")
    right &= told("another cuDNN", place, ["ENGINES of", "chosen again by 91300"], "sweep", *run("first", folder, place, UNET_CUDNN_REFERENCE_VERSION="91300", GPU_KIT_HURRY=HURRY))
    return right


def main(words):
    cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    if importlib.util.find_spec("torch") is None or not os.path.exists(os.path.join(cuda, "include", "cudnn_graph.h")):
        print("SKIPPED: no PyTorch for %s, or no headers of CUDA and cuDNN" % sys.executable)
        return 77
    with tempfile.TemporaryDirectory() as folder:
        return not rehearse(words[0] if words else folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

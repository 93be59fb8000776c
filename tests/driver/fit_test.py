"""fit_test.py UNETC MAKE_PICTURES: `unetc --plans`, and `--fit` of its programs.

  plans     a program with three plans trains to the bits of a program with one, whichever plan it takes, also on from a
            checkpoint of another plan; a file for each further plan lists its steps, and kernels stand once
  fit       under limits of memory (ulimit -v) between the needs of two plans, --fit takes the smaller of these; `info` names all;
            without --fit, or with much memory, it is the largest; with too little for any, the smallest says what it needs
  refusals  one size, a wrong size, --mem beside it, a library, which holds one plan; a plan that does not fit

Each limit is the need of a plan beside the memory that the process has taken before it looks, as the notes tell both.
Standard library only."""
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

UNETC, MAKE_PICTURES = map(os.path.abspath, sys.argv[1:3])
NET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "denoise", "tiny_unet.unet")
OPTIONS = ["-Dbase=8", "--programs=train,predict"]
MUCH = 1 << 40
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def run(*command, limit=None):
    def lower():
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))  # of threads, too
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env={**os.environ, "MALLOC_ARENA_MAX": "1"}, preexec_fn=lower if limit else None)


def must(*command):
    done = run(*command)
    assert done.returncode == 0, "%s: %s" % (command, done.stdout)
    return done.stdout


def arena(*options):
    done = subprocess.run([UNETC, "mem", "--format=json", *OPTIONS, *options, NET], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return json.loads(done.stdout)["arena"]["bytes"]


def train(program, folder, *options, limit=None):
    """What it says, and a sum over its weights; the folder is new."""
    done = run("./" + program, "train", "--data=data", "--steps=3", "--threads=1", "--out=" + folder, *options, limit=limit)
    if done.returncode:
        return done.stdout, None
    with open(os.path.join(folder, "tiny_unet.safetensors"), "rb") as file:
        return done.stdout, hashlib.sha256(file.read()).hexdigest()


def told(said):
    """The free memory, the place of the plan that was taken, and its need."""
    free, free_unit, place, need, need_unit = re.search(
        r"note: --fit: ([0-9.]+) (\w+) are free; plan (\d) of 3 is taken, which needs ([0-9.]+) (\w+)", said).groups()
    return float(free) * UNITS[free_unit], int(place), float(need) * UNITS[need_unit]


def check_plans():
    whole, least = arena("--no-recompute"), arena("--mem=1B")
    sizes = [whole, (whole + least) // 2, least]
    must(UNETC, "-o", "several", *OPTIONS, "--plans=%s" % ",".join("%dB" % size for size in sizes), NET)
    must(UNETC, "-o", "one", *OPTIONS, "--no-recompute", NET)
    plans = json.loads(must("./several", "info", "--format=json"))["plans"]
    assert plans == sorted(plans, reverse=True) and len(plans) == 3 and all(a <= b for a, b in zip(plans, sizes)), (plans, sizes)
    assert "--fit" in must("./several", "info") and "--fit" not in must("./one", "info")
    for folder, options in (("sources", ["--plans=%s" % ",".join("%dB" % size for size in sizes)]), ("source", ["--no-recompute"])):
        must(UNETC, "-S", folder, *OPTIONS, *options, NET)
    alone = {name for name in os.listdir("source") if name.endswith(".c")}
    more = {name for name in os.listdir("sources") if name.endswith(".c")} - alone
    assert {"tiny_unet_plan2.c", "tiny_unet_plan3.c"} <= more and not any("plan" in name and "conv" in name for name in more), more


def check_fit():
    """Bits under each plan, and which plan is taken."""
    said, expected = train("one", "expected")
    assert expected is not None, said
    assert train("several", "largest")[1] == expected
    said, bits = train("several", "free", "--fit")
    free, place, need = told(said)
    assert (place, bits) == (1, expected), said
    said, _ = train("several", "roomy", "--fit", limit=1 << 30)
    used = (1 << 30) - told(said)[0]
    limits, needs = [], {}
    for k in range(16):  # from the need of the largest plan down
        limit = int(used + need * (1.05 - 0.06 * k))
        said, bits = train("several", "limit%d" % k, "--fit", limit=limit)
        if "note: --fit" not in said:
            break
        free, place, needs[place] = told(said)
        limits.append(place)
        assert bits == expected or needs[place] > 0.98 * free, said
        if place == 3 and needs[3] > free:
            assert "needs" in said and "free" in said, said
            break
        assert place == 3 or needs[place] <= free, said
        assert place == 1 or 1 not in needs or needs[1] >= free * 0.99, said
    assert limits == sorted(limits) and set(limits) == {1, 2, 3}, limits
    said, _ = train("one", "alone", "--fit")
    assert "holds one plan" in said, said


def check_resume():
    said, bits = train("one", "five", "--steps=5")
    run("./several", "train", "--data=data", "--steps=3", "--threads=1", "--out=half", limit=None)
    checkpoint = "--resume=" + os.path.join("half", "tiny_unet.checkpoint.safetensors")
    assert train("several", "on", "--steps=5", "--fit", checkpoint)[1] == bits is not None, said


def check_refusals():
    for options, what in ((["--plans=8MiB"], "several sizes"), (["--plans=8MiB,much"], "--plans"), (["--plans=8MiB,9MiB", "--mem=8MiB"], "--mem"),
                          (["--plans=8MiB,9MiB", "--shared"], "--shared"), (["--plans=" + ",".join("%dMiB" % k for k in range(1, 10))], "8 plans")):
        done = run(UNETC, "-o", "none", *options, NET)
        assert done.returncode == 2 and what in done.stdout, done
    done = run(UNETC, "-o", "none", *OPTIONS, "--plans=1GiB,64KiB", NET)
    assert done.returncode == 3 and "training needs" in done.stdout and not os.path.exists("none"), done


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        must(MAKE_PICTURES, "data", "7", "48", "48", "8")
        for check in check_refusals, check_plans, check_fit, check_resume:
            check()
        os.chdir("/")
    print("passed")


main()

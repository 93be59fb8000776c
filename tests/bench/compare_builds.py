#!/usr/bin/env python3
"""compare_builds.py OLD NEW MAKE_PICTURES [FILE.unet...] - two builds of unetc, side by side.

For each file, the examples unless some are named, and a range of options: is the plan of NEW as large and as costly as
that of OLD, and are weights trained by its program the same bits?  Prints every difference; sizes that fell are
differences, too.  OLD and NEW are compilers with their build folders.  Exit code 1 where something differs.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLES = [os.path.join(ROOT, "examples", "denoise", name + ".unet")
            for name in ("tiny_unet", "simple_denoiser", "unet_denoiser")]
PLANS = ["", "--mem=100MiB --micro-batches=off", "--mem=30MiB", "--kernels=reference", "--precision=bf16",
         "--target=cuda", "--target=cuda --precision=bf16 --staging=u8 --mem=80MiB", "--programs=predict", "--no-reuse"]
TRAININGS = ["", "--kernels=reference", "--precision=bf16", "--micro-batches=off"]
TRAINED = ["--batch=3", "--size=64x64"]  # a short training of any example
STEPS = 4


def run(*command, folder=None):
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def plan(unetc, file, options):
    """What must not change: sizes, costs, how many buffers of the device and how many steps."""
    result = run(unetc, "mem", "--format=json", *options.split(), file)
    if not result.stdout:
        return {"exit": result.returncode}
    plan = json.loads(result.stdout)
    device = [b for b in plan["buffers"] if b.get("space") != "host"]
    return {"exit": result.returncode, "arena": plan["arena"], "beside": plan["beside"], "cost": plan["cost"],
            "buffers": len(device), "steps": {name: len(steps) for name, steps in plan["programs"].items()}}


def weights(unetc, file, options, pictures, folder):
    """A digest of the weights after a few steps."""
    program = os.path.join(folder, "program")
    built = run(unetc, *options.split(), *TRAINED, "-o", program, file)
    if built.returncode != 0:
        sys.exit("%s: %s" % (file, built.stderr))
    out = tempfile.mkdtemp(dir=folder)
    trained = run(program, "train", "--data=" + pictures, "--steps=%d" % STEPS, "--out=" + out, "--threads=2")
    if trained.returncode != 0:
        sys.exit("%s: %s" % (file, trained.stderr))
    name = os.path.splitext(os.path.basename(file))[0] + ".safetensors"
    return hashlib.sha256(open(os.path.join(out, name), "rb").read()).hexdigest()


def main():
    if len(sys.argv) < 4:
        print(__doc__)
        return 2
    old, new, make_pictures = (os.path.abspath(path) for path in sys.argv[1:4])
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        pictures = os.path.join(folder, "pictures")
        os.makedirs(pictures)
        run(make_pictures, pictures, "12", "96", "96", "8")
        for file in sys.argv[4:] or EXAMPLES:
            name = os.path.basename(file)
            for options in PLANS:
                a, b = plan(old, file, options), plan(new, file, options)
                if a != b:
                    different += 1
                    print("%s %s: the plan differs\n  old %s\n  new %s" % (name, options, a, b))
            for options in TRAININGS:
                a, b = (weights(unetc, file, options, pictures, folder) for unetc in (old, new))
                print("%s %s: weights %s %s" % (name, options, "equal" if a == b else "DIFFER", a[:16]))
                different += a != b
    print("%d differences" % different)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

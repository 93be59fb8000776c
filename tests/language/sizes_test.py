#!/usr/bin/env python3
"""sizes_test.py UNETC: the sizes of evaluation and prediction are judged by what these programs do, and not by the
windows, transforms and losses of training; and `check` refuses what compiling refuses, in the same words."""
import os
import subprocess
import sys
import tempfile

NET = """input  x : image(3, 32, 32)
target y : image(3{size})
target c : labels(2)
a = conv(x, 4, 3) -> relu
output o = conv({shape}, 3, 3)
m = conv(a, 2, 1)
data {{
    x = images("x/*.png")
    y = images("y/*.png")
    c = labels("c/*.png")
    {data}
}}
train {{
    loss   mse(o, y)
    loss   cross_entropy(m, c)
    metric {metric}
    epochs 2
}}
eval {{
    {eval}
}}
predict {{
    {predict}
}}
"""

TRANSFORMS = ["crop\n    rot90", "scale 0.5, 2\n    crop", "crop\n    flip", "crop\n    rotate 30", "crop\n    elastic 3",
              "crop\n    blur 0, 1", "crop\n    distort brightness = 0.1", "crop\n    gamma 0.7, 1.5", "crop\n    noise 0.1",
              "crop pad = 0", "crop pad = \"reflect\"", "holdout 0.1", "folds 5", "normalize \"measured\"", "shuffle false"]


def said(unetc, command, text, *options):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "net.unet"), "w") as file:
            file.write(text)
        result = subprocess.run([unetc, command, *options, "net.unet"], cwd=folder, capture_output=True, text=True)
        return result.returncode, result.stderr


def net(data="crop", metric="psnr(o, y)", own=False, **size):
    empty = {"eval": "", "predict": ""}
    return NET.format(data=data, metric=metric, size=", 64, 64" if own else "",
                      shape="resize(a, scale = 2)" if own else "a", **{**empty, **size})


def main():
    unetc, failures = os.path.abspath(sys.argv[1]), []

    def expect(name, code, text, *options):
        checked, planned = said(unetc, "check", text, *options), said(unetc, "mem", text, *options)
        if checked != planned or planned[0] != code:
            failures.append(f"{name}: `check` {checked}, `mem` {planned}")

    for program in ("eval", "predict"):
        for data in TRANSFORMS:
            expect(f"{data} with a size of {program}", 0, net(data, **{program: "size 32, 64"}))
        expect(f"a target of its own size, and {program}", 0, net(own=True, **{program: "size 64, 32"}))
    expect("a turn, and prediction alone", 0, net("crop\n    rot90"), "--programs=predict", "--size=32x64")
    expect("a turn of a window that is trained", 1, net("crop\n    rot90"), "--size=32x64")
    expect("a metric of larger pictures, and prediction", 0, net(metric="ssim(o, y)", predict="size 8, 8"))
    expect("a metric of larger pictures, and evaluation", 1, net(metric="ssim(o, y)", eval="size 8, 8"))
    print("\n".join(failures))
    return 1 if failures else 0


sys.exit(main())

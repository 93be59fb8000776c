#!/usr/bin/env python3
"""head_test.py UNETC: the last convolution of a net becomes one node with its loss, its metric and its gradients (`head`
of compiler/ir/ops.def) where it may: where nothing else needs what it predicts, and the target has a kernel for it."""
import os
import re
import subprocess
import sys
import tempfile

NET = """input  noisy : image(3, {size}, {size})
target clean : image(3)
target other : image(3)
features = relu(conv(noisy, {channels}, 3))
output answer = {answer}
data {{
    noisy = images("noisy/*.png")
    clean = images("clean/*.png")
    other = images("other/*.png")
}}
train {{
    loss      {loss}
    metric    {metric}
    optimizer sgd(lr = 0.1)
    batch     2
    steps     1
}}
"""
USUAL = {"size": 64, "channels": 16, "answer": "conv(features, 3, 1)", "loss": "mse(answer, clean)",
         "metric": "psnr(answer, clean)"}
# what is not as usual, options, is there a head
CASES = [({}, [], True), ({}, ["--precision=bf16"], True), ({}, ["--precision=f16"], True), ({}, ["--conv=direct"], True),
         ({"loss": "0.5 * l1(answer, clean)"}, [], True), ({"answer": "conv(features, 3, 1, bias = false)"}, [], True),
         ({"answer": "conv(conv(features, 16, 1), 3, 1)"}, [], True),
         ({"loss": "mse(answer, clean) + l1(answer, clean)"}, [], False), ({"loss": "mse(answer, other)"}, [], False),
         ({"answer": "relu(conv(features, 3, 1))"}, [], False), ({"answer": "conv(features, 3, 3)"}, [], False),
         ({"answer": "conv(features, 3, 1) + noisy"}, [], False),
         ({"answer": "conv(concat(features, noisy), 3, 1)"}, [], False), ({"size": 48}, [], False),
         ({"channels": 4}, [], False), ({"channels": 96}, [], False), ({}, ["--kernels=reference"], False),
         ({}, ["--target=cuda"], False)]
PARTS = {"mse", "l1", "psnr", "mse_grad", "l1_grad"}


def operators(unetc, net, options):
    """Of the training program, once all that can be fused is."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.unet")
        with open(path, "w") as file:
            file.write(net)
        command = [unetc, "--emit=graph:after=fuse", "--programs=train", *options, path]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.findall(r"^ *\d+  +(?:line \d+)? +(\w+) ", text, flags=re.M)


def main():
    failures = 0
    for change, options, wanted in CASES:
        found = operators(sys.argv[1], NET.format(**{**USUAL, **change}), options)
        fused = "head" in found
        if fused != wanted or (fused and PARTS & set(found)):
            failures += 1
            print("%s %s: %s" % (change, options, " ".join(found)))
    print("%d nets, %d failures" % (len(CASES), failures))
    sys.exit(failures > 0)


main()

"""templates_test.py - each operator of compiler/ir/ops.def has its CUDA template, or shares that of another
(compiler/cuda/kernels.c), except those that only the CPU has, or that no kernel runs; and each template stands for an operator, or is listed below. Names of kernels begin such that tests/gpu/sanitizer.py knows
them for ours."""
import os
import re
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
NO_KERNEL = {"conv_pack", "conv_dgrad_pack", "head", "load", "return", "store", "wgrad_end"}
NO_OPERATOR = {"cast"} | {"conv_rows", "conv_dgrad_rows", "conv_wgrad_rows"}  # made, or chosen, by the target


def main():
    text = open(os.path.join(ROOT, "compiler", "ir", "ops.def")).read()
    operators = dict(re.findall(r"^OP\((\w+), *\"(\w+)\"", text, flags=re.M))
    rows = open(os.path.join(ROOT, "compiler", "cuda", "kernels.c")).read()
    shared = dict(re.findall(r"\[OP_(\w+)\] = \{.*?\.template = \"(\w+)\"\}", rows))
    wanted = {shared.get(op, name) for op, name in operators.items() if name not in NO_KERNEL}
    folder = os.path.join(ROOT, "templates", "cuda")
    there = {name[:-3] for name in os.listdir(folder) if name.endswith(".cu")}
    missing, strange = wanted - there, there - wanted - NO_OPERATOR
    for name in sorted(missing):
        print("templates/cuda/%s.cu is missing: the operator cannot run on a GPU" % name)
    for name in sorted(strange):
        print("templates/cuda/%s.cu: no such operator" % name)
    foreign = kernels_of_nobody(folder)
    print("%d operators, %d templates" % (len(operators), len(there)))
    sys.exit(1 if missing or strange or foreign or not operators else 0)


def kernels_of_nobody(folder):
    """How many kernels have names that do not begin with the model's (KERNEL) or with unet_."""
    found = 0
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as file:
            for kernel in re.findall(r"__global__ void (?!KERNEL_|unet_)(\w+)", file.read()):
                print("templates/cuda/%s: the kernel %s should begin with KERNEL_ or unet_" % (name, kernel))
                found += 1
    return found


main()

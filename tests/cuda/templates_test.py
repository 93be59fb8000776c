"""templates_test.py - each operator of compiler/ir/ops.def has its CUDA template, or shares that of another
(compiler/ir/kernels.def, compiler/cuda/kernels.c), except those that only the CPU has, or that no kernel runs; and each template stands for an operator, or is listed below. Names of kernels begin such that tests/gpu/sanitizer.py knows
them for ours.  Every template, those of the CPU and the reference included, compiles as it stands, with the sizes of
templates/example.h or example_cuda.h."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "gpu"))
import sanitizer  # noqa: E402
NO_KERNEL = {"conv_pack", "conv_dgrad_pack", "head", "linear", "linear_attention", "rms_norm", "relative_bias", "positions", "pad", "crop", "roll", "flip", "load", "return", "store", "wgrad_end"}
NO_OPERATOR = {"cast"} | {"conv_rows", "conv_dgrad_rows", "conv_wgrad_rows", "upconv_cells"}  # made, or chosen, by the target


def main():
    text = open(os.path.join(ROOT, "compiler", "ir", "ops.def")).read()
    operators = dict(re.findall(r"^OP\((\w+), *\"(\w+)\"", text, flags=re.M))
    rows = open(os.path.join(ROOT, "compiler", "cuda", "kernels.c")).read()
    everywhere = open(os.path.join(ROOT, "compiler", "ir", "kernels.def")).read()
    shared = {**dict(re.findall(r"^KERNEL\((\w+), \"(\w+)\"\)", everywhere, flags=re.M)),
              **dict(re.findall(r"\[OP_(\w+)\] = \{[^{}]*\.template = \"(\w+)\"\}", rows))}
    wanted = {shared.get(op, name) for op, name in operators.items() if name not in NO_KERNEL}
    folder = os.path.join(ROOT, "templates", "cuda")
    there = {name[:-3] for name in os.listdir(folder) if name.endswith(".cu")}
    missing, strange = wanted - there, there - wanted - NO_OPERATOR
    for name in sorted(missing):
        print("templates/cuda/%s.cu is missing: the operator cannot run on a GPU" % name)
    for name in sorted(strange):
        print("templates/cuda/%s.cu: no such operator" % name)
    for name in unguarded(text, shared, folder):
        print("templates/cuda/%s.cu has scratch, whose bytes compiler/cuda/kernels.c decides, and does not assert that they suffice (SCRATCH)" % name)
        missing = missing | {name}
    foreign = of_several_shared_files() + said_twice() + kernels_of_nobody(folder) + do_not_compile() + device_templates_do_not_compile(folder)
    print("%d operators, %d templates" % (len(operators), len(there)))
    sys.exit(1 if missing or strange or foreign or not operators else 0)


# The scratch of convolutions and of what begins beside them: the compiler hands over where its parts lie.
PARTS_HANDED_OVER = {"conv", "conv_dgrad", "conv_wgrad", "rank_gather"}
NO_SCRATCH = {"attention"}  # on a GPU


def unguarded(rows, shared, folder):
    """Templates of operators with scratch (`name!`) that do not compare its bytes with what they need."""
    found = []
    for op, name, row in re.findall(r"^OP\((\w+), *\"(\w+)\"(.*?)(?=^OP\(|\Z)", rows, flags=re.M | re.S):
        template = shared.get(op, name)
        operands = re.search(r"\"((?:[^\"]*[=+~!])[^\"]*)\"", row)
        if operands is None or "!" not in operands.group(1) or name in NO_KERNEL or template in PARTS_HANDED_OVER | NO_SCRATCH:
            continue
        with open(os.path.join(folder, template + ".cu")) as file:
            if not re.search(r"static_assert\(SCRATCH\b", file.read()):
                found.append(template)
    return found


COMPLAINT = """========= Invalid __global__ write of size 4 bytes
=========     at %s(float *, const float *)+0x1d0 in x.cu:12
========= ERROR SUMMARY: 1 error
"""
FOREIGN = ["void cudnn::winograd_nonfused::filter<float>", "sm90_xmma_fprop_implicit_gemm", "void cutlass__5x_cudnn::Kernel<T>"]


def is_ours(*kernels):
    """Whether the sanitizer's stage takes a complaint of KERNELS, as compute-sanitizer words it, for one of ours."""
    count, named, _ = sanitizer.complaints("".join(COMPLAINT % kernel for kernel in kernels))
    return count == len(kernels) and not sanitizer.is_of_a_library(named, "tiny_unet")


def kernels_of_nobody(folder):
    """How many kernels the sanitizer's stage does not know for ours, by the names that they have in a program: those of
    templates begin with the model's (KERNEL), those of several with unet_."""
    found = sum(is_ours(kernel) for kernel in FOREIGN) + (not is_ours(FOREIGN[0], "unet_add_bias"))
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name)) as file:
            text = file.read()
        kernels = re.findall(r"\b__global__\s+void (?:__launch_bounds__\([^()]*\)\s+)?(\w+)", text)
        emitted = [re.sub("^KERNEL_", "tiny_unet_%s_0_" % name.split(".")[0], kernel) for kernel in kernels]
        if len(kernels) < len(re.findall(r"\b__global__\b", text)) or not all(map(is_ours, emitted)):
            print("templates/cuda/%s: kernels should be `__global__ void KERNEL_...` or unet_...: %s" % (name, kernels))
            found += 1
    return found


C = ["gcc", "-std=gnu11", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-I", os.path.join(ROOT, "runtime", "include")]


def complains(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(" ".join(command), done.stdout[:2000], sep="\n")
    return done.returncode != 0


def of_several_shared_files():
    """How many templates of kernels do not include one file of their folder: the emitter follows the first alone (compiler/emit/instance.c)."""
    found = 0
    for target in "cpu", "cuda", "reference":
        folder = os.path.join(ROOT, "templates", target)
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name)) as file:
                head = file.read().partition("/* BEGIN */")[0]
            if "#define KERNEL " in head and len(re.findall(r'^#include "\w', head, flags=re.M)) != 1:
                print("templates/%s/%s: include one file of the folder in front of BEGIN, a shared one or the prologue" % (target, name))
                found += 1
    return found


def said_twice():
    """How many kernels of the reference have the text of the processor's: a comparison of both finds nothing, and one file serves both
    (compiler/emit/emit.h, `also`)."""
    text, found = {}, 0
    for target in "cpu", "reference":
        folder = os.path.join(ROOT, "templates", target)
        for name in os.listdir(folder):
            with open(os.path.join(folder, name)) as file:
                body = file.read().partition("/* BEGIN */")[2]
            text[target, name] = "".join(re.sub(r"/\*.*?\*/", "", body, flags=re.S).split())
    for target, name in sorted(text):
        if target == "reference" and text[target, name] and text.get(("cpu", name)) == text[target, name]:
            print("templates/reference/%s: it has the text of templates/cpu/%s, which serves both: remove it" % (name, name))
            found += 1
    return found


def do_not_compile():
    """How many C templates do not."""
    files = [os.path.join(folder, name) for folder in (os.path.join(ROOT, "templates", "cpu"), os.path.join(ROOT, "templates", "reference"))
             for name in sorted(os.listdir(folder)) if name.endswith(".c")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return sum(pool.map(complains, [C + [file] for file in files]))


def device_templates_do_not_compile(folder):
    """Whether those of the GPU do not, by a C++ compiler with tests/cuda/shim in front: each in a namespace of its own, so
    that CUDA's headers are read once."""
    home = next((home for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if home and os.path.exists(home + "/include/cuda_runtime_api.h")), None)
    if home is None or not shutil.which("g++"):
        print("no g++, or no headers of CUDA: templates/cuda is not compiled")
        return 0
    lines = []
    for name in sorted(os.listdir(folder), key=lambda name: (name != "prologue.cuh", not name.endswith(".cuh"), name)):
        path = os.path.join(folder, name)
        with open(path) as file:
            text = file.read()
        begin, end = text.index("/* BEGIN */"), text.index("/* END */")
        head = re.sub('#include "[^.].*', "", text[:begin]) # the prologue, or what it shares with others, is there already
        if name.endswith(".cuh"):
            lines += ['#line 1 "%s"' % path, head + text[begin:end]]
            continue
        names = "SIZES KERNEL EXAMPLE EXAMPLE_MAP EXAMPLE_X EXAMPLE_Y EXAMPLE_DB EXAMPLE_DX EXAMPLE_SEGMENTS X_IS_SEGMENTS Y_IS_A_MAP DB_IS_A_MAP DX_IS_A_MAP"
        lines += ["#undef " + macro for macro in names.split()]
        lines += ['#line 1 "%s"' % path, head.replace('"../', '"%s/' % os.path.dirname(folder)), "namespace example_%s {" % name[:-3], text[begin:end], "}"]
    with tempfile.TemporaryDirectory() as place:
        source, command = os.path.join(place, "templates.cpp"), [
            "g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unknown-pragmas", "-include", os.path.join(ROOT, "tests", "cuda", "shim", "shim.h"),
            "-isystem", home + "/include", "-I", os.path.join(ROOT, "runtime", "include")]
        with open(source, "w") as file:
            file.write("\n".join(lines))
        return complains(command + [source]) + too_little_scratch_compiles(folder, lines, place, command)


def too_little_scratch_compiles(folder, lines, place, command):
    """How many templates of LINES let the plan have less scratch than they need."""
    with open(os.path.join(os.path.dirname(folder), "example_cuda.h")) as file:
        head = file.read()
    assert head.count("SCRATCH = 1 << 30") == 1
    with open(os.path.join(place, "example_cuda.h"), "w") as file:
        file.write(head.replace("SCRATCH = 1 << 30", "SCRATCH = 8"))
    source = os.path.join(place, "little.cpp")
    with open(source, "w") as file:
        file.write("\n".join(lines).replace('"%s/example_cuda.h"' % os.path.dirname(folder), '"%s/example_cuda.h"' % place))
    done = subprocess.run(command + [source], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    refused = set(re.findall(r"templates/cuda/(\w+)\.cu:\d+:\d+: error: static assertion failed", done.stdout))
    wanted = {name[:-3] for name in os.listdir(folder) if "static_assert(SCRATCH" in open(os.path.join(folder, name)).read()}
    for name in sorted(wanted - refused):
        print("templates/cuda/%s.cu compiles with 8 bytes of scratch" % name)
    return len(wanted - refused) + (not wanted)


main()

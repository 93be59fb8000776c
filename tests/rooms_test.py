#!/usr/bin/env python3
"""rooms_test.py: the folders of compiler/, dsl/ and runtime/ include only what lies below them, no pass names an operator
or a target, and what does so for a reason is listed here.  A file begins with its own name, and files that a comment
names exist.  Reads the sources of the repository; standard library only."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# What a folder may include beside its own headers; the files of compiler/ itself (main, command, pipeline, targets) may
# include all of it.
BELOW = {
    "compiler/base": set(),
    "dsl": {"compiler/base", "runtime/include/unet"},
    "compiler/solve": {"compiler/base"},
    "compiler/ir": {"compiler/base", "compiler/solve", "runtime/include/unet"},
    "compiler/front": {"compiler/base", "dsl", "compiler/ir", "runtime/include/unet"},
    "compiler/passes": {"compiler/base", "compiler/solve", "compiler/ir"},
    "compiler/emit": {"compiler/base", "compiler/ir", "compiler/passes", "runtime/include/unet"},
    "compiler/cpu": {"compiler/base", "compiler/ir", "compiler/emit"},
    "compiler/cuda": {"compiler/base", "compiler/ir", "compiler/emit", "runtime/cuda", "runtime/include/unet"},
    "compiler/onnx": {"compiler/base", "compiler/ir", "runtime/include/unet"},
    "compiler/search": {"compiler/base", "compiler/front", "compiler/ir", "compiler/solve", "compiler"},
    "compiler/report": {"compiler/base", "compiler/ir", "compiler/emit", "compiler/search", "runtime/include/unet"},
    "runtime/include/unet": set(),
    "runtime/library": {"runtime/include/unet"},
    "runtime/cuda": {"runtime/include/unet"},
    "runtime/driver": {"runtime/include/unet"},
    "runtime/small": {"runtime/include/unet", "runtime/driver", "runtime/library"},
    "runtime/mpi": {"runtime/include/unet", "runtime/driver"},
    "runtime/secret": {"runtime/include/unet", "runtime/driver"},
    "runtime/nccl": {"runtime/include/unet", "runtime/cuda"},
}
COMPILED = {"unet.tab.h"}  # made by bison

# The operators that a file names which is neither the operators' rules (ir/op_*.c, onnx/nodes.c) nor a target, and why.
NAMED = {
    "compiler/front/operators_arithmetic.c": {op: "what `+ - *` in a file mean" for op in
                                              ("OP_ADD", "OP_SUBTRACT", "OP_MULTIPLY", "OP_AFFINE", "OP_RECIPROCAL",
                                               "OP_DIVIDE", "OP_REPEAT")},
    "compiler/front/operators.c": {"OP_CONV": "what `linear` means", "OP_CONV_GROUPS": "what `groups` of a convolution mean",
                                    "OP_UPCONV_GROUPS": "the same of a transposed one"},
    "compiler/front/operators_norm.c": {op: "a normalisation is several nodes" for op in (
        "OP_BATCH_STATISTICS", "OP_NORM_STATISTICS", "OP_NORM_TRACK", "OP_NORM_FOLD", "OP_LAYER_NORM", "OP_SCALE", "OP_GROUP_NORM",
        "OP_INSTANCE_NORM", "OP_NORMALIZE")},
    "compiler/front/operators_parameter.c": {"OP_PARAMETER": "a table of relative positions is one"},
    "compiler/front/synchronise.c": {op: "takes apart what batch_norm is made of" for op in (
        "OP_BATCH_STATISTICS", "OP_NORM_STATISTICS", "OP_NORM_MERGE")},
    "compiler/front/operators_attention.c": {"OP_CHANNEL_ATTENTION": "linear attention is one without a softmax"},
    "compiler/front/operators_border.c": {op: "what `pad` and its like mean" for op in ("OP_MATCH", "OP_BORDER", "OP_ADD")},
    "compiler/front/operators_function.c": {"OP_GELU_TANH": "what `tanh` of a gelu means"},
    "compiler/front/operators_channel.c": {"OP_SLICE": "what `chunk` in a file means", "OP_POINT_SOFTMAX": "a softmax over points is another operator"},
    "compiler/front/label_losses.c": {"OP_ARGMAX": "metrics of one channel compare its classes",
                                     "OP_SOFTMAX": "losses of logits apply it", "OP_SIGMOID": "losses of logits apply it",
                                     "OP_OVERLAP_LOSS": "sums of the batch and of a sample are different operators"},
    "compiler/front/operators_vocabulary.c": {"OP_CONV": "the loss of many classes reads what a `linear` reads",
                                             "OP_VOCABULARY_LOSS": "cross entropy of many classes is another operator",
                                             "OP_VOCABULARY_ACCURACY": "and so is accuracy"},
    "compiler/front/operators_resize.c": {"OP_RESIZE_LABELS": "what `resize` of labels means"},
    "compiler/front/lower_name.c": {"OP_CONCAT": "a copy of a concat keeps the name of the concat"},
    "compiler/ir/graph.c": {"OP_CONCAT": "copies a concat for operators that cannot read segments"},
    "compiler/passes/autodiff.c": {"OP_ADD": "sums the gradients of a value that several read"},
    "compiler/passes/prune.c": {"OP_RETURN": "reads what a program hands out"},
    "compiler/passes/cast.c": {"OP_CAST": "the pass that makes them"},
    "compiler/passes/diffuse.c": {op: "the pass that makes them" for op in ("OP_DIFFUSE", "OP_DIFFUSE_TIME", "OP_MULTIPLY")},
    "compiler/passes/groups.c": {op: "the pass that makes them" for op in ("OP_GROUP_SUM", "OP_RANK_SUM", "OP_RANK_GATHER")},
    "compiler/passes/buckets.c": {"OP_RANK_START": "the pass that makes them"},
    "compiler/passes/schedule.c": {"OP_ZERO": "clears sums before a loop adds to them"},
    "compiler/passes/update.c": {op: "the pass that makes them" for op in ("OP_LOSS_SCALE", "OP_SGD", "OP_ADAM", "OP_RMSPROP",
                                                               "OP_GRADIENT_NORM")},
}
TARGETS = ("cpu", "cuda")
SUFFIXES = "cuh|cu|c|h|l|y|def"  # of what begins with its own name

failures = []


def fail(*words):
    failures.append(" ".join(words))


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def included_file(name, folder):
    for base in (folder, "compiler", "dsl", "runtime", "runtime/include", "."):
        path = os.path.normpath(os.path.join(base, name))
        if os.path.exists(os.path.join(ROOT, path)):
            return path
    return None


def check_includes(path, text):
    folder = os.path.dirname(path)
    for name in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text, flags=re.M):
        included = included_file(name, folder)
        if included is None or name in COMPILED:
            continue  # of the system
        below = os.path.dirname(included)
        if folder != "compiler" and below != folder and below not in BELOW[folder]:
            fail(path, "includes", included + ", which does not lie below", folder)


def check_operators(path, text):
    of_rules = re.match(r"compiler/(ir/op_|cpu/|cuda/|onnx/nodes)", path)
    for op in sorted(set(re.findall(r"\bOP_[A-Z][A-Z0-9_]*\b", text))):
        if not of_rules and op not in NAMED.get(path, {}):
            fail(path, "names the operator", op + "; a column of ops.def should say what it wants to know")


def check_targets(path, text):
    own = re.match(r"compiler/(%s)/" % "|".join(TARGETS), path)
    for name in re.findall(r'"(%s)"|\btarget_(%s)\b' % ("|".join(TARGETS), "|".join(TARGETS)), text):
        if not own:
            fail(path, "names the target", "".join(name) + "; a column of Target should say what it wants to know")


def check_first_line(path, text):
    name = os.path.basename(path)
    if not text.startswith("/* " + name + " - "):
        fail(path, "begins with a line that is not: /* " + name + " - ...")


def check_named_files(path, text, names):
    """A file named in a comment: by its folder, or alone.  Capitals stand for any name: NAME_plan.h, FOLDER/name.c."""
    for comment in re.findall(r"/\*.*?\*/", text, flags=re.S):
        for name in re.findall(r"[\w./*@-]*\w\.(?:%s)\b" % SUFFIXES, comment):
            folders = ("", "compiler", "runtime", "runtime/include", "templates", os.path.dirname(path))
            exists = any(glob.glob(os.path.join(ROOT, folder, name)) for folder in folders) if "/" in name else name in names
            if not exists and not re.search(r"@|\b(NAME|FOLDER)", name):
                fail(path, "names a file that is not there:", name)


def check_comments():
    paths = [os.path.relpath(path, ROOT) for folder in ("compiler", "dsl", "runtime", "templates", "generated")
             for path in glob.glob(os.path.join(ROOT, folder, "**", "*.*"), recursive=True)]
    names = {os.path.basename(path) for path in paths}
    for path in sorted(paths):
        if path.startswith("generated/") or not re.search(r"\.(%s|in)$" % SUFFIXES, path):
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        if not path.endswith(".in"):
            check_first_line(path, text)
        check_named_files(path, text, names)


def main():
    paths = [os.path.relpath(path, ROOT) for folder in ("compiler", "dsl", "runtime")
             for path in glob.glob(os.path.join(ROOT, folder, "**", "*.[chly]"), recursive=True)]
    named = {path: set() for path in NAMED}
    for path in sorted(paths):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = without_comments(file.read())
        if os.path.dirname(path) not in BELOW and os.path.dirname(path) != "compiler":
            fail(path, "lies in a folder that is not listed here")
            continue
        check_includes(path, text)
        if path.startswith("compiler/"):
            check_operators(path, text)
            check_targets(path, text)
        if path in named:
            named[path] = set(re.findall(r"\bOP_[A-Z][A-Z0-9_]*\b", text))
    check_comments()
    for path, operators in NAMED.items():
        for op in sorted(set(operators) - named[path]):
            fail(path, "no longer names", op + ": take it off the list here")
    print("\n".join(failures) if failures else "%d files include downwards; no pass asks for operator or target" % len(paths))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""zoo.py [NAME...] [--record] [--no-check | --gradients]: published networks that examples/from_pytorch converts.

The packages that publish the networks of zoo_nets.py make them, with random weights and small inputs.  The
converter converts each one in a process of its own, within a time limit, and compares the file with the network
in double precision.  A row tells: converted, with the largest relative error; or refused, with the converter's
line.  NAME is a network, or the beginning of several names; without one all are tried.  With --gradients those of
a training step are compared with PyTorch's, of networks that have one output (zoo_gradients.py).  --record keeps
the rows in zoo.tsv, --update writes the table of examples/README.md from there, and --agree, a test that needs no
PyTorch, compares the two.

Runs in a Python that has PyTorch and the packages; unetc is the one of build/, or named by UNETC=.
"""

import argparse
import datetime
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RECORD = os.path.join(HERE, "zoo.tsv")
README = os.path.join(ROOT, "examples", "README.md")
COLUMNS = ["name", "package", "size", "parameters", "error", "gradients", "result", "constructor"]
SECONDS = 400
BEGIN, END = "<!-- zoo.py --update writes from here -->", "<!-- to here -->"

import zoo_nets  # noqa: E402


# ---- one network -------------------------------------------------------------------------------------------


def made(name, constructor):
    """The network, with weights that follow from its name and hide nothing."""
    import torch
    words = zoo_nets.MODULES[name.partition("_")[0]]
    torch.manual_seed(zlib.crc32(name.encode()))
    network = eval(constructor, {word: importlib.import_module(module) for word, module in words.items()})
    for key, value in network.state_dict().items():
        if key.endswith("running_var"):
            value.uniform_(0.5, 2)
        elif value.is_floating_point() and value.numel() and (value.dim() == 1 or is_one_number(value)):
            value.uniform_(-1, 1)
    return network.eval()


def is_one_number(tensor):
    return bool((tensor == tensor.flatten()[0]).all())


def tried(name, sizes, constructor, check, gradients=False):
    """A row of the record, without the package."""
    if gradients:
        import zoo_gradients
    # others' packages mean another one by the name `safetensors`
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != HERE]
    sys.path.insert(0, os.path.join(ROOT, "examples", "from_pytorch"))
    import from_pytorch
    network = made(name, constructor)
    row = {"parameters": sum(parameter.numel() for parameter in network.parameters()), "result": "converts"}
    try:
        if gradients:
            row["gradients"] = "%.1e" % zoo_gradients.largest_error(from_pytorch, network, sizes[0])
            return row
        translation, text = from_pytorch.translated(network, sizes)
        from_pytorch.checking.accepted(text)
        if check:
            tensors = from_pytorch.weights.file_tensors(translation)
            row["error"] = "%.1e" % from_pytorch.compared(network, sizes, translation, text, tensors)
    except (from_pytorch.Inexpressible, from_pytorch.NotEqual) as error:
        row["result"] = re.sub(r"/\S*/site-packages/", "", " ".join(str(error).split()))
    return row


def alone(name, sizes, constructor, *flags):
    """The row of a network that is tried in a process of its own."""
    command = [sys.executable, "-B", os.path.abspath(__file__), "--alone", name, *flags]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, errors = (data.decode(errors="replace") for data in process.communicate(timeout=SECONDS))
        row = json.loads(out.splitlines()[-1]) if process.returncode == 0 else {
            "result": "fails: " + (errors.strip().splitlines() or ["no message"])[-1]}
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        row = {"result": "fails: it takes longer than %d s" % SECONDS}
    row.update(name=name, package=zoo_nets.PACKAGES[name.partition("_")[0]], constructor=constructor,
               size=" ".join("x".join(map(str, size)) for size in sizes))
    return {column: str(row.get(column, "")) for column in COLUMNS}


# ---- the record --------------------------------------------------------------------------------------------


def recorded():
    """The first line, and the rows by name."""
    with open(RECORD) as file:
        head, columns, *lines = file.read().splitlines()
    rows = [dict(zip(columns.split("\t"), line.split("\t"))) for line in lines]
    return head, {row["name"]: row for row in rows}


def versions():
    import importlib.metadata
    return ", ".join("%s %s" % (package, importlib.metadata.version(package))
                     for package in ["torch", *zoo_nets.PACKAGES.values()])


def record(rows, columns):
    """These columns of networks that were tried; others stay."""
    kept = recorded()[1] if os.path.exists(RECORD) else {}
    for row in rows:
        kept.setdefault(row["name"], dict(row)).update({column: row[column] for column in columns})
    names = {name for name, _, _ in zoo_nets.nets()}
    lines = ["# %s: %s" % (datetime.date.today(), versions()), "\t".join(COLUMNS)]
    lines += ["\t".join(kept[name][column] for column in COLUMNS) for name in sorted(kept) if name in names]
    with open(RECORD, "w") as file:
        file.write("\n".join(lines) + "\n")


# ---- the table of examples/README.md -----------------------------------------------------------------------


def reason(row):
    """The converter's line without paths: the class, the reason, the operator."""
    text = re.sub(r"^`[^`]*`, an? ", "", row["result"]).replace("|", "\\|")
    text = re.sub(r" \((?!aten\.)\S*:\d+\)$", "", text)
    return text if len(text) <= 240 else text[:240].rpartition(" ")[0] + " ..."


def table():
    """The record in Markdown: a row for each package, a line for each network that is refused."""
    head, rows = recorded()
    stepped = [float(row["gradients"]) for row in rows.values() if row["gradients"]]
    lines = [
        "%d of %d networks of these packages convert, with random weights and small inputs (%s)." % (
            sum(row["result"] == "converts" for row in rows.values()), len(rows), head[2:].partition(": ")[0]),
        "Programs write their outputs as floats, which are off by up to 6e-8.",
        "In double, gradients of a training step of %d of them are PyTorch's within %.1e of a tensor's norm "
        "(at least a millionth of the largest norm)." % (len(stepped), max(stepped)), "",
        "| package | networks | convert | largest relative error |", "|---|---|---|---|"]
    for package in zoo_nets.PACKAGES.values():
        own = [row for row in rows.values() if row["package"] == package]
        version = re.search(re.escape(package) + r" ([^\s,]+)", head)
        errors = [float(row["error"]) for row in own if row["error"]]
        lines.append("| %s %s | %d | %d | %.1e |" % (package, version.group(1), len(own), sum(
            row["result"] == "converts" for row in own), max(errors, default=0)))
    lines += ["", "| refused | why |", "|---|---|"]
    refused = [row for row in rows.values() if row["result"] != "converts"]
    lines += ["| `%s` | %s |" % (row["name"], reason(row)) for row in refused]
    return "\n".join(lines) + "\n"


def readme():
    """The text before the table, the table, and the text behind it."""
    with open(README) as file:
        before, _, rest = file.read().partition(BEGIN + "\n")
    inside, _, after = rest.partition(END + "\n")
    return before, inside, after


def update():
    before, _, after = readme()
    with open(README, "w") as file:
        file.write(before + BEGIN + "\n" + table() + END + "\n" + after)


def agree():
    """Returns what differs between the record, the list of networks and the README, or None."""
    _, rows = recorded()
    listed = {name: constructor for name, _, constructor in zoo_nets.nets()}
    if listed != {name: row["constructor"] for name, row in rows.items()}:
        return "zoo.tsv has other networks than zoo_nets.py: run zoo.py --record with the names of new ones"
    if readme()[1] != table():
        return "examples/README.md has another table than zoo.tsv: run zoo.py --update"
    return None


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*")
    parser.add_argument("--record", action="store_true", help="keep the rows in zoo.tsv")
    parser.add_argument("--no-check", action="store_true", help="convert alone, do not compare")
    parser.add_argument("--gradients", action="store_true", help="compare those of a training step")
    parser.add_argument("--update", action="store_true", help="write the table of examples/README.md")
    parser.add_argument("--agree", action="store_true", help="test that this table is the record's")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def tour(chosen, options):
    """Tries these networks, one by one."""
    measured = "gradients" if options.gradients else "error"
    columns = ["gradients"] if options.gradients else [column for column in COLUMNS if column != "gradients"]
    flags, rows = ["--no-check"] * options.no_check + ["--gradients"] * options.gradients, []
    for net in chosen:
        row = alone(*net, *flags)
        rows.append(row)
        print("%-32s %11s  %-8s %s" % (row["name"], row["parameters"], row[measured], row["result"]), flush=True)
        if options.record:
            record(rows, columns)
    print("%d of %d convert" % (sum(row["result"] == "converts" for row in rows), len(rows)))


def main():
    options = parsed()
    if options.update or options.agree:
        return update() if options.update else agree()
    chosen = [net for net in zoo_nets.nets() if not options.name or net[0].startswith(tuple(options.name))]
    if not options.alone:
        return tour(chosen, options)
    net = next(net for net in chosen if net[0] == options.name[0])
    print(json.dumps(tried(*net, not options.no_check, options.gradients)))
    return None


if __name__ == "__main__":
    sys.exit(main())

"""Compiles what was written, for double precision with reference kernels, and compares it with the network.

    accepted(text)                                  raises Inexpressible where unetc refuses the file
    compare(network, translation, text, tensors)    raises NotEqual, with the first layer that differs; Unable
                                                    where nothing can be compiled

The network runs once on random numbers, in double as well.  The program's numbers come out as floats, so results are equal
if they differ by no more than rounding to floats.
"""

import copy
import glob
import os
import re
import shlex
import shutil
import subprocess
import tempfile

from . import Inexpressible, naming, weights, writing
from .capture import labelled, replay

TOLERANCE = 2e-7
SINGLE_TOLERANCE = 1e-4
# The file has single precision of what the network computes of its weights.
FOLDED_TOLERANCE = 1e-5

MAIN = r"""
#include "m.h"
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
    static const size_t in[] = {%(inputs)s}, out[] = {%(outputs)s};
    enum { INS = sizeof in / sizeof *in, OUTS = sizeof out / sizeof *out };
    float *inputs[INS], *outputs[OUTS];
    const void *given[INS];
    void *made[OUTS];
    UnetError error;
    char *buffer = aligned_alloc(UNET_BUFFER_ALIGN, (M_BUFFER_BYTES + 63) / 64 * 64);
    if (buffer == NULL || m_init(buffer, M_BUFFER_BYTES, 0, 0, &error) != UNET_OK)
        return fprintf(stderr, "%%s\n", buffer ? error.text : "out of memory"), 1;
    if (count > 1 && unet_embed_load(buffer, words[1], &error) != UNET_OK)
        return fprintf(stderr, "%%s\n", error.text), 1;
    for (int i = 0; i < INS; i++) {
        given[i] = inputs[i] = malloc(in[i] * sizeof(float));
        if (inputs[i] == NULL || fread(inputs[i], sizeof(float), in[i], stdin) != in[i])
            return fprintf(stderr, "an input is cut short\n"), 1;
    }
    for (int o = 0; o < OUTS; o++)
        made[o] = outputs[o] = calloc(out[o], sizeof(float));
    if (unet_embed_forward(buffer, given, made, &error) != UNET_OK)
        return fprintf(stderr, "%%s\n", error.text), 1;
    for (int o = 0; o < OUTS; o++) {
        fwrite(outputs[o], sizeof(float), out[o], stdout);
        free(outputs[o]);
    }
    for (int i = 0; i < INS; i++)
        free(inputs[i]);
    free(buffer);
    return 0;
}
"""


class NotEqual(Exception):
    """The file computes something else than the network."""


class Unable(Exception):
    """There is nothing here to compile with."""


def c_compiler():
    words = shlex.split(os.environ.get("CC", ""))
    found = words if words and shutil.which(words[0]) else [name for name in ("cc", "gcc", "clang") if shutil.which(name)][:1]
    if not found:
        raise Unable("there is no C compiler")
    return found


def tools():
    unetc = naming.compiler()
    if unetc is None:
        raise Unable("there is no unetc in the PATH, nor is one named by UNETC=")
    return unetc, c_compiler()


def finished(command, **options):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    return result.returncode, result.stdout, result.stderr.decode(errors="replace").strip()


def evaluate(text, inputs, tensors):
    """What a program of the file TEXT makes of INPUTS: a tensor [channels, (depth,) height, width] for each output."""
    import torch
    unetc, cc = tools()
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "m.unet")
        with open(file, "w") as out:
            out.write(text)
        with open(os.path.join(folder, "m.safetensors"), "wb") as out:
            out.write(weights.safetensors(tensors))
        status, _, errors = finished([unetc, "-S", os.path.join(folder, "m"), "--programs=predict", "--precision=f64",
                                      "--kernels=reference", file])
        if status:
            raise Inexpressible("unetc refuses the file: %s" % refusal(errors))
        status, runtime, errors = finished([unetc, "runtime"])
        runtime = runtime.decode().strip()
        if status or not os.path.exists(os.path.join(runtime, "libraries")):
            raise Unable("unetc has no runtime library beside it")
        shapes = shapes_of(os.path.join(folder, "m", "m.h"))
        sizes = [count_of(shape) for shape in shapes]
        with open(os.path.join(folder, "main.c"), "w") as out:
            out.write(MAIN % {"inputs": ", ".join(str(tensor.numel()) for tensor in inputs),
                              "outputs": ", ".join(map(str, sizes))})
        with open(os.path.join(runtime, "libraries")) as words:
            libraries = words.read().split()
        sources = [path for path in glob.glob(os.path.join(folder, "m", "*.c")) if os.path.basename(path) != "main.c"]
        program = os.path.join(folder, "program")
        status, _, errors = finished(cc + ["-std=gnu11", "-O2", "-fopenmp", "-w", "-I" + os.path.join(folder, "m"),
                                           "-I" + os.path.join(runtime, "include"), os.path.join(folder, "main.c"),
                                           *sources, os.path.join(runtime, "libunet_runtime.a"), *libraries, "-o", program])
        if status:
            raise Unable("the C compiler fails: %s" % (errors.splitlines() or ["no message"])[-1])
        status, out, errors = finished([program] + ([os.path.join(folder, "m.safetensors")] if tensors else []),
                                       input=b"".join(t.float().contiguous().numpy().tobytes() for t in inputs))
    if status or len(out) != 4 * sum(sizes):
        raise Inexpressible("the program fails: %s" % (errors or "exit code %d" % status))
    parts = torch.frombuffer(bytearray(out), dtype=torch.float32).split(sizes)
    return [part.reshape(shape) for part, shape in zip(parts, shapes)]


def shapes_of(header):
    """Of the outputs, in the order of the file: the header lists them in a comment."""
    with open(header) as file:
        text = file.read().partition("forward takes")[2].partition("*/")[0]
    return [[int(size) for size in re.findall(r"\d+", sizes)] for sizes in re.findall(r"output_\w+((?:\[\d+\])+)", text)]


def count_of(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def accepted(text):
    """Raises Inexpressible where unetc, if there is one, refuses the file TEXT."""
    if naming.compiler() is not None:
        status, _, errors = finished([naming.compiler(), "check", "/dev/stdin"], input=text.encode())
        if status:
            raise Inexpressible("unetc refuses the file: %s" % refusal(errors))


def refusal(errors):
    """unetc's first error on one line, with the line of the file."""
    lines = errors.splitlines()
    source = next((line.partition("|")[2].strip() for line in lines if line.partition("|")[0].strip().isdigit()), "")
    return "%s%s" % (lines[0] if lines else "no message", ": `%s`" % source if source else "")


def exact(network, inputs):
    """The network's outputs, in double if it can, and the tolerance."""
    import torch
    generator = torch.random.get_rng_state()
    try:
        with torch.no_grad():
            try:
                double = with_single_eps(copy.deepcopy(network).cpu().double())
                return labelled(double(*[tensor.double() for tensor in inputs])), TOLERANCE
            except (RuntimeError, TypeError):
                return labelled(copy.deepcopy(network).cpu().float()(*[tensor.clone() for tensor in inputs])), SINGLE_TOLERANCE
    finally:
        torch.random.set_rng_state(generator)


def with_single_eps(network):
    """RMSNorm without an eps takes the one of its precision; the file has the one of single precision."""
    import torch
    for module in network.modules():
        if hasattr(module, "eps") and module.eps is None:
            module.eps = torch.finfo(torch.float32).eps
    return network


def difference(ours, theirs):
    """Relative, of two flat tensors."""
    ours, theirs = ours.double().flatten(), theirs.double().flatten()
    norm = theirs.norm().item()
    error = (ours - theirs).norm().item() / (norm if norm > 0 else 1)
    return error if error == error else float("inf")


def compare(network, translation, text, tensors):
    """Returns the largest relative difference."""
    import torch
    tools()
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(1, *shape[1:], generator=generator) for shape in theirs_of(translation)]
    for i, (ref, _) in enumerate(translation.program.inputs):
        if ref.name in translation.whole:
            inputs[i] = inputs[i].abs().round()
    answers, tolerance = exact(network, inputs)
    tolerance = max(tolerance, FOLDED_TOLERANCE) if translation.folded else tolerance
    if len(translation.inputs) != len(inputs):
        raise NotEqual("not equal: the file has %d inputs, the network %d" % (len(translation.inputs), len(inputs)))
    ours = evaluate(text, inputs, tensors)
    worst = 0
    if len(ours) != len(answers):
        raise NotEqual("not equal: the file has %d outputs, the network %d" % (len(ours), len(answers)))
    for (label, answer), mine, layout in zip(answers, ours, translation.layouts):
        answer = answer if layout is None else layout.of(answer)
        if mine.numel() != answer.numel():
            error, what = None, "%s of the file, %s of the network" % (
                "x".join(map(str, mine.shape)), "x".join(map(str, answer.shape[1:])))
        else:
            error = difference(mine, answer)
            what = "output%s differs by %.2g" % (" " + label if label else "", error)
        if error is None or not error <= tolerance:
            raise NotEqual("not equal: %s%s" % (what, first_difference(network, translation, inputs, tensors, tolerance)))
        worst = max(worst, error)
    return worst


def theirs_of(translation):
    """The shapes of the network's inputs, whatever the file says."""
    return [shape for _, shape in translation.program.inputs]


def first_difference(network, translation, inputs, tensors, tolerance):
    """", first at layer ...", by a file of which each tensor is an output."""
    double = copy.deepcopy(network).cpu().double()
    state = {path: tensor.detach() for path, tensor in double.state_dict(keep_vars=True).items()}
    try:
        seen = replay(translation.program, [tensor.double() for tensor in inputs], state)
        live = {name for call in translation.calls for name in call.outputs}
        probes = [(node, name, value) for node, name, value in translation.probes
                  if value.base in live and value.in_order() and not value.pads]
        names = [value.base for _, _, value in probes]
        answers = evaluate(writing.flat_text(translation, names), inputs, tensors)
    except (Inexpressible, RuntimeError, TypeError) as error:
        return " (where is not known: %s)" % str(error).partition("\n")[0]
    for (node, name, value), mine in zip(probes, answers):
        if seen[name].numel() != mine.numel() or not difference(mine, seen[name]) <= tolerance:
            return ", first at layer %s (aten.%s%s)" % (
                "`%s`" % node.modules[-1][0] if node.modules else "of the network itself", node.name, ", " + node.line if node.line else "")
    return ", though each tensor is equal: an operator that changes in place, or the converter's writing, is at fault"

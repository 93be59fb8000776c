#!/usr/bin/env python3
"""from_pytorch_check_test.py --unetc=UNETC --runtime=LIBRARY: examples/from_pytorch finds its own mistakes.

Every row of its table of operators accounts for every argument of PyTorch's schemas.  With a repair taken out again the
comparison says "not equal", and where.  The command line answers in one line, never by a traceback.  Weights that a program
trained come back, and the network then computes what the program does.  Exits with 77 where there is no PyTorch.
"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile

import with_pytorch

FORMED = "from_pytorch_modules.py"
TRAIN = """
target truth : {kind}({size})
train {{
    loss      mse(result, truth)
    optimizer sgd(lr = 0.05)
    batch 1
    steps 1
}}
"""
STEP = r"""
#include "m.h"
#include <stdio.h>
#include <stdlib.h>

static float *numbers(size_t count) {
    float *values = malloc(count * sizeof *values);
    if (values == NULL || fread(values, sizeof *values, count, stdin) != count)
        exit(1);
    return values;
}

int main(int count, char **words) {
    const size_t in = %(input)d, out = %(output)d;
    float *const x = numbers(in), *const target = numbers(out);
    const void *const inputs[] = {x, target};
    void *const outputs[] = {malloc(out * sizeof(float))};
    UnetError error;
    double loss;
    char *buffer = aligned_alloc(UNET_BUFFER_ALIGN, (M_BUFFER_BYTES + 63) / 64 * 64);
    if (count != 3 || buffer == NULL || m_init(buffer, M_BUFFER_BYTES, 2, 0, &error) != UNET_OK ||
        unet_embed_load(buffer, words[1], &error) != UNET_OK ||
        unet_embed_train_step(buffer, 1, inputs, 0.05, &loss, &error) != UNET_OK ||
        unet_embed_save(buffer, words[2], &error) != UNET_OK ||
        unet_embed_forward(buffer, inputs, outputs, &error) != UNET_OK)
        return fprintf(stderr, "%%s\n", error.text), 1;
    const int cut = fwrite(outputs[0], sizeof(float), out, stdout) != out;
    free(outputs[0]);
    free(x);
    free(target);
    free(buffer);
    return cut;
}
"""


# ---- the table ----------------------------------------------------------------------------------------------------


def overloads(torch, name):
    """PyTorch's operators of a row: itself, and as `name_`; none where this version has none."""
    word, _, overload = name.partition(".")
    for variant in (word, word + "_"):
        packet = getattr(torch.ops.aten, variant, None)
        found = getattr(packet, overload or "default", None) if packet is not None else None
        if found is not None:
            yield found


def check_table(torch, table):
    """Each argument is read, makes no difference, or has a default with which it is refused unless it has that."""
    found, read = 0, {}
    for name, row in table.ROWS.items():
        for function in overloads(torch, name):
            found += word_of(function) == name.partition(".")[0]
            for argument in function._schema.arguments:
                read.setdefault(row.rule, set()).add(argument.name)
                assert argument.name in row.reads or argument.name in row.harmless or argument.has_default_value(), (
                    "%s: nobody reads `%s`" % (function, argument.name))
    assert found >= 0.8 * len(table.ROWS), "of %d rows PyTorch knows %d" % (len(table.ROWS), found)
    for name, row in table.ROWS.items():
        for argument in row.reads:
            assert argument in read.get(row.rule, [argument]), "%s reads `%s`, which is no argument of it" % (name, argument)
    print("%d operators of PyTorch %s, all of their arguments accounted for" % (found, torch.__version__))


def word_of(function):
    return function._schema.name.partition("::")[2]


def check_unread(module, table, modules):
    """An argument that no row knows is refused where it is not its default."""
    import torch.nn.functional as F
    row = table.ROWS["leaky_relu"]
    with replaced(row, "reads", ["self"]), replaced(row, "rule", table.ROWS["relu"].rule):
        says(module, lambda: module.text_of(modules.of(lambda s, x: F.leaky_relu(x, 0.3))(), modules.IMAGE),
             module.Inexpressible, "its argument `negative_slope` is 0.3")


# ---- repairs taken out --------------------------------------------------------------------------------------------


@contextlib.contextmanager
def replaced(owner, name, value):
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def says(module, action, kind, words):
    try:
        action()
    except kind as error:
        assert words in str(error), "`%s` does not say `%s`" % (error, words)
        assert "\n" not in str(error), str(error)
    else:
        raise AssertionError("nothing says `%s`" % words)


def blind(rule, argument):
    """A rule that takes ARGUMENT for false."""
    def other(n):
        read = n.raw
        n.raw = lambda name: False if name == argument else read(name)
        return rule(n)
    return other


def constant_is_input(translation_type, value_type, weight_type):
    """A constant becomes an input of its own."""
    def other(n, side):
        if isinstance(side, (value_type, weight_type, int, float)):
            return side
        translation, name = n.translation, "constant"
        translation.inputs.append((name, list(side.shape)))
        translation.size[name] = tuple(side.shape[1:])
        return value_type(name, side.shape[1:])
    return other


def lost_part(self, n, seen, result):
    """What is changed in place is seen by that tensor alone."""
    if not seen.views:
        seen.cell.value = result


def defects(module, modules):
    """(what takes a repair out, what makes a network that needs it, its size, what the comparison says)."""
    from converter import layers, outputs, points, sizes, table, translate, values
    known = {name: (make, size) for name, make, size, *_ in modules.RIGHT + modules.REFUSED}
    rows = table.ROWS
    ratio = lambda factors, before, after: ratio_of_sizes(before, after)  # noqa: E731
    both = lambda kernel, dilation: [(d * (k - 1) // 2,) * 2 for k, d in zip(kernel, dilation)]  # noqa: E731
    attribute = constant_is_input(translate.Translation, values.Value, values.Weight)
    return [
        (layers, "same_zeros", both, *known["same_even"], "4x7x7 of the file, 4x8x8 of the network, first at layer"),
        (layers, "same_zeros", both, *known["same_four"], "first at layer"),
        (sizes, "resize_scale", ratio, *known["scale_factor"], "first at layer of the network itself (aten.upsample_bilinear2d.vec"),
        (sizes, "resize_scale", ratio, *known["scale_factor_15"], "first at layer of the network itself (aten.upsample_bilinear2d.vec"),
        (rows["batch_norm"], "rule", blind(rows["batch_norm"].rule, "training"), *known["batch_statistics"],
         "first at layer of the network itself (aten.batch_norm"),
        (points, "scalar", attribute, *known["attribute"], "the file has 2 inputs, the network 1"),
        (translate.Translation, "write_back", lost_part, *known["in_place_on_rows"], "an operator that changes in place"),
        (outputs.Layout, "of", lambda self, tensor: tensor, *known["tokens_out"], "not equal: output differs by"),
        (rows["dropout"], "rule", blind(rows["dropout"].rule, "train"), *known["always_dropout"], "first at layer"),
        (rows["leaky_relu"], "rule", rows["relu"].rule, *leaky(modules), "first at layer `1.1`"),
    ]


def ratio_of_sizes(before, after):
    import fractions
    return [fractions.Fraction(b, a) for a, b in zip(before, after)]


def leaky(modules):
    from torch import nn

    def make():
        return nn.Sequential(modules.conv(), nn.Sequential(modules.conv(4, 4), nn.LeakyReLU(0.2)), modules.conv(4, 2))
    return make, modules.IMAGE


def check_defects(module, modules):
    import torch
    known = defects(module, modules)
    for owner, name, wrong, make, size, words in known:
        torch.manual_seed(0)
        network = make()
        with_pytorch.spread(network)
        with tempfile.TemporaryDirectory() as folder, replaced(owner, name, wrong):
            says(module, lambda: module.convert(network, size, os.path.join(folder, "m.unet")), module.NotEqual, words)
            assert sorted(os.listdir(folder)) == ["m.safetensors", "m.unet"], "files are kept"
    print("%d defects found" % len(known))


# ---- the command line ---------------------------------------------------------------------------------------------


def run(folder, *words, script="from_pytorch.py", **environment):
    path = os.path.join(os.path.dirname(with_pytorch.converter().__file__), script)
    result = subprocess.run([sys.executable, "-B", path, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            universal_newlines=True, env={**os.environ, **environment})
    lines = [line for line in result.stderr.splitlines() if "Warning" not in line]
    assert "Traceback" not in result.stderr, result.stderr
    return result.returncode, result.stdout, "\n".join(lines)


def expect(answer, status, words):
    assert answer[0] == status and words in answer[1] + answer[2], "%s %s: `%s` is missing" % (answer[0], answer[1:], words)


def check_command(module, modules):
    here = os.path.dirname(os.path.abspath(__file__))
    made = "%s:{}" % os.path.join(here, FORMED)
    with tempfile.TemporaryDirectory() as folder:
        expect(run(folder, made.format("conv(3, 4)"), "--size=3x8x8"), 0, "conv2d.unet and conv2d.safetensors")
        expect(run(folder, made.format("Twin()"), "--size=3x8x8", "-o", "t.unet", "--no-check"), 0, "t.unet and t.safetensors")
        expect(run(folder, made.format("volume()"), "--size=2x4x4x4", "-o", "v.unet"), 0, "v.unet and")
        expect(run(folder, made.format("conv(3, 4)"), "--size=8"), 1, "--size=8: write channels, height and width")
        expect(run(folder, made.format("conv(3, 4)"), "--size=4x8x8"), 1, "the network itself fails on 4x8x8")
        expect(run(folder, made.format("conv(3, 4)"), "--size=3x8x8", "--size=3x8x8"), 1, "the network itself fails")
        expect(run(folder, made.format("nothing()"), "--size=3x8x8"), 1, "NameError: name 'nothing' is not defined")
        expect(run(folder, "nowhere.py:Net", "--size=3x8x8"), 1, "nowhere.py")
        expect(run(folder, made.format("IMAGE"), "--size=3x8x8"), 1, "a tuple is no torch.nn.Module")
        refused = run(folder, made.format("nn.ConvTranspose2d(2, 2, 3, dilation=2)"), "--size=2x8x8")
        expect(refused, 1, "from_pytorch.py: ConvTranspose2d: a transposed convolution with a dilation")
        assert refused[2].count("\n") == 0, refused
        quiet = run(folder, made.format("looking_at_numbers()"), "--size=3x8x8", "-o", "q.unet")
        assert quiet[0] == 0 and not quiet[2], quiet
        moved = made.format("Formed(lambda s, x: (s.c(x), s.c(x).permute(0, 2, 3, 1)), c=conv())")
        expect(run(folder, moved, "--size=3x8x8", "-o", "p.unet"), 0, "output `result2`: the module returns the axes "
               "(batch, height, width, channels), the file has (batch, channels, height, width)")
        tool = tempfile.mkdtemp(dir=folder)
        expect(run(folder, made.format("conv(3, 4)"), "--size=3x8x8", PATH=tool, CC=""), 0,
               "not compared with the network: there is no C compiler")
        expect(run(folder, made.format("Twin()"), "t.unet", "t.safetensors", script="to_pytorch.py"), 0, "t.pt")
        expect(run(folder, made.format("Twin()"), "t.unet", "conv2d.safetensors", script="to_pytorch.py"), 1,
               "which the network has not")
        expect(run(folder, made.format("Twin()"), "t.unet", "t.unet", script="to_pytorch.py"), 1, "no whole safetensors file")
        expect(run(folder, made.format("LayerNorm(3)"), "t.unet", "t.safetensors", script="to_pytorch.py"), 1,
               "it was made of another one")
    check_exit_code(module, modules)


def check_exit_code(module, modules):
    """A file that is not equal: exit code 1, and the word."""
    from converter import layers
    argv, here = sys.argv, os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder, replaced(layers, "same_zeros", layers.no_zeros):
        sys.argv = ["from_pytorch.py", os.path.join(here, FORMED) + ":nn.Conv2d(3, 4, 2, padding='same')", "--size=3x8x8", "-o",
                    os.path.join(folder, "m.unet")]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                module.main()
        except SystemExit as error:
            assert str(error).startswith("from_pytorch.py: not equal: "), error  # a text is exit code 1
        else:
            raise AssertionError("exit code 0")
        finally:
            sys.argv = argv


def check_words():
    """No word of the language becomes a name, and both lists of words know the operators."""
    from converter import naming
    words = naming.words()
    assert {"conv", "layer_norm", "block", "volume", "train", "scale"} <= words
    for word in words:
        name = naming.snake("".join(part.capitalize() for part in word.split("_")))
        assert name not in words, "a class %s would be a block %s" % (word, name)
    naming.words.cache_clear()
    with replaced(naming, "compiler", lambda: None):
        listed = naming.words()
    naming.words.cache_clear()
    assert {"conv", "layer_norm", "block", "volume", "train", "scale"} <= listed, "the editors' list"


def check_paths(module, modules):
    """A weight of two paths is written once, under the first; modules stay in the mode in which they were."""
    from converter import weights
    network = modules.Twin()
    network.encoder[0].eval()
    modes = [part.training for part in network.modules()]
    with tempfile.TemporaryDirectory() as folder:
        names = list(weights.read_safetensors(module.convert(network, modules.IMAGE, os.path.join(folder, "m.unet"), False)))
    assert names == ["%s.%s" % (layer, word) for layer in ("encoder.0", "encoder.2", "decoder.last")
                     for word in ("weight", "bias")], names
    assert [part.training for part in network.modules()] == modes


def check_loop(module, modules):
    """Fifteen equal layers are a loop."""
    body = [line for line in module.text_of(modules.repeats(), modules.IMAGE).splitlines() if "conv(" in line]
    assert len(body) == 3, body


def check_smaller(module, nets):
    """The comparison takes a smaller input where the file is the same, and none where it is another."""
    network, size = nets.UNet(), (3, 128, 256)
    translation, text = module.translated(network, size)
    assert [shape for _, shape in module.smaller(network, size, translation, text)[0].inputs] == [[1, 3, 32, 64]]
    size = (3, 72, 72)
    translation, text = module.translated(network, size)
    assert module.smaller(network, size, translation, text)[1] is text, "a smaller one needs no rows of zeros"


# ---- there and back -----------------------------------------------------------------------------------------------


def compile_step(tools, folder, sizes):
    from converter import check
    runtime = os.path.dirname(os.path.abspath(tools.runtime))
    subprocess.run([tools.unetc, "-S", os.path.join(folder, "m"), "--precision=f64", "--kernels=reference",
                    os.path.join(folder, "m.unet")], check=True)
    with open(os.path.join(folder, "step.c"), "w") as file:
        file.write(STEP % sizes)
    with open(os.path.join(runtime, "libraries")) as file:
        libraries = file.read().split()
    sources = [os.path.join(folder, "m", name) for name in os.listdir(os.path.join(folder, "m"))
               if name.endswith(".c") and name != "main.c"]
    subprocess.run(check.c_compiler() + ["-std=gnu11", "-O1", "-fopenmp", "-w", "-I" + os.path.join(folder, "m"),
                                         "-I" + tools.include, os.path.join(folder, "step.c"), *sources, tools.runtime, *libraries,
                                         "-o", os.path.join(folder, "step")], check=True)


def check_trained(tools, module, name, make, size):
    """A program trains a step; the network with these weights computes what the program does."""
    import torch
    import to_pytorch
    from converter import check
    torch.manual_seed(0)
    network = make().eval()
    x = torch.rand(1, *size)
    with torch.no_grad():
        before = network.double()(x.double())
        network.float()
    with tempfile.TemporaryDirectory() as folder:
        path, after = os.path.join(folder, "m.unet"), os.path.join(folder, "trained.safetensors")
        weights = module.convert(network, size, path, check=False)
        with open(path, "a") as file:
            file.write(TRAIN.format(kind={2: "signal", 3: "image", 4: "volume"}[len(size)],
                                    size=", ".join(str(number) for number in [*before.shape[1:], 1, 1][:len(size)])))
        compile_step(tools, folder, {"input": x.numel(), "output": before.numel()})
        out = subprocess.run([os.path.join(folder, "step"), weights, after], check=True, stdout=subprocess.PIPE,
                             input=x.numpy().tobytes() + (before * 0 + 1).float().numpy().tobytes()).stdout
        to_pytorch.load_trained(network, path, after)
    theirs = torch.frombuffer(bytearray(out), dtype=torch.float32)
    with torch.no_grad():
        ours = network.double().eval()(x.double()).flatten()
    assert check.difference(theirs, before) > 1e-4, name + ": training changed nothing"
    assert check.difference(theirs, ours) < 1e-5, "%s: off by %.2g" % (name, check.difference(theirs, ours))


def main():
    tools = with_pytorch.options(__doc__)
    module = with_pytorch.converter()
    import torch
    import from_pytorch_modules as modules
    import from_pytorch_nets as nets
    from converter import table
    sys.modules.pop("safetensors", None)
    check_table(torch, table)
    check_unread(module, table, modules)
    check_words()
    check_paths(module, modules)
    check_loop(module, modules)
    check_smaller(module, nets)
    check_defects(module, modules)
    check_command(module, modules)
    known = {name: (make, size) for name, make, size in nets.NETS + modules.RIGHT}
    trained = ["unet", "encoder", "channels_last", "dash", "own_kernel", "flattened", "twice", "two_paths", "weight_factor"]
    for name in trained:
        check_trained(tools, module, name, *known[name])
    print("%d trained networks came back" % len(trained))
    return 0


sys.exit(main())

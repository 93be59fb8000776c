#!/usr/bin/env python3
"""from_pytorch.py - writes a torch.nn.Module as a .unet file, and its weights as a safetensors file.

    from_pytorch.py MODULE:EXPRESSION --size=CxHxW [-o NAME.unet]

MODULE is a Python file or an importable module, EXPRESSION what makes the network: `unet.py:UNet(3, 2)`.  Out of Python:

    from from_pytorch import convert
    convert(network, (3, 256, 256), "unet.unet")        # and unet.safetensors

`torch.export` (PyTorch 2.5 or newer) records what the network computes, as in evaluation.  A module that repeats becomes a
block; what differs between its calls becomes the block's arguments.  Every layer has the name it has in the state dict, so
the weights load as they are.  What the language has no words for is an error that names the module and its line.

The .unet file holds the network alone: add the sections `data` and `train` to train it.
"""

import argparse
import collections
import fractions
import importlib
import importlib.util
import json
import math
import os
import re
import struct
import sys

LINE = 110
RESERVED = {"let", "input", "target", "output", "block", "layer", "return", "for", "in", "if", "elif", "else", "and", "or",
            "not", "true", "false"}


class Inexpressible(Exception):
    pass


# ---- what the network computes: a list of calls -------------------------------------------------------------------


class Call:
    """An operator, or later a block, applied to values.

    inputs: the values, by name.  outputs: likewise.  arguments: [(keyword or None, value)], keyword None: by position.
    layer: the name of its weights in the state dict, or None.  modules: [(path, class)] of those around it, outermost
    first, without the network itself.  block: what is called, where it is one.
    """

    def __init__(self, function, inputs, outputs, arguments=(), layer=None, modules=(), block=None):
        self.function, self.inputs, self.outputs = function, list(inputs), list(outputs)
        self.arguments, self.layer, self.modules, self.block = list(arguments), layer, list(modules), block


def _pair(value):
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * 2 if len(values) == 1 else values


def _number(values):
    """[3, 3] is 3."""
    values = _pair(values)
    return values[0] if values[0] == values[1] else values


def _given(keyword_, value, default):
    return [(keyword_, value)] if value != default else []


class Node:
    """A node of the graph, its arguments by their names in the operator's schema."""

    def __init__(self, tracer, node):
        self.tracer, self.node, self.target = tracer, node, node.target
        schema = node.target._schema.arguments
        values = list(node.args) + [None] * (len(schema) - len(node.args))
        self.argument = {a.name: node.args[i] if i < len(node.args) else node.kwargs.get(a.name, a.default_value)
                         for i, a in enumerate(schema)} if values is not None else {}

    def __getitem__(self, name):
        return self.argument[name]

    def shape(self, name):
        return list(self.argument[name].meta["val"].shape)

    def layer(self, *names):
        """What parameters and statistics have in front of their last dot."""
        paths = [self.tracer.weight[self.argument[name].name] for name in names if self.argument.get(name) is not None]
        return paths[0].rpartition(".")[0] if paths else None

    def call(self, function, arguments=(), inputs=("input",), layer=None):
        self.tracer.add(self.node, function, [self.tracer.value(self.argument[name]) for name in inputs], arguments, layer)

    def refuse(self, why):
        stack = list((self.node.meta.get("nn_module_stack") or {}).values())
        path, name = stack[-1] if stack else ("", "the network")
        name = name if isinstance(name, str) else name.__name__
        line = re.findall(r'File "([^"]+)", line (\d+)', self.node.meta.get("stack_trace") or "")
        raise Inexpressible("%s%s: %s (%s)%s" % (
            "`%s`, a " % path if path else "", name.rpartition(".")[2], why, self.target,
            "\n    %s:%s" % line[-1] if line else ""))


RULES = {}


def rule(*targets):
    def register(function):
        for target in targets:
            RULES[target] = function
        return function
    return register


def _same_padding(padding, kernel, dilation):
    return all(k % 2 == 1 and p == d * (k - 1) // 2 for p, k, d in zip(_pair(padding), kernel, _pair(dilation)))


@rule("conv2d", "conv2d.padding", "convolution")
def _conv(n):
    out, _, *kernel = n.shape("weight")
    padding, dilation = n["padding"], n["dilation"]
    if isinstance(padding, str):
        padding = 0 if padding == "valid" else [d * (k - 1) // 2 for d, k in zip(_pair(dilation), kernel)]
    if n.argument.get("transposed"):
        return n.refuse("write it as ConvTranspose2d")
    same = _same_padding(padding, kernel, dilation)
    return n.call("conv", [(None, out), (None, _number(kernel))] + _given("stride", _number(n["stride"]), 1)
                  + ([] if same else [("padding", _number(padding))]) + _given("dilation", _number(dilation), 1)
                  + _given("groups", n["groups"], 1) + _given("bias", n["bias"] is not None, True),
                  layer=n.layer("weight"))


@rule("conv_transpose2d.input")
def _upconv(n):
    _, out, *kernel = n.shape("weight")
    if n["groups"] != 1 or _number(n["dilation"]) != 1:
        n.refuse("a transposed convolution in groups, or with a dilation")
    kernel, stride = _number(kernel), _number(n["stride"])
    n.call("upconv", [(None, out)] + ([(None, kernel)] if kernel != 2 or stride != 2 else []) + _given("stride", stride, kernel)
           + _given("padding", _number(n["padding"]), 0) + _given("output_padding", _number(n["output_padding"]), 0)
           + _given("bias", n["bias"] is not None, True), layer=n.layer("weight"))


@rule("batch_norm")
def _batch_norm(n):
    if n["weight"] is None or n["running_mean"] is None:
        n.refuse("batch_norm without weights, or without running statistics")
    n.call("batch_norm", _given("eps", n["eps"], 1e-5) + _given("momentum", n["momentum"], 0.1), layer=n.layer("weight"))


@rule("instance_norm")
def _instance_norm(n):
    if n["running_mean"] is not None:
        n.refuse("instance_norm with running statistics")
    n.call("instance_norm", _given("eps", n["eps"], 1e-5) + _given("affine", n["weight"] is not None, False),
           layer=n.layer("weight"))


@rule("group_norm")
def _group_norm(n):
    if n["weight"] is None:
        n.refuse("group_norm without weights")
    n.call("group_norm", [(None, n["num_groups"])] + _given("eps", n["eps"], 1e-5), layer=n.layer("weight"))


@rule("relu", "relu_", "sigmoid", "sigmoid_", "tanh", "tanh_", "silu", "silu_")
def _map(n):
    n.call(n.target._schema.name.partition("::")[2].rstrip("_"), inputs=("self",))


@rule("leaky_relu", "leaky_relu_")
def _leaky_relu(n):
    n.call("leaky_relu", _given("slope", n["negative_slope"], 0.01), inputs=("self",))


@rule("gelu")
def _gelu(n):
    if n["approximate"] != "none":
        n.refuse("an approximate gelu")
    n.call("gelu", inputs=("self",))


@rule("elu", "elu_")
def _elu(n):
    if (n["alpha"], n["scale"], n["input_scale"]) != (1, 1, 1):
        n.refuse("an elu with factors")
    n.call("elu", inputs=("self",))


@rule("prelu")
def _prelu(n):
    n.call("prelu", _given(None, math.prod(n.shape("weight")), 1), inputs=("self",), layer=n.layer("weight"))


@rule("softmax.int")
def _softmax(n):
    if n["dim"] not in (1, -3):
        n.refuse("softmax over an axis other than channels")
    n.call("softmax", inputs=("self",))


@rule("max_pool2d")
def _max_pool(n):
    kernel = _number(n["kernel_size"])
    stride = _number(n["stride"]) if n["stride"] else kernel
    n.call("max_pool", ([(None, kernel)] if kernel != 2 or stride != 2 else []) + _given("stride", stride, kernel)
           + _given("padding", _number(n["padding"]), 0) + _given("dilation", _number(n["dilation"]), 1)
           + _given("ceil", n["ceil_mode"], False), inputs=("self",))


@rule("avg_pool2d")
def _avg_pool(n):
    kernel = _number(n["kernel_size"])
    stride = _number(n["stride"]) if n["stride"] else kernel
    padding = _number(n["padding"])
    if n["ceil_mode"] or n["divisor_override"] is not None or (padding != 0 and not n["count_include_pad"]):
        n.refuse("an average pool that rounds up, or counts other points")
    n.call("avg_pool", ([(None, kernel)] if kernel != 2 or stride != 2 else []) + _given("stride", stride, kernel)
           + _given("padding", padding, 0), inputs=("self",))


@rule("adaptive_avg_pool2d")
def _adaptive_avg_pool(n):
    n.call("adaptive_avg_pool", [(None, _number(n["output_size"]))], inputs=("self",))


@rule("mean.dim")
def _mean(n):
    axes = sorted(axis % 4 for axis in n["dim"])
    if n["keepdim"] and axes == [1]:
        n.call("channel_mean", inputs=("self",))
    elif n["keepdim"] and axes == [2, 3]:
        n.call("adaptive_avg_pool", [(None, 1)], inputs=("self",))
    else:
        n.refuse("a mean over other axes than channels, or height and width, all kept")


@rule("amax")
def _amax(n):
    if [axis % 4 for axis in n["dim"]] != [1] or not n["keepdim"]:
        n.refuse("a maximum over other axes than channels")
    n.call("channel_max", inputs=("self",))


@rule("upsample_nearest2d.vec", "upsample_bilinear2d.vec", "_upsample_nearest_exact2d.vec")
def _resize(n):
    before, after = n.shape("input")[2:], list(n.node.meta["val"].shape)[2:]
    scale = [fractions.Fraction(a, b) for a, b in zip(after, before)]
    mode = {"upsample_nearest2d": "nearest", "upsample_bilinear2d": "bilinear"}.get(
        n.target._schema.name.partition("::")[2], "nearest_exact")
    n.call("resize", [("scale", _number(scale))] + _given("mode", mode, "nearest")
           + _given("align_corners", bool(n.argument.get("align_corners")), False))


@rule("pixel_shuffle")
def _pixel_shuffle(n):
    n.call("pixel_shuffle", [(None, n["upscale_factor"])], inputs=("self",))


@rule("pixel_unshuffle")
def _pixel_unshuffle(n):
    n.call("pixel_unshuffle", [(None, n["downscale_factor"])], inputs=("self",))


@rule("dropout", "dropout_", "feature_dropout", "feature_dropout_")
def _dropout(n):
    name = "dropout_channels" if "feature" in n.target._schema.name else "dropout"
    if n["p"] == 0:
        return n.tracer.same(n.node, n["input"])
    return n.call(name, _given("p", n["p"], 0.5))


@rule("cat")
def _cat(n):
    if n["dim"] % 4 != 1:
        n.refuse("concatenation along another axis than channels")
    n.tracer.add(n.node, "concat", [n.tracer.value(v) for v in n["tensors"]], [], None)


@rule("chunk", "split.Tensor", "split_with_sizes")
def _chunk(n):
    parts = [part.shape[1] for part in n.node.meta["val"]]
    if n["dim"] % 4 != 1 or len(set(parts)) != 1:
        n.refuse("parts of different sizes, or of another axis than channels")
    n.call("chunk", [(None, len(parts))], inputs=("self",))


@rule("pad")
def _pad(n):
    if any(n["pad"]):
        n.refuse("zeros around an image; choose a size at which none are needed, or write `match` by hand")
    n.tracer.same(n.node, n["self"])


@rule("clone", "contiguous", "detach", "alias", "to.dtype", "lift_fresh_copy", "_assert_tensor_metadata", "expand_as")
def _same(n):
    if n.node.meta.get("val") is not None and list(n.node.meta["val"].shape) != n.shape(next(iter(n.argument))):
        n.refuse("another shape")
    n.tracer.same(n.node, n[next(iter(n.argument))])


@rule("add.Tensor", "add_.Tensor", "sub.Tensor", "sub_.Tensor", "mul.Tensor", "mul_.Tensor", "div.Tensor", "div_.Tensor",
      "neg", "rsub.Scalar", "add.Scalar", "mul.Scalar", "sub.Scalar", "div.Scalar")
def _arithmetic(n):
    name = n.target._schema.name.partition("::")[2].rstrip("_")
    sign = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rsub": "-", "neg": "-"}[name]
    left, right = n["self"], n.argument.get("other")
    if n.argument.get("alpha", 1) != 1:
        n.refuse("a sum with a factor")
    if name == "rsub":
        left, right = right, left
    n.tracer.arithmetic(n, sign, left, right)


class Tracer:
    """Turns the nodes of an exported program into calls."""

    def __init__(self, program):
        signature = program.graph_signature
        self.weight = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
        self.alias, self.calls, self.parts, self.inputs, self.outputs = {}, [], {}, [], []
        for node in program.graph.nodes:
            self.visit(node)

    def value(self, node):
        return self.alias.get(node.name, node.name)

    def same(self, node, other):
        self.alias[node.name] = self.value(other)

    def modules(self, node):
        """Of those around a node; torch's own are its operators, but for those that only hold others."""
        stack = [(path, name if isinstance(name, str) else name.__module__ + "." + name.__name__)
                 for path, name in (node.meta.get("nn_module_stack") or {}).values()]
        return [(path, name) for path, name in stack if path and (
            not name.startswith("torch.nn.modules.") or name.startswith("torch.nn.modules.container."))]

    def add(self, node, function, inputs, arguments, layer):
        outputs = [node.name]
        if isinstance(node.meta["val"], (list, tuple)):
            outputs = ["%s.%d" % (node.name, i) for i in range(len(node.meta["val"]))]
        self.calls.append(Call(function, inputs, outputs, arguments, layer, self.modules(node)))

    def arithmetic(self, n, sign, left, right):
        """Of two values, or of one and a number; a parameter stands for itself."""
        inputs, arguments = [], []
        for side in (left, right):
            if side is None:
                continue
            if isinstance(side, (int, float)):
                arguments.append((len(inputs), side))
            elif side.name in self.weight:
                n.refuse("a parameter of the module's own, `%s`: write `parameter`, or a layer, by hand"
                         % self.weight[side.name])
            else:
                inputs.append(self.value(side))
        self.add(n.node, sign, inputs, arguments, None)

    def visit(self, node):
        if node.op == "placeholder":
            if node.name not in self.weight:
                self.inputs.append((node.name, list(node.meta["val"].shape)))
        elif node.op == "output":
            self.outputs = [self.value(value) for value in node.args[0]]
        elif getattr(node.target, "__name__", "") == "getitem":
            self.alias[node.name] = "%s.%d" % (node.args[0].name, node.args[1])
        elif node.op == "call_function" and hasattr(node.target, "_schema"):
            name = str(node.target).partition(".")[2]
            found = RULES.get(name) or RULES.get(name.partition(".")[0] if name.endswith(".default") else name)
            n = Node(self, node)
            if found is None:
                n.refuse("unetc has no operator for it")
            found(n)
        else:
            raise Inexpressible("%s of %s" % (node.op, node.target))


# ---- modules: which of them are blocks ----------------------------------------------------------------------------


class Module:
    """What a module computed: calls, and modules inside of it."""

    def __init__(self, path, name):
        self.path, self.name, self.body = path, name, []

    def calls(self):
        for item in self.body:
            if isinstance(item, Module):
                yield from item.calls()
            else:
                yield item


def tree_of(calls):
    root = Module("", "")
    for call in calls:
        at = root
        for path, name in call.modules:
            last = at.body[-1] if at.body else None
            if not (isinstance(last, Module) and last.path == path):
                last = Module(path, name)
                at.body.append(last)
            at = last
        at.body.append(call)
    return root


def relative(layer, path):
    """A layer's name as it is written in a block of the module PATH."""
    if layer is None or not path:
        return layer
    return layer[len(path) + 1:] if layer.startswith(path + ".") else None


class Block:
    """Several modules that compute the same, but for the arguments of their calls."""

    def __init__(self, name, modules, used_behind):
        self.name, self.module = name, modules[0]
        self.inputs = outside(modules[0])
        self.output = left_open(modules[0], used_behind)[0]
        values = list(zip(*[constants(module) for module in modules]))
        self.parameter, names = {}, {}
        for column in values:
            if len({repr(value) for _, value in column}) > 1 and repr(column) not in names:
                names[repr(column)] = self.name_of(column[0][0], names.values())
        self.columns = [names.get(repr(column)) for column in values]
        self.parameters = list(names.values())

    @staticmethod
    def name_of(key, taken):
        short = {"channels": "c", "kernel": "k"}.get(key, key)
        number = 1
        while (short if number == 1 else "%s%d" % (short, number)) in taken:
            number += 1
        return short if number == 1 else "%s%d" % (short, number)

    def call_of(self, module, used_behind):
        """The call that stands for one of its modules."""
        values, seen = [], set()
        for name, (_, value) in zip(self.columns, constants(module)):
            if name is not None and name not in seen:
                seen.add(name)
                values.append((None, value))
        return Call(self.name, outside(module), left_open(module, used_behind), values, module.path, block=self)


def key_of(call, index):
    """What argument INDEX of a call says, for a name."""
    keyword_ = call.arguments[index][0]
    if isinstance(keyword_, str):
        return keyword_
    if call.block is not None:
        return call.block.parameters[index]
    words = {"conv": ("channels", "kernel"), "upconv": ("channels", "kernel"), "group_norm": ("groups",), "chunk": ("n",),
             "max_pool": ("kernel",), "avg_pool": ("kernel",)}.get(call.function, ())
    return words[index] if index < len(words) else "value"


def constants(module):
    return [(key_of(call, i), value) for call in module.calls() for i, (_, value) in enumerate(call.arguments)]


def outside(module):
    """The values that a module reads and does not make, in order."""
    made, found = set(), []
    for call in module.calls():
        found += [value for value in call.inputs if value not in made and value not in found]
        made.update(call.outputs)
    return found


def left_open(module, used_behind):
    """The values that it makes and others read."""
    inner = [value for call in module.calls() for value in call.outputs]
    return [value for value in inner if used_behind(module, value)]


def shape_of(module, used_behind):
    """Equal for modules that can be calls of one block."""
    number = {value: i for i, value in enumerate(outside(module))}
    text = [module.name, len(number)]
    for call in module.calls():
        for value in call.outputs:
            number[value] = len(number)
        text.append((call.function, tuple(number[v] for v in call.inputs), tuple(number[v] for v in call.outputs),
                     tuple(k for k, _ in call.arguments), relative(call.layer, module.path), call.layer is None))
    text.append(tuple(number[value] for value in left_open(module, used_behind)))
    return repr(text)


class Readers:
    """Who reads a value."""

    def __init__(self, root, outputs):
        self.outputs = set(outputs)
        self.readers = collections.defaultdict(list)
        for call in root.calls():
            for value in call.inputs:
                self.readers[value].append(call)

    def behind(self, module, value):
        own = {id(call) for call in module.calls()}
        return value in self.outputs or any(id(call) not in own for call in self.readers[value])


def snake(name):
    """"DoubleConv" is double_conv."""
    name = re.sub(r"[^A-Za-z0-9]", "_", name.rpartition(".")[2]).replace("ReLU", "Relu")
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower().strip("_")
    return name if name and not name[0].isdigit() and name not in RESERVED else "block_" + name


def find_blocks(root, readers):
    """Replaces modules that repeat by calls, the inner ones first; returns the blocks in that order."""
    blocks, taken = [], set()
    while True:
        groups = collections.OrderedDict()

        def collect(module, depth):
            for item in module.body:
                if isinstance(item, Module):
                    collect(item, depth + 1)
                    groups.setdefault(shape_of(item, readers.behind), []).append((depth, item))
        collect(root, 0)
        chosen = next((group for group in groups.values() if worth_a_block([m for _, m in group], readers)), None)
        if chosen is None:
            return blocks
        modules = [module for _, module in chosen]
        name, number = snake(modules[0].name), 1
        while name in taken or name in RULE_WORDS:
            number += 1
            name = "%s_%d" % (snake(modules[0].name), number)
        taken.add(name)
        block = Block(name, modules, readers.behind)
        blocks.append(block)
        replace(root, {id(module): block.call_of(module, readers.behind) for module in modules})
        readers.__init__(root, readers.outputs)


RULE_WORDS = {"conv", "upconv", "relu", "concat", "chunk", "resize", "match", "prelu", "dropout", "softmax"}


def worth_a_block(modules, readers):
    module = modules[0]
    plain = module.name.startswith("torch.nn.modules.container.")
    layers = [call.layer for call in module.calls() if call.layer is not None]
    return (len(modules) > 1 and not plain and len(list(module.calls())) > 1 and layers
            and all(relative(layer, module.path) for layer in layers)
            and len(left_open(module, readers.behind)) == 1
            and len({m.path for m in modules}) == len(modules))


def replace(module, calls):
    module.body = [calls.get(id(item), item) for item in module.body]
    for item in module.body:
        if isinstance(item, Module):
            replace(item, calls)


# ---- text ---------------------------------------------------------------------------------------------------------


def literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if value.startswith("\0") else '"%s"' % value
    if isinstance(value, fractions.Fraction):
        return str(value)
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(literal(v) for v in value)
    return repr(value)


# What stands around a layer on its line.
FOLLOWERS = {"batch_norm", "instance_norm", "group_norm", "layer_norm", "relu", "leaky_relu", "prelu", "silu", "gelu", "elu",
             "sigmoid", "tanh", "softmax", "dropout", "dropout_channels", "pixel_shuffle"}


class Writer:
    """The statements of the file, or of a block: a value that one call alone reads stands inside of that call."""

    def __init__(self, calls, path, inputs, outputs, substitutes=()):
        self.calls, self.path, self.outputs = calls, path, outputs
        self.name = dict(inputs)
        self.substitutes = list(substitutes)
        self.reads = collections.Counter(value for call in calls for value in call.inputs)
        self.reads.update(outputs)
        self.left = collections.Counter(self.reads)
        self.inner, self.inner_layer, self.lines = {}, {}, []

    def argument(self, call, index):
        value = call.arguments[index][1]
        name = self.substitutes[self.at + index] if self.at + index < len(self.substitutes) else None
        return name if name is not None else literal(value)

    def operand(self, value):
        self.left[value] -= 1
        return self.inner.pop(value) if value in self.inner else self.name[value]

    def expression(self, call):
        if call.function in ("+", "-", "*", "/"):
            sides = [self.operand(value) for value in call.inputs]
            for i, (place, _) in enumerate(call.arguments):
                sides.insert(place, self.argument(call, i))
            sides = [side if re.fullmatch(r"[\w.]+|\w+\(.*\)", side) and not self.is_sum(side) else "(%s)" % side
                     for side in sides]
            return (" %s " % call.function).join(sides) if len(sides) > 1 else "-" + sides[0]
        words = [self.operand(value) for value in call.inputs]
        for i, (keyword_, _) in enumerate(call.arguments):
            text = self.argument(call, i)
            words.append(text if keyword_ is None else "%s = %s" % (keyword_, text))
        if call.layer is not None:
            words.append('name = "%s"' % relative(call.layer, self.path))
        return "%s(%s)" % (call.function, ", ".join(words))

    def layer_of(self, call):
        """The layer of the call, or of the one inside of it that comes last."""
        if call.layer is not None:
            return relative(call.layer, self.path)
        return next((self.inner_layer[value] for value in call.inputs if self.inner_layer.get(value)), None)

    @staticmethod
    def is_sum(text):
        depth = 0
        for i, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if depth == 0 and character in "+-*/" and i > 0:
                return True
        return False

    def new_name(self, call):
        """Of its layer; without one, of an operand that nobody reads again."""
        free = [self.name[v] for v in call.inputs if v in self.name and self.left[v] == 0]
        layer = self.layer_of(call)
        words = [word for word in (layer or "").split(".") if re.fullmatch(r"[A-Za-z_]\w*", word) and word not in RESERVED]
        if not words and len(call.outputs) == 1 and free:
            return free[0]
        hint = words[-1] if words else "x"
        used = {self.name[v] for v in self.name if self.left[v] > 0} | set(self.substitutes)
        name, number = hint, 1
        while name in used:
            number += 1
            name = "%s%d" % (hint, number)
        return name

    def inside(self, position, call, text):
        """Can it stand inside of the next call, which alone reads it?  Blocks, and sums, have lines of their own."""
        behind = self.calls[position + 1] if position + 1 < len(self.calls) else None
        value = call.outputs[0]
        return (behind is not None and len(call.outputs) == 1 and self.reads[value] == 1 and value in behind.inputs
                and call.block is None and len(text) < LINE - 40 and value not in self.outputs
                and (call.function not in ("+", "-", "*", "/") or behind.block is None)
                and (text.count("name =") == 0 or behind.function in FOLLOWERS))

    def write(self):
        self.at = 0
        for position, call in enumerate(self.calls):
            text = self.expression(call)
            self.at += len(call.arguments)
            if self.inside(position, call, text):
                self.inner[call.outputs[0]] = text
                self.inner_layer[call.outputs[0]] = self.layer_of(call)
                continue
            names = []
            for value in call.outputs:
                self.name[value] = self.new_name(call)
                if self.name[value] in names:
                    self.name[value] += "_%d" % len(names)
                names.append(self.name[value])
            self.lines.append("%s = %s" % (", ".join(names), text))
        return self.lines


def wrapped(line):
    """A long line goes on inside of its outermost parentheses."""
    if len(line) <= LINE + 10:
        return [line]
    depth, cut = 0, 0
    for i, character in enumerate(line[:LINE]):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth >= 1:
            cut = i + 1
    if cut == 0:
        return [line]
    indent = len(line) - len(line.lstrip())
    return [line[:cut]] + wrapped(" " * (indent + 8) + line[cut:].lstrip())


def loops(lines):
    """`x = f(x, 64, name = "a.0")`, `... "a.1")`, ...: a loop."""
    out, at = [], 0
    while at < len(lines):
        first = re.fullmatch(r'(\w+) = (.*)name = "((?:[^"]*\.)?)(\d+)((?:\.[^"]*)?)"(.*)', lines[at])
        count = 1
        if first:
            variable, head, before, start, after, tail = first.groups()
            while at + count < len(lines) and lines[at + count] == '%s = %sname = "%s%d%s"%s' % (
                    variable, head, before, int(start) + count, after, tail):
                count += 1
            if not re.search(r"\b%s\b" % variable, head) or head.count("name =") > 0:
                count = 1
        if count < 3:
            out.append(lines[at])
            at += 1
            continue
        ranged = "range(%s)" % (count if start == "0" else "%s, %d" % (start, int(start) + count))
        out += ["for i in %s {" % ranged, '    %s = %sname = "%s{i}%s"%s' % (variable, head, before, after, tail), "}"]
        at += count
    return out


def block_text(block):
    inputs = {value: name for value, name in zip(block.inputs, ["x"] if len(block.inputs) == 1 else
                                                 ["x", "skip", "z"][:len(block.inputs)] if len(block.inputs) < 4 else
                                                 ["x%d" % i for i in range(len(block.inputs))])}
    writer = Writer(list(block.module.calls()), block.module.path, inputs, [block.output], block.columns)
    lines = writer.write()
    result = writer.name[block.output]
    last = "%s = " % result
    if lines[-1].startswith(last):
        lines[-1] = "return " + lines[-1][len(last):]
    else:
        lines.append("return " + result)
    head = "block %s(%s) {" % (block.name, ", ".join(list(inputs.values()) + block.parameters))
    return [head] + [part for line in loops(lines) for part in wrapped("    " + line)] + ["}", ""]


def file_text(title, tracer, blocks, root):
    inputs = {value: "photo" if len(tracer.inputs) == 1 else "photo%d" % (i + 1)
              for i, (value, _) in enumerate(tracer.inputs)}
    lines = ["# " + title]
    for value, shape in tracer.inputs:
        lines.append("input %s : image(%s)" % (inputs[value], ", ".join(str(size) for size in shape[1:])))
    lines.append("")
    for block in blocks:
        lines += block_text(block)
    writer = Writer(list(root.calls()), "", inputs, tracer.outputs)
    # the photo is never set again
    for value in inputs:
        writer.left[value] += 1
    body = writer.write()
    last = writer.name[tracer.outputs[-1]] + " = "
    if len(tracer.outputs) == 1 and body and body[-1].startswith(last):
        body[-1] = "output " + body[-1]
    else:
        body += ["output result%s = %s" % ("" if len(tracer.outputs) == 1 else i + 1, writer.name[value])
                 for i, value in enumerate(tracer.outputs)]
    lines += [part for line in loops(body) for part in wrapped(line)]
    return "\n".join(lines) + "\n"


# ---- files --------------------------------------------------------------------------------------------------------


def write_file(path, data):
    """Whole, or not at all; no file that lies there is followed."""
    part = "%s.%d.part" % (path, os.getpid())
    if os.path.lexists(part):  # of a process that is gone
        os.unlink(part)
    with open(part, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def safetensors(tensors):
    header, values, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, tensor in tensors:
        data = tensor.detach().cpu().float().contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + len(data)]}
        values.append(data)
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(values)


def text_of(network, size):
    """The .unet file of NETWORK for inputs of SIZE, (channels, height, width)."""
    import torch
    was_training = network.training
    network.eval()
    try:
        with torch.no_grad():
            program = torch.export.export(network, (torch.rand(1, *size),))
    finally:
        network.train(was_training)
    tracer = Tracer(program)
    twice = [layer for layer, count in collections.Counter(
        (call.layer, call.function) for call in tracer.calls if call.layer is not None).items() if count > 1]
    if twice:
        raise Inexpressible("`%s` is called more than once: write it by hand, as a `layer`" % twice[0][0])
    readers = Readers(root := tree_of(tracer.calls), tracer.outputs)
    blocks = find_blocks(root, readers)
    count = sum(parameter.numel() for parameter in network.parameters())
    return file_text("%s: %s parameters." % (type(network).__name__, format(count, ",")), tracer, blocks, root)


def convert(network, size, path):
    """Writes PATH, a .unet file, and beside it the weights; returns the path of these."""
    text = text_of(network, tuple(size))
    weights = os.path.splitext(path)[0] + ".safetensors"
    state = [(name, tensor) for name, tensor in network.state_dict().items() if tensor.is_floating_point()]
    write_file(path, text.encode())
    write_file(weights, safetensors(state))
    return weights


def load(source):
    place, colon, expression = source.partition(":")
    if not colon:
        raise SystemExit("from_pytorch.py: write MODULE:EXPRESSION, such as unet.py:UNet(3, 2), not %s" % source)
    sys.path.insert(0, os.path.dirname(os.path.abspath(place)) if place.endswith(".py") else os.getcwd())
    if place.endswith(".py"):
        spec = importlib.util.spec_from_file_location(os.path.basename(place)[:-3], place)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    network = eval(expression, vars(module))
    return network() if isinstance(network, type) else network


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", metavar="MODULE:EXPRESSION")
    parser.add_argument("--size", required=True, metavar="CxHxW")
    parser.add_argument("-o", metavar="NAME.unet")
    options = parser.parse_args()
    size = [int(word) for word in re.findall(r"\d+", options.size)]
    if not re.fullmatch(r"\d+x\d+x\d+", options.size):
        parser.error("--size=%s: write channels, height and width, such as 3x256x256" % options.size)
    try:
        import torch.export  # noqa: F401
    except ImportError:
        raise SystemExit("from_pytorch.py: needs PyTorch 2.5 or newer, for torch.export") from None
    network = load(options.network)
    path = options.o or snake(type(network).__name__) + ".unet"
    try:
        weights = convert(network, size, path)
    except Inexpressible as error:
        raise SystemExit("from_pytorch.py: " + str(error)) from None
    print("%s and %s" % (path, weights))


if __name__ == "__main__":
    main()

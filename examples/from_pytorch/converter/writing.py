"""Writes the file: a line for each call that others read several times, short calls inside of their only reader.

    file_text(title, translation) -> the text of the file
    flat_text(translation, names) -> the same network without blocks, the tensors NAMES being its outputs

Repeats become loops.  Names of values are those of their layers, or `x`; none is a word of the language.
"""

import collections
import fractions
import math
import re

from . import Inexpressible, naming, outputs
from .blocks import Readers, find_blocks, relative, tree_of

LINE = 110
SIGNS = ("+", "-", "*", "/")
# The keyword of the last tensor, by the operator and the number of its tensors.
KEYWORDS = {("resize", 2): "like", ("attention", 4): "bias", ("channel_attention", 4): "temperature"}


def literal(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"%s"' % value
    if isinstance(value, fractions.Fraction):
        return str(value)
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join(literal(v) for v in value)
    if isinstance(value, float) and not math.isfinite(value):
        raise Inexpressible("a file has no word for the number %s" % value)
    return repr(value)


# What stands around a layer on its line.
FOLLOWERS = {"batch_norm", "instance_norm", "group_norm", "layer_norm", "rms_norm", "normalize", "relu", "leaky_relu", "prelu", "silu", "gelu", "elu",
             "selu", "mish", "softplus", "relu6", "hard_sigmoid", "hard_swish", "clamp", "abs", "sigmoid", "tanh", "softmax", "dropout", "dropout_channels", "pixel_shuffle", "scale"}


class Writer:
    """The statements of the file, or of a block: a value that one call alone reads stands inside of that call."""

    def __init__(self, calls, path, inputs, outputs, substitutes=(), alone=(), taken=()):
        """ALONE: the names of layers that are declared once.  TAKEN: names that no value gets."""
        self.calls, self.path, self.outputs = calls, path, outputs
        self.alone, self.taken = dict(alone), set(taken) | set(dict(alone).values())
        self.name = dict(inputs)
        self.substitutes = list(substitutes)
        self.reads = collections.Counter(value for call in calls for value in call.inputs)
        self.reads.update(outputs)
        self.left = collections.Counter(self.reads)
        self.inner, self.inner_layer, self.lines, self.at = {}, {}, [], 0

    def argument(self, call, index):
        value = call.arguments[index][1]
        name = self.substitutes[self.at + index] if self.at + index < len(self.substitutes) else None
        return name if name is not None else literal(value)

    def operand(self, value):
        self.left[value] -= 1
        return self.inner.pop(value) if value in self.inner else self.name[value]

    def expression(self, call):
        if call.function in SIGNS:
            sides = [self.operand(value) for value in call.inputs]
            for i, (place, _) in enumerate(call.arguments):
                sides.insert(place, self.argument(call, i))
            sides = [side if re.fullmatch(r"[\w.]+|\w+\(.*\)", side) and not self.is_sum(side) else "(%s)" % side
                     for side in sides]
            return (" %s " % call.function).join(sides) if len(sides) > 1 else "-" + sides[0]
        words = [self.operand(value) for value in call.inputs]
        keyword = KEYWORDS.get((call.function, len(words)))
        if keyword is not None:
            words[-1] = "%s = %s" % (keyword, words[-1])
        if call.layer in self.alone:
            return "%s(%s)" % (self.alone[call.layer], ", ".join(words))
        return "%s(%s)" % (call.function, ", ".join(words + self.arguments(call)))

    def arguments(self, call):
        words = []
        for i, (keyword, _) in enumerate(call.arguments):
            text = self.argument(call, i)
            words.append(text if keyword is None else "%s = %s" % (keyword, text))
        if call.layer is not None:
            words.append('name = "%s"' % relative(call.layer, self.path))
        return words

    def alone_of(self, call):
        """The arguments of a declaration."""
        self.at = 0
        return self.arguments(call)

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
        words = [word for word in (layer or "").split(".") if re.fullmatch(r"[A-Za-z_]\w*", word)
                 and not naming.is_word(word)]
        if not words and len(call.outputs) == 1 and free:
            return free[0]
        hint = words[-1] if words else "x"
        used = {self.name[v] for v in self.name if self.left[v] > 0} | set(self.substitutes) | self.taken
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
                and (call.function not in SIGNS or behind.block is None)
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


NUMBER = re.compile(r"(?<!\d)(?:0|[1-9]\d*)(?!\d)")


def template(lines):
    """The lines without the numbers in names of weights, and these numbers."""
    numbers = []

    def name(found):
        numbers.extend(int(digits) for digits in NUMBER.findall(found.group(1)))
        return 'name = "%s"' % NUMBER.sub("#", found.group(1))
    text = [re.sub(r'name = "([^"]*)"', name, line) for line in lines]
    return text, numbers


def repeats(lines, at, period):
    """How often lines[at:at + period] come one behind the other, numbers in names growing by one step, and this step."""
    first, numbers = template(lines[at:at + period])
    count, step = 1, None
    while at + (count + 1) * period <= len(lines):
        text, others = template(lines[at + count * period:at + (count + 1) * period])
        grown = [other - number for number, other in zip(numbers, others)]
        steps = {growth for growth in grown if growth != 0}
        if text != first or len(steps) != 1 or steps.pop() <= 0:
            break
        if step is not None and grown != [growth * count for growth in step]:
            break
        step = step or grown
        count += 1
    return count, step


def loop(lines, count, step, used):
    """The lines of one repeat as a loop over COUNT of them."""
    numbers = template(lines)[1]
    by = max(step)
    start = min(number for number, growth in zip(numbers, step) if growth)
    names, lets = {}, []
    for number, growth in zip(numbers, step):
        if growth and number - start not in names:
            names[number - start] = next(word for word in ("i", "j", "k", "m", "n", "p", "q") + tuple(
                "i%d" % i for i in range(len(numbers))) if word not in used | set(names.values()))
            if number != start:
                lets.append("    let %s = %s + %d" % (names[number - start], names[0], number - start))
    left = iter(list(zip(numbers, step)))

    def numbered(found):
        def one(digits):
            number, growth = next(left)
            return "{%s}" % names[number - start] if growth else digits.group()
        return 'name = "%s"' % NUMBER.sub(one, found.group(1))
    body = ["    " + re.sub(r'name = "([^"]*)"', numbered, line) for line in lines]
    ranged = str(count) if (start, by) == (0, 1) else "%d, %d%s" % (
        start, start + (count - 1) * by + 1, ", %d" % by if by != 1 else "")
    return ["for %s in range(%s) {" % (names[0], ranged)] + lets + body + ["}"]


def loops(lines):
    """Lines that repeat, but for growing numbers in names of weights, are a loop: tensors may be set again."""
    out, at = [], 0
    used = set(re.findall(r"\b[A-Za-z_]\w*\b", " ".join(lines)))
    while at < len(lines):
        best = (0, 1, 1, None)
        for period in range(1, min(12, (len(lines) - at) // 3) + 1):
            count, step = repeats(lines, at, period)
            numbers = template(lines[at:at + period])[1]
            if count >= 3 and first_is_least(numbers, step) and (count - 1) * period > max(best[0], 2):
                best = ((count - 1) * period, period, count, step)
        saved, period, count, step = best
        if saved:
            out += loop(lines[at:at + period], count, step, used)
        else:
            out.append(lines[at])
        at += period * count
    return out


def first_is_least(numbers, step):
    """The loop's variable is the first number that grows."""
    growing = [number for number, growth in zip(numbers, step or []) if growth]
    return bool(growing) and growing[0] == min(growing)


def block_text(block, taken):
    inputs = {value: name for value, name in zip(block.inputs, ["x"] if len(block.inputs) == 1 else
                                                 ["x", "skip", "z"][:len(block.inputs)] if len(block.inputs) < 4 else
                                                 ["x%d" % i for i in range(len(block.inputs))])}
    writer = Writer(list(block.module.calls()), block.module.path, inputs, [block.output], block.columns, (), taken)
    lines = writer.write()
    result = writer.name[block.output]
    last = "%s = " % result
    if lines and lines[-1].startswith(last):
        lines[-1] = "return " + lines[-1][len(last):]
    else:
        lines.append("return " + result)
    head = "block %s(%s) {" % (block.name, ", ".join(list(inputs.values()) + block.parameters))
    return [head] + [part for line in loops(lines) for part in wrapped("    " + line)] + ["}", ""]


KIND = {3: "signal", 4: "image", 5: "volume"}  # by PyTorch's axes, the batch included


def is_number(index, shape):
    """Behind the first input, which says how many axes there are, a map of one point and one channel is a number."""
    return index > 0 and all(size == 1 for size in shape[1:])


def input_names(translation):
    count, names = len(translation.inputs), {}
    for i, (value, shape) in enumerate(translation.inputs):
        word = "number" if is_number(i, shape) else "wave" if KIND[len(shape)] == "signal" else "photo"
        names[value] = word + ("" if count == 1 else str(i + 1))
    return names


def output_names(translation):
    """`result`, or, of several, what the network calls them."""
    if len(translation.outputs) == 1:
        return ["result"]
    taken, names = set(naming.words()) | set(input_names(translation).values()), []
    for label, _ in translation.outputs:
        label = re.sub(r"\W", "_", label)
        names.append(naming.fresh(label if re.match(r"[A-Za-z_]", label) else "result" + label, taken))
        taken.add(names[-1])
    return names


def head(title, translation):
    lines = ["# " + title]
    for name, stored in translation.tensors.items():
        if stored.path in translation.folded:
            source = translation.folded[stored.path][1]
            lines.append("# %s is %s: the file alone has its numbers." % (name, "computed of `%s`" % source if source else "a constant"))
            continue
        moved = "" if stored.order is None else ", axes of %s in the order %s" % tuple(
            " ".join(map(str, numbers)) for numbers in (stored.sizes, stored.order))
        if name != stored.path or moved:
            lines.append("# %s is `%s` of the state dict%s." % (name, stored.path, moved))
    lines += ["# %s." % (note[0].upper() + note[1:]) for note in outputs.notes(translation, output_names(translation))]
    names = input_names(translation)
    for i, (value, shape) in enumerate(translation.inputs):
        sizes = "" if is_number(i, shape) else "(%s)" % ", ".join(str(size) for size in shape[1:])
        lines.append("input %s : %s%s" % (names[value], "number" if is_number(i, shape) else KIND[len(shape)], sizes))
    return lines + [""]


def layers_text(translation, taken):
    """Layers that are called several times, and how they are called."""
    names, lines = {}, []
    for layer, call in translation.alone.items():
        words = [word for word in layer.split(".") if re.fullmatch(r"[A-Za-z_]\w*", word) and not naming.is_word(word)]
        names[layer] = naming.fresh(words[-1] if words else "shared", taken | set(names.values()))
        lines.append("layer %s = %s(%s)" % (names[layer], call.function, ", ".join(Writer([call], "", {}, []).alone_of(call))))
    return names, lines + [""] if lines else []


def file_text(title, translation):
    readers = Readers(root := tree_of(translation.calls), [name for _, name in translation.outputs])
    blocks = find_blocks(root, readers, translation.alone)
    lines = head(title, translation)
    outputs, taken = output_names(translation), {block.name for block in blocks}
    for block in blocks:
        lines += block_text(block, taken)
    layers, declared = layers_text(translation, taken | set(input_names(translation).values()))
    lines += [part for line in declared for part in wrapped(line)]
    values = [name for _, name in translation.outputs]
    writer = Writer(list(root.calls()), "", input_names(translation), values, (), layers, taken | set(outputs))
    # an input is never set again
    for value in writer.name:
        writer.left[value] += 1
    body = writer.write()
    last = writer.name[values[-1]] + " = "
    if len(values) == 1 and body and body[-1].startswith(last):
        body[-1] = "output %s = %s" % (outputs[0], body[-1][len(last):])
    else:
        body += ["output %s = %s" % (name, writer.name[value]) for name, value in zip(outputs, values)]
    lines += [part for line in loops(body) for part in wrapped(line)]
    return "\n".join(lines) + "\n"


def flat_text(translation, names):
    """Each call on its line, nothing inside of another; output `o0` is the first of NAMES."""
    lines = head("", translation)
    taken = set(input_names(translation).values())
    layers, declared = layers_text(translation, taken)
    lines += declared
    writer = Writer(translation.calls, "", input_names(translation), names, (), layers)
    for call in translation.calls:
        text = writer.expression(call)
        for value in call.outputs:
            writer.name[value] = "v_" + value.replace(".", "_")
        lines.append("%s = %s" % (", ".join(writer.name[value] for value in call.outputs), text))
    lines += ["output o%d = %s" % (i, writer.name[name]) for i, name in enumerate(names)]
    return "\n".join(lines) + "\n"

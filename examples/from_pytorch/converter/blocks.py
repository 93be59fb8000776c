"""Finds modules that repeat: they become blocks, and what differs between them their arguments.

    root = tree_of(calls); blocks = find_blocks(root, Readers(root, outputs), shared)

Modules are calls of one block if they compute the same of as many inputs, by layers of the same names.
"""

import collections

from .naming import fresh, is_word, snake
from .translate import Call


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
        short = short + "_value" if is_word(short) else short
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


def find_blocks(root, readers, shared):
    """Replaces modules that repeat by calls, the inner ones first; returns the blocks in that order.  SHARED: layers that are
    called several times, which stand outside of blocks."""
    blocks, taken = [], set()
    while True:
        groups = collections.OrderedDict()

        def collect(module, depth):
            for item in module.body:
                if isinstance(item, Module):
                    collect(item, depth + 1)
                    groups.setdefault(shape_of(item, readers.behind), []).append((depth, item))
        collect(root, 0)
        chosen = next((group for group in groups.values() if worth_a_block([m for _, m in group], readers, shared)), None)
        if chosen is None:
            return blocks
        modules = [module for _, module in chosen]
        name = fresh(snake(modules[0].name), taken)
        taken.add(name)
        block = Block(name, modules, readers.behind)
        blocks.append(block)
        replace(root, {id(module): block.call_of(module, readers.behind) for module in modules})
        readers.__init__(root, readers.outputs)


def worth_a_block(modules, readers, shared):
    module = modules[0]
    plain = module.name.startswith("torch.nn.modules.container.")
    layers = [call.layer for call in module.calls() if call.layer is not None]
    if any(call.layer in shared for other in modules for call in other.calls()):
        return False
    return (len(modules) > 1 and not plain and len(list(module.calls())) > 1 and layers
            and all(relative(layer, module.path) for layer in layers)
            and len(left_open(module, readers.behind)) == 1
            and len({m.path for m in modules}) == len(modules))


def replace(module, calls):
    module.body = [calls.get(id(item), item) for item in module.body]
    for item in module.body:
        if isinstance(item, Module):
            replace(item, calls)

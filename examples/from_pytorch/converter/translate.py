"""Turns the operators of a captured program into calls of the language.

    Translation(program).calls, .inputs, .outputs, .tensors

Operators that change a tensor in place come out as others: a tensor's memory is a `Cell`, and its parts are views of it
that are seen anew at each reader.  Every operator has a row in table.py, which says what is read of its arguments;
an argument that nobody reads has its default, or the operator is refused.
"""

import collections

from . import Inexpressible, attention, axes, layers, naming, outputs, points, sizes, table  # noqa: F401 - all that has rows
from .capture import Ref, call, each, located, mapped
from .values import ChannelProducts, Computed, Indices, Products, Unfit, Value, Weight, product


class Call:
    """An operator, or later a block, applied to values.

    inputs: the values, by name.  outputs: likewise.  arguments: [(keyword or None, value)], keyword None: by position; of
    arithmetic the place of a number.  layer: the name of its weights in the file, or None.  modules: [(path, class)] of
    those around it, outermost first, without the network itself.  block: what is called, where it is one.
    """

    def __init__(self, function, inputs, outputs, arguments=(), layer=None, modules=(), block=None):
        self.function, self.inputs, self.outputs = function, list(inputs), list(outputs)
        self.arguments, self.layer, self.modules, self.block = list(arguments), layer, list(modules), block


# Operators that put elements of a tensor into other places.
MOVES = ("index.Tensor index_select view reshape permute transpose.int unsqueeze squeeze.dim contiguous clone expand flatten.using_ints "
         "select.int slice.Tensor _unsafe_view alias detach").split()


class Stored(collections.namedtuple("Stored", "path shape sizes order")):
    """A tensor of the file: PATH of the state dict, in this SHAPE; where it has a given ORDER, its axes, of these SIZES, are
    moved first."""

    def of(self, tensor):
        moved = tensor if self.order is None else tensor.reshape(self.sizes).permute(self.order)
        return moved.reshape(self.shape)


class Cell:
    """Memory that tensors share.  value: what lies there now."""

    def __init__(self, value):
        self.value = value


class Seen:
    """A tensor: memory, and how it is seen there, as functions from value to value."""

    def __init__(self, cell, views=()):
        self.cell, self.views = cell, tuple(views)

    def value(self):
        value = self.cell.value
        for view in self.views:
            value = view(value)
        return value


class Node:
    """An operator under translation: its arguments as values, and what its rule may do."""

    def __init__(self, translation, node):
        self.translation, self.node, self.row = translation, node, None
        self.name = node.name
        self.defaults = {a.name: a.default_value for a in node.function._schema.arguments if a.has_default_value()}

    def __getitem__(self, name):
        """An argument as it was written; tensors are Refs."""
        assert name in self.row.reads, "%s reads %s" % (self.name, name)
        return self.raw(name)

    def raw(self, name):
        return self.node.arguments.get(name, self.defaults.get(name))

    def has(self, name):
        return any(a.name == name for a in self.node.function._schema.arguments)

    def shape(self, index=0):
        """Of the output."""
        return self.node.shapes[list(each(self.node.outputs, Ref))[index].name]

    def value(self, name):
        """An argument: a Value, Weight, Indices, number or constant."""
        return self.translation.value(self[name])

    def tensor(self, name):
        """An argument that is an image or a volume, seen somehow."""
        return self.image(self.value(name))

    def image(self, value):
        if isinstance(value, Value):
            return value
        if isinstance(value, Weight):
            self.refuse("it is applied to `%s`, a weight of the network; the file has weights in layers and in arithmetic alone"
                        % value.path)
        if isinstance(value, Computed):
            self.refuse("it is applied to what %s computes of `%s`, a weight" % (value.function, value.path))
        if isinstance(value, Products):
            self.refuse("it is applied to products of queries and keys: attention has a factor and a softmax there, and nothing else")
        self.refuse("it is applied to a constant, where a tensor that depends on an input is needed")

    def plain(self, name):
        """The base of an argument, which has the axes N C [D] H W."""
        return self.translation.forced(self, self.tensor(name))

    def made(self, name):
        """An argument without anything that waits: zeros, a stack."""
        return axes.settled(self, self.tensor(name))

    def of_channels(self, name):
        """An argument whose axis 1 has the channels, its points being in any order."""
        value = self.made(name)
        if len(value.axes) < 2 or not value.whole_channels(1) or any(atom.letter == "*" for axis in value.axes for atom in axis):
            base = self.translation.forced(self, value)
            return Value(base, self.translation.size[base])
        return value

    def is_fixed(self, weight):
        """Is it a buffer, which nobody learns, or are its numbers those of the file alone?"""
        return weight is not None and (weight.path in self.translation.program.buffers or weight.path in self.translation.folded)

    def weights_given(self, *weights):
        """The argument `weights` of a layer. Training learns all of WEIGHTS or none; some may be None."""
        word = "computed" if any(self.translation.is_computed(weight) for weight in weights) else (
            "fixed" if any(map(self.is_fixed, weights)) else "learnt")
        return table.given("weights", word, "learnt")

    def filter(self, name):
        """A weight of a convolution, or None; a computed weight or a constant becomes numbers of the file."""
        raw = self[name]
        value = self.translation.value(raw)
        if isinstance(value, Computed):
            return self.translation.folded_weight(self, name, value.tensor, value.path)
        if raw is not None and hasattr(value, "numel"):
            return self.translation.folded_weight(self, name, value, None)
        return self.weight(name, True)

    def weight(self, name, fixed=False):
        """A Weight, or None; FIXED: a buffer, too."""
        raw = self[name]
        if raw is None:
            return None
        value = self.translation.value(raw)
        if isinstance(value, Weight) and (name.startswith("running_") or fixed or not self.is_fixed(value)):
            return value
        if isinstance(value, Computed):
            self.refuse("its %s is computed of `%s` by %s; a file's layers have weights of their own: take off what computes it, "
                        "as remove_weight_norm and remove_parametrizations do" % (name, value.path, value.function))
        if isinstance(value, Value):
            self.refuse("its %s is computed of an input; a file's layers have weights of their own" % name)
        self.refuse("its %s is a constant, a fixed filter, which training would change: make it a Parameter, or write it "
                    "by hand" % name)

    def refuse(self, why):
        path, kind = self.node.modules[-1] if self.node.modules else ("", self.translation.title)
        raise Inexpressible(located(path, kind.rpartition(".")[2], "%s (%s)" % (why, "aten.%s" % self.name), self.node.line))

    def emit(self, function, inputs, arguments=(), size=None, layer=None):
        """A call that makes a tensor of this size, by default that of the first input; returns its name."""
        return self.translation.emit(self.node, function, inputs, arguments, size, layer)

    def layer(self, layer_weights, shapes=None):
        return self.translation.layer(self, layer_weights, shapes or {})


class Unnamed:
    """What lays out an output: no operator of the network."""

    node = None

    def __init__(self, translation):
        self.translation = translation

    def emit(self, function, inputs, arguments=(), size=None, layer=None):
        return self.translation.emit(None, function, inputs, arguments, size, layer)

    def refuse(self, why):
        raise Inexpressible("an output: %s" % why)


class Translation:
    def __init__(self, program, title):
        self.title, self.program, self.words = title, program, naming.words()
        self.calls, self.size, self.order = [], {}, []
        self.cells, self.number, self.maker, self.part_of = {}, 0, {}, {}
        self.tensors = collections.OrderedDict()
        self.owner, self.parts, self.alone, self.given, self.folded = {}, {}, {}, {}, {}
        self.probes, self.whole, self.moves = [], set(), MOVES
        self.made_by, self.of_weights_alone, self.norms = {}, {}, {}
        self.inputs = [(ref.name, shape) for ref, shape in program.inputs]
        for name, shape in self.inputs:
            self.size[name] = tuple(shape[1:])
            self.order.append(name)
            self.cells[name] = Seen(Cell(Value(name, shape[1:])))
        for name, path in program.weights.items():
            self.cells[name] = Seen(Cell(Weight(path, program.tensors[path].shape)))
        self.aliased = {name for node in program.nodes if not node.written for output, argument in node.alias.items()
                        for name in (output, node.arguments[argument].name)}
        for node in needed(program):
            self.visit(node)
        made = [(label, *self.output(ref, label)) for label, ref in program.outputs]
        self.outputs, self.layouts = [(label, name) for label, name, _ in made], [layout for _, _, layout in made]
        self.drop_unread()
        self.share()

    def value(self, raw):
        if isinstance(raw, Ref):
            return self.cells[raw.name].value()
        return raw

    def output(self, ref, label):
        """The name of a tensor of the file, and its Layout, or None where the elements are in the order of the module's."""
        value = self.value(ref)
        where = "output%s" % (" " + label if label else "")
        if isinstance(value, ChannelProducts):
            raise Inexpressible("%s: %s" % (where, attention.OTHERS))
        if not isinstance(value, Value):
            raise Inexpressible("%s is a weight, or a constant" % where)
        n = Unnamed(self)
        value = axes.settled(n, value)
        if value.in_order():
            return value.base, None
        layout = outputs.layout(value)
        if layout is not None:
            return value.base, layout
        name = axes.laid_out(n, value)
        if name is None:
            raise Inexpressible("%s: %s" % (where, outputs.REFUSED))
        return name, None

    # ---- operators ----

    def visit(self, node):
        self.made_by.update({ref.name: node for ref in each(node.outputs, Ref)})
        n = Node(self, node)
        row = table.find(node.name)
        values = [self.value(ref) for ref in each(list(node.arguments.values()), Ref)]
        if values and not any(isinstance(value, (Value, Indices, Products)) for value in values):
            return self.of_weights(n, row, values)
        if row is None:
            n.refuse(table.NO_OPERATOR)
        n.row = row
        try:
            result = row.rule(n)
        except Unfit:
            n.refuse("axes are merged or split in a way that a file has no word for")
        self.unread(n)
        self.store(n, result)

    def unread(self, n):
        """Arguments that the row does not read have their defaults."""
        for argument in n.node.function._schema.arguments:
            name = argument.name
            if name in n.row.reads or name in n.row.harmless:
                continue
            if not argument.has_default_value() or n.raw(name) != argument.default_value:
                n.refuse("its argument `%s` is %s, which has no counterpart" % (name, n.raw(name)))

    def of_weights(self, n, row, values):
        """An operator on weights alone: one that moves axes keeps a weight.  Operators on buffers make constants."""
        first = next((value for value in values if not hasattr(value, "numel")), None)
        path = first.path if first is not None else None
        kept = (isinstance(first, Weight) and row is not None and row.keeps_order and len(values) == 1
                and product(n.shape()) == product(self.program.tensors[path].shape))
        if n.node.written:
            return self.over_computed(n, path, values)
        made = self.computed(n, path, values)
        for i, (ref, value) in enumerate(zip(each(n.node.outputs, Ref), made)):
            if isinstance(value, Computed):
                value.node, value.ref = n.node, ref.name
            self.cells[ref.name] = Seen(Cell(Weight(path, n.shape(i)) if kept else value))

    def computed(self, n, path, values):
        """Results of an operator on VALUES that depend on no input: constants, if nobody learns any of these."""
        learnt = any(isinstance(value, Computed) or isinstance(value, Weight) and value.path not in self.program.buffers
                     for value in values)
        if not learnt:
            return self.numbers_of(n)
        return (Computed(path, "aten." + n.name, tensor, self.moved(n, values)) for tensor in self.numbers_of(n))

    def moved(self, n, values):
        """The place in a weight that each element comes from, if the operator only moves elements of one."""
        import torch
        argument = n.node.arguments.get("self")
        weight = self.value(argument) if isinstance(argument, Ref) else None
        others = [value for value in values if value is not weight and (isinstance(value, Computed) or isinstance(
            value, Weight) and value.path not in self.program.buffers)]
        if n.name not in MOVES or others or isinstance(weight, Computed) and weight.ids is None or not isinstance(
                weight, (Computed, Weight)):
            return None
        ids = weight.ids if isinstance(weight, Computed) else torch.arange(product(weight.shape)).reshape(weight.shape)
        return next(self.numbers_of(n, {argument.name: ids}))

    def over_computed(self, n, path, values):
        """In place: of what was computed just now, not of a weight."""
        target = n.node.arguments[n.node.written[0]]
        if n.name == "zero_" and self.zeroed(n, target, path):
            return
        seen = self.cells[target.name]
        if isinstance(seen.cell.value, Weight) or target.name in self.aliased:
            n.refuse("it changes a weight, `%s`" % path)
        before, changed = seen.cell.value, next(self.computed(n, path, values))
        refs = list(each(n.node.outputs, Ref))
        if isinstance(changed, Computed) and refs and not seen.views:
            changed.node, changed.ref, changed.before = n.node, refs[0].name, (target.name, before)
        seen.cell.value = changed
        for ref in refs:
            self.cells[ref.name] = seen

    def zeroed(self, n, target, path):
        """Sets a part of a copy of a weight to zero; False if it is no copy, or other parts of it are seen."""
        import torch
        chain, root = [], self.root(target.name)
        name = target.name
        while name != root:
            chain.insert(0, name)
            name = self.source_of(name)
        own = {*chain, root, *(ref.name for ref in each(n.node.outputs, Ref))}
        others = [ref for ref in self.made_by if ref not in own and self.root(ref) == root]
        if root in self.program.weights or root not in self.made_by or others:
            return False
        source = self.value(Ref(root))
        numbers = source.tensor if isinstance(source, Computed) else self.program.tensors[source.path].detach().reshape(source.shape)
        places = torch.arange(numbers.numel()).reshape(numbers.shape)
        for name in chain:
            places = next(iter(self.numbers_of(Node(self, self.made_by[name]), {self.source_of(name): places})))
        mask = torch.ones(numbers.numel(), dtype=numbers.dtype)
        mask[places.flatten()] = 0
        mask = mask.reshape(numbers.shape)
        made = Computed(path, "aten.zero_", numbers * mask)
        made.kept = (source, mask)
        self.cells[root] = Seen(Cell(made))
        for ref in each(n.node.outputs, Ref):
            self.cells[ref.name] = self.cells[target.name]
        return True

    def source_of(self, name):
        """The tensor whose memory this one sees, or None."""
        node = self.made_by.get(name)
        argument = node.alias.get(name) if node else None
        return node.arguments[argument].name if argument else None

    def root(self, name):
        while self.source_of(name):
            name = self.source_of(name)
        return name

    def node_of(self, node, row):
        n = Node(self, node)
        n.row = row
        return n

    def hold(self, name, value):
        self.cells[name] = Seen(Cell(value))

    def numbers_of(self, n, given=()):
        """The tensors that an operator makes of weights; GIVEN: other tensors for some, by name."""
        import torch

        def real(leaf):
            if isinstance(leaf, Ref) and leaf.name in given:
                return given[leaf.name]
            value = self.value(leaf)
            if isinstance(value, Weight):
                return self.program.tensors[value.path].detach().reshape(value.shape).clone()
            return value.tensor.clone() if isinstance(value, Computed) else value
        with torch.no_grad():
            return each(call(n.node.function, mapped(n.node.arguments, real)), torch.Tensor)

    def is_computed(self, weight):
        """Does the network compute its numbers of weights that the file does not have?"""
        return weight is not None and self.folded.get(weight.path, (None, None))[1] is not None

    def folded_weight(self, n, suffix, tensor, source):
        """A Weight of numbers that stand in the file alone."""
        module = n.node.modules[-1][0] if n.node.modules else ""
        path = (module + "." if module else "") + "folded." + suffix
        kept = self.folded.setdefault(path, (tensor, source))[0]
        if kept.shape != tensor.shape or not bool((kept == tensor).all()):
            n.refuse("its %s is computed anew at each call; a file's layers have weights of their own" % suffix)
        return Weight(path, tensor.shape)

    def folded_numbers(self, n, tensor, source):
        """A Weight of numbers that stand in the file alone; a module may have several such tensors, each with a name of its own."""
        module = n.node.modules[-1][0] if n.node.modules else ""
        for number in range(len(self.folded) + 1):
            suffix = "values%s" % (number or "")
            kept = self.folded.get((module + "." if module else "") + "folded." + suffix, (tensor,))[0]
            if kept.shape == tensor.shape and bool((kept == tensor).all()):
                return self.folded_weight(n, suffix, tensor, source)

    def store(self, n, result):
        """Binds the results; what is changed in place is seen by all that share its memory."""
        refs = list(each(n.node.outputs, Ref))
        if n.node.written:
            target = n.node.arguments[n.node.written[0]]
            self.write_back(n, self.cells[target.name], result)
            for ref in refs:
                self.cells[ref.name] = self.cells[target.name]
            return
        results = result if isinstance(result, list) else [result]
        for i, ref in enumerate(refs):
            assert not isinstance(results[i], Value) or results[i].shape() == n.shape(i), "%s makes %s of %s" % (
                n.name, results[i].shape(), n.shape(i))
            argument = n.node.alias.get(ref.name)
            source = self.cells.get(n.node.arguments[argument].name) if argument else None
            if source is not None:
                self.cells[ref.name] = Seen(source.cell, source.views + (self.view(n, argument, result, i),))
            else:
                self.cells[ref.name] = Seen(Cell(results[i]))
            if isinstance(results[i], Value):
                self.probes.append((n.node, ref.name, results[i]))

    def view(self, n, name, result, index):
        """The rule as a function of what the memory holds then; RESULT: what it made of what is there now."""
        made = {key_of(self.value(n.node.arguments[name])): result}

        def again(value):
            key = key_of(value)
            if key not in made:
                other = Node(self, n.node)
                other.row = n.row
                other.value = lambda asked: value if asked == name else Node.value(other, asked)
                made[key] = n.row.rule(other)
            return made[key][index] if isinstance(made[key], list) else made[key]
        return again

    def write_back(self, n, seen, result):
        """The memory of SEEN holds RESULT now, where this part of it lies."""
        old, now = seen.cell.value, seen.value()
        if not seen.views:
            seen.cell.value = result
        elif (isinstance(old, Value) and isinstance(now, Value) and isinstance(result, Value) and now.base == old.base
              and not (old.pads or now.pads or result.pads) and result.key() == now.key() and result.size == old.size):
            seen.cell.value = Value(result.base, old.size, old.axes)
        elif not self.put_back(n, seen.cell, now, result):
            n.refuse("it changes a part of a tensor in place: write `x = x * 2`, or concatenate the parts anew")

    def put_back(self, n, cell, now, result):
        """The memory has RESULT where NOW was, some of its channels; False if NOW is something else."""
        old = cell.value
        if not all(isinstance(value, Value) and not value.stack for value in (old, now, result)) or old.pads:
            return False
        result = axes.settled(n, result)
        base, begin, end = now.base, 0, now.channels
        while base != old.base and base in self.part_of:
            base, at = self.part_of[base]
            begin, end = begin + at, end + at
        if base != old.base or now.pads or result.key() != now.key() or result.size != now.size:
            return False
        whole = Value(old.base, old.size)
        parts = [axes.channel_part(n, whole, 1, first, last).base for first, last in ((0, begin), (end, old.channels)) if first < last]
        parts.insert(0 if begin == 0 else 1, result.base)
        cell.value = old.with_base(self.emit(n.node, "concat", parts, size=old.size))
        return True

    # ---- calls ----

    def emit(self, node, function, inputs, arguments=(), size=None, layer=None):
        self.number += 1
        name = "t%d" % self.number
        self.calls.append(Call(function, inputs, [name], arguments, layer, modules_of(node)))
        self.maker[name] = self.calls[-1]
        self.size[name] = tuple(size if size is not None else self.size[inputs[0]])
        self.order.append(name)
        return name

    def applied_to(self, call, base):
        """The same operator, as in CALL, of another tensor."""
        made = self.emit(None, call.function, [base], call.arguments, self.size[call.outputs[0]], call.layer)
        self.calls[-1].modules = call.modules
        return made

    def chunked(self, node, base, count):
        """The names of COUNT equal parts of the channels of BASE; a part is made once."""
        if (base, count) not in self.parts:
            self.number += 1
            names = ["t%d.%d" % (self.number, i) for i in range(count)]
            self.calls.append(Call("chunk", [base], names, [(None, count)], None, modules_of(node)))
            self.maker.update({name: self.calls[-1] for name in names})
            channels, *rest = self.size[base]
            for name in names:
                self.size[name] = (channels // count, *rest)
                self.order.append(name)
            self.parts[base, count] = names
        return self.parts[base, count]

    def forced(self, n, value, hint=None):
        """The name of a tensor whose axes are N C [D] H W and hold VALUE."""
        if value.stack:
            value = axes.stacked(n, value)
        if value.pads:
            return self.surrounded(n, value, hint)
        if value.is_plain():
            return value.base
        found = axes.laid_out(n, value)
        if found is None:
            n.refuse("axes in an order other than batch, channels, height, width; a file has only that one")
        return found

    def surrounded(self, n, value, hint=None, how="pad"):
        """VALUE with its zeros, or without its cut rows: `match` with a tensor of that size, or `pad` and `crop`."""
        size = (value.channels, *[count + sum(pair) for count, pair in zip(value.points, value.pads)])
        cut = any(number < 0 for pair in value.pads for number in pair)
        even = all(front == (front + back) // 2 if not cut else -front == -(front + back) // 2 for front, back in value.pads)
        likes = [name for name in ([hint] if hint else []) + self.order[::-1] if self.size[name][1:] == size[1:]]
        if not (cut and any(number > 0 for pair in value.pads for number in pair)) and even and likes:
            return self.emit(n.node, "match", [value.base, likes[0]], [(None, "crop" if cut else how)], size)
        return self.around(n, value, "zero" if how == "pad" else how)

    def around(self, n, value, how, more=()):
        """VALUE with its pads written out: first the cut, then the points around it, as HOW says."""
        name, points = value.base, list(value.points)
        front = [max(-pair[0], 0) for pair in value.pads]
        if any(min(pair) < 0 for pair in value.pads):
            points = [count + min(a, 0) + min(b, 0) for count, (a, b) in zip(points, value.pads)]
            name = self.emit(n.node, "crop", [name], [(None, table.number(front)), (None, table.number(points))],
                             (value.channels, *points))
        sides = [(max(a, 0), max(b, 0)) for a, b in value.pads]
        if not any(any(pair) for pair in sides):
            return name
        even = all(a == b for a, b in sides)
        amount = table.number([a for a, _ in sides]) if even else [list(pair) for pair in sides]
        return self.emit(n.node, "pad", [name], [(None, amount)] + table.given("how", how, "zero") + list(more),
                         (value.channels, *[count + sum(pair) for count, pair in zip(points, sides)]))

    def layer(self, n, weights, shapes):
        """The name of a layer whose tensors in the file are WEIGHTS: {suffix: Weight}."""
        weights = {suffix: weight for suffix, weight in weights.items() if weight is not None}
        bases = {weight.path[:-len(suffix) - 1] for suffix, weight in weights.items() if weight.path.endswith("." + suffix)}
        same = len(bases) == 1 and all(weight.path.endswith("." + suffix) for suffix, weight in weights.items())
        base = naming.weight_name(bases.pop() if same else next(iter(weights.values())).path)
        for suffix, weight in weights.items():
            self.tensor(n, base + "." + suffix, weight.path, shapes.get(suffix, weight.shape))
        return base

    def tensor(self, n, name, path, shape, sizes=None, order=None):
        """The file's tensor NAME is PATH of the state dict, as `Stored` tells."""
        stored = Stored(path, tuple(shape), sizes, order)
        if self.tensors.get(name, stored) != stored or self.owner.get(path, name) != name:
            n.refuse("it shares the weight `%s` with another layer, but not all of its weights, or in another shape: give it "
                     "weights of its own" % path)
        self.tensors[name], self.owner[path] = stored, name

    # ---- afterwards ----

    def share(self):
        """A layer that is called several times is declared once; self.alone has its declaration."""
        calls = collections.defaultdict(list)
        for call in self.calls:
            if call.layer is not None:
                calls[call.layer].append(call)
        for layer, same in calls.items():
            if len(same) > 1:
                if len({(call.function, repr(call.arguments), len(call.inputs)) for call in same}) > 1:
                    raise Inexpressible("`%s` is called several times, each time with other arguments; a file's `layer` has one "
                                        "set of them: give each call its own weights" % layer)
                self.alone[layer] = same[0]

    def drop_unread(self):
        read = {name for _, name in self.outputs}
        kept = []
        for call in reversed(self.calls):
            if any(name in read for name in call.outputs):
                read.update(call.inputs)
                kept.append(call)
        self.calls = kept[::-1]
        # a value is named after its place, so that the same network gives the same file
        live = {call.layer for call in self.calls}
        self.tensors = collections.OrderedDict(
            (name, entry) for name, entry in self.tensors.items() if name in live or name.rpartition(".")[0] in live)


def key_of(value):
    """Equal for equal values."""
    if isinstance(value, Value):
        parts = tuple(part.base for part in value.stack[1]) if value.stack else ()
        return (value.base, value.size, value.key(), repr(value.pads), parts)
    return value


def modules_of(node):
    """Of those around a node; torch's own are its operators, but for those that only hold others."""
    return [(naming.weight_name(path), name) for path, name in (node.modules if node else []) if not name.startswith("torch.nn.modules.")
            or name.startswith("torch.nn.modules.container.")]


def needed(program):
    """The nodes that outputs depend on."""
    family = {}

    def root(name):
        while family.get(name, name) != name:
            name = family[name]
        return name
    for node in program.nodes:
        for output, argument in node.alias.items():
            family[output] = root(node.arguments[argument].name)
    want = {ref.name for _, ref in program.outputs}
    memory = {root(name) for name in want}
    kept = []
    for node in reversed(program.nodes):
        made = [ref.name for ref in each(node.outputs, Ref)]
        changes = any(root(node.arguments[name].name) in memory for name in node.written)
        if changes or any(name in want for name in made):
            kept.append(node)
            for ref in each(list(node.arguments.values()), Ref):
                want.add(ref.name)
                memory.add(root(ref.name))
    return kept[::-1]

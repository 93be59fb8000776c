"""Runs the network once and writes down which operators it applies to which tensors.

    capture(network, sizes) -> Program

PyTorch 2.5 and newer have `torch.export`, older ones the tracer of `torch.jit`; both list the operators above the point
where PyTorch takes them apart, with the arguments of their schemas.  What depends neither on an input nor on a weight is
computed here and stands in the program as a number or a constant.  A value of a tensor that Python code asks for is
refused, since the program would hold what this one input made of it.
"""

import contextlib
import io
import logging
import os
import re
import sys
import weakref

from . import Inexpressible


class Ref:
    """A tensor that depends on an input or on a weight."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


class Node:
    """One operator.

    function: PyTorch's overload.  arguments: by the names of the schema; tensors that matter are Refs.  outputs: Refs, in a
    list where the operator has several results.  shapes: of the outputs.  alias: the argument that shares memory with an
    output, by the name of the output.  written: the arguments that it changes.  modules: [(path, class)] around it, the
    outermost first.  line: "FILE:LINE".
    """

    def __init__(self, function, arguments, outputs, shapes, alias, written, modules, line):
        self.function, self.arguments, self.outputs, self.shapes = function, arguments, outputs, shapes
        self.alias, self.written, self.modules, self.line = alias, written, modules, line

    @property
    def name(self):
        """As table.py has it: `conv2d`, `add.Tensor`."""
        return operator_name(self.function)


class Program:
    """nodes.  inputs: [(Ref, shape)].  outputs: [(label, Ref)].  weights: the path in the state dict of a Ref's name.
    tensors: the state dict; first: of each path the first one of the same tensor; buffers: the paths of what is no
    parameter."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.weights = [], [], [], {}
        self.tensors, self.first, self.buffers = {}, {}, set()


def operator_name(function):
    name = str(function).partition(".")[2]
    return name[:-len(".default")] if name.endswith(".default") else name


def each(value, kind):
    """All of KIND in nested lists and dictionaries."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from each(part, kind)
    elif isinstance(value, dict):
        for part in value.values():
            yield from each(part, kind)


def mapped(value, change):
    """VALUE with every leaf changed."""
    if isinstance(value, (list, tuple)):
        return [mapped(part, change) for part in value]
    if isinstance(value, dict):
        return {key: mapped(part, change) for key, part in value.items()}
    return change(value)


# Operators whose results do not depend on the values of their arguments.
SHAPES_ONLY = {"size", "sym_size", "numel", "sym_numel", "dim", "zeros_like", "ones_like", "full_like", "new_zeros",
               "new_ones", "new_full", "is_floating_point"}


class Recorder:
    """Applies operators to real tensors and keeps what depends on inputs and weights as nodes of PROGRAM."""

    def __init__(self, program):
        self.program, self.real, self.count = program, {}, 0

    def new(self, tensor, name=None):
        self.count += 1
        ref = Ref(name or "v%d" % self.count)
        self.real[ref.name] = tensor
        return ref

    def real_of(self, value):
        return mapped(value, lambda leaf: self.real[leaf.name] if isinstance(leaf, Ref) else leaf)

    def apply(self, function, arguments, modules, line):
        """The result, with Refs in place of tensors that depend on something."""
        import torch
        if re.fullmatch(r"_?assert_.*|sym_constrain_range.*", function._schema.name.partition("::")[2]):
            return None
        depends = [leaf for leaf in each(list(arguments.values()), Ref)]
        if depends:
            refuse_into_constant(function, arguments, modules, line)
        result = call(function, self.real_of(arguments))
        if not depends or function._schema.name.partition("::")[2] in SHAPES_ONLY:
            return result
        outputs = mapped(list(result) if isinstance(result, tuple) else result,
                         lambda leaf: self.new(leaf) if isinstance(leaf, torch.Tensor) else leaf)
        refs = list(each(outputs, Ref))
        node = Node(function, arguments, outputs, {ref.name: list(self.real[ref.name].shape) for ref in refs}, {}, [],
                    modules, line)
        may_alias = any(result.alias_info is not None for result in function._schema.returns)
        for argument in function._schema.arguments:
            value = arguments.get(argument.name)
            if not isinstance(value, Ref):
                continue
            if argument.alias_info is not None and argument.alias_info.is_write:
                node.written.append(argument.name)
            for ref in refs if may_alias else []:
                if storage(self.real[ref.name]) == storage(self.real[value.name]):
                    node.alias.setdefault(ref.name, argument.name)
        self.program.nodes.append(node)
        return outputs


def refuse_into_constant(function, arguments, modules, line):
    """A constant that an operator writes into would hold numbers of this one input."""
    import torch
    for argument in function._schema.arguments:
        if argument.alias_info is not None and argument.alias_info.is_write and isinstance(
                arguments.get(argument.name), torch.Tensor) and argument.name != "out":
            path, kind = modules[-1] if modules else ("", "the network itself")
            raise Inexpressible(located(path, kind.rpartition(".")[2], "it writes into a tensor of constants, such as torch.zeros; "
                                        "concatenate the parts in place of that", line))


def storage(tensor):
    return (tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()).data_ptr()


def call(function, arguments):
    """Applies an overload to arguments by name."""
    positional, named = [], {}
    for argument in function._schema.arguments:
        if argument.name in arguments:
            (named.__setitem__ if argument.kwarg_only else lambda _, value: positional.append(value))(
                argument.name, arguments[argument.name])
    return function(*positional, **named)


def replay(program, inputs, tensors):
    """Every value of the program for these inputs: {name: tensor}; TENSORS: the weights by their paths."""
    import torch
    dtype = inputs[0].dtype
    real = {ref.name: tensor.clone() for (ref, _), tensor in zip(program.inputs, inputs)}
    real.update({name: tensors[path] for name, path in program.weights.items()})
    seen = {}

    def of(leaf):
        if isinstance(leaf, Ref):
            return real[leaf.name]
        return leaf.to(dtype) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf
    for node in program.nodes:
        result = call(node.function, mapped(node.arguments, of))
        for ref, tensor in zip(each(node.outputs, Ref), each(result, torch.Tensor)):
            real[ref.name] = tensor
            seen[ref.name] = tensor.detach().clone()
    return seen


# ---- where in the user's code -------------------------------------------------------------------------------------


def torch_folder():
    import torch
    return os.path.dirname(os.path.abspath(torch.__file__)) + os.sep


def users_line(places):
    """The first of [(file, line)] that is not PyTorch's own nor the converter's."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    for file, line in places:
        if not file.startswith(torch_folder()) and not file.startswith(own):
            return "%s:%s" % (file, line)
    return None


def class_name(module):
    return type(module).__module__ + "." + type(module).__name__


def paths_of(network):
    """The first path of every module."""
    return {id(module): path for path, module in network.named_modules()}


class Watch:
    """Refuses values of tensors that Python code asks for, where they depend on an input or on a parameter."""

    def __init__(self, network):
        self.paths, self.network, self.derived = paths_of(network), network, {}

    def add(self, tensor):
        key = id(tensor)
        self.derived[key] = weakref.ref(tensor, lambda _: self.derived.pop(key, None))

    def depends(self, arguments):
        import torch
        return any(id(tensor) in self.derived for tensor in each(arguments, torch.Tensor))

    def refuse(self):
        frame, places, path, kind = sys._getframe(1), [], "", type(self.network).__name__
        found = False
        while frame is not None:
            places.append((os.path.abspath(frame.f_code.co_filename), frame.f_lineno))
            module = frame.f_locals.get("self")
            if not found and frame.f_code.co_name == "forward" and id(module) in self.paths:
                path, kind, found = self.paths[id(module)], type(module).__name__, True
            frame = frame.f_back
        raise Inexpressible(located(path, kind, "Python code asks for a value of a tensor, as a condition or an index; a file "
                                    "has one course: choose it by an argument of the module", users_line(places)))

    def run(self, inputs):
        import torch
        from torch.utils._python_dispatch import TorchDispatchMode
        watch = self
        for tensor in [*inputs, *self.network.parameters()]:
            self.add(tensor)

        class Mode(TorchDispatchMode):
            def __torch_dispatch__(self, function, types, args=(), kwargs=None):
                result = function(*args, **(kwargs or {}))
                if watch.depends([args, kwargs or {}]):
                    if operator_name(function) in ("_local_scalar_dense", "is_nonzero", "nonzero", "equal", "item"):
                        watch.refuse()
                    for tensor in each(result, torch.Tensor):
                        watch.add(tensor)
                return result
        with torch.no_grad(), Mode():
            return self.network(*inputs)


def located(path, kind, why, line):
    """One line: module, class, what is wrong, and where."""
    return "%s%s: %s%s" % ("`%s`, a " % path if path else "", kind, why, " (%s)" % line if line else "")


# ---- outputs ------------------------------------------------------------------------------------------------------


def labelled(value, label=""):
    """[(label, tensor)] of what the network returns, None left out."""
    import torch
    if value is None:
        return []
    if isinstance(value, torch.Tensor):
        return [(label, value)]
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, (list, tuple)):
        items = list(zip(getattr(value, "_fields", range(1, len(value) + 1)), value))
    elif hasattr(value, "__dict__"):
        items = list(vars(value).items())
    else:
        raise Inexpressible("the network returns a %s: it may return tensors, and lists and dictionaries of these"
                            % type(value).__name__)
    return [pair for key, part in items for pair in labelled(part, "%s_%s" % (label, key) if label else str(key))]


def wrapper(network):
    """A module that returns the tensors of the network in a tuple."""
    import torch

    class Outputs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = network

        def forward(self, *inputs):
            return tuple(tensor for _, tensor in labelled(self.net(*inputs)))
    return Outputs().eval()


def capture(network, sizes):
    """NETWORK is in evaluation; SIZES: a tuple (channels, height, width) or (channels, depth, height, width) per input."""
    import torch
    example = next((p for p in network.parameters() if p.is_floating_point()), torch.zeros(1))
    inputs = [torch.rand(1, *size, dtype=example.dtype, device=example.device) for size in sizes]
    program = Program()
    try:
        result = Watch(network).run([tensor.clone() for tensor in inputs])
    except (TypeError, RuntimeError, IndexError, ValueError, AssertionError, AttributeError, KeyError) as error:
        raise Inexpressible("the network itself fails on %s: %s: %s" % (
            " and ".join("x".join(map(str, size)) for size in sizes), type(error).__name__,
            " ".join(str(error).split())[:300])) from None
    labels = [label for label, _ in labelled(result)]
    if not labels:
        raise Inexpressible("the network returns no tensor")
    program.tensors = network.state_dict(keep_vars=True)
    program.first = first_paths(program.tensors)
    program.buffers = {path for path, _ in network.named_buffers()}
    with torch.no_grad():
        refs = recorded(network, inputs, program)
    for label, ref in zip(labels, refs):
        if not isinstance(ref, Ref):
            raise Inexpressible("output %s does not depend on an input" % (label or "1"))
        program.outputs.append((label, ref))
    return program


def recorded(network, inputs, program):
    """The Refs that the network returns.  torch.export knows no values of tensors, not even of constants; the tracer does, and
    `Watch` has refused those of the inputs."""
    if not exports():
        return by_jit(network, wrapper(network), inputs, Recorder(program))
    try:
        return by_export(network, wrapper(network), inputs, Recorder(program))
    except Unexported as error:
        program.nodes, program.inputs, program.weights = [], [], {}
        try:
            return by_jit(network, wrapper(network), inputs, Recorder(program))
        except (Inexpressible, RuntimeError, AttributeError, TypeError, KeyError):
            raise error from None


def first_paths(state):
    """Of every path of a tensor in the state dict, the first path of the same tensor."""
    first, of = {}, {}
    for path, tensor in state.items():
        of[path] = first.setdefault((tensor.data_ptr(), tuple(tensor.shape), tensor.stride()) if tensor.numel() else path, path)
    return of


def exports():
    import torch
    return tuple(int(word) for word in re.findall(r"\d+", torch.__version__)[:2]) >= (2, 5)


def unwrapped(path):
    """A path without the wrapper's `net.`"""
    return path[4:] if path.startswith("net.") else "" if path == "net" else path


# ---- torch.jit ----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def named_scopes(wrapped):
    """The tracer names the scope of each operator by the path of its module."""
    import torch
    trace = torch.jit._trace
    before = trace._trace_module_map
    trace._trace_module_map = {module: "m:" + path for path, module in wrapped.named_modules()}
    try:
        yield
    finally:
        trace._trace_module_map = before


def by_jit(network, wrapped, inputs, recorder):
    """The tracer of torch.jit (before PyTorch 2.5)."""
    import warnings
    import torch
    with named_scopes(wrapped), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = torch.jit._get_trace_graph(wrapped, tuple(tensor.clone() for tensor in inputs))[0]
    state = list(torch.jit._unique_state_dict(wrapped, keep_vars=True).items())
    known, classes = {}, {path: class_name(module) for path, module in network.named_modules()}
    for i, value in enumerate(graph.inputs()):
        if i < len(inputs):
            ref = recorder.new(inputs[i], "input%d" % i)
            recorder.program.inputs.append((ref, list(inputs[i].shape)))
        else:
            path, tensor = state[i - len(inputs)]
            ref = recorder.new(tensor.detach(), "w%d" % i)
            recorder.program.weights[ref.name] = recorder.program.first[unwrapped(path)]
        known[value.debugName()] = ref
    nodes = list(graph.nodes())
    last = last_uses(nodes)
    for i, node in enumerate(nodes):
        jit_node(node, known, classes, recorder)
        for value in (value for value in node.inputs() if last[value.debugName()] == i):
            ref = known[value.debugName()]
            if isinstance(ref, Ref) and ref.name not in recorder.program.weights:
                recorder.real.pop(ref.name, None)
    return [known[value.debugName()] for value in graph.return_node().inputs()] if not isinstance(
        known.get(next(graph.outputs()).debugName()), list) else known[next(graph.outputs()).debugName()]


def whole(argument, value):
    """Sizes that the tracer computed in floating point are whole numbers again."""
    if str(argument.type) in ("List[int]", "Optional[List[int]]", "int"):
        return mapped(value, lambda leaf: int(leaf) if isinstance(leaf, float) and leaf == int(leaf) else leaf)
    return value


def last_uses(nodes):
    """The number of the last node that reads each value; a list reads its elements when it is read."""
    last = {}
    for i, node in reversed(list(enumerate(nodes))):
        behind = max([i] + [last.get(value.debugName(), i) for value in node.outputs()] if node.kind().startswith("prim::")
                     else [i])
        for value in node.inputs():
            last[value.debugName()] = max(last.get(value.debugName(), 0), behind)
    return last


def jit_node(node, known, classes, recorder):
    import torch
    kind, names = node.kind(), [value.debugName() for value in node.outputs()]
    values = [known[value.debugName()] for value in node.inputs()]
    if kind == "prim::Constant":
        known[names[0]] = node.output().toIValue()
    elif kind in ("prim::ListConstruct", "prim::TupleConstruct"):
        known[names[0]] = values
    elif kind in ("prim::ListUnpack", "prim::TupleUnpack"):
        known.update(zip(names, values[0]))
    elif kind == "prim::NumToTensor":
        known[names[0]] = torch.tensor(values[0])
    elif kind in ("aten::Int", "aten::Float", "aten::Bool", "aten::ScalarImplicit", "aten::IntImplicit", "aten::FloatImplicit"):
        known[names[0]] = values[0].item() if isinstance(values[0], torch.Tensor) else values[0]
    elif kind.startswith("aten::"):
        name, _, overload = re.match(r"aten::([^(]*)", node.schema()).group(1).partition(".")
        function = getattr(getattr(torch.ops.aten, name), overload or "default")
        arguments = {argument.name: whole(argument, value) for argument, value in zip(function._schema.arguments, values)}
        paths = [unwrapped(part[2:]) for part in node.scopeName().split("/") if part.startswith("m:")]
        places = re.findall(r"^(\S.*)\((\d+)\): ", node.sourceRange(), re.M)
        result = recorder.apply(function, arguments, [(path, classes[path]) for path in paths if path],
                                users_line([(os.path.abspath(file), line) for file, line in places]))
        if len(names) == 1:
            known[names[0]] = result
        else:
            known.update(zip(names, result))
    else:
        raise Inexpressible("the tracer of PyTorch %s recorded a %s: convert with PyTorch 2.5 or newer" % (
            torch.__version__, kind))


# ---- torch.export -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def quiet():
    """torch.export prints its graph before it fails; the tracer may still take the network."""
    logging.disable(logging.WARNING)
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        logging.disable(logging.NOTSET)


class Unexported(Inexpressible):
    """torch.export does not take it."""


def by_export(network, wrapped, inputs, recorder):
    """`torch.export`, PyTorch 2.5 and newer."""
    import torch
    try:
        with quiet():
            program = torch.export.export(wrapped, tuple(tensor.clone() for tensor in inputs), strict=False)
    except Exception as error:  # noqa: BLE001 - whatever PyTorch raises, the user gets a line
        raise Unexported("torch.export does not take it: %s: %s" % (
            type(error).__name__, " ".join(str(error).split())[:300])) from None
    signature, known = program.graph_signature, {}
    weights = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    constants = dict(getattr(signature, "inputs_to_lifted_tensor_constants", {}))
    left = iter(enumerate(inputs))
    classes = {path: class_name(module) for path, module in network.named_modules()}
    for node in program.graph.nodes:
        if node.op == "placeholder":
            known[node.name] = export_input(node, program, weights, constants, left, recorder)
        elif node.op == "output":
            return [known[value.name] for value in node.args[0][-len(signature.user_outputs):]]
        else:
            known[node.name] = export_call(node, known, classes, recorder)
    return []


def export_input(node, program, weights, constants, left, recorder):
    path = weights.get(node.name)
    if path is not None and unwrapped(path) in recorder.program.first:
        ref = recorder.new(dict(program.state_dict)[path].detach(), "w_" + node.name)
        recorder.program.weights[ref.name] = recorder.program.first[unwrapped(path)]
        return ref
    if path is not None or node.name in constants:
        return program.constants[path or constants[node.name]].detach()
    i, tensor = next(left)
    ref = recorder.new(tensor, "input%d" % i)
    recorder.program.inputs.append((ref, list(tensor.shape)))
    return ref


def export_call(node, known, classes, recorder):
    import torch
    from torch.fx.node import map_arg

    def value(leaf):
        return map_arg(leaf, lambda other: known[other.name])
    args, kwargs = value(list(node.args)), value(dict(node.kwargs))
    if node.op == "get_attr":
        found = node.graph.owning_module
        for word in node.target.split("."):
            found = getattr(found, word)
        return found
    if not hasattr(node.target, "_schema"):
        if list(each([args, kwargs], Ref)) and getattr(node.target, "__name__", "") != "getitem":
            raise Unexported("torch.export recorded %s, which is no operator" % node.target)
        return node.target(*args, **kwargs)
    schema = node.target._schema.arguments
    arguments = {argument.name: item for argument, item in zip(schema, args)}
    arguments.update(kwargs)
    paths = [unwrapped(path.replace("L['self'].", "")) for path, _ in (node.meta.get("nn_module_stack") or {}).values()]
    places = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    # an index of a module that is called twice stands behind an @
    paths = [path.partition("@")[0] for path in paths]
    with torch.no_grad():
        return recorder.apply(node.target, arguments, [(path, classes[path]) for path in paths if path and path in classes],
                              users_line(places[::-1]))

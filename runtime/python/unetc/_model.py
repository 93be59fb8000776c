"""A model: a compiled .unet file on one buffer of memory."""

from __future__ import annotations

import ctypes
import dataclasses
import mmap
import os
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _arrays, _door, _plan
from ._errors import ArgumentError, ClosedError, ModelError, UsageError

ALIGN = 64
Arrays = Union[Any, Dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class TensorInfo:
    """A tensor of a model: `shape` of one sample, (channels, height, width) of an image; of labels without the channels.
    `dtype`: float32; uint8 of labels, from 0 to classes - 1, 255 where a point counts nowhere; `classes` is 0 of numbers."""

    name: str
    shape: Tuple[int, ...]
    dtype: str
    classes: int = 0


@dataclasses.dataclass(frozen=True)
class Evaluation(Mapping[str, float]):
    """Losses and metrics over samples, by the names that the file has: result["psnr(denoised, clean)"].  NaN: it was not
    measured, or no point of its classes was there."""

    samples: int
    loss: float
    results: Mapping[str, float]

    def __getitem__(self, name: str) -> float:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)


def _text(name: Optional[bytes]) -> str:
    return (name or b"").decode()


def _info(info: _door.TensorInfo) -> TensorInfo:
    return TensorInfo(_text(info.name), tuple(info.dim[:max(0, info.rank)]), _arrays.NAMES[_door.KINDS[info.type]], info.classes)


def _kind(info: TensorInfo) -> str:
    return next(kind for kind, name in _arrays.NAMES.items() if name == info.dtype)


class Model:
    """A network, its loss and its optimiser in one buffer, on which they train, measure and predict.

    `unetc.compile` makes one; Model(path) opens a library that `unetc --shared` wrote.

    buffer      memory for all of it: anything writable with the buffer protocol, at least `buffer_bytes` long and aligned to 64
                bytes; without one the model takes its own and gives it back when it is closed
    threads     0: as many as there are processors.  Results do not depend on it
    seed        of the first weights and of all that is random in training; None: what the file says

    A model serves one caller at a time: others wait.  While it computes, other Python threads run.  Several models, of one file
    or of several, work at the same time.  It is a context manager: `with unetc.compile(...) as model:`.
    """

    def __init__(self, library: Union[str, "os.PathLike[str]"], *, buffer: Any = None, threads: int = 0, seed: Optional[int] = None):
        self._lock = threading.Lock()
        self._buffer: Any = None
        self._library = _door.Library(os.fspath(library))
        self._door, facts = self._library.door, self._library.facts
        self._error = _door.ErrorText()
        self._own: Optional[mmap.mmap] = None
        self._source: Any = None  # what it was compiled from, and with which options
        self._network: Any = None
        self.library: str = self._library.path
        self.name: str = _text(facts.name)
        self.target: str = _text(facts.target)
        self._gpu = self.target == "cuda"  # arrays may lie there
        self.precision: str = _text(facts.precision)
        self.optimizer: str = _text(facts.optimizer)
        self.batch: int = facts.batch
        self.eval_batch: int = facts.eval_batch
        self.learning_rate: float = facts.learning_rate
        self.parameter_count: int = facts.parameter_count
        self.buffer_bytes: int = facts.buffer_bytes
        self.arena_bytes: int = facts.arena_bytes
        self.seed: int = facts.seed if seed is None else seed
        self.parameters: Tuple[TensorInfo, ...] = tuple(map(_info, self._library.tensors(_door.PARAMETERS)))
        self.outputs: Tuple[TensorInfo, ...] = tuple(map(_info, self._library.tensors(_door.OUTPUTS)))
        self._reads = {which: [None if info.rank < 0 else _info(info) for info in self._library.tensors(which)]
                       for which in (_door.TRAIN, _door.EVAL, _door.PREDICT)}
        self._results = list(self._library.results())
        self._begin(buffer, threads)

    # ---- the buffer ----

    def _begin(self, buffer: Any, threads: int) -> None:
        if not 0 <= self.seed < 1 << 63:
            raise ArgumentError("seed", "is %d, and a seed is a whole number from 0 on" % self.seed)
        if not 0 <= threads < 1 << 31:
            raise ArgumentError("threads", "is %d: use 0 for as many as there are processors" % threads)
        if buffer is None:
            self._own = buffer = mmap.mmap(-1, self.buffer_bytes)
        memory = _arrays.memory_of("buffer", buffer)
        size = _arrays.elements(memory.shape) * _arrays.BYTES[memory.kind]
        if memory.readonly:
            raise ArgumentError("buffer", "is read-only")
        if not _arrays.is_dense(memory):
            raise ArgumentError("buffer", "is not contiguous")
        if size < self.buffer_bytes:
            raise ArgumentError("buffer", "has %d bytes, and %s needs %d" % (size, self.name, self.buffer_bytes))
        if memory.address % ALIGN:
            raise ArgumentError("buffer", "lies at %#x, which is no multiple of %d: unetc.buffer() makes one that does" % (memory.address, ALIGN))
        self._memory: Optional[_arrays.Memory] = memory
        self._buffer = memory.address
        try:
            self._call(self._door.init, self._door.models, self._door.nmodels, self._buffer, size, threads, self.seed)
        except ModelError:
            self._buffer, self._memory = None, None
            raise

    def _call(self, function: Any, *arguments: Any) -> None:
        status = function(*arguments, ctypes.byref(self._error))
        if status:
            raise ModelError(self._error.text.decode(errors="replace"), status)

    def _open(self) -> Any:
        if self._buffer is None:
            raise ClosedError("%s was closed" % getattr(self, "name", "the model"))
        return self._buffer

    @property
    def closed(self) -> bool:
        return self._buffer is None

    def close(self) -> None:
        """Gives memory and device back.  A second time it does nothing."""
        with self._lock:
            if self._buffer is None:
                return
            self._door.close(self._buffer)
            self._buffer, self._memory = None, None
            if self._own is not None:
                self._own.close()
                self._own = None

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_buffer", None) is not None:
            self.close()

    def __repr__(self) -> str:
        return "<unetc.Model %s: %s parameters, batch %d, %s bytes%s>" % (
            self.name, format(self.parameter_count, ","), self.batch, format(self.buffer_bytes, ","), ", closed" if self.closed else "")

    # ---- arguments ----

    @property
    def inputs(self) -> Tuple[TensorInfo, ...]:
        """The tensors that `forward` takes, in order."""
        return tuple(info for info in self._reads[_door.PREDICT] if info)

    @property
    def train_inputs(self) -> Tuple[TensorInfo, ...]:
        """The tensors that `train_step` takes, in order: inputs and targets."""
        return tuple(info for info in self._reads[_door.TRAIN] if info)

    @property
    def eval_inputs(self) -> Tuple[TensorInfo, ...]:
        """The tensors that `evaluate` takes, in order."""
        return tuple(info for info in self._reads[_door.EVAL] if info)

    def _program(self, which: int, name: str) -> List[Optional[TensorInfo]]:
        reads = self._reads[which]
        if not reads:
            raise UsageError("%s has no %s: %s" % (self.name, name, {
                "train_step": "a file without a section `train`, or programs=, leaves training out",
                "evaluate": "write a section `eval { }` behind `train` (`batch N` in it: the samples at a time)",
                "forward": "programs= leaves prediction out"}[name]))
        return reads

    def _arguments(self, reads: List[Optional[TensorInfo]], call: str, arrays: Sequence[Any], named: Mapping[str, Any],
                   most: Optional[int]) -> Tuple[List[Optional[_arrays.Memory]], int, bool]:
        """The memory of each input, how many samples, and whether they had an axis for them."""
        wanted = [info.name for info in reads if info]
        if len(arrays) > len(wanted):
            raise UsageError("%s takes %s: %d arrays are too many" % (call, ", ".join(wanted), len(arrays)))
        values = dict(zip(wanted, arrays))
        for name, value in named.items():
            if name not in wanted:
                raise UsageError("%s takes %s, and no `%s`" % (call, ", ".join(wanted), name))
            if name in values:
                raise UsageError("%s: `%s` is given twice" % (call, name))
            values[name] = value
        memories: List[Optional[_arrays.Memory]] = []
        samples: Optional[int] = None
        batched = True
        for info in reads:
            if info is None:
                memories.append(None)
                continue
            if info.name not in values:
                raise ArgumentError(info.name, "is missing: %s takes %s" % (call, ", ".join(wanted)))
            memory, count, has_axis = _arrays.taken(info.name, values[info.name], _kind(info), info.shape, most, self._gpu)
            if samples is not None and count != samples:
                raise ArgumentError(info.name, "has %d samples, and %s has %d" % (count, wanted[0], samples))
            samples, batched = count, has_axis
            memories.append(memory)
        return memories, samples or 1, batched

    @staticmethod
    def _sample(reads: List[Optional[TensorInfo]], memories: List[Optional[_arrays.Memory]], k: int) -> Any:
        """Pointers to the samples from number K on."""
        return _door.pointers([memory.address + k * _arrays.elements(info.shape) * _arrays.BYTES[memory.kind] if memory and info else 0
                               for info, memory in zip(reads, memories)])

    # ---- training ----

    @property
    def steps(self) -> int:
        """How many steps the optimiser has taken."""
        return int(self._door.steps(self._open()))

    def rate(self, step: int, steps: int, steps_per_epoch: int = 0, lr: Optional[float] = None) -> float:
        """The learning rate of STEP, from 1, of a run of so many STEPS: the file's schedule, which begins with its rate, or LR."""
        return float(self._door.rate(self._library.table, self.learning_rate if lr is None else lr, step, steps, steps_per_epoch or steps))

    def train_step(self, *arrays: Any, lr: Optional[float] = None, **named: Any) -> float:
        """A step of the optimiser; returns the loss before it, as a mean over the samples.

        ARRAYS: `train_inputs`, in order or by name: float32 (n, channels, height, width), pictures from 0 to 1; labels uint8
        (n, height, width).  n is 1 to `batch`.  LR: the learning rate of this step; None: what the optimiser of the file says.
        The numbers are read in place, and brought into the planned memory in the step's own layout.  Where the model is on a GPU,
        arrays may be there, too."""
        reads = self._program(_door.TRAIN, "train_step")
        memories, samples, _ = self._arguments(reads, "train_step", arrays, named, self.batch)
        rate = self.learning_rate if lr is None else float(lr)
        if not 0 <= rate < float("inf"):
            raise ArgumentError("lr", "is %r, and a learning rate is a number from 0 on" % lr)
        loss = ctypes.c_double()
        with self._lock:
            self._call(self._door.train_step, self._open(), samples, self._sample(reads, memories, 0), rate, ctypes.byref(loss))
        return loss.value

    def train_by(self, loss: Callable[[Any], Any], *arrays: Any, lr: Optional[float] = None, **named: Any) -> float:
        """A step by a LOSS of your own; returns its value before the step.

        LOSS gets what `forward` returns, and answers its value and its gradient by the output, an array of the same shape:
        (value, gradient).  torch_loss() makes such a function of one of PyTorch.  ARRAYS: `inputs`, in order or by name, n samples,
        1 to `batch`.  The loss of the file is `mse` of the output and a target of its size, and nothing else: the step aims as far
        beside the output as makes the gradient of `mse` the one that LOSS answers.  Training and prediction compute the same
        output for that: without dropout and without statistics of the batch.  The network is computed once more than in train_step."""
        reads, target = self._aims()
        memories, samples, _ = self._arguments(self._program(_door.PREDICT, "forward"), "train_by", arrays, named, self.batch)
        given = {info.name: memory for info, memory in zip(self.inputs, (memory for memory in memories if memory))}
        output = self.forward(*arrays, **named)
        value, gradient = loss(output)
        aim = _arrays.moved(target.name, output, gradient, -samples * _arrays.elements(target.shape) / 2)
        own = _arrays.taken(target.name, aim, _kind(target), target.shape, self.batch, self._gpu)[0]
        rate = self.learning_rate if lr is None else float(lr)
        found = ctypes.c_double()
        with self._lock:
            self._call(self._door.train_step, self._open(), samples, self._sample(
                reads, [own if info is target else given.get(info.name) if info else None for info in reads], 0), rate, ctypes.byref(found))
        return float(value)

    def _aims(self) -> Tuple[List[Optional[TensorInfo]], TensorInfo]:
        """What training reads, and the target that train_by chooses."""
        reads = self._program(_door.TRAIN, "train_step")
        names = [info.name for info in self.inputs]
        targets = [info for info in reads if info and info.name not in names]
        losses = [_text(result.name) for result in self._results if result.is_loss]
        if len(self.outputs) != 1 or len(targets) != 1 or targets[0].shape != self.outputs[0].shape or losses != [
                "mse(%s, %s)" % (self.outputs[0].name, targets[0].name)] or any(r.weight != 1 for r in self._results if r.is_loss):
            raise UsageError("train_by needs a file whose loss is `mse` of its one output and a target of the same size; %s has: %s" % (
                self.name, " + ".join(losses) or "no loss"))
        return reads, targets[0]

    def train(self, batches: Iterable[Any], *, epochs: int = 1, lr: Optional[float] = None, progress: bool = True) -> List[float]:
        """A step for each of BATCHES, tuples (or dicts by name) of arrays such as a DataLoader gives, EPOCHS times over; returns
        the mean loss of each epoch.  With PROGRESS, tqdm shows how far it is, if it is installed."""
        losses = []
        for epoch in range(epochs):
            total, count = 0.0, 0
            shown = _progress(batches, "epoch %d of %d" % (epoch + 1, epochs)) if progress else batches
            for batch in shown:
                arrays, named = _spread(batch)
                loss = self.train_step(*arrays, lr=lr, **named)
                total, count = total + loss, count + 1
                if hasattr(shown, "set_postfix"):
                    shown.set_postfix(loss="%.5g" % (total / count), refresh=False)
            losses.append(total / count if count else float("nan"))
        return losses

    # ---- measuring and predicting ----

    def evaluate(self, *arrays: Any, **named: Any) -> Evaluation:
        """Losses and metrics of the file over all samples, by the weights that evaluation uses.

        ARRAYS: `eval_inputs`, in order or by name, as train_step takes them, of any number of samples; or one iterable of
        batches, such as a DataLoader."""
        reads = self._program(_door.EVAL, "evaluate")
        facts = self._library.facts
        sums = (ctypes.c_double * max(1, facts.sums))()
        samples = 0
        for batch in self._batches(arrays, named):
            memories, count, _ = self._arguments(reads, "evaluate", *batch, None)
            for begin in range(0, count, self.eval_batch):
                n = min(self.eval_batch, count - begin)
                with self._lock:
                    self._call(self._door.evaluate, self._open(), n, self._sample(reads, memories, begin), samples, sums)
                samples += n
        model, door = self._door.models[self._door.nmodels - 1], self._door
        values = [door.value(model, i, sums, samples) for i in range(facts.results)]
        loss = sum((result.weight * value for result, value in zip(self._results, values) if result.is_loss), 0.0)
        return Evaluation(samples, loss, {_text(result.name): value for result, value in zip(self._results, values)})

    @staticmethod
    def _batches(arrays: Sequence[Any], named: Mapping[str, Any]) -> Iterator[Tuple[Sequence[Any], Mapping[str, Any]]]:
        only = arrays[0] if len(arrays) == 1 and not named else None
        if only is None or _arrays.is_array(only) or not hasattr(only, "__iter__"):
            yield arrays, named
            return
        yield from map(_spread, only)

    def forward(self, *arrays: Any, out: Optional[Arrays] = None, **named: Any) -> Arrays:
        """The outputs for any number of samples: float32 (n, channels, height, width); of classes uint8 (n, height, width).

        ARRAYS: `inputs`, in order or by name; an array without the axis of samples is one, and so is the result.  Several
        outputs are a dict.  OUT: an array, or a dict by name, that the result is written to, without a copy: just its shape and
        type, writable, in C order; it must not overlap with an input.  Returns OUT then."""
        reads = self._program(_door.PREDICT, "forward")
        memories, samples, batched = self._arguments(reads, "forward", arrays, named, None)
        results: Dict[str, Any] = {}
        addresses = []
        for info in self.outputs:
            shape = (samples,) + info.shape if batched else info.shape
            results[info.name], address = self._result(info, shape, out, (*arrays, *named.values()))
            addresses.append((address, _arrays.elements(info.shape) * _arrays.BYTES[_kind(info)]))
        for k in range(samples):
            to = _door.pointers([address + k * size if address else 0 for address, size in addresses])
            with self._lock:
                self._call(self._door.forward, self._open(), self._sample(reads, memories, k), to)
        if out is not None:
            return out
        return next(iter(results.values())) if len(results) == 1 else results

    __call__ = forward

    def _result(self, info: TensorInfo, shape: Tuple[int, ...], out: Optional[Arrays], inputs: Sequence[Any]) -> Tuple[Any, int]:
        if out is None:
            return _arrays.made_beside(inputs if self._gpu else (), shape, _kind(info))
        if not isinstance(out, Mapping):
            if len(self.outputs) > 1:
                raise ArgumentError("out", "is one array, and there are %d outputs: give a dict by name" % len(self.outputs))
            memory = _arrays.given("out", out, _kind(info), shape, self._gpu)
            return memory, memory.address
        for name in out:
            if name not in [other.name for other in self.outputs]:
                raise ArgumentError("out", "has `%s`, and the outputs are %s" % (name, ", ".join(other.name for other in self.outputs)))
        if info.name not in out:
            return None, 0  # it is not wanted
        memory = _arrays.given("out[%r]" % info.name, out[info.name], _kind(info), shape, self._gpu)
        return memory, memory.address

    # ---- weights ----

    def state_dict(self) -> Dict[str, Any]:
        """Copies of the weights that evaluation and prediction use, by PyTorch's names, in its order and its shapes."""
        arrays, addresses = {}, []
        for info in self.parameters:
            arrays[info.name], address = _arrays.made(info.shape, _kind(info))
            addresses.append(address)
        with self._lock:
            self._call(self._door.get, self._open(), _door.pointers(addresses))
        return arrays

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> Tuple[List[str], List[str]]:
        """Takes the weights of STATE, arrays or tensors by name; the optimiser's state stays.  All must be there, and no other,
        unless STRICT is False; returns the names that are missing, and the names that the model does not have.  Nothing changes where
        one does not fit."""
        known = {info.name for info in self.parameters}
        missing = [info.name for info in self.parameters if info.name not in state]
        unexpected = [name for name in state if name not in known and not name.endswith(".num_batches_tracked")]
        if strict and missing:
            raise ArgumentError(missing[0], "is missing%s" % (", and so are %d more" % (len(missing) - 1) if missing[1:] else ""))
        if strict and unexpected:
            raise ArgumentError(unexpected[0], "is no weight of %s%s" % (
                self.name, ", nor are %d more" % (len(unexpected) - 1) if unexpected[1:] else ""))
        memories = []
        for info in self.parameters:
            memories.append(_weights(info, state[info.name]) if info.name in state else None)
        with self._lock:
            self._call(self._door.set, self._open(), _door.pointers([memory.address if memory else 0 for memory in memories]))
        return missing, unexpected

    def _file(self, function: Any, path: Any) -> None:
        with self._lock:
            self._call(function, self._open(), os.fsencode(path))

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the weights to a safetensors file, as `train` of the program does; whole or not at all."""
        self._file(self._door.save, path)

    def load(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Takes the weights of a safetensors file, which has every tensor of the model.  If that fails, some may be the file's."""
        self._file(self._door.load, path)

    def checkpoint(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes weights, the optimiser's state, its steps and the seed: from there `resume` goes on, bit for bit, and so does
        `train --resume=FILE` of the program."""
        self._file(self._door.checkpoint, path)

    def resume(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Goes on from a checkpoint, of `checkpoint` or of the program.  If that fails, some of the weights may be the file's."""
        self._file(self._door.resume, path)

    # ---- where it comes from ----

    @property
    def plan(self) -> "_plan.Plan":
        """The memory plan that it was compiled with."""
        if self._source is None:
            raise UsageError("%s was opened as a library, which does not hold the plan: unetc.mem() makes one of the .unet file" % self.name)
        text, options = self._source
        known = {name: value for name, value in options.items() if name not in ("name",)}
        return _plan.plan_of(text, known)

    def to_torch(self, module: Any) -> List[str]:
        """Writes the weights into the torch.nn.Module that the model was compiled from, or one like it, strictly: every weight
        of the file must be in the module, in its shape.  Returns the names of weights that the file does not have, which stay."""
        from . import _torch
        return _torch.load_into(module, self)


def _spread(batch: Any) -> Tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments that a batch is: a dict by name, several arrays, or one."""
    if isinstance(batch, Mapping):
        return (), batch
    return (batch,) if _arrays.is_array(batch) else tuple(batch), {}


def _weights(info: TensorInfo, value: Any) -> _arrays.Memory:
    memory = _arrays.memory_of(info.name, value)
    if [length for length in memory.shape if length != 1] != [length for length in info.shape if length != 1]:
        raise ArgumentError(info.name, "has the shape %s, and the model has %s" % (
            _arrays.shape_text(memory.shape), _arrays.shape_text(info.shape)))
    same = memory.kind == _kind(info) and _arrays.is_dense(memory) and memory.address % _arrays.BYTES[memory.kind] == 0
    return memory if same else _arrays.copied(info.name, memory, _kind(info))


def _progress(batches: Iterable[Any], text: str) -> Iterable[Any]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return batches
    return tqdm(batches, desc=text, leave=False)  # type: ignore[no-any-return]


def buffer(size: int) -> memoryview:
    """SIZE bytes that are aligned for a model, and zero: Model(..., buffer=unetc.buffer(size))."""
    memory = bytearray(size + ALIGN)
    start = -_arrays.memory_of("buffer", memory).address % ALIGN
    return memoryview(memory)[start:start + size]

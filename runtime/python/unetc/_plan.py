"""The plan: the bytes that a file needs, before anything runs.

`unetc.check`, `unetc.mem` and `unetc.fit` run the compiler and return its answer in frozen dataclasses: `unetc-check/1`,
`unetc-plan/1` and `unetc-fit/1`, which `man unetc-plan` describes.  All sizes are in bytes, shapes have the channels first.
"""

from __future__ import annotations

import dataclasses
import html
import json
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple, Union

from . import _tools
from ._errors import DoesNotFit


# ---- check ----

@dataclasses.dataclass(frozen=True)
class Tensor:
    """An input, a target or an output: (channels, height, width), or with a depth, or with a length alone.  `classes` is 0
    where it has numbers."""

    name: str
    shape: Tuple[int, ...]
    classes: int = 0


@dataclasses.dataclass(frozen=True)
class Checked:
    """A file without mistakes.  `multiples`: the sizes of the first input must be multiples of these."""

    model: str
    source: str
    inputs: Tuple[Tensor, ...]
    targets: Tuple[Tensor, ...]
    outputs: Tuple[Tensor, ...]
    parameters: int
    tensors: int
    frozen: int
    multiples: Tuple[int, ...]


def check(source: _tools.Source, *, name: str = "model", **options: Any) -> Checked:
    """Names and shapes of SOURCE, the path of a .unet file or its text; nothing is planned.

    Raises FileError with the place of a mistake.  OPTIONS are options of `unetc check`, such as size=(128, 128) or
    define={"base": 8}; NAME is the model's, of a text."""
    data = json.loads(_tools.run(["check", "--format=json"], _tools.read(source, name), options))

    def tensors(rows: Any) -> Tuple[Tensor, ...]:
        return tuple(Tensor(row["name"], tuple(row["shape"]), row["classes"]) for row in rows)
    return Checked(data["model"], data["source"], tensors(row for row in data["inputs"] if not row["target"]),
                   tensors(row for row in data["inputs"] if row["target"]), tensors(data["outputs"]), data["parameters"],
                   data["tensors"], data["frozen"], tuple(data["multiples"]))


# ---- mem ----

@dataclasses.dataclass(frozen=True)
class Buffer:
    """A buffer of the plan.  `cls`: parameter, activation, workspace and so on; `lifetime`: persistent, program or step;
    `space`: device (the arena) or host; `alias`: None, or how it shares bytes."""

    id: int
    name: str
    cls: str
    lifetime: str
    line: int
    dtype: str
    shape: Tuple[int, ...]
    space: str
    bytes: int
    offset: int
    alias: Optional[Mapping[str, int]] = None


@dataclasses.dataclass(frozen=True)
class Step:
    """A step of a program: what it computes, for which line, and the ids of the buffers that it touches."""

    op: str
    name: str
    line: int
    reads: Tuple[int, ...]
    writes: Tuple[int, ...]
    recompute: bool
    flops: int


@dataclasses.dataclass(frozen=True)
class Loop:
    """Steps that run several `times`, over "samples" or "bands" of rows."""

    over: str
    times: int
    body: Tuple[Union[Step, "Loop"], ...]


@dataclasses.dataclass(frozen=True)
class Arena:
    """The one buffer that all steps work in.  `extent`: the bytes of it that each program uses."""

    bytes: int
    align: int
    lower_bound: int
    without_reuse: int
    budget: Optional[int]
    fits: bool
    extent: Mapping[str, int]


@dataclasses.dataclass(frozen=True)
class Cost:
    """Floating point operations of a step, without the `recompute_flops`."""

    flops: int
    recompute_flops: int
    recompute_lower_bound_flops: Optional[int]


@dataclasses.dataclass(frozen=True)
class Plan:
    """A plan, `unetc-plan/1`.  In a notebook it shows a map of its memory over time."""

    model: str
    source: str
    target: str
    batch: int
    micro_batches: int
    precision: str
    arena: Arena
    beside: Mapping[str, int]
    cost: Cost
    buffers: Tuple[Buffer, ...]
    programs: Mapping[str, Tuple[Union[Step, Loop], ...]]
    json: str = dataclasses.field(repr=False, compare=False, default="")
    _asked: Any = dataclasses.field(repr=False, compare=False, default=None)

    def steps(self, program: str = "train") -> Iterator[Step]:
        """The steps of a program, those in loops once."""
        def flat(steps: Tuple[Union[Step, Loop], ...]) -> Iterator[Step]:
            for step in steps:
                if isinstance(step, Loop):
                    yield from flat(step.body)
                else:
                    yield step
        return flat(self.programs[program])

    def by_class(self) -> Dict[str, int]:
        """Bytes of the arena's buffers by their class, without regard to reuse; slices and shared places count once."""
        sums: Dict[str, int] = {}
        for buffer in self.buffers:
            if buffer.space == "device" and buffer.alias is None:
                sums[buffer.cls] = sums.get(buffer.cls, 0) + buffer.bytes
        return sums

    def html(self) -> str:
        """The page that `unetc mem --format=html` writes."""
        text, options = self._asked
        try:
            return _tools.run(["mem", "--format=html"], text, options)
        except DoesNotFit as error:
            return str(error.output)  # type: ignore[attr-defined]

    def __str__(self) -> str:
        arena = self.arena
        return "%s: %s, batch %d in %d: arena %s, lower bound %s%s" % (
            self.model, self.target, self.batch, self.micro_batches, format(arena.bytes, ","), format(arena.lower_bound, ","),
            "" if arena.fits else ", does not fit %s" % format(arena.budget or 0, ","))

    def _repr_html_(self) -> str:
        return "<iframe style='width:100%%;height:640px;border:0' sandbox='allow-scripts' srcdoc=\"%s\"></iframe>" % html.escape(
            self.html(), quote=True)


def _steps(rows: Any) -> Tuple[Union[Step, Loop], ...]:
    return tuple(Loop(row["loop"], row["times"], _steps(row["body"])) if "loop" in row else
                 Step(row["op"], row["name"], row["line"], tuple(row["reads"]), tuple(row["writes"]), row["recompute"], row["flops"])
                 for row in rows)


def _buffer(row: Dict[str, Any]) -> Buffer:
    return Buffer(row["id"], row["name"], row["class"], row["lifetime"], row["line"], row["dtype"], tuple(row["shape"]), row["space"],
                  row["bytes"], row["offset"], row["alias"])


def _plan(text: str, asked: Any) -> Plan:
    data = json.loads(text)
    if data["schema"] != "unetc-plan/1":
        raise ValueError("a plan of the schema %s" % data["schema"])
    arena, cost = data["arena"], data["cost"]
    return Plan(data["model"], data["source"], data["target"], data["batch"], data["micro_batches"], data["precision"],
                Arena(*(arena[field.name] for field in dataclasses.fields(Arena))), data["beside"],
                Cost(*(cost[field.name] for field in dataclasses.fields(Cost))), tuple(_buffer(row) for row in data["buffers"]),
                {name: _steps(rows) for name, rows in data["programs"].items()}, text, asked)


def mem(source: _tools.Source, *, name: str = "model", batch: Optional[int] = None, mem: Union[str, int, None] = None,
        size: Any = None, target: Optional[str] = None, **options: Any) -> Plan:
    """The memory plan of SOURCE, the path of a .unet file or its text.

    BATCH samples of SIZE, (height, width), within MEM, "512MiB" or a number of bytes; where one is left out, the file says it.
    Further OPTIONS are options of `unetc mem`: precision="bf16", bands=4, no_recompute=True.

    Raises DoesNotFit, whose `plan` comes closest and whose `help` says what would fit; FileError."""
    return plan_of(_tools.read(source, name), {"batch": batch, "mem": mem, "size": size, "target": target, **options})


def plan_of(text: _tools.Text, given: Mapping[str, Any]) -> Plan:
    """The plan of a text under the options GIVEN."""
    try:
        return _plan(_tools.run(["mem", "--format=json"], text, given), (text, given))
    except DoesNotFit as error:
        output = error.output  # type: ignore[attr-defined]
        error.plan = _plan(output, (text, given)) if output else None
        raise


# ---- fit ----

@dataclasses.dataclass(frozen=True)
class FitPlan:
    """A batch and a size of the first input with the bytes that they take, in the arena and beside it."""

    batch: int
    size: Tuple[int, ...]
    arena: int
    beside: int
    micro_batches: int
    flops: int
    recompute_flops: int
    in_bands: bool


@dataclasses.dataclass(frozen=True)
class FitRow:
    """An amount of memory; the largest that fits it, the next larger one, which does not; where nothing fits, the smallest; and
    the largest batch that fits in micro-batches."""

    memory: int
    fits: bool
    best: Optional[FitPlan]
    next: Optional[FitPlan]
    smallest: Optional[FitPlan]
    with_sample_loops: Optional[FitPlan]


@dataclasses.dataclass(frozen=True)
class Fit:
    """The answer of `fit`, `unetc-fit/1`: a row for each amount of memory."""

    model: str
    source: str
    target: str
    max: str
    precision: str
    rows: Tuple[FitRow, ...]
    json: str = dataclasses.field(repr=False, compare=False, default="")

    @property
    def best(self) -> Optional[FitPlan]:
        """The best of the first row."""
        return self.rows[0].best if self.rows else None

    def _repr_html_(self) -> str:
        cells = "".join("<tr><td>%s</td><td>%s</td><td>%s</td></tr>" % (
            format(row.memory, ","), row.best.batch if row.best else "-",
            "x".join(map(str, row.best.size)) if row.best else "does not fit") for row in self.rows)
        return "<table><tr><th>bytes</th><th>batch</th><th>size</th></tr>%s</table>" % cells


def _fit_plan(row: Any) -> Optional[FitPlan]:
    if row is None:
        return None
    return FitPlan(**{field.name: row[field.name] for field in dataclasses.fields(FitPlan) if field.name != "size"}, size=tuple(row["size"]))


def fit(source: _tools.Source, *, name: str = "model", max: str = "batch", mem: Union[str, int, None] = None, size: Any = None,
        target: Optional[str] = None, **options: Any) -> Fit:
    """The largest batch (MAX="batch") or size (MAX="size") that MEM holds; without MEM for each of the usual amounts.

    Raises DoesNotFit where nothing fits; FileError."""
    given = {"max": max, "mem": mem, "size": size, "target": target, **options}
    text = _tools.run(["fit", "--format=json"], _tools.read(source, name), given)
    data = json.loads(text)
    rows = tuple(FitRow(row["memory"], row["fits"], *(_fit_plan(row.get(key)) for key in (
        "best", "next", "smallest", "with_sample_loops"))) for row in data["rows"])
    return Fit(data["model"], data["source"], data["target"], data["max"], data["precision"], rows, text)

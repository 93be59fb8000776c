#!/usr/bin/env python3
"""An outsider's judge of a memory plan.

    unetc mem --format=json tiny_unet.unet | tests/check_plan.py

Reads `unetc-plan/1` from the file named or from standard input, shares nothing with the compiler, and
recomputes every lifetime from what the steps read and write.  Prints each broken law and exits 1; prints
one line and exits 0 when the plan is sound.  Python's standard library only.

The laws:
  schema      members, classes, types and references are those of the format
  written     nothing is read before it was written (staging excepted, which the loader fills)
  overlap     two buffers alive at the same step of a program share no byte, aliases excepted
  same        a buffer that takes over another's place is born in the step of the other's last use, which says so:
              "in_place": [NEW, OLD] is what the operator can do
  slice       a slice lies inside its parent and apart from the parent's other slices
  align       every buffer that is no slice starts on a multiple of the alignment
  bounds      every buffer of the device lies inside the arena, and inside the extent of each program that needs it
  space       buffers of the host lie beside the arena, apart from each other; they are staging, persist, are touched by
              no step, and add up to the loader ring
  persistent  parameters, the optimiser's state and running statistics persist; a step that writes what persists names
              it in its reads, too: it updates it; nothing that persists is set to zero
  updated     once a step has updated a parameter, no step reads it but one that updates it, too
  once        what runs once for many steps of its program comes first, writes nothing but what lives for the whole
              program, or what these steps alone read, and reads nothing but what persists, came into being so or was loaded
  loaded      weights that live until they are packed are staging of the only program; no step that runs again reads them
  bands       a step in a loop over bands reads no row that is not written by then, or is overwritten, be it in a ring
              by a later row; when the loop ends, all rows of what it writes were written, each once
  ring        what is there a few rows at a time is touched by the steps of one loop over bands, which say its rows
  section     steps of different branches of a section, which may run at once, touch no byte that another of them writes;
              a section is in one piece
  chain       steps of a chain run point by point: bytes that one of them writes and another touches are those of the same
              points; all have the same section and stream
  bucket      gradients that a rank_start sends are touched by no step between it and the rank_sum that waits for it; all
              gradients are in such buckets, or none is
  bytes       a buffer holds at least the elements of its shape
  arena       the arena is as large as the largest extent and as the end of the last buffer
  lower_bound the lower bound stated is the maximum over time of the bytes alive; a slice counts by itself
  cost        no less is computed again than its lower bound
  budget      `fits` says whether the arena is within the budget

Lifetimes.  A buffer of one step lives from its first write to its last use; if it is used inside a loop and
outside, or read in a loop's body before that body writes it, it lives for the whole loop.  A metric lives to
the end of the program, where it is returned; but not what a loss leaves for its gradient beside a metric that is, nor sums of its groups.  A whole lives as long as any of its slices.  A buffer of a whole
program lives in each program that touches it, or, where no step does, in prediction.  A persistent one lives in all, since they take turns on one arena.
What a loader fills lives from the first step on.
Steps side by side that say "section": [NUMBER, BRANCH] with one number may run at once where their branches differ: what one
of them touches lives through all of them.  Each branch of a section has a stream of its own where its steps say "stream": BRANCH;
else one launch does them all.  Within a branch, a buffer may still take the place of another.
A step that says "chained" is one launch with the step in front of it: what either touches lives through both.
What a loop over bands touches lives through all of it, but for the workspace of a single step, unless that is a loss or a metric,
and for a ring of which no row is read in a later iteration than the one that writes it.

Rows.  A step in a loop over bands says for each image {"id": [begin, end, per_iteration]}: iteration i touches the rows
[begin + i * per_iteration, end + i * per_iteration), as far as there are such; or {"id": [[begin, end], ...]}, the rows of each
iteration, where they do not move on evenly.  Others, such as weights, it reads whole, so
nothing in the loop writes them, but for a step without rows, which packs them whole in each iteration; or it writes them, and no other step in the loop touches them: sums over rows.  Inside the
loop a buffer may take another's place row by row.  Of {"ring": N}, row r lies where row r mod N does.
"""

import json
import sys

CLASSES = {"parameter", "parameter_gradient", "activation", "activation_gradient", "state", "running_statistic",
           "batch_statistic", "workspace", "staging", "metric"}
LIFETIMES = {"persistent", "program", "step"}
SPACES = {"device", "host"}
PERSISTENT_CLASSES = {"parameter", "state", "running_statistic"}
LOOPS = {"samples", "bands"}
MIDDLE = 1 << 20  # of a loop that has no end
EXCEEDS_ALL_MACHINES = 2**63 - 1  # bytes of an arena
TYPE_BYTES = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "u8": 1, "unorm8": 1}
MEMBERS = {"schema", "model", "source", "target", "batch", "micro_batches", "precision", "arena", "beside", "cost",
           "buffers", "programs"}
BUFFER_MEMBERS = {"id", "name", "class", "lifetime", "line", "dtype", "shape", "space", "bytes", "offset", "alias"}
STEP_MEMBERS = {"op", "name", "line", "reads", "writes", "recompute", "flops"}


class Loop:
    """A counted loop: the positions [first, last] of its steps and the loop around it."""

    def __init__(self, axis, outer):
        self.axis, self.outer = axis, outer
        self.first = self.last = 0

    def path(self):
        """The loops from the outermost to this one."""
        return (self.outer.path() if self.outer else []) + [self]


    def bands(self):
        """The outermost loop over bands among them, or None."""
        return next((loop for loop in self.path() if loop.axis == "bands"), None)


class Access:
    """A step's, or that of all of a loop over bands in which it is; KEEPS: of a step that sums rows and whose workspace
    holds what the bands before came to; ROWS: of one that says rows."""

    def __init__(self, position, writes, loop, keeps, rows):
        self.position, self.writes, self.loop, self.keeps, self.rows = position, writes, loop, keeps, rows
        self.bands = loop.bands() if loop else None

    def path(self, whole_bands):
        loop = self.bands.outer if whole_bands and self.bands else self.loop
        return loop.path() if loop else []

    def interval(self, whole_bands):
        return (self.bands.first, self.bands.last) if whole_bands and self.bands else (self.position, self.position)


def is_moving_range(rows):
    """Begin, end, and by how many rows both move on in an iteration."""
    return len(rows) == 3 and all(isinstance(value, int) for value in rows) and rows[0] < rows[1] and rows[2] >= 1


def is_list_of_ranges(rows):
    return rows != [] and all(isinstance(pair, list) and len(pair) == 2 and all(isinstance(value, int) for value in pair) and
                              pair[0] <= pair[1] for pair in rows)


def all_loops(steps):
    for step in steps:
        if "loop" in step:
            yield step
            yield from all_loops(step["body"])


def all_steps(steps):
    for step in steps:
        if "loop" in step:
            yield from all_steps(step["body"])
        else:
            yield step


class Judge:
    def __init__(self, plan):
        self.plan = plan
        self.complaints = []
        self.buffers = {}
        self.lives = {}  # program: {id: (first, last)}
        self.uses = {}  # the same without what sections add
        self.accesses = {}  # program: {id: [Access]}
        self.read = None  # ids
        self.fleeting = set()

    def complain(self, law, text, *arguments):
        self.complaints.append("%s: %s" % (law, text % arguments))

    def name(self, number):
        return "%d (%s)" % (number, self.buffers[number]["name"])

    # ---- form ---------------------------------------------------------------------------------------

    def check_schema(self):
        """Returns whether the rest can be judged at all."""
        plan = self.plan
        if not isinstance(plan, dict) or plan.get("schema") != "unetc-plan/1":
            self.complain("schema", "this is not a unetc-plan/1")
            return False
        missing = MEMBERS - plan.keys()
        if missing:
            self.complain("schema", "missing: %s", ", ".join(sorted(missing)))
            return False
        for buffer in plan["buffers"]:
            self.check_buffer_form(buffer)
        if self.complaints:
            return False
        for buffer in plan["buffers"]:
            self.check_alias_form(buffer)
        for program in plan["programs"].values():
            self.check_steps_form(program)
        return not self.complaints

    def check_buffer_form(self, buffer):
        number = buffer.get("id")
        missing = BUFFER_MEMBERS - buffer.keys()
        if missing:
            self.complain("schema", "buffer %s lacks %s", number, ", ".join(sorted(missing)))
            return
        if number in self.buffers:
            self.complain("schema", "two buffers have id %s", number)
        self.buffers[number] = buffer
        if buffer["class"] not in CLASSES:
            self.complain("schema", "buffer %s: unknown class %s", number, buffer["class"])
        if buffer["lifetime"] not in LIFETIMES:
            self.complain("schema", "buffer %s: unknown lifetime %s", number, buffer["lifetime"])
        if buffer["space"] not in SPACES:
            self.complain("schema", "buffer %s: unknown space %s", number, buffer["space"])
        if buffer["dtype"] not in TYPE_BYTES:
            self.complain("schema", "buffer %s: unknown dtype %s", number, buffer["dtype"])
        if not isinstance(buffer["bytes"], int) or not isinstance(buffer["offset"], int):
            self.complain("schema", "buffer %s: bytes and offset must be whole numbers", number)

    def check_alias_form(self, buffer):
        alias, seen = buffer["alias"], {buffer["id"]}
        while alias is not None:
            if not isinstance(alias, dict) or len(alias) != 1 or not set(alias) <= {"same", "slice", "ring"}:
                self.complain("schema", "buffer %s: bad alias %s", buffer["id"], alias)
                return
            if "ring" in alias:
                if not isinstance(alias["ring"], int) or alias["ring"] < 1:
                    self.complain("schema", "buffer %s: a ring of %s rows", buffer["id"], alias["ring"])
                return
            (number,) = alias.values()
            if number not in self.buffers or number in seen:
                self.complain("schema", "buffer %s: alias of %s", buffer["id"], number)
                return
            seen.add(number)
            alias = self.buffers[number]["alias"]

    def check_steps_form(self, steps, banded=False):
        for step in steps:
            if "loop" in step:
                if not isinstance(step.get("times"), int) or step["times"] < 1:
                    self.complain("schema", "loop %s: bad times", step["loop"])
                if step["loop"] not in LOOPS or (banded and step["loop"] == "bands"):
                    self.complain("schema", "loop %s: not here", step["loop"])
                self.check_steps_form(step["body"], banded or step["loop"] == "bands")
                continue
            missing = STEP_MEMBERS - step.keys()
            if missing:
                self.complain("schema", "step %s lacks %s", step.get("name"), ", ".join(sorted(missing)))
                continue
            for number in step["reads"] + step["writes"]:
                if number not in self.buffers:
                    self.complain("schema", "step %s names a buffer %s that does not exist", step["name"], number)
            self.check_rows_form(step, banded)
            self.check_section_form(step)

    def packs(self, step):
        reads, writes = ({self.buffers[number]["class"] for number in numbers} for numbers in (step["reads"], step["writes"]))
        return reads == {"parameter"} and writes == {"workspace"}

    def check_section_form(self, step):
        section = step.get("section", [1, 1])
        if not isinstance(section, list) or len(section) != 2 or not all(isinstance(x, int) and x > 0 for x in section):
            self.complain("schema", "step %s: a section is [NUMBER, BRANCH]", step["name"])
        elif step.get("stream", section[1]) != section[1] or ("stream" in step and step.get("section", [0, 0])[1] not in (1, 2)):
            self.complain("schema", "step %s: stream %s is not that of its branch", step["name"], step["stream"])

    def check_rows_form(self, step, banded):
        """In a loop over bands, and only there, a step says the rows of the images that it touches, of one at least: of all
        that it writes, but for sums over rows and workspace.  One that touches parameters and workspace alone runs whole."""
        rows = step.get("rows", {})
        if "rows" not in step and banded and self.packs(step):
            return
        touched = {str(n) for n in step["reads"] + step["writes"]} if banded else set()
        written = {str(n) for n in step["writes"] if banded and self.buffers[n]["class"].startswith("activation")}
        if ("rows" in step) != banded or (banded and not rows) or not written <= rows.keys() <= touched:
            self.complain("schema", "step %s: rows of %s", step["name"], sorted(rows))
        for number, told in rows.items():
            if not is_moving_range(told) and not is_list_of_ranges(told):
                self.complain("schema", "step %s: rows %s of %s", step["name"], told, number)

    # ---- lifetimes ----------------------------------------------------------------------------------

    def wholes(self, number):
        """What a slice is part of, innermost first."""
        alias = self.buffers[number]["alias"]
        while alias is not None and "slice" in alias:
            yield alias["slice"]
            alias = self.buffers[alias["slice"]]["alias"]

    def collect(self, steps):
        """Accesses of each buffer in program order, and the number of positions."""
        accesses, slices = {}, {}
        for number in self.buffers:
            for whole in self.wholes(number):
                slices.setdefault(whole, []).append(number)

        def walk(steps, position, loop):
            for step in steps:
                if "loop" in step:
                    inner = Loop(step["loop"], loop)
                    inner.first = position
                    position = walk(step["body"], position, inner)
                    inner.last = max(inner.first, position - 1)
                    continue
                for touched, writes in ((step["reads"], False), (step["writes"], True)):
                    for number in touched:
                        for each in [number] + slices.get(number, []):
                            accesses.setdefault(each, []).append(Access(position, writes, loop, self.keeps_scratch(step), "rows" in step))
                position += 1
            return position

        return accesses, walk(steps, 0, None)

    def sums(self, step):
        """What a step in a loop over bands sums over rows; of workspace, what another step reads."""
        return [number for number in step["writes"] if "rows" in step and str(number) not in step["rows"] and
                (self.buffers[number]["class"] != "workspace" or number in self.read_by_steps())]

    def keeps_scratch(self, step):
        """Losses and metrics keep the sums of rows in their workspace, and gradients by weights do on a CPU: a GPU adds each
        band's to the gradient."""
        keep = {"metric", "parameter_gradient"} if self.plan["target"] == "cpu" else {"metric"}
        return any(self.buffers[number]["class"] in keep for number in self.sums(step))

    def read_by_steps(self):
        if self.read is None:
            self.read = {number for steps in self.plan["programs"].values() for step in all_steps(steps) for number in step["reads"]}
        return self.read

    def is_scratch(self, number, accesses):
        """Workspace in which nothing stays from one band to the next: of one step alone that keeps none, or packed in each
        band?"""
        first = accesses[0]
        alone = len({access.position for access in accesses}) == 1 and not first.keeps
        packed = first.writes and not first.rows and first.bands and all(access.bands is first.bands for access in accesses)
        return self.buffers[number]["class"] == "workspace" and bool(alone or packed)

    def interval(self, number, accesses):
        """First and last position of life, widened to the loops that carry the value around."""
        whole_bands = not self.is_scratch(number, accesses) and self.slot(number) not in self.fleeting
        paths = [access.path(whole_bands) for access in accesses]
        common = 0
        while all(len(path) > common and path[common] is paths[0][common] for path in paths):
            common += 1
        first, last = accesses[0].interval(whole_bands)
        for access, path in zip(accesses, paths):
            inner = path[common] if len(path) > common else None
            begin, end = (inner.first, inner.last) if inner else access.interval(whole_bands)
            first, last = min(first, begin), max(last, end)
        if common and not accesses[0].writes:
            first, last = paths[0][common - 1].first, paths[0][common - 1].last
        return first, last

    def untouched(self):
        """What lives through a whole program that no step touches: the runtime does, where windows go through a volume."""
        touched = {number for steps in self.plan["programs"].values() for step in all_steps(steps)
                   for number in step["reads"] + step["writes"]}
        return {number for number, buffer in self.buffers.items() if buffer["lifetime"] == "program" and number not in touched}

    def compute_lives(self):
        for program, steps in self.plan["programs"].items():
            if not steps:
                continue  # not compiled in
            accesses, length = self.collect(steps)
            self.accesses[program] = accesses
            self.fleeting = {slot for loop in all_loops(steps) if loop["loop"] == "bands" for slot in self.fleeting_rings(loop)}
            lives = {}
            untouched = self.untouched()
            for number, buffer in self.buffers.items():
                if buffer["space"] == "host":
                    continue
                touched = accesses.get(number, [])
                of_runtime = program == "predict" and number in untouched
                if buffer["lifetime"] == "persistent" or of_runtime or (touched and buffer["lifetime"] == "program"):
                    lives[number] = (0, length)
                elif touched:
                    lives[number] = self.life_in_step(program, number, touched, length)
            self.uses[program] = dict(lives)
            self.stretch_sections(steps, accesses, lives)
            for number in list(lives):
                for whole in self.wholes(number):
                    first, last = lives.get(whole, lives[number])
                    lives[whole] = (min(first, lives[number][0]), max(last, lives[number][1]))
            self.lives[program] = lives

    def sections(self, steps, position=0):
        """The steps of each section, with the positions of its first and its last; a loop has none of its own."""
        runs, last = [], None
        for step in steps:
            if "loop" in step:
                runs += self.sections(step["body"], position)
                position += sum(1 for _ in all_steps(step["body"]))
                last = None
                continue
            number = step.get("section", [None])[0]
            if number is None:
                last = None
            elif last is not None and last[0] == number:
                last[1].append(step)
                last[3] = position
            else:
                last = [number, [step], position, position]
                runs.append(last)
            position += 1
        return runs

    def chains(self, steps, position=0):
        """The steps of each chain, with the positions of its first and its last."""
        runs = []
        for i, step in enumerate(steps):
            if "loop" in step:
                runs += self.chains(step["body"], position)
                position += sum(1 for _ in all_steps(step["body"]))
                continue
            if step.get("chained"):
                if i == 0 or "loop" in steps[i - 1]:
                    self.complain("chain", "`%s` is chained to no step", step["name"])
                elif steps[i - 1].get("chained"):
                    runs[-1][0].append(step)
                    runs[-1][2] = position
                else:
                    runs.append([[steps[i - 1], step], position - 1, position])
            position += 1
        return runs

    def check_chains(self):
        for program, steps in self.plan["programs"].items():
            for run, _, _ in self.chains(steps):
                if len({(str(step.get("section")), step.get("stream")) for step in run}) > 1:
                    self.complain("chain", "%s: the chain of `%s` leads to another branch", program, run[0]["name"])
                for i, one in enumerate(run):
                    for other in run[:i]:
                        self.check_points(program, run[0]["writes"][0], other, one)

    def check_points(self, program, of, one, other):
        """Steps of a chain whose results have the shape of buffer OF: where one writes what the other touches, both mean the same points."""
        for writer, toucher in ((one, other), (other, one)):
            for a in writer["writes"]:
                for b in toucher["reads"] + toucher["writes"]:
                    (begin, end), (start, stop) = self.span(a), self.span(b)
                    alike = all(self.buffers[n]["shape"] == self.buffers[of]["shape"] for n in (a, b))
                    if begin < stop and start < end and not (alike and begin == start and end == stop):
                        self.complain("chain", "%s: `%s` writes buffer %s, of which `%s` touches other points", program,
                                      writer["name"], self.name(b), toucher["name"])

    def stretch_sections(self, steps, accesses, lives):
        """What a step of a section, or of a chain, touches lives through all of it."""
        for first, last in [run[-2:] for run in self.sections(steps) + self.chains(steps)]:
            for number, touched in accesses.items():
                if number in lives and any(first <= access.position <= last for access in touched):
                    lives[number] = (min(first, lives[number][0]), max(last, lives[number][1]))

    def check_sections(self):
        for program, steps in self.plan["programs"].items():
            seen = set()
            for number, run, _, _ in self.sections(steps):
                if number in seen:
                    self.complain("section", "%s: section %d is in several pieces", program, number)
                seen.add(number)
                if len({"stream" in step for step in run}) > 1:
                    self.complain("section", "%s: section %d is one launch and has streams", program, number)
                for i, one in enumerate(run):
                    for other in run[:i]:
                        if one["section"][1] != other["section"][1]:
                            self.check_branches(program, other, one)

    def check_branches(self, program, one, other):
        for writer, toucher in ((one, other), (other, one)):
            for a in writer["writes"]:
                for b in toucher["reads"] + toucher["writes"]:
                    (begin, end), (start, stop) = self.span(a), self.span(b)
                    if begin < stop and start < end:
                        self.complain("section", "%s: `%s` writes buffer %s, which `%s` touches at the same time", program,
                                      writer["name"], self.name(b), toucher["name"])

    def life_in_step(self, program, number, touched, length):
        buffer = self.buffers[number]
        first, last = self.interval(number, touched)
        if not touched[0].writes:
            if buffer["class"] == "staging":
                first = 0
            else:
                self.complain("written", "%s: buffer %s is read at step %d before it is written", program,
                              self.name(number), touched[0].position)
        if buffer["class"] == "metric" and not self.is_beside_result(program, number):
            last = length
        return first, last

    def is_beside_result(self, program, number):
        """Is it no result, but written with one?"""
        steps = list(all_steps(self.plan["programs"][program]))
        results = {result for step in steps if step["op"] == "return" for result in step["reads"]}
        return number not in results and all(results.intersection(step["writes"]) for step in steps
                                             if number in step["writes"] and step["op"] != "zero")

    # ---- places -------------------------------------------------------------------------------------

    def span(self, number):
        buffer = self.buffers[number]
        return buffer["offset"], buffer["offset"] + buffer["bytes"]

    def check_places(self):
        arena = self.plan["arena"]
        end = 0
        for number, buffer in self.buffers.items():
            if buffer["space"] == "host":
                continue
            start, stop = self.span(number)
            alias = buffer["alias"] or {}
            if start < 0 or buffer["bytes"] < 0 or stop > arena["bytes"]:
                self.complain("bounds", "buffer %s lies at [%d, %d), outside the arena of %d bytes",
                              self.name(number), start, stop, arena["bytes"])
            if "slice" not in alias and start % arena["align"]:
                self.complain("align", "buffer %s starts at %d", self.name(number), start)
            self.check_bytes(number)
            end = max(end, stop)
        align = arena["align"]
        extents = [value for value in arena["extent"].values() if value is not None]
        if arena["bytes"] != max(extents, default=0):
            self.complain("arena", "%d bytes, but the largest extent is %d", arena["bytes"], max(extents, default=0))
        if arena["bytes"] != -(-end // align) * align:
            self.complain("arena", "%d bytes, but the last buffer ends at %d", arena["bytes"], end)
        fits = arena["budget"] is None or arena["bytes"] <= arena["budget"]
        if arena["fits"] != fits:
            self.complain("budget", "fits is %s with %d bytes and a budget of %s", arena["fits"], arena["bytes"],
                          arena["budget"])
        for program, lives in self.lives.items():
            for number in lives:
                if self.span(number)[1] > (arena["extent"].get(program) or 0):
                    self.complain("bounds", "%s: buffer %s lies beyond the extent", program, self.name(number))

    def check_host(self):
        """The slots of the loader ring."""
        ring = self.plan["beside"]["loader_ring"]
        slots = [number for number, buffer in self.buffers.items() if buffer["space"] == "host"]
        end = 0
        for number in sorted(slots, key=self.span):
            buffer = self.buffers[number]
            start, stop = self.span(number)
            if buffer["class"] != "staging" or buffer["lifetime"] != "persistent" or buffer["alias"] is not None:
                self.complain("space", "buffer %s of the host is no slot of the loader ring", self.name(number))
            if start < end:
                self.complain("space", "buffer %s of the host starts at %d, where another lies", self.name(number), start)
            end = max(end, stop)
            self.check_bytes(number)
            for program, accesses in self.accesses.items():
                if number in accesses:
                    self.complain("space", "%s: a step touches buffer %s of the host", program, self.name(number))
        if end > ring or sum(self.buffers[number]["bytes"] for number in slots) != ring:
            self.complain("space", "the buffers of the host end at %d, the loader ring has %d bytes", end, ring)

    def check_persistent(self):
        for number, buffer in self.buffers.items():
            if buffer["class"] in PERSISTENT_CLASSES and buffer["lifetime"] != "persistent":
                self.complain("persistent", "buffer %s is a %s and does not persist", self.name(number), buffer["class"])
        for program, steps in self.plan["programs"].items():
            for step in all_steps(steps):
                for number in step["writes"]:
                    if self.buffers[number]["lifetime"] != "persistent":
                        continue
                    if number not in step["reads"] or step["op"] == "zero":
                        self.complain("persistent", "%s: %s `%s` overwrites buffer %s", program, step["op"], step["name"],
                                      self.name(number))

    def check_updates(self):
        for program, steps in self.plan["programs"].items():
            updated = set()
            for step in all_steps(steps):
                for number in updated & set(step["reads"]) - set(step["writes"]):
                    self.complain("updated", "%s: %s `%s` reads buffer %s, which was updated", program, step["op"], step["name"],
                                  self.name(number))
                updated.update(number for number in step["writes"] if self.buffers[number]["class"] == "parameter")

    def is_loaded(self, program, number):
        """Weights that are needed until they are packed."""
        buffer, accesses = self.buffers[number], self.accesses[program][number]
        return buffer["class"] == "staging" and buffer["lifetime"] == "step" and not any(a.writes for a in accesses)

    def check_once(self):
        for program, steps in self.plan["programs"].items():
            once, made = [step for step in steps if step.get("once")], set()
            if steps[:len(once)] != once:
                self.complain("once", "%s: steps that run once are not the first", program)
            later = {number for step in all_steps(steps[len(once):]) for number in step["reads"] + step["writes"]}
            for step in once:
                made.update(step["writes"])
                for number in step["reads"] + step["writes"]:
                    if self.is_loaded(program, number) and number not in made:
                        continue
                    if number in made and number not in later:  # on the way to what lasts
                        continue
                    if self.buffers[number]["lifetime"] != ("program" if number in made else "persistent"):
                        self.complain("once", "%s: %s runs once and needs buffer %s, which does not last", program,
                                      step["name"], self.name(number))
            read_once = {number for step in once for number in step["reads"]}
            for step in all_steps(steps[len(once):]):
                for number in step["reads"] + step["writes"]:
                    if number in read_once and self.is_loaded(program, number):
                        self.complain("loaded", "%s: %s needs buffer %s as it was loaded, and does not run once", program,
                                      step["name"], self.name(number))
            for number in read_once:
                if self.is_loaded(program, number) and len(self.accesses) > 1:
                    self.complain("loaded", "%s: another program takes the bytes of buffer %s", program, self.name(number))

    def check_bytes(self, number):
        buffer = self.buffers[number]
        needed, ring = TYPE_BYTES[buffer["dtype"]], self.ring(number)
        for axis, size in enumerate(buffer["shape"]):
            needed *= ring if ring and axis == len(buffer["shape"]) - 2 else size
        if "slice" not in (buffer["alias"] or {}) and buffer["bytes"] < needed:
            self.complain("bytes", "buffer %s has %d bytes, its elements take %d", self.name(number),
                          buffer["bytes"], needed)

    def check_aliases(self):
        for number, buffer in self.buffers.items():
            alias = buffer["alias"] or {}
            start, stop = self.span(number)
            if "same" in alias:
                other_start, other_stop = self.span(alias["same"])
                if start != other_start or stop > other_stop:
                    self.complain("same", "buffer %s is not in the place of %s", self.name(number),
                                  self.name(alias["same"]))
            if "slice" in alias:
                whole_start, whole_stop = self.span(alias["slice"])
                if start < whole_start or stop > whole_stop:
                    self.complain("slice", "buffer %s is not inside %s", self.name(number),
                                  self.name(alias["slice"]))

    def check_takeovers(self):
        """What takes over another's place is written by a step that can do so."""
        for program, steps in self.plan["programs"].items():
            for step in all_steps(steps):
                new, old = step.get("in_place", (None, None))
                if new is not None and (new not in step["writes"] or old not in step["reads"]):
                    self.complain("schema", "step %s: in place %s of %s", step["name"], new, old)
                    continue
                for number in step["writes"]:
                    if "same" not in (self.buffers[number]["alias"] or {}):
                        continue
                    if number != new or self.slot(old) != self.slot(number):
                        self.complain("same", "%s: %s `%s` cannot work in the place of what it reads, buffer %s", program,
                                      step["op"], step["name"], self.name(number))

    def slot(self, number):
        """The first of those that have one place after the other."""
        alias = self.buffers[number]["alias"]
        while alias is not None and "same" in alias:
            number = alias["same"]
            alias = self.buffers[number]["alias"]
        return number

    def ring(self, number):
        """So many rows are there at a time; 0: all."""
        return (self.buffers[self.slot(number)]["alias"] or {}).get("ring", 0)

    def may_share(self, program, a, b):
        """Whether A and B, both alive at some step, may share bytes."""
        uses = self.uses[program]  # in a section, the one may take the place of the other within a branch
        if b in self.wholes(a) or a in self.wholes(b):
            return True
        if self.slot(a) != self.slot(b):
            return False
        return (uses[b][1] <= uses[a][0] or uses[a][1] <= uses[b][0] or self.by_rows(program, a, b) or
                self.by_rows(program, b, a))

    def by_rows(self, program, old, new):
        """Whether NEW takes the place of OLD row by row in a loop over bands: check_bands() looks at each row."""
        accesses, lives = self.accesses[program], self.lives[program]
        if old not in accesses or new not in accesses or not accesses[old][0].writes or not accesses[new][0].writes:
            return False
        if accesses[old][0].position >= accesses[new][0].position:
            return False
        loop = accesses[new][0].bands
        shape = [(self.buffers[k]["shape"], self.buffers[k]["dtype"]) for k in (old, new)]
        if loop is None or accesses[old][-1].bands is not loop or shape[0] != shape[1] or lives[old][1] > loop.last:
            return False
        return loop.outer is None or all(loop.outer in access.path(True) for access in accesses[old])

    # ---- rows ---------------------------------------------------------------------------------------

    def fleeting_rings(self, loop):
        """The rings of which each row is read in the iteration that writes it, and in no later one."""
        steps = [step for step in all_steps(loop["body"]) if step.get("rows")]
        rings = {self.slot(number) for step in steps for number in step["writes"] if self.ring(number)}
        written = {}
        endless = loop.get("any_height", False)  # then two iterations far from both ends tell what all do
        for iteration in (MIDDLE - 1, MIDDLE) if endless else range(loop["times"]):
            begun = dict(written)
            for step in steps:
                touched = {number: self.rows(step, number, iteration, endless)[0] for number in map(int, step["rows"])}
                for number in step["writes"]:
                    if number in touched and touched[number]:
                        written[number] = touched[number].stop
                for number in step["reads"]:
                    if number in touched and touched[number] and touched[number].start < begun.get(number, 0):
                        rings.discard(self.slot(number))
        return rings

    def check_bands(self):
        for program, steps in self.plan["programs"].items():
            for step in all_loops(steps):
                if step["loop"] == "bands":
                    self.play_bands(program, step)

    def rows(self, step, number, iteration, endless=False):
        """Those that STEP touches, and how many there are; ENDLESS: as if there were more."""
        told = step["rows"][str(number)]
        if isinstance(told[0], list):
            begin, end = told[iteration] if iteration < len(told) else (0, 0)
        else:
            begin, end = (row + iteration * told[2] for row in told[:2])
        height = 1
        for size in self.buffers[number]["shape"][2:-1]:
            height *= size
        if endless and not isinstance(told[0], list):
            return range(begin, end), height
        return range(max(0, min(height, begin)), max(0, min(height, end))), height

    def play_bands(self, program, loop):
        """Row by row: which row of which buffer each place holds; none: what did when the loop began."""
        steps = [step for step in all_steps(loop["body"]) if "rows" in step]
        written = {number: 0 for step in steps for number in step["writes"]}
        holder = {}  # of (slot, place)
        complaints = set()

        def place(number, row):
            ring = self.ring(number)
            return self.slot(number), row % ring if ring else row

        def play(step, iteration):
            for number in step["reads"]:
                if str(number) not in step["rows"]:
                    if number in written and number not in step["writes"]:
                        complaints.add("`%s` reads all of buffer %s, which the loop writes" % (step["name"], self.name(number)))
                    continue
                for row in self.rows(step, number, iteration)[0]:
                    if holder.get(place(number, row)) != ((number, row) if number in written else None):
                        complaints.add("`%s` reads rows of buffer %s that are not there" % (step["name"], self.name(number)))
            for number in step["writes"]:
                if str(number) not in step["rows"]:
                    continue
                for row in self.rows(step, number, iteration)[0]:
                    if row != written[number]:
                        complaints.add("`%s` leaves out rows of buffer %s, or writes them twice" %
                                       (step["name"], self.name(number)))
                    written[number] = row + 1
                    holder[place(number, row)] = (number, row)

        for iteration in range(loop["times"]):
            for step in steps:
                made = [number for number in step["writes"] if str(number) in step["rows"]]
                if not made or any(self.rows(step, number, iteration)[0] for number in made):
                    play(step, iteration)
        for step in steps:
            for number in step["writes"]:
                if str(number) in step["rows"] and written[number] != self.rows(step, number, 0)[1]:
                    complaints.add("`%s` does not write all rows of buffer %s" % (step["name"], self.name(number)))
        for step in steps:
            for number in self.sums(step):
                if sum(number in other["reads"] + other["writes"] for other in steps) > 1:
                    complaints.add("`%s` sums buffer %s, which is not its alone" % (step["name"], self.name(number)))
        for complaint in sorted(complaints):
            self.complain("bands", "%s: %s", program, complaint)

    def check_rings(self):
        for program, steps in self.plan["programs"].items():
            for step in all_steps(steps):
                for number in step["reads"] + step["writes"]:
                    if self.ring(number) and str(number) not in step.get("rows", {}):
                        self.complain("ring", "%s: `%s` takes buffer %s as a whole", program, step["name"], self.name(number))
            for number, accesses in self.accesses.get(program, {}).items():
                if self.ring(number) and any(access.bands is not accesses[0].bands for access in accesses):
                    self.complain("ring", "%s: buffer %s is touched in several loops", program, self.name(number))

    # ---- sharing ------------------------------------------------------------------------------------

    def check_overlaps(self):
        for program, lives in self.lives.items():
            order = sorted((number for number in lives if self.buffers[number]["bytes"]),
                           key=lambda number: self.span(number))
            reaching = []
            for number in order:
                start, _ = self.span(number)
                reaching = [other for other in reaching if self.span(other)[1] > start]
                for other in reaching:
                    self.check_pair(program, lives, other, number)
                reaching.append(number)

    def check_pair(self, program, lives, a, b):
        first, last = max(lives[a][0], lives[b][0]), min(lives[a][1], lives[b][1])
        if first > last or self.may_share(program, a, b):
            return
        alias = [buffer["alias"] or {} for buffer in (self.buffers[a], self.buffers[b])]
        law = "overlap"
        if self.slot(a) == self.slot(b):
            law = "same"
        elif "slice" in alias[0] and alias[0] == alias[1]:
            law = "slice"
        self.complain(law, "%s: buffers %s and %s share bytes and are both alive at step %d", program, self.name(a),
                      self.name(b), first)

    def check_lower_bound(self):
        bound = max((self.most_alive(lives, True) for lives in self.lives.values()), default=0)
        if self.plan["arena"]["lower_bound"] != bound:
            self.complain("lower_bound", "stated as %d, but at most %d bytes are alive at one time",
                          self.plan["arena"]["lower_bound"], bound)

    def check_buckets(self):
        for steps in self.plan["programs"].values():
            sent = {}
            for step in all_steps(steps):
                slices = [number for number in step["reads"] + step["writes"] if "slice" in (self.buffers[number]["alias"] or {})]
                if step["op"] == "rank_sum":
                    if sent and set(sent) != set(slices):
                        self.complain("bucket", "%s waits for other gradients than were sent", step["name"])
                    sent = {}
                for number in slices:
                    if number in sent:
                        self.complain("bucket", "%s touches %s, which %s has sent", step["name"], self.name(number), sent[number])
                if step["op"] == "rank_start":
                    sent.update((number, step["name"]) for number in slices)
            if sent:
                self.complain("bucket", "nobody waits for %s", sorted(set(sent.values())))

    def check_cost(self):
        cost = self.plan["cost"]
        bound = cost["recompute_lower_bound_flops"]
        if bound is not None and not 0 <= bound <= cost["recompute_flops"]:
            self.complain("cost", "%d operations are computed again, but the lower bound is %d",
                          cost["recompute_flops"], bound)

    def counted(self, lives, by_slices):
        """The buffers of LIVES whose bytes count, so that no byte counts twice: a region, or its slices.  What persists counts by region."""
        wholes = {whole for number in lives for whole in self.wholes(number)}
        for number in lives:
            persists = self.buffers[number]["lifetime"] == "persistent"
            if number not in wholes if by_slices and not persists else next(self.wholes(number), None) is None:
                yield number

    def most_alive(self, lives, by_slices):
        """The maximum over time of the bytes alive.  Buffers that have one place after the other count as one,
        of the size of the largest."""
        size = {}
        for number in lives:
            slot = self.slot(number)
            size[slot] = max(size.get(slot, 0), self.buffers[number]["bytes"])
        counted = list(self.counted(lives, by_slices))
        most = 0
        for position in sorted({first for first, _ in lives.values()}):
            alive = {self.slot(number) for number in counted if lives[number][0] <= position <= lives[number][1]}
            most = max(most, sum(size[slot] for slot in alive))
        return most

    def packing_bound(self):
        return max((self.most_alive(lives, False) for lives in self.lives.values()), default=0)

    def judge(self):
        if self.check_schema():
            self.compute_lives()
            self.check_persistent()
            self.check_updates()
            self.check_once()
            if self.plan["arena"]["bytes"] == EXCEEDS_ALL_MACHINES:  # nothing has a place
                if self.plan["arena"]["fits"]:
                    self.complain("budget", "what exceeds all machines does not fit")
                return self.complaints
            self.check_host()
            self.check_places()
            self.check_aliases()
            self.check_takeovers()
            self.check_overlaps()
            self.check_sections()
            self.check_chains()
            self.check_buckets()
            self.check_rings()
            self.check_bands()
            self.check_lower_bound()
            self.check_cost()
        return self.complaints


def judge(plan):
    """The broken laws, a line each."""
    return Judge(plan).judge()


def packing_bound(plan):
    """No arena of a sound plan is smaller with its order of steps, if each region of gradients is one block."""
    judge = Judge(plan)
    judge.check_schema()
    judge.compute_lives()
    return judge.packing_bound()


def main():
    if len(sys.argv) > 2 or sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return 2
    with open(sys.argv[1]) if len(sys.argv) == 2 else sys.stdin as file:
        plan = json.load(file)
    complaints = judge(plan)
    for complaint in complaints:
        print(complaint)
    if not complaints:
        print("%s: %d buffers, %d bytes, sound" % (plan["model"], len(plan["buffers"]), plan["arena"]["bytes"]))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

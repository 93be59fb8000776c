"""tuned.py - engines by measurement, with the program of steps.py: what `tune` writes, and that programs run what it says.

The stand-in for cuDNN lets one engine be the fastest, lets each round in its own way, and tells which engine ran for which
convolution. """
import glob
import itertools
import json
import os
import re
import shutil

import program
from steps import TINY, WAYS, Run, cuda, execute, expect

FASTEST, PLANNED, CHANGING = 0, 3, 2  # engines of the stand-in; the last one sums in no fixed order
ROUNDS = {"UNET_CUDNN_REFERENCE_ROUNDS": "1"}
FAST, SLOW = 1e-5, 2e-3  # seconds that an engine takes, by the stand-in's word, so that they are the same in each run
STEPS, HALF = 4, 2  # one launched kernel by kernel, one captured, then replays
INPUT = 4


def key(row):
    """A convolution as the stand-in names it."""
    result = {"forward": "y", "backward data": "x", "backward filter": "w"}[row["kind"]]
    first = 3 - row["axes"]
    (inner, outer), batch = row["channels"], row["batch"]
    sizes = [batch, inner] + row["in"][first:] + [outer, inner] + row["kernel"][first:] + [batch, outer] + row["out"][first:]
    return " ".join([result] + [str(size) for size in sizes])


def engine(row):
    return " ".join(str(number) for number in [row["engine"]] + [number for knob in row["knobs"] for number in knob])


class Tuned:
    """A file of engines."""

    def __init__(self, path):
        self.path = path
        with open(path) as file:
            self.table = json.load(file)
        self.rows = self.table["convolutions"]

    def write(self, path):
        with open(path, "w") as file:
            json.dump(self.table, file)
        return Tuned(path)


def ran(log):
    """{convolution: engines that computed it}, of what the stand-in noted."""
    found = {}
    with open(log) as lines:
        for line in lines:
            numbers, convolution = line.strip().split("; ")
            found.setdefault(convolution, set()).add(numbers)
    os.remove(log)
    return found


def differing(found, tuned):
    """Convolutions that ran by another engine than the table says."""
    wanted = {}
    for row in tuned.rows:
        wanted.setdefault(key(row), set()).add(engine(row))
    return [convolution for convolution, engines in found.items() if not engines <= wanted.get(convolution, set())]


def train(tiny, *options, folder=None, **environment):
    """Trains with engines that round; what it left, and what ran."""
    folder, log = folder or tiny.folder(), tiny.folder() + ".log"
    steps = () if any(option.startswith("--steps") for option in options) else ("--steps=%d" % STEPS,)
    said = execute(tiny.training(folder, *steps, *options), environment={**ROUNDS, "UNET_CUDNN_REFERENCE_LOG": log, **environment})[1]
    run = Run(folder, tiny.plan["model"], said)
    run.folder, run.engines = folder, ran(log)
    return run


def file_in(folder, tiny):
    return os.path.join(folder, tiny.plan["model"] + ".engines.json")


def fastest(number):
    return {"UNET_CUDNN_REFERENCE_FAST": str(number), "UNET_SHIM_CLOCK": "1"}


def tune(tiny, folder, **environment):
    said, _ = execute([tiny.path, "tune", "--out=" + folder], environment=environment)
    return Tuned(file_in(folder, tiny)), said


def times(row):
    return round(row["seconds"], 6), round(row["planned"], 6)


# ---- checks ------------------------------------------------------------------------------------------------------------


def check_table(tiny, tuned, said):
    """One row for each convolution, with the fastest engine within the plan."""
    device = tuned.table["device"]
    expect(device["name"] == "CPU, through the shim" and device["cudnn"] > 0 and device["driver"] > 0, "a device: %s", device)
    expect({engine(row) for row in tuned.rows} == {str(FASTEST)}, "the fastest engine is %d, the table has %s", FASTEST,
           {engine(row) for row in tuned.rows})
    expect({times(row) for row in tuned.rows} == {(FAST, SLOW)}, "times: %s", {times(row) for row in tuned.rows})
    lines = re.findall(r"^ *(\d+) of (\d+)  ", said, re.M)
    expect([(int(a), int(b)) for a, b in lines] == [(i + 1, len(tuned.rows)) for i in range(len(tuned.rows))], "it says:\n%s", said)
    expect("; %d convolutions have another engine" % len(tuned.rows) in said, "it says:\n%s", said)


def check_planned_stays(tiny):
    """What is planned stays where nothing is faster."""
    tuned, said = tune(tiny, tiny.folder(), **fastest(PLANNED))
    expect({row["engine"] for row in tuned.rows} == {PLANNED}, "the planned engine is the fastest, the table has others")
    expect({times(row) for row in tuned.rows} == {(FAST, FAST)}, "times: %s", {times(row) for row in tuned.rows})


def mixed(tuned, path):
    """Engines by turns, so that whoever mixes up rows runs another; the table as written, but for that."""
    turns = dict(zip(sorted({key(row) for row in tuned.rows}), itertools.cycle((FASTEST, PLANNED))))
    for row in tuned.rows:
        row["engine"], row["workspace"] = turns[key(row)], 48 if turns[key(row)] == FASTEST else 96
    return tuned.write(path)


def check_runs(tiny, tuned):
    """Programs run what the table says, in every way to the same bits, which are not those of the plan."""
    planned = train(tiny)
    expect(differing(planned.engines, tuned) != [], "without the table the same engines run")
    expect("engines:" not in planned.said, "without a table it says %s", planned.said)
    run = train(tiny, "--engines=" + tuned.path)
    expect(differing(run.engines, tuned) == [], "other engines run than the table says: %s", differing(run.engines, tuned)[:3])
    expect("engines: %s\n" % tuned.path in run.said, "it says %s", run.said)
    expect(run.bytes != planned.bytes, "other engines, and the same bits")
    for way in ("lazy, single launches",):
        expect(train(tiny, "--engines=" + tuned.path, **WAYS[way]).bytes == run.bytes, "%s, with a table: other bits", way)
    return planned, run


def check_beside(tiny, tuned, run):
    """The file beside the weights is used by all commands without being named."""
    folder = tiny.folder()
    os.mkdir(folder)
    shutil.copy(tuned.path, file_in(folder, tiny))
    beside = train(tiny, folder=folder)
    expect(beside.bytes == run.bytes, "the table beside the weights: other bits than where it is named")
    for command in ([tiny.path, "eval", "--data=" + tiny.data, "--threads=1", "--out=" + folder],
                    [tiny.path, "predict", "--threads=1", "--weights=" + beside.path, tiny.small + "/noisy/00.png", "-o",
                     folder + "/a.png"],
                    [tiny.path, "bench", "--steps=1", "--weights=" + beside.path]):
        log = tiny.folder() + ".log"
        said = execute(command, environment={"UNET_CUDNN_REFERENCE_LOG": log})[1]
        expect("engines: %s\n" % file_in(folder, tiny) in said and differing(ran(log), tuned) == [], "%s says %s", command[1], said)


def check_resume(tiny, tuned, planned, run):
    """With the same table, the same bits; with another, it says so."""
    half = train(tiny, "--steps=%d" % HALF, "--engines=" + tuned.path)
    copy = tiny.folder()
    shutil.copytree(half.folder, copy)
    whole = train(tiny, "--resume", "--engines=" + tuned.path, folder=half.folder)
    expect(whole.bytes == run.bytes and "other engines" not in whole.said, "resumed with the same table: %s", whole.said)
    other = train(tiny, "--resume", folder=copy)
    expect(re.search(r"note: \S+ was trained with other engines of cuDNN \(cuDNN \d+, [0-9a-f]{16}; these are cuDNN \d+, "
                     r"[0-9a-f]{16}\): training continues", other.said), "resumed with other engines, it says %s", other.said)
    expect(other.bytes not in (run.bytes, planned.bytes), "other engines from the middle on, and the same bits")


def spoilt(tuned, change):
    table = json.loads(json.dumps(tuned.table))
    change(table)
    return json.dumps(table)


def check_others(tiny, tuned):
    """A table that is not for this device, this cuDNN, this network: left out with a note, or refused where it is named."""
    rows, planned = "convolutions", train(tiny, "--steps=1")
    for what, text, words in (
            ("another device", spoilt(tuned, lambda t: t["device"].update(name="NVIDIA A100")), "another device (NVIDIA A100, "),
            ("another cuDNN", spoilt(tuned, lambda t: t["device"].update(cudnn=90800)), "another version of cuDNN ("),
            ("another network", spoilt(tuned, lambda t: t[rows].pop()), "for another network, or "),
            ("another batch", spoilt(tuned, lambda t: t[rows][3].update(batch=77)), "for another network, or "),
            ("too little room", spoilt(tuned, lambda t: t[rows][0].update(workspace=1 << 30)), "for another network, or "),
            ("nonsense", "{", ":1: "), ("another schema", '{"schema": "x"}', '"schema" is not '),
            ("a knob too many", spoilt(tuned, lambda t: t[rows][1].update(knobs=[[1, 1]] * 17)), 'row 2: "knobs" is not '),
            ("a fraction", spoilt(tuned, lambda t: t[rows][1].update(engine=1.5)), 'row 2: "engine" is not ')):
        folder = tiny.folder()
        os.mkdir(folder)
        with open(file_in(folder, tiny), "w") as file:
            file.write(text)
        run = train(tiny, "--steps=1", folder=folder)
        note = "note: engines as compiled: " + file_in(folder, tiny)
        expect(run.bytes == planned.bytes and note in run.said and words in run.said, "%s: it says %s", what, run.said)
        named = tiny.training(tiny.folder(), "--engines=" + file_in(folder, tiny))
        expect(words in execute(named, (INPUT,))[1], "%s, where it is named", what)
    expect("No such file" in execute(tiny.training(tiny.folder(), "--engines=/nowhere"), (INPUT,))[1], "no table")


def check_pins(tiny, tuned):
    """What the plan does not admit, or cuDNN does not know, does not run, whoever asks for it."""
    for pin in (CHANGING, 99):
        path = tiny.folder() + ".json"
        with open(path, "w") as file:
            file.write(spoilt(tuned, lambda t: [row.update(engine=pin) for row in t["convolutions"][:2]]))
        run = train(tiny, "--steps=1", "--engines=" + path)
        expect(all(engines.isdisjoint({str(pin)}) for engines in run.engines.values()), "engine %d runs", pin)
        expect(re.search(r"engines chosen again for 2 of \d+ convolutions, as it does not take those of the file", run.said),
               "engine %d: it says %s", pin, run.said)


def check_training_tunes(tiny):
    """`train --tune` measures where there is no table yet, and only then."""
    folder = tiny.folder()
    half = train(tiny, "--steps=%d" % HALF, "--tune", folder=folder, **fastest(FASTEST))
    tuned = Tuned(file_in(folder, tiny))
    expect("all convolutions once take" in half.said and "engines: " + tuned.path in half.said, "it says %s", half.said)
    rest = train(tiny, "--resume", "--tune", folder=folder)
    expect("all convolutions" not in rest.said and differing(rest.engines, tuned) == [], "resumed it says %s", rest.said)
    expect(Tuned(tuned.path).table == tuned.table, "a table was measured anew that was there")
    expect(train(tiny, "--engines=" + tuned.path).bytes == rest.bytes, "measured, used and resumed: other bits than in one run")


def check_fault(shop, tiny, tuned):
    """Planted in the runtime: the engine of another row is pinned."""
    source = os.path.join(cuda.ROOT, "runtime", "cuda", "measured.c")
    with open(source) as file:
        text = file.read()
    right, wrong = "cuda->match[i]->convolution.engine", "cuda->match[i > 0 ? i - 1 : 0]->convolution.engine"
    expect(text.count(right) == 1, "nowhere to plant a fault")
    folder = shop.path()
    os.mkdir(folder)
    for header in glob.glob(os.path.join(cuda.ROOT, "runtime", "cuda", "*.h")):
        shutil.copy(header, folder)
    with open(folder + "/faulty.c", "w") as file:
        file.write(text.replace(right, wrong))
    built = [o for o in shop.shim.objects if os.path.basename(o) != "measured.c.o"] + [shop.shim.compile(folder + "/faulty.c")]
    program_of = os.path.dirname(tiny.path)
    objects = [os.path.join(program_of, name) for name in os.listdir(program_of) if name.endswith(".c.o")]
    objects += [shop.shim.kernels(os.path.join(program_of, name)) for name in os.listdir(program_of) if name.endswith(".cu")]
    program.execute(["g++"] + program.SANITIZE + objects + built + [shop.shim.runtime, "-o", folder + "/faulty"] +
                    program.emitted.libraries(shop.shim.runtime))
    faulty = type(tiny)(folder + "/faulty", tiny.plan, (tiny.data, tiny.small))
    found, right = (train(one, "--steps=1", "--engines=" + tuned.path) for one in (faulty, tiny))
    expect(differing(found.engines, tuned) != [] and found.bytes != right.bytes, "a pin of another engine is not noticed")


def check_report(shop, net, tuned):
    """`unetc mem --engines` names the table, where it was measured, and the engines that it has."""
    words = [shop.tools.unetc, "mem", "--target=cuda", *net[2], shop.file(net), "--engines=" + tuned.path]
    report, told = (execute(words + more, environment={"UNETC_CUDNN": shop.tools.cudnn})[0] for more in ([], ["--format=json"]))
    where = "%s, cuDNN %d" % (tuned.table["device"]["name"], tuned.table["device"]["cudnn"])
    expect("engines: %s, measured on %s: " % (tuned.path, where) in report, "it says %s", report[:500])
    plan = json.loads(told)
    all_of_them = [engine for steps in plan["programs"].values() for step in steps for engine in step.get("engines", [])]
    count = len(all_of_them)
    expect(plan["engines"] == {"file": tuned.path, "measured_on": where, "found": count, "convolutions": count}, "it says %s", plan["engines"])
    expect(count > 0 and {engine["engine"] for engine in all_of_them} == {FASTEST, PLANNED}, "steps have engines %s", all_of_them[:9])


def check_planned_with(shop, net, tuned, run):
    """`unetc --engines`: the table is compiled in, within its own workspaces; a planted pin of another engine is noticed."""
    compiled = shop.cuda(net, "--engines=" + tuned.path)
    found = train(compiled)
    expect(differing(found.engines, tuned) == [] and found.bytes == run.bytes, "compiled with a table: %s, other bits: %s",
           differing(found.engines, tuned)[:3], found.bytes != run.bytes)
    with open(compiled.path + ".c") as file:
        workspaces = set(re.findall(r"\.engine = \{.*?\.workspace = (\d+)\}", file.read()))
    expect(workspaces == {"256"}, "workspaces of %s bytes: they are not those of the table in whole pieces", workspaces)
    faulty = shop.cuda(net, "--engines=" + tuned.path, edit=(".c", lambda text: text.replace(
        ".engine = %d, " % FASTEST, ".engine = %d, " % PLANNED, 1)))
    expect(differing(train(faulty, "--steps=1").engines, tuned) != [], "a program with the pin of another engine is not noticed")
    check_report(shop, net, tuned)
    lacks = tuned.path + ".part"
    with open(lacks, "w") as file:
        file.write(spoilt(tuned, lambda t: t["convolutions"].pop()))
    words = ["mem", "--target=cuda", *net[2], shop.file(net)]
    there = {"UNETC_CUDNN": shop.tools.cudnn}
    _, said = execute([shop.tools.unetc, *words, "--engines=" + lacks], environment=there)
    expect(re.search(r"has no engine for \d+ of \d+ convolutions of this plan", said), "a table that lacks one: %s", said)
    _, said = execute([shop.tools.unetc, *words, "--engines=" + lacks, "--batch=1", "--size=48x40"], (INPUT,), there)
    expect("none of the convolutions of this plan" in said, "a table of another network: %s", said)


def check_tuned(shop, tiny, plain):
    folder = tiny.folder()
    tuned, said = tune(tiny, folder, **fastest(FASTEST))
    check_table(tiny, tuned, said)
    check_planned_stays(tiny)
    turns = mixed(tuned, tiny.folder() + ".json")
    planned, run = check_runs(tiny, turns)
    check_beside(tiny, turns, run)
    check_resume(tiny, turns, planned, run)
    check_others(tiny, turns)
    check_pins(tiny, turns)
    check_training_tunes(tiny)
    check_fault(shop, tiny, turns)
    check_planned_with(shop, TINY, turns, run)
    return "%d convolutions by measured engines: the same bits in every way, none of another's" % len(turns.rows)

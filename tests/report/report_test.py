#!/usr/bin/env python3
"""report_test.py [--short [--quick]] UNETC: what `unetc` says of memory is true.

fit: what it returns fits, its successor does not, both asked of `unetc mem`; over budget: every proposed option gives
the arena that was promised, two options together where one is not enough, and the smallest budget is enough and comes before a
narrower network; what ends bands of rows; --diff: exit codes and amounts; the HTML page is well
formed, needs nothing from outside and holds every buffer of the arena; the eager framework's bytes are those that
PyTorch's saved tensors add up to.  --short: fewer plans over budget.  --quick: nothing that searches
for long, for builds that run slowly."""

import csv
import html.parser
import json
import os
import re
import socket
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TINY = os.path.join(ROOT, "examples", "denoise", "tiny_unet.unet")
WIDE = os.path.join(ROOT, "examples", "denoise", "unet_denoiser.unet")
NET = """input  noisy : image(3, 64, 64)
target clean : image(3)
a = noisy -> conv(16, 3) -> relu -> conv(16, 3) -> relu
b = max_pool(a) -> conv(16, 3) -> relu -> conv(16, 3) -> relu
output denoised = concat(upconv(b, 16), a) -> conv(16, 3) -> relu -> conv(3, 3)
data {
    noisy = images("noisy/*.png")
    clean = images("clean/*.png")
}
train {
    loss      mse(denoised, clean)
    optimizer adam(lr = 5e-4)
    batch     8
    epochs    1
}
"""
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

failures = 0
SMALL = None  # the path of NET


def expect(good, what):
    global failures
    if not good:
        failures += 1
        print("FAILED: " + what)


def unetc(*arguments):
    result = subprocess.run([sys.argv[-1]] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def plan(*arguments):
    """The exit code and the plan; over budget there is a plan too."""
    code, out, err = unetc("mem", "--format=json", *arguments)
    expect(code in (0, 3), "mem %s: exit code %d: %s" % (" ".join(arguments), code, err))
    return code, json.loads(out)


def size_option(trial):
    return "--size=" + "x".join(str(n) for n in trial["size"])


# ---- fit ----

def check_row(row, options, option_of, more):
    best, following = row["best"], row["next"]
    budget = "--mem=%dB" % (row["memory"] - best["beside"])
    code, fits = plan(SMALL, budget, option_of(best), *options, *more)
    expect(code == 0 and fits["arena"]["bytes"] == best["arena"], "fit: %s of %s" % (option_of(best), budget))
    slots = 1 if best["in_bands"] else 3
    expect(fits["beside"]["loader_ring"] // 3 * slots == best["beside"], "fit: bytes beside the arena")
    extent = fits["arena"]["extent"]
    expect((fits["beside"]["tensorboard"] > extent["predict"]) == (extent["eval"] > 0), "mem: TensorBoard's pictures")
    expect(best["in_bands"] == ('"bands"' in json.dumps(fits["programs"]["train"])), "fit: in bands or not")
    expect(fits["cost"]["recompute_flops"] == best["recompute_flops"], "fit: operations computed again")
    budget = "--mem=%dB" % (row["memory"] - following["beside"])
    code, _ = plan(SMALL, budget, option_of(following), *options, *more)
    expect(code == 3, "fit: %s exceeds %s" % (option_of(following), budget))


def test_fit():
    whole = ["--micro-batches=off"]
    batch = lambda trial: "--batch=%d" % trial["batch"]
    for options in (["--no-recompute"], [], ["--size=40x72", "--no-recompute"]):
        code, out, _ = unetc("fit", SMALL, "--mem=5MiB", "--max=batch", "--format=json", *options)
        answer = json.loads(out)
        expect(code == 0 and answer["schema"] == "unetc-fit/1", "fit: exit code and schema")
        row = answer["rows"][0]
        expect(row["next"]["batch"] == row["best"]["batch"] + 1, "fit: the next batch is one more")
        check_row(row, options, batch, whole)
        expect(row["with_sample_loops"]["batch"] >= row["best"]["batch"], "fit: loops allow as many samples")
    answers = [unetc("fit", SMALL, "--mem=5MiB", "--max=batch", "--micro-batches=%s" % n)[1] for n in ("auto", "4", "off")]
    last = [answer.splitlines()[-1].split()[-1] for answer in answers]
    expect(last[0] == "limit" and last[1].isdigit() and last[2] == "%" and "in 4 micro-batches" in answers[1] and
           "micro-batches" not in answers[2], "fit: --micro-batches is respected: %s" % answers)
    row = json.loads(unetc("fit", SMALL, "--mem=5MiB", "--max=batch", "--format=json", "--micro-batches=4")[1])["rows"][0]
    loops = row["with_sample_loops"]
    expect(loops["micro_batches"] == 4 and loops["batch"] > row["best"]["batch"], "fit: a batch in 4 parts: %s" % loops)
    for options, ratio in ((["--no-recompute"], 1), (["--size=48x96", "--no-recompute"], 2)):
        code, out, _ = unetc("fit", SMALL, "--mem=20MiB", "--max=size", "--format=json", *options)
        row = json.loads(out)["rows"][0]
        height, width = row["best"]["size"]
        expect(height % 2 == 0 and width % 2 == 0 and abs(width - ratio * height) <= 2, "fit: the size is legal")
        check_row(row, ["--no-recompute"], size_option, [])


def test_fit_tables():
    for target, most in ("cpu", ["--max=size", "--batch=64"]), ("cuda", ["--max=batch", "--precision=bf16"]):
        code, out, _ = unetc("fit", SMALL, "--target=" + target, "--format=json", "--no-recompute", *most)
        answer = json.loads(out)
        rows = answer["rows"]
        expect(code == 0 and [r["memory"] >> 30 for r in rows] == [4, 6, 8, 10, 11, 12, 16, 24, 32, 40, 48, 80],
               "fit: the usual cards")
        expect((answer["target"], answer["precision"]) == (target, "f32" if target == "cpu" else "bf16"), "fit: what it is for")
        for row in rows:
            best, after = row["best"], row["next"]
            expect(best["arena"] + best["beside"] <= row["memory"] < after["arena"] + after["beside"],
                   "fit: the arena and what lies beside it on a card of %d, %s" % (row["memory"], target))
            loops = row.get("with_sample_loops") or best
            expect(loops["batch"] >= best["batch"] and loops["arena"] + loops["beside"] <= row["memory"],
                   "fit: loops over samples on a card of %d" % row["memory"])
    code, out, _ = unetc("fit", SMALL, "--max=batch", "--mem=64KiB")
    expect(code == 3 and "none" in out, "fit: exit code 3 where nothing fits")
    card = json.loads(unetc("fit", SMALL, "--max=size", "--batch=64", "--format=json", "--no-recompute", "--mem=8GiB")[1])
    _, out, _ = unetc("fit", SMALL, "--max=size", "--batch=64", "--format=json", "--no-recompute")
    expect(card["rows"][0]["best"] == json.loads(out)["rows"][2]["best"], "fit: --mem counts as the table does")
    sizes = [row["best"]["size"][0]**2 / row["memory"] for row in json.loads(out)["rows"]]  # images fill the memory
    expect(min(sizes) > 0.9 * max(sizes), "fit: bands of rows wherever they make room: %r" % sizes)
    expect(unetc("fit", SMALL)[0] == 2, "fit: needs --max")
    expect(unetc("fit", SMALL, "--max=batch", "--mem=4194304TiB")[0] == 0, "fit: a budget that holds all it tries")


def test_waiting():
    """On a terminal `fit` says that it is at work; where there is none, nothing."""
    here, there = os.openpty()
    command = [sys.argv[-1], "fit", SMALL, "--max=batch", "--mem=5MiB", "--no-recompute"]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=there)
    os.close(there)
    said = b""
    try:
        while True:
            said += os.read(here, 1000)
    except OSError:  # nobody writes any more
        pass
    os.close(here)
    expect(said.startswith(b"\r\x1b[Kunetc: trying batches, 0 s") and said.endswith(b"\r\x1b[K"), "fit: at work: %r" % said)
    expect(unetc(*command[1:])[2] == "", "fit: no progress where nobody looks")


# ---- over budget ----

def bytes_of(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


HELP = re.compile(r"^help: (.*): (?:fits, (about)|([0-9.]+ \w+),) \+([0-9.]+) % (of its own )?work(, in bands of rows)?$",
                  re.M)


def with_proposal(options, text):
    """The options, with those of a proposal in place of others of the same name."""
    changed = list(options)
    for part in text.split(" and "):
        if part.startswith("without "):
            changed.remove(part[len("without "):])
        else:
            changed = [o for o in changed if o.split("=")[0] != part.split("=")[0]] + part.split()
    return changed


def refusal(file, options, code="U0701"):
    """What is said, and what is proposed, of a plan that does not fit; every proposal is asked for."""
    status, out, err = unetc("mem", "--format=json", file, *options)
    said = " ".join(options)
    expect(status == 3 and json.loads(out)["arena"]["fits"] is False, "over budget: the plan is still printed")
    expect(code in err, "over budget: %s for %s" % (code, said))
    found = HELP.findall(err)
    for text, about, arena, work, own, bands in found:
        fits, made = plan(file, *with_proposal(options, text))
        expect(fits == 0, "over budget: `%s` fits" % text)
        extra = 100 * made["cost"]["recompute_flops"] / made["cost"]["flops"]
        if about:
            expect(abs(extra - float(work)) <= 2 + .3 * extra,
                   "over budget: the work of `%s` is %.1f %%, about %s" % (text, extra, work))
        else:
            expect(abs(made["arena"]["bytes"] - bytes_of(arena)) <= .006 * UNITS[arena.split()[1]],
                   "over budget: `%s` needs %s, not %d" % (text, arena, made["arena"]["bytes"]))
            expect(abs(extra - float(work)) <= .051, "over budget: the work of `%s`" % text)
        expect(bool(own) == text.startswith("-D "), "over budget: `%s` is another network" % text)
        expect(bool(bands) == ('"bands"' in json.dumps(made["programs"]["train"])), "over budget: `%s`, in bands or not" % text)
    return err, found


def test_proposals():
    given = ["--mem=7MiB", "--micro-batches=off", "--no-recompute", "--no-reuse"]
    asked = [[o for o in given if o not in dropped] for dropped in ([], given[3:], given[2:])]
    asked.append(["--mem=45500KiB", "--micro-batches=off", "--no-recompute", "--target=cuda"])
    proposed = []
    for options in asked:
        _, found = refusal(SMALL, options)
        expect(0 < len(found) <= 8, "over budget: proposals for " + " ".join(options))
        proposed = [text for text, *_ in found]
    expect("--precision=bf16" in proposed, "over budget: fewer bits on a GPU")


def test_bands():
    _, found = refusal(SMALL, ["--mem=1MiB", "--bands=off"])
    expect("--bands=auto and --conv=direct" in [text for text, *_ in found], "over budget: what bands would do")
    code, made = plan(os.path.join(os.path.dirname(TINY), "unet_denoiser.unet"), "--conv=direct", "--size=512x512", "--batch=1",
                      "--programs=train", "--bands=32", "--mem=200MiB")
    expect(code == 0 and 0 < made["cost"]["recompute_flops"] < .02 * made["cost"]["flops"], "--bands=32: little is computed again")
    options = (TINY, "--target=cuda", "--bands=4", "--size=64x64", "--batch=1", "--programs=train")
    names = {str(buffer["id"]): buffer["name"] for buffer in plan(*options)[1]["buffers"]}
    lives = [int(row["upper"]) - int(row["lower"]) for row in csv.DictReader(unetc("mem", "--format=csv", *options)[1].splitlines())
             if names[row["id"]].endswith(".0 scratch")]
    expect(lives and set(lives) == {1}, "on a GPU the scratch of a gradient is that of one step: %s" % lives)


def test_pairs():
    err, found = refusal(SMALL, ["--mem=600KiB"])
    texts = [text for text, *_ in found]
    expect("--conv=direct and --precision=bf16" in texts and any("and --size=" in text for text in texts),
           "over budget: two options together: %s" % texts)
    expect("no useful size fits by itself, not even `--size=16x16`" in err, "over budget: a quarter is the smallest size")
    _, found = refusal(SMALL, ["--mem=600KiB", "--micro-batches=off", "--bands=off"])
    expect(found and found[0][0] == "--micro-batches=auto and --bands=auto and --conv=direct and --precision=bf16",
           "over budget: two options, and what had been forbidden")
    _, found = refusal(TINY, ["--mem=12MiB"])
    texts = [text for text, *_ in found]
    expect("--conv=direct and --precision=bf16" in texts and not any(text.startswith("-D base=") for text in texts),
           "over budget: two options rather than a third of the size or another network: %s" % texts)


def test_codes():
    """Where nothing trains to the same result, codes of activations are proposed, and both kinds of codes where one is not enough."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "normed.unet")
        with open(file, "w") as out:
            out.write("input photo : image(3, 64, 64)\ntarget truth : image(3)\n"
                      "a = photo -> conv(32, 3) -> batch_norm -> relu -> conv(32, 3) -> batch_norm -> relu\n"
                      "output y = conv(a, 3, 3)\ntrain {\n    loss mse(y, truth)\n    batch 8\n    steps 9\n}\n")
        texts = [text for text, *_ in HELP.findall(unetc("mem", file, "--mem=12MiB")[2])]
        expect("--compress=8" in texts and not any("--state" in text for text in texts), "over budget: codes: %s" % texts)
        expect(plan(file, "--mem=12MiB", "--compress=8")[0] == 0, "over budget: codes fit")
        err = unetc("mem", file, "--mem=12MiB", "--compress=8", "--batch=9")[2]
        expect("U0701" in err and "--compress" not in err, "over budget: codes that are there")


def test_narrower():
    """Where only another network fits, the smallest budget comes first, and nothing that changes the size, too."""
    for budget, narrower in (("7MiB", 1), ("4MiB", 0)):
        err, found = refusal(TINY, ["--mem=" + budget])
        expect("take 7.36 MiB" in err and "only a narrower network" in err, "over budget: the fixed part")
        helps = re.findall("^help: (.*)$", err, re.M)
        expect(helps[0].startswith("the smallest budget for this file is `--mem="), "over budget: the smallest budget: %s" % helps)
        expect(len(found) == len(helps) - 1 == narrower and all(re.match(r"-D base=\d+$", text) for text, *_ in found),
               "over budget: a narrower network within %s: %s" % (budget, helps))


def test_size_and_width():
    options = ["--batch=2", "--size=128x128", "--micro-batches=off", "--mem=180MiB"]
    _, found = refusal(WIDE, options)
    sizes = [(int(text.split("x")[1]), float(work)) for text, _, _, work, *_ in found if text.startswith("--size=")]
    expect(not any(text.startswith("-D base=") for text, *_ in found), "over budget: no narrower network where a size fits")
    expect(len(sizes) == 1 or (len(sizes) == 2 and sizes[1][0] < sizes[0][0] and sizes[1][1] <= 26 < sizes[0][1]),
           "over budget: a size, and one of less work: %s" % sizes)


NORMAL = """input  x : image(3, 64, 64)
target t : image(4)
a = x -> conv(16, 3) -> batch_norm -> relu -> conv(16, 3) -> batch_norm -> relu
output y = conv(a, 4, 3)
train {
    loss      mse(y, t)
    optimizer sgd(lr = 0.1)
    batch     8
    steps     10
}
"""


def test_other_norms(folder):
    """Statistics of less than the batch have a price each, in the report and over budget, and their plans are those figures."""
    path = os.path.join(folder, "normal.unet")
    with open(path, "w", encoding="utf-8") as file:
        file.write(NORMAL)
    _, text, _ = unetc("mem", path)
    rows = re.findall(r"^    (as it is|--batch\S+(?: --accumulate=8)?) .*?([\d,]+) B  (.*)$", text, re.MULTILINE)
    expect([row[0] for row in rows] == ["as it is", "--batch=1 --accumulate=8", "--batch-norm=group", "--batch-norm=instance",
                                        "--batch-norm=running"], "mem: other statistics: %s" % rows)
    budget = int(re.search(r"other statistics .*?([\d,]+) B", text).group(1).replace(",", ""))
    for option, bytes_, note in rows[1:]:
        code, made = plan(path, *option.split(), "--mem=%d" % budget)
        expect((code == 0) == ("DOES NOT FIT" not in note), "mem %s: fits as the report says: %s" % (option, note))
        expect(code != 0 or made["arena"]["bytes"] <= budget, "mem %s: %s, planned %s" % (option, bytes_, made["arena"]["bytes"]))
    err = unetc("mem", path, "--mem=2500KiB")[2]
    for option in ("--batch=1 --accumulate=8", "--batch-norm=group", "--batch-norm=running"):
        expect(re.search("^help: %s: .* of its own work" % option, err, re.MULTILINE), "over budget: %s is proposed" % option)
        expect(plan(path, "--mem=2500KiB", *option.split())[0] == 0, "over budget: %s fits" % option)
    expect("other statistics" not in unetc("mem", path, "--batch-norm=group")[1], "mem: nothing sees the batch any more")


def test_sweep_end(folder):
    """The operator at which bands of rows end is named with its line: in the report, over budget, and by a warning."""
    path = os.path.join(folder, "sweep.unet")
    net = """input  x : image(3, 64, 64)
target t : %s
a = x -> conv(16, 3) -> relu
b = %s
output y = conv(b, %d, 3)
train {
    loss %s
    batch 2
    steps 1
}
"""
    for b, loss, name, line in (
            ("conv(a, 16, 3)", "mse(y, t)", None, 0),
            ("instance_norm(conv(a, 16, 3))", "mse(y, t)", "instance_norm", 4),
            ("batch_norm(conv(a, 16, 3))", "mse(y, t)", "batch_norm", 4),
            ("a * sigmoid(conv(adaptive_avg_pool(a, 1), 16, 1))", "mse(y, t)", "adaptive_avg_pool", 4),
            ("resize(max_pool(a, 3), like = a)", "mse(y, t)", "max_pool", 4),
            ("conv(a, 16, 3)", "dice_loss(y, t)", "dice_loss", 7)):
        classes = loss.startswith("dice")
        with open(path, "w") as file:
            file.write(net % (("labels(2)", b, 2, loss) if classes else ("image(3)", b, 3, loss)))
        report = re.compile(r"bands of rows end +`(\w+)` of line (\d+) (?:takes|makes)")
        note = re.compile(r"note: bands of rows end at line (\d+): `(\w+)` (?:takes|makes)")
        expected = [(name, str(line))] if name else []
        code, out, _ = unetc("mem", "--bands=4", path)
        expect(code == 0 and report.findall(out) == expected, "bands end: %s, %s: %s" % (b, loss, report.findall(out)))
        expect(report.search(unetc("mem", "--bands=off", path)[1]) is None, "--bands=off: nobody asked where bands end")
        code, _, err = unetc("mem", "--mem=100KiB", path)
        expect(code == 3 and [n[::-1] for n in note.findall(err)] == expected, "over budget: bands end: %s" % err)
        code, _, err = unetc("--bands=4", "-S", os.path.join(folder, "sweep"), path)
        warns = "warning[U0708]: --bands=4: bands of rows end at `%s`\n --> %s:%d:" % (name, path, line)
        expect(code == 0 and (warns in err if name else err == ""), "--bands=4: %s" % err)


def test_floor():
    code, _, err = unetc("mem", SMALL, "--mem=64KiB")
    budget = re.findall(r"`--mem=(\d+B)`", err)
    expect(code == 3 and "U0701" in err and len(budget) == 1, "floor: U0701 names a budget")
    expect(unetc("mem", SMALL, "--mem=" + budget[0])[0] == 0, "floor: --mem=%s is enough" % budget[0])
    near = "--mem=%dB" % (int(budget[0][:-1]) * 0.97)
    for options, proposed in (([near], True), (["--mem=64KiB"], False), ([near, "--effort=2"], False)):
        code, _, err = unetc("mem", SMALL, "--bands=off", *options)
        expect(code == 0 or ("help: --effort=8" in err) == proposed, "floor: a longer search, %s: %s" % (options, err))


def test_at_once():
    """What is needed is said before it is known what would fit: each write is a packet of its own."""
    little = ["--mem=7MiB", "--micro-batches=off", "--bands=off", "--no-recompute"]
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with here:
        with there:
            subprocess.run([sys.argv[-1], "mem", SMALL, *little], stdout=subprocess.DEVNULL, stderr=there)
        first, second = here.recv(1 << 16).decode(), here.recv(1 << 16).decode()
        expect(here.recv(1 << 16) == b"", "over budget: all is said")
    expect(first.startswith("error[U0701]: ") and "= note: the peak is step" in first and "help: " not in first,
           "over budget: first what is needed: %s" % first)
    expect(HELP.match(second) and second.endswith(("work\n\n", "rows\n\n")),
           "over budget: then what would fit: %s" % second)
    status, out, err = unetc("mem", "--error-format=json", SMALL, *little)
    expect(status == 3 and json.loads(err)["rendered"] == first + second, "over budget: JSON comes whole")


def test_enlarged():
    """Which loss has enlarged logits there as a whole."""
    net = os.path.join(ROOT, "tests", "oracle", "cases", "enlarged.unet")
    for losses, whole in ("lovasz", True), ("ohem", False):
        code, _, err = unetc("mem", net, '-Dlosses="%s"' % losses, "--mem=200KiB")
        said = "note: `lovasz_loss` needs all points at once, so the result of line 15 is kept whole" in err
        expect(code == 3 and said == whole, "over budget: what is enlarged for %s" % losses)


# ---- diff ----

def test_diff(folder):
    kept = os.path.join(folder, "plan.json")
    with open(kept, "w") as file:
        file.write(unetc("mem", TINY, "--format=json")[1])
    for a, b, wanted in ((TINY, TINY, 0), (kept, TINY, 0), (TINY, WIDE, 1), (WIDE, kept, 0)):
        code, out, err = unetc("mem", "--diff", a, b)
        expect(code == wanted and "arena" in out, "diff: exit code %d, not %d %s" % (code, wanted, err))
        expect("  A  %s  batch 6, f32, target cpu\n" % a in out or a == WIDE, "diff: what is compared: %s" % out)
    code, out, _ = unetc("mem", "--diff", "--format=json", kept, WIDE)
    diff, wide = json.loads(out), plan(WIDE)[1]
    own = lambda p, c: sum(b["bytes"] for b in p["buffers"] if b["class"] == c and b["alias"] is None)
    expect(diff["schema"] == "unetc-diff/1" and diff["figures"]["arena"]["b"] == wide["arena"]["bytes"],
           "diff: the arena of B")
    for name, pair in diff["classes"].items():
        change = sum((b["b"] - b["a"]) * b["times"] for b in diff["buffers"] if b["class"] == name)
        expect(pair["b"] == own(wide, name) and pair["b"] - pair["a"] == change, "diff: bytes of class " + name)
    for other in (["--batch=3"], ["--micro-batches=off"], ["-Dbase=8"]):
        with open(kept, "w") as file:
            file.write(unetc("mem", TINY, "--format=json", *other)[1])
        lines = [line for line in unetc("mem", "--diff", TINY, kept)[1].splitlines() if line]
        amounts = [line.split()[-3:] for line in lines if re.match("  (arena|lower bound|train) ", line)]
        expect(len(set(lines)) == len(lines) and len(set(map(str, amounts))) == len(amounts), "diff: a change is listed once: %s" % lines)
    for text in ("{", "{}", "{\"schema\": \"unetc-plan/1\"}", "{\"schema\": \"unetc-plan/1\", \"arena\": 3}"):
        with open(kept, "w") as file:
            file.write(text)
        expect(unetc("mem", "--diff", kept, TINY)[0] == 4, "diff: %s is no plan" % text)
    expect(unetc("mem", "--diff", TINY)[0] == 2, "diff: needs two files")


# ---- HTML ----

class Page(html.parser.HTMLParser):
    EMPTY = {"meta", "link", "br", "img"}

    def __init__(self):
        super().__init__()
        self.open, self.data, self.sound = [], "", True

    def handle_starttag(self, name, attributes):
        self.sound &= not any(key in ("src", "href") for key, _ in attributes)
        if name not in self.EMPTY:
            self.open.append((name, dict(attributes)))

    def handle_endtag(self, name):
        self.sound &= bool(self.open) and self.open.pop()[0] == name

    def handle_data(self, data):
        if self.open and self.open[-1][1].get("id") == "plan":
            self.data += data


def test_html(folder):
    odd = os.path.join(folder, "odd <name>.unet")
    with open(TINY) as file, open(odd, "w") as copy:
        copy.write("# </script><b>\n" + file.read())
    for file, options in ((TINY, []), (SMALL, ["--mem=9MiB", "--micro-batches=off"]), (odd, [])):
        code, out, _ = unetc("mem", "--format=html", file, *options)
        page = Page()
        page.feed(out)
        page.close()
        to = os.path.join(folder, "map.html")
        with_file = unetc("mem", "--format=html", file, "-o", to, *options)
        with open(to) as written:
            expect(with_file == (0, "", "") and written.read() == out, "html: -o FILE")
        expect(code == 0 and page.sound and not page.open, "html: well formed, nothing from outside")
        expect("://" not in out.replace("http://www.w3.org/2000/svg", ""), "html: no address in it")
        shown, asked = json.loads(page.data), plan(file, *options)[1]
        key = lambda b: (b["name"], b["class"], b["bytes"], b["offset"], b["line"])
        in_arena = [key(b) for b in asked["buffers"] if b["space"] == "device"]
        expect([key(b) for b in shown["buffers"]] == in_arena, "html: every buffer of the arena")
        expect(shown["without_reuse"] == asked["arena"]["without_reuse"], "html: without reuse")
        with open(file) as source:
            expect(shown["text"] == source.read().splitlines(), "html: the source")


# ---- text ----

def test_text():
    _, out, _ = unetc("mem", WIDE, "--size=512x512", "--batch=16", "--no-recompute")
    # per point of the input: 3100 bytes as PyTorch's hooks on saved tensors count them, and both operands of the loss
    expect("%14s B" % "{:,}".format((3100 + 24) * 512 * 512 * 16) in out, "text: what an eager framework keeps")
    _, out, _ = unetc("mem", TINY)
    planned, kept, at_once = (plan(TINY, *options)[1]["arena"] for options in (
        [], ["--no-recompute"], ["--no-recompute", "--micro-batches=off", "--bands=off"]))
    expect(re.search(r"6 micro-batches of 1 sample, whole images, [0-9.]+ % of all operations twice", out), "text: how it is computed")
    expect(re.search("  without recomputation .* %s B .* saves" % "{:,}".format(kept["bytes"]), out), "text: what is nearly free")
    expect(planned["bytes"] < kept["bytes"], "what is nearly free saves memory")
    _, whole, _ = unetc("mem", TINY, "--no-recompute")
    expect("6 micro-batches of 1 sample, whole images, nothing computed twice" in whole, "text: everything kept")
    for row, bytes_ in (("here, the batch at once", at_once["bytes"]), ("here, as planned", planned["bytes"]),
                        ("of it fixed", 4 * 4 * 482080), ("without reuse", planned["without_reuse"])):
        expect(re.search(r"  %s .* %s B" % (row, "{:,}".format(bytes_)), out), "text: " + row)
    expect(plan(TINY, "--no-reuse", "--no-recompute")[1]["arena"]["bytes"] == kept["without_reuse"], "without reuse: that of --no-reuse")


def test_text_of_budgets():
    _, out, _ = unetc("mem", SMALL, "--mem=9MiB", "--micro-batches=4", "--bands=off", "--batch=8")
    expect("4 micro-batches of 2 samples, whole images" in out, "text: several samples at a time")
    _, out, _ = unetc("mem", SMALL, "--bands=8")
    expect(", bands of 8 rows, " in out, "text: bands of rows")
    _, out, _ = unetc("mem", SMALL, "--micro-batches=off", "--mem=8MiB")
    expect(re.search("the whole batch at once, whole images, [0-9.]+ % of all operations twice", out), "text: twice")
    for options, grows in (([], False), (["--micro-batches=off"], True), (["--micro-batches=off", "--batch=1"], False)):
        _, _, err = unetc("mem", SMALL, "--mem=200KiB", *options)
        expect(("grow with this" in err) == grows, "over budget: the batch is blamed where it matters: %s" % options)
    _, out, _ = unetc("mem", SMALL, "--micro-batches=off", "--mem=8MiB")
    expect("computing again saves at most " in out, "text: what recomputation bought, not enough")
    _, out, _ = unetc("mem", SMALL, "--micro-batches=off", "--mem=9MiB")
    kept = plan(SMALL, "--micro-batches=off", "--no-recompute")[1]["arena"]["bytes"]
    expect(re.search(r"without recomputation .* %s B" % "{:,}".format(kept), out), "text: what recomputation bought")


def test_check(folder):
    """The sizes that a network takes: equal on all axes, not equal, such as make whole windows, and any."""
    path = os.path.join(folder, "sizes.unet")
    for kind, net, said in (
            ("image(1, 8, 8)", "max_pool(max_pool(x))", "height and width must be multiples of 4"),
            ("volume(1, 8, 8, 8)", "max_pool(x, 2)", "depth, height and width must be multiples of 2"),
            ("volume(1, 8, 8, 8)", "max_pool(max_pool(x, [1, 2, 2]), [1, 1, 2])",
             "height must be a multiple of 2, width must be a multiple of 4"),
            ("image(1, 24, 40)", "max_pool(max_pool(x)) -> upconv(1) -> attention_of", "height must be a multiple of 12, width must be a multiple of 20"),
            ("image(1, 8, 8)", "relu(x)", "any height and width will do")):
        with open(path, "w") as file:
            file.write("input x : %s\nblock attention_of(x) { return attention(x, x, x, window = [6, 5]) }\noutput y = %s\n" % (kind, net))
        code, out, err = unetc("check", path)
        expect(code == 0 and out.splitlines()[-1:] == [said], "check: %s: not `%s`: %s%s" % (net, said, out, err))


def main():
    global SMALL
    os.environ["UNETC_CUDNN"] = os.devnull  # plans for a GPU are the same where there is cuDNN
    with tempfile.TemporaryDirectory() as folder:
        SMALL = os.path.join(folder, "small.unet")
        with open(SMALL, "w") as file:
            file.write(NET)
        if "--short" not in sys.argv:
            test_fit()
            test_proposals()
            test_pairs()
            test_size_and_width()
        if "--quick" not in sys.argv:
            test_codes()
            test_narrower()
            test_fit_tables()
            test_waiting()
            test_other_norms(folder)
            test_bands()
            test_sweep_end(folder)
            test_floor()
            test_enlarged()
            test_text_of_budgets()
        test_at_once()
        test_diff(folder)
        test_html(folder)
        test_text()
        test_check(folder)
    print("%d failures" % failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

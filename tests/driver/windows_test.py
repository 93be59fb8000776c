"""windows_test.py UNETC: prediction of volumes by windows that overlap.

A program without windows computes each window of a volume, as a file of its own and mirrored by this script, which
sums them over the whole volume itself: classes and blended values must be the same, bit for bit.  Then: volumes that
are smaller than a window, metrics of whole volumes, z-scores of a volume that is read twice, a depth that memory does not grow with, what is
refused; and volumes of another spacing, which this script resamples itself."""
import array
import gzip
import itertools
import math
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make_volumes import write  # noqa: E402

UNETC = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
WINDOW, SIZE, CLASSES = (6, 8, 8), (10, 14, 18), 3
NET = """
input  scan  : volume(1, 6, 8, 8)
target truth : labels(3)
enc    = scan -> conv(4, 3, init = "he_normal") -> instance_norm(affine = true) -> leaky_relu
logits = concat(upconv(max_pool(enc), 4), enc) -> conv(3, 3)
output mask   = argmax(logits)
output values = logits
data {
    scan  = volumes("imagesTr/*_0000.nii.gz")
    truth = labels("labelsTr/*.nii.gz")
    crop
}
train {
    loss  cross_entropy(logits, truth)
    metric dice(mask, truth, class = 1)
    metric miou(argmax(logits), truth)
    metric accuracy(mask, truth, ignore_index = 2)
    steps 3
}
"""
WINDOWS = """
predict {
    windows 20, 18, mirror = ["d", "w"]
    pad     "zero"
}
"""


def run(*command, status=0):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == status, "%s exits %d: %s" % (command, done.returncode, done.stdout)
    return done.stdout


def compile_net(name, text, *options):
    with open(name + ".unet", "w", encoding="utf-8") as file:
        file.write(text)
    run(UNETC, name + ".unet", *options)


def read(path, letter):
    data = gzip.open(path).read()
    return data[:352], array.array(letter, data[352:])


def rounded(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def sum_of(a, b, c, fused):
    """a * b + c in floats, the product rounded or not; it and the sum fit a double, or nearly so."""
    return rounded((a * b if fused else rounded(a * b)) + c)


def axis(size, window):
    """Where windows begin, the weights of their points, and of each voxel their sum."""
    count = 1 if size <= window else math.ceil((size - window) / (window / 2)) + 1
    begin = [round((size - window) / (count - 1) * i) for i in range(count)] if count > 1 else [min(0, -((window - size) // 2))]
    weight = [rounded(math.exp(-((i - window // 2) / (window / 8)) ** 2 / 2)) for i in range(window)]
    total = [0.0] * size
    for first in begin:
        for i in range(window):
            if 0 <= first + i < size:
                total[first + i] = rounded(total[first + i] + weight[i])
    return begin, weight, total


class Whole:
    """The sums of all windows over a whole volume, of which `mirrored` are the axes along which each is mirrored."""

    def __init__(self, voxels, size, mirrored):
        self.voxels, self.size = voxels, size
        self.axes = [axis(size[k], WINDOW[k]) for k in range(3)]
        self.mirrors = [m for m in range(8) if all(m >> k & 1 == 0 or k in mirrored for k in range(3))]

    def windows(self):
        for begin in itertools.product(*(a[0] for a in self.axes)):
            for mirror in self.mirrors:
                yield begin, mirror

    def voxel_of(self, begin, mirror, point):
        """The place in the volume that a window shows at a point, and that in the window."""
        inside = [WINDOW[k] - 1 - point[k] if mirror >> k & 1 else point[k] for k in range(3)]
        return [begin[k] + inside[k] for k in range(3)], inside

    def index(self, at):
        return (at[0] * self.size[1] + at[1]) * self.size[2] + at[2]

    def is_real(self, at):
        return all(0 <= at[k] < self.size[k] for k in range(3))

    def cut(self, folder):
        """The windows as files."""
        for number, (begin, mirror) in enumerate(self.windows()):
            points = []
            for point in itertools.product(*(range(n) for n in WINDOW)):
                at, _ = self.voxel_of(begin, mirror, point)
                points.append(self.voxels[self.index(at)] if self.is_real(at) else 0)
            write("%s/%03d.nii" % (folder, number), WINDOW, 4, "h", points)

    def blend(self, folder, fused):
        """Means of all logits, channel by channel."""
        voxels = self.size[0] * self.size[1] * self.size[2]
        sums = [[0.0] * voxels for _ in range(CLASSES)]
        for number, (begin, mirror) in enumerate(self.windows()):
            _, logits = read("%s/%03d-values.nii.gz" % (folder, number), "f")
            for k, point in enumerate(itertools.product(*(range(n) for n in WINDOW))):
                at, inside = self.voxel_of(begin, mirror, point)
                if not self.is_real(at):
                    continue
                weights = [self.axes[a][1][inside[a]] for a in range(3)]
                weight = rounded(rounded(weights[0] * weights[1]) * weights[2])
                for c in range(CLASSES):
                    one = sums[c]
                    place = self.index(at)
                    one[place] = sum_of(weight, logits[c * len(logits) // CLASSES + k], one[place], fused)
        for place, at in enumerate(itertools.product(*(range(n) for n in self.size))):
            total = [rounded(self.axes[a][2][at[a]]) for a in range(3)]
            weight = rounded(rounded(total[0] * total[1]) * total[2]) * len(self.mirrors)
            for c in range(CLASSES):
                sums[c][place] = rounded(sums[c][place] / weight)
        return sums


def check_whole(name, size, mirrored):
    header, voxels = read("data/imagesTr/%s_0000.nii.gz" % name, "h")
    whole = Whole(voxels, size, mirrored)
    folder = "windows-" + name
    whole.cut(folder)
    files = sorted(os.path.join(folder, f) for f in os.listdir(folder))
    run("./whole", "predict", "--weights=run/whole.safetensors", *files, "-o", folder + "/")
    run("./windows", "predict", "--weights=run/whole.safetensors", "data/imagesTr/%s_0000.nii.gz" % name, "-o", name + ".nii")
    with open(name + "-values.nii", "rb") as file:
        data = file.read()
    found = array.array("f", data[352:])
    expected = [array.array("f", itertools.chain(*whole.blend(folder, fused))) for fused in (False, True)]
    assert found in expected, "%s: blended values differ" % name
    assert data[42:48] == header[42:48] and data[80:92] == header[80:92] and data[252:328] == header[252:328], "place"
    assert struct.unpack("<2h", data[40:42] + data[48:50]) == (4, CLASSES)
    with open(name + "-mask.nii", "rb") as file:
        classes = file.read()[352:]
    voxels = len(found) // CLASSES
    best = [max(range(CLASSES), key=lambda c: (found[c * voxels + k], -c)) for k in range(voxels)]
    assert list(classes) == best and len(set(best)) > 1, "%s: classes" % name


def check_eval():
    """Metrics of whole volumes are those of what `predict` writes; losses are not measured."""
    pairs = []
    for case in range(2):
        run("./windows", "predict", "--weights=run/whole.safetensors", "data/imagesTr/case_%d_0000.nii.gz" % case, "-o", "eval.nii")
        with open("eval-mask.nii", "rb") as file:
            found = file.read()[352:]
        _, truth = read("data/labelsTr/case_%d.nii.gz" % case, "B")
        assert len(found) == len(truth)
        pairs.append([sum(1 for pair in zip(truth, found) if pair == (t, p)) for t in range(3) for p in range(3)])
    pairs.append([sum(two) for two in zip(*pairs)])

    def measures(n):
        truly, predicted = [sum(n[3 * k:3 * k + 3]) for k in range(3)], [sum(n[k::3]) for k in range(3)]
        union = [truly[k] + predicted[k] - n[4 * k] for k in range(3)]
        assert min(union) > 0
        return [2 * n[4] / (truly[1] + predicted[1]), sum(n[4 * k] / union[k] for k in range(3)) / 3, (n[0] + n[4]) / (truly[0] + truly[1])]

    lines = run("./windows", "eval", "--weights=run/whole.safetensors", "--data=data", "--format=csv").splitlines()
    table = [line.split(",")[-4:] for line in lines if line.startswith('"')]
    assert len(table) == 2 and all(row[0] == "" for row in table), lines
    for row, n in zip(table, pairs):
        assert all(abs(float(a) - b) < 1e-8 for a, b in zip(row[1:], measures(n))), (row, measures(n))
    text = run("./windows", "eval", "--weights=run/whole.safetensors", "--data=data")
    assert "whole volumes, by windows that overlap" in text and "cross_entropy" not in text, text
    wanted = ["dice(mask, truth, class = 1)", "miou(argmax(logits), truth)", "accuracy(mask, truth, ignore_index = 2)"]
    for name, value in zip(wanted, measures(pairs[2])):
        assert "\n%s %.4g\n" % (name, value) in text, (name, value, text)
    run("./windows", "eval", "--weights=run/whole.safetensors", "--data=data", "--report=page.html")
    with open("page.html", encoding="utf-8") as file:
        page = file.read()
    worst = sorted(range(2), key=lambda case: measures(pairs[case])[0])
    rows = ["<td>imagesTr/case_%d_0000.nii.gz</td><td class=\"number\">%.6g</td>" % (case, measures(pairs[case])[0]) for case in worst]
    assert all(row in page for row in rows), (rows, page)
    assert page.index(rows[0]) < page.index(rows[1]) and "No pictures: samples are volumes" in page and "<img" not in page, page


def places(source, target):
    """Of each point of an axis where it lies on another one, of so many voxels each: the voxel, the share of the next."""
    found = []
    for i in range(target):
        p = min(max((i + 0.5) * source / target - 0.5, 0), source - 1)
        found.append((int(p), min(int(p) + 1, source - 1), p - int(p)))
    return found


def linear(voxels, source, target):
    """Voxels of the grid `source` on the grid `target`."""
    def line(get, k):
        return [get(a) + (get(b) - get(a)) * f for a, b, f in places(source[k], target[k])]
    (sz, sy, sx), (tz, ty, tx) = source, target
    rows = [line(lambda x, r=r: voxels[r * sx + x], 2) for r in range(sz * sy)]
    columns = [[line(lambda y, z=z, x=x: rows[z * sy + y][x], 1) for x in range(tx)] for z in range(sz)]
    depths = [[line(lambda z, y=y, x=x: columns[z][x][y], 0) for x in range(tx)] for y in range(ty)]
    return [depths[y][x][z] for z in range(tz) for y in range(ty) for x in range(tx)]


def nearest(voxels, source, target):
    at = [[(2 * i + 1) * source[k] // (2 * target[k]) for i in range(target[k])] for k in range(3)]
    return [voxels[(z * source[1] + y) * source[2] + x] for z in at[0] for y in at[1] for x in at[2]]


def check_spacing():
    """Voxels of 2 x 1 x 0.5 mm, which make_volumes.py writes, at another spacing: the program without it gets them
    resampled, and its results are brought back here."""
    grid = (16, 12, 9)
    scan, there = "data/imagesTr/case_1_0000.nii.gz", "./resampled.nii"
    header, voxels = read(scan, "h")
    write(there, grid, 16, "f", linear(voxels, SIZE, grid))
    for name, more in (("whole", "predict { size 16, 14, 18 }"), ("windows", WINDOWS)):
        compile_net("plain", NET + more)
        compile_net("spaced", NET.replace("    crop", "    crop\n    spacing 1.25, 1.2, 1") + more)
        run("./plain", "predict", "--weights=run/whole.safetensors", there, "-o", "plain.nii.gz")
        run("./spaced", "predict", "--weights=run/whole.safetensors", scan, "-o", "spaced.nii.gz")
        _, values = read("plain-values.nii.gz", "f")
        count = len(values) // CLASSES
        expected = [v for c in range(CLASSES) for v in linear(values[c * count:(c + 1) * count], grid, SIZE)]
        place, found = read("spaced-values.nii.gz", "f")
        worst = max(abs(a - b) for a, b in zip(found, expected))
        assert len(found) == len(expected) and worst < 1e-4, (name, worst)
        assert place[42:48] == header[42:48] and place[80:92] == header[80:92] and place[252:328] == header[252:328], name
        _, classes = read("spaced-mask.nii.gz", "B")
        _, own = read("plain-mask.nii.gz", "B")
        wanted = nearest(own, grid, SIZE)
        wrong = sum(a != b for a, b in zip(classes, wanted))  # a tie may fall to either side
        assert len(classes) == len(wanted) and wrong <= 2 and len(set(wanted)) > 1, (name, wrong)
    write("./wide.nii", (2, 17, 18), 4, "h", [k % 9 for k in range(612)])
    text = run("./spaced", "predict", "--weights=run/whole.safetensors", "wide.nii", "-o", "o.nii")
    compile_net("spaced", NET.replace("    crop", "    crop\n    spacing 1, 0.5, 1") + WINDOWS)
    text = run("./spaced", "predict", "--weights=run/whole.safetensors", "wide.nii", "-o", "o.nii")
    assert "wide.nii: 1 x 8 x 2 windows of 6 x 8 x 8 that overlap" in text, text
    with gzip.open("unwise.nii.gz", "wb") as file:
        file.write(header[:80] + bytes(12) + header[92:] + voxels.tobytes())
    text = run("./spaced", "predict", "--weights=run/whole.safetensors", "unwise.nii.gz", "-o", "o.nii", status=4)
    assert "unwise.nii.gz: its header says that voxels are 0 wide along x" in text, text
    os.remove("o-mask.nii")
    os.remove("o-values.nii")


def check_trim():
    """A volume in zeros: with `trim` results are those of the box that is not 0, and 0 around it; of the voxels of its
    mask, `zscore_masked` makes what the program without it gets done by this script."""
    box, begin = (8, 11, 13), (1, 2, 4)
    inside = [0 if k // 13 % 11 < 4 and k % 13 < 5 else (31 * k) % 97 + 3 for k in range(8 * 11 * 13)]  # a corner is 0
    whole = [0] * (SIZE[0] * SIZE[1] * SIZE[2])
    places_in = [((z + begin[0]) * SIZE[1] + y + begin[1]) * SIZE[2] + x + begin[2]
                 for z in range(box[0]) for y in range(box[1]) for x in range(box[2])]
    for place, value in zip(places_in, inside):
        whole[place] = value
    write("./within.nii", SIZE, 4, "h", whole)
    within = [v for v in inside if v != 0]
    mean = sum(within) / len(within)
    deviation = math.sqrt(sum(v * v for v in within) / len(within) - mean * mean)
    write("./box.nii", box, 4, "h", inside)
    write("./boxed.nii", box, 16, "f", [(v - mean) / deviation if v else 0 for v in inside])
    for more in ("predict { size 10, 14, 18 }", WINDOWS.replace("20, 18", "11, 13")):
        compile_net("plain", NET + more, "--programs=predict")
        for name, how, wanted in (("masked", '\n    normalize "zscore_masked"', "boxed.nii"), ("trim", "", "box.nii")):
            compile_net(name, NET.replace("    crop", "    crop\n    trim true" + how) + more, "--programs=predict")
            run("./" + name, "predict", "--weights=run/whole.safetensors", "within.nii", "-o", "found.nii.gz")
            run("./plain", "predict", "--weights=run/whole.safetensors", wanted, "-o", "plain.nii.gz")
            for part, letter in (("mask", "B"), ("values", "f")):
                _, found = read("found-%s.nii.gz" % part, letter)
                _, boxed = read("plain-%s.nii.gz" % part, letter)
                expected = array.array(letter, [0]) * len(found)
                for c in range(len(found) // len(whole)):
                    for k, place in enumerate(places_in):
                        expected[c * len(whole) + place] = boxed[c * len(inside) + k]
                worst = max(abs(a - b) for a, b in zip(found, expected))
                assert worst <= (0 if name == "trim" else 1e-4 if letter == "f" else 2), (name, part, worst)
    text = run("./trim", "predict", "--weights=run/whole.safetensors", "data/imagesTr/case_0_0000.nii.gz", "-o", "o.nii")
    assert "beside the arena: `windows 11, 13` in trim.unet has room for smaller ones" in text, text
    os.remove("o-mask.nii")
    os.remove("o-values.nii")


def peak(*command):
    """KiB that the command takes at most."""
    run("/usr/bin/env", "python3", "-c", "import resource,subprocess,sys;subprocess.run(sys.argv[1:],check=True,"
        "stderr=subprocess.DEVNULL);open('peak','w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))", *command)
    with open("peak", encoding="utf-8") as file:
        return int(file.read())


DEEP = """
input  scan  : volume(1, 16, 128, 128)
target truth : labels(3)
logits = conv(scan, 3, 1)
output mask = argmax(logits)
data {
    scan  = volumes("imagesTr/*_0000.nii.gz")
    truth = labels("labelsTr/*.nii.gz")
    crop  pad = "mean"
    normalize "zscore"
}
train {
    loss  cross_entropy(logits, truth)
    steps 1
}
predict {
    windows 128, 128
}
"""


def check_depth():
    """Of 500 and of 2000 slices, normalised each by itself: the same memory, to 2 MiB; and of the latter resampled."""
    compile_net("deep", DEEP)
    run("./deep", "train", "--data=data", "--out=deeprun", "--threads=1")
    slices = [bytes((17 * k + n) % 251 for k in range(128)) * 128 for n in range(2)]
    taken = []
    for depth in (500, 2000):
        header = struct.pack("<i36x8h14x2h2x", 348, 3, 128, 128, depth, 1, 1, 1, 1, 2, 8)
        header += struct.pack("<8f3f", 1, 1, 1, 1, 1, 1, 1, 1, 352, 0, 0)
        with gzip.open("deep.nii.gz", "wb", 1) as file:
            file.write(header.ljust(344, b"\0") + b"n+1\0" + bytes(4))
            for z in range(depth):
                file.write(slices[z % 2])
        taken.append(peak("./deep", "predict", "--out=deeprun", "--threads=1", "deep.nii.gz", "-o", "deepout.nii.gz"))
        data = gzip.open("deepout.nii.gz").read()
        assert len(data) == 352 + depth * 128 * 128
    compile_net("resampled", DEEP.replace("    crop", "    spacing 4, 1, 1\n    crop"))
    taken.append(peak("./resampled", "predict", "--weights=deeprun/deep.safetensors", "--threads=1", "deep.nii.gz", "-o", "deepout.nii.gz"))
    data = gzip.open("deepout.nii.gz").read()
    assert len(data) == 352 + 2000 * 128 * 128
    print("128 x 128 x 500: %d KiB, x 2000: %d KiB, x 2000 resampled: %d KiB" % tuple(taken))
    assert max(taken) - taken[0] <= 2048, taken


def check_plan():
    with open("plan.json", "w", encoding="utf-8") as file:
        file.write(run(UNETC, "mem", "--format=json", "windows.unet"))
    run(sys.executable, os.path.join(HERE, "..", "check_plan.py"), "plan.json")
    text = run(UNETC, "mem", "--programs=predict", "windows.unet")
    assert "windows that overlap, of volumes up to 20 x 18 of any depth" in text, text
    assert "%.2f KiB" % ((3 + 3 + 1) * 6 * 20 * 18 * 4 / 1024) in text, text


def predicted(name):
    run("./" + name, "predict", "--weights=run/whole.safetensors", "large.nii", "-o", "o.nii")
    parts = []
    for part in "values", "mask":
        with open("o-%s.nii" % part, "rb") as file:
            parts.append(file.read())
        os.remove("o-%s.nii" % part)
    return parts


def check_any_size():
    """Any scan goes by windows over all its axes.  Slices beside the arena hold what those in it would; without
    `windows` numbers are the same means, and each window votes for a class."""
    write("./large.nii", (13, 21, 40), 4, "h", [k * k % 409 for k in range(13 * 21 * 40)])
    compile_net("room", NET + WINDOWS.replace("20, 18", "21, 40"), "--programs=predict")
    assert predicted("windows") == predicted("room")
    compile_net("means", NET + "predict { windows }", "--programs=predict")
    compile_net("votes", NET, "--programs=predict")
    means, votes = predicted("means"), predicted("votes")
    assert means[0] == votes[0] and set(votes[1][352:]) <= {0, 1, 2}
    same = sum(a == b for a, b in zip(means[1], votes[1])) / len(votes[1])
    assert same > 0.8, same
    text = run("./votes", "predict", "--weights=run/whole.safetensors", "large.nii", "-o", "o.nii")
    taken = (1 + CLASSES + CLASSES) * WINDOW[0] * 21 * 40 * 4 / 1024
    assert "large.nii: 4 x 5 x 9 windows of 6 x 8 x 8 that overlap and are blended; slices take %.2f KiB" % taken in text, text
    text = run("./votes", "info")
    assert "by windows that overlap and are blended; %.2f MiB beside" % (taken * 512 * 512 / 21 / 40 / 1024) in text, text
    text = run(UNETC, "mem", "--programs=predict", "votes.unet")
    assert "%.2f MiB" % (taken * 512 * 512 / 21 / 40 / 1024) in text, text
    os.remove("o-mask.nii")
    os.remove("o-values.nii")


def check_refusals():
    with gzip.open("data/imagesTr/case_0_0000.nii.gz") as file:
        cut = file.read()[:-100]
    with open("cut.nii", "wb") as file:
        file.write(cut)
    text = run("./windows", "predict", "--weights=run/whole.safetensors", "cut.nii", "-o", "o.nii", status=4)
    assert "cut.nii: cut short" in text, text
    assert not [name for name in os.listdir(".") if name.startswith("o-") or name.startswith("o.nii")], "parts stay"


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(sys.executable, os.path.join(HERE, "make_volumes.py"), "data", "2", *(str(n) for n in SIZE), "1")
        compile_net("whole", NET)
        compile_net("windows", NET + WINDOWS)
        run("./whole", "train", "--data=data", "--out=run")
        check_plan()
        check_whole("case_0", SIZE, (0, 2))
        check_eval()
        small = (3, 20, 5)
        write("data/imagesTr/small_0000.nii.gz", small, 4, "h", [(7 * k * k) % 400 for k in range(300)])
        check_whole("small", small, (0, 2))
        check_any_size()
        check_refusals()
        check_spacing()
        check_trim()
        os.remove("data/imagesTr/small_0000.nii.gz")
        check_depth()
    print("windows: all checks passed")


if __name__ == "__main__":
    main()

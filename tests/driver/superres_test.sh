#!/usr/bin/env bash
# superres_test.sh UNETC - a target larger than the input, and one smaller: training on random crops, with flips
# and padding, finds weights that map the one to the other exactly, which it can only if both show the same
# part of the picture; evaluation measures files smaller than the window; predictions have the target's size;
# files that do not go together are refused.
set -u
unetc=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# run COMMAND...: it must succeed.
run() { "$@" >run.txt 2>&1 || fail "$* exits $?: $(cat run.txt)"; }

# refused TEXT COMMAND...: it must exit with 4 and say TEXT.
refused() {
    local text=$1
    shift
    "$@" >run.txt 2>&1
    [ $? = 4 ] && grep -qF "$text" run.txt || fail "$*: not refused: $(cat run.txt)"
}

# Grey pictures in small/, and in large/ the same with each point twice along both axes.
python3 - <<'PYTHON' || exit 1
import os, random, struct, zlib
def write(path, rows):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))) + chunk(b"IEND", b""))
draw = random.Random(1)
sizes = {"data": [(11, 13), (8, 9), (5, 7), (20, 12), (8, 8), (6, 15)], "odd": [(8, 8)]}
for folder, sizes in sizes.items():
    for i, (h, w) in enumerate(sizes):
        rows = [[draw.randrange(256) for _ in range(w)] for _ in range(h)]
        write("%s/small/%d.png" % (folder, i), rows)
        large = [[v for v in row for _ in range(2)] for row in rows for _ in range(2)]
        write("%s/large/%d.png" % (folder, i), [row[:-1] for row in large] if folder == "odd" else large)
PYTHON

# write NAME INPUT TARGET SIZE NET: a model from one folder to the other.
write() {
    cat >"$1.unet" <<NET
input  $2 : image(1, $4, $4)
target $3 : image(1, $5)
output o = $6
data {
    $3 = images("$3/*.png")
    $2 = images("$2/*.png")
    crop pad = "reflect"
    flip
    holdout 0.34
}
train {
    loss mse(o, $3)
    metric psnr(o, $3)
    optimizer adam(lr = 0.05)
    batch 4
    steps 600
}
NET
    run "$unetc" --kernels=reference "$1.unet" -o "$1"
}

# learns NAME: trains it, and evaluates what came of that.
learns() {
    run "./$1" check-data --data=data
    run "./$1" train --data=data --out="$1.run"
    run "./$1" eval --data=data --weights="$1.run/$1.safetensors"
    grep -oE 'psnr\([^)]*\) [0-9.]+' run.txt | awk '{ exit !($NF > 60) }' || fail "$1: $(cat run.txt)"
    refused 'odd/large/0.png is 16 x 15' "./$1" check-data --data=odd
}

write up small large 8 '16, 16' 'upconv(small, 1, 2)'
learns up
run ./up predict --weights=up.run/up.safetensors data/small/2.png -o up.png
[ "$(od -An -j16 -N8 -tu1 up.png | tr -s ' ')" = ' 0 0 0 14 0 0 0 10' ] || fail "size of a prediction"
write down large small 16 '8, 8' 'conv(large, 1, 2, stride = 2, padding = 0)'
learns down

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))

#!/usr/bin/env bash
# volumes_test.sh UNETC - volumes from NIfTI files to predictions: what `check-data` says; training by loader threads of
# any number, and resumed, ends with the same weights; evaluation and predictions agree in Dice; results lie where the
# input does; volumes that do not go together are refused; decoded files are used again.
set -u
unetc=$1
here=$(cd "$(dirname "$0")" && pwd)
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

# says TEXT: so did the last command.
says() { grep -qF "$1" run.txt || fail "does not say \"$1\": $(cat run.txt)"; }

# refused STATUS TEXT COMMAND...: it must exit so and say TEXT.
refused() {
    local status=$1 text=$2
    shift 2
    "$@" >run.txt 2>&1
    [ $? = "$status" ] && grep -qF "$text" run.txt || fail "$*: not refused: $(cat run.txt)"
}

python3 "$here/make_volumes.py" data 3 16 24 32 2 || exit 1
cp "$here/volumes.unet" .
sed 's/threads 2/threads 1/' volumes.unet >other.unet
run "$unetc" volumes.unet
run "$unetc" other.unet

# ---- data
run ./volumes check-data --data=data --cache=cache
says "3 files of 16 x 24 x 32"
says "scan: voxels of 2 x 1 x 0.5 mm (depth first)"
says "scan: axes point to RAS in 3 volumes"
says "3 samples in \`data\`, 9 files"
[ "$(find cache -name '*.unetvol' | wc -l)" = 9 ] || fail "decoded files: $(ls cache)"
[ -z "$(find data -name '*.unetvol')" ] || fail "decoded files beside the data"
touch -d '2001-01-01' cache/*
run ./volumes train --data=data --cache=cache --out=run
says "normalize: scan: mean"
says "clipped to"
[ -z "$(find cache -name '*.unetvol' -newermt '2001-01-02')" ] || fail "files were decoded again"

# ---- the same weights
run ./other train --data=data --out=run1 --threads=1
python3 - <<'PYTHON' || fail "weights depend on threads"
def tensors(path):
    data = open(path, "rb").read()
    return data[8 + int.from_bytes(data[:8], "little"):]
assert tensors("run/volumes.safetensors") == tensors("run1/other.safetensors")
PYTHON
run ./volumes train --data=data --cache=cache --out=parts --steps=11
run ./volumes train --data=data --cache=cache --out=parts --steps=30 --resume
cmp run/volumes.safetensors parts/volumes.safetensors || fail "a resumed run has other weights"

# ---- prediction and evaluation agree, and the result lies where the input does
run ./volumes predict --weights=run/volumes.safetensors data/imagesTr/case_*_0000.nii.gz -o out/
run ./volumes eval --weights=run/volumes.safetensors --eval-data=data --cache=cache
cp run.txt eval.txt
python3 - <<'PYTHON' || fail "predictions"
import gzip, re
said = {int(k): float(v) for k, v in re.findall(r"class = (\d)\) ([\d.e-]+)", open("eval.txt").read())}
both, sum_ = {1: 0, 2: 0}, {1: 0, 2: 0}
for case in range(3):
    found = gzip.open("out/case_%d.nii.gz" % case).read()
    truth = gzip.open("data/labelsTr/case_%d.nii.gz" % case).read()
    assert found[40:56] == truth[40:56] and found[76:108] == truth[76:108] and found[252:328] == truth[252:328], "place"
    assert found[70:74] == b"\x02\0\x08\0" and len(found) == len(truth), "bytes"
    for k in (1, 2):
        both[k] += sum(a == b == k for a, b in zip(found[352:], truth[352:]))
        sum_[k] += found[352:].count(k) + truth[352:].count(k)
for k in (1, 2):
    dice = 2 * both[k] / sum_[k]
    assert abs(dice - said[k]) < 1e-3 and (dice > 0.5 or k == 1), (k, dice, said)
PYTHON

# ---- what is refused
python3 "$here/make_volumes.py" large 1 16 24 40 2
refused 4 "16 x 24 x 40 voxels (depth first), and the program was compiled for at most 16 x 24 x 32: write \`predict { size" \
    ./volumes predict --weights=run/volumes.safetensors large/imagesTr/case_0_0000.nii.gz -o o.nii.gz
refused 2 "o.png: volumes are written to .nii or .nii.gz" ./volumes predict --weights=run/volumes.safetensors \
    data/imagesTr/case_0_0000.nii.gz -o o.png
cp data/imagesTr/case_0_0000.nii.gz alone.nii.gz
refused 2 "the model has 2 channels" ./volumes predict --weights=run/volumes.safetensors alone.nii.gz -o o.nii.gz
head -c 3000 data/imagesTr/case_1_0001.nii.gz >cut
cp cut data/imagesTr/case_1_0001.nii.gz
refused 4 "case_1_0001.nii.gz: cut short in" ./volumes train --data=data --out=never --steps=1
refused 4 "case_1_0001.nii.gz: cut short in" ./volumes check-data --data=data
cp large/labelsTr/case_0.nii.gz data/labelsTr/case_1.nii.gz
cp large/imagesTr/case_0_0001.nii.gz data/imagesTr/case_1_0001.nii.gz
refused 4 "16 x 24 x 32 and 16 x 24 x 40 voxels" ./volumes check-data --data=data

if [ $failures -gt 0 ]; then
    echo "$failures checks failed"
    exit 1
fi
echo "volumes: all checks passed"

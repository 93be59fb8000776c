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

# ---- nnU-Net's network for this data set, and its rule of kernels and strides
examples=$here/../../examples/volume
run python3 -B "$examples/nnunet.py" data -o nnunet.unet
run "$unetc" check nnunet.unet
says "2 x 16 x 24 x 32"
grep -qF 'rotate 30, p = 0.2' nnunet.unet || fail "not turned: $(cat nnunet.unet)"
grep -qF 'windows 24, 32, mirror' nnunet.unet || fail "no windows: $(cat nnunet.unet)"
run python3 -B "$examples/nnunet.py" data -o less.unet --mem=60MiB --unetc="$unetc"
run "$unetc" mem --programs=train --mem=60MiB less.unet
! grep -q spacing nnunet.unet || fail "spacing, and all voxels are as large"
python3 -B - "$here" <<'PYTHON' || fail "a volume of other voxels"
import sys
sys.path.insert(0, sys.argv[1])
import make_volumes
make_volumes.SPACING = (2.0, 1.0, 0.25)
for case in range(3):
    for channel in range(2):
        make_volumes.write("finer/imagesTr/case_%d_%04d.nii.gz" % (case, channel), (16, 24, 64), 4, "h", [0] * 24576)
    if case == 0:
        make_volumes.SPACING = (2.0, 1.0, 0.5)
PYTHON
cp data/dataset.json finer

# ---- regions that overlap: a target of two classes for each
mkdir parted
ln -s "$PWD/data/imagesTr" "$PWD/data/labelsTr" parted
python3 -c 'import json
d = json.load(open("data/dataset.json"))
d["labels"] = {"background": 0, "whole": [1, 2], "core": [2]}
d["regions_class_order"] = [3, 1]
json.dump(d, open("parted/dataset.json", "w"))'
run python3 -B "$examples/nnunet.py" parted -o parted.unet
grep -qF 'region_1 = labels("labelsTr/*.nii.gz", values = [[0], [1, 2]])' parted.unet || fail "no regions: $(cat parted.unet)"
run "$unetc" -D "features=[4,6,8,8]" -o parted_net parted.unet
run ./parted_net check-data --data=parted --cache=partedcache
says "class 1 (values 1, 2)"
says "dataset.json has regions: each is a target"
run ./parted_net train --data=parted --cache=partedcache --out=partedrun --steps=2
run ./parted_net predict --out=partedrun data/imagesTr/case_0_0000.nii.gz -o parted.nii.gz
grep -qF 'regions [3, 1], above = 0' parted.unet && grep -qF 'trim  true' parted.unet || fail "no map: $(cat parted.unet)"
sed '/regions \[3, 1\]/d' parted.unet >apart.unet
run "$unetc" -D "features=[4,6,8,8]" --programs=predict apart.unet
run ./apart predict --weights=partedrun/parted.safetensors data/imagesTr/case_0_0000.nii.gz -o apart.nii.gz
python3 -c 'import array, gzip
found = gzip.open("parted.nii.gz").read()[352:]
parts = array.array("f", gzip.open("apart.nii.gz").read()[352:])
assert len(found) == 16 * 24 * 32 and len(parts) == 2 * len(found), "a map, and two channels"
assert list(found) == [1 if b > 0 else 3 if a > 0 else 0 for a, b in zip(parts, parts[len(found):])], "by their order"
assert len(set(found)) > 1' || fail "regions"

run python3 -B "$examples/nnunet.py" finer -o finer.unet
run "$unetc" check finer.unet
grep -qF 'spacing 2, 1, 0.5, order = 3' finer.unet && grep -qF 'windows 24, 64' finer.unet || fail "no spacing: $(cat finer.unet)"
sed 's/"box": 2/"box": [1, 2], "ignore": 3/; s/"labels"/"regions_class_order": [1, 2], "labels"/' data/dataset.json >json && mkdir -p odd && cp -r data/imagesTr odd && cp json odd/dataset.json
run python3 -B "$examples/nnunet.py" odd
says "target region_1 : labels(2, ignore = 3)"
sed 's/"box": 2/"box": 2, "ignore": 3/' data/dataset.json >odd/dataset.json
run python3 -B "$examples/nnunet.py" odd
says "labels(classes, ignore = 3)"
python3 -B - "$examples" <<'PYTHON' || fail "topology"
import sys
sys.path.insert(0, sys.argv[1])
import nnunet
cases = [((3.6, 0.62, 0.62), (20, 320, 256), "122 122 222 222 122 122", "133 133 333 333 333 333 333"),
         ((5, 1.56, 1.56), (20, 256, 224), "122 222 222 122 122", "133 333 333 333 333 333"),
         ((1, 1, 1), (128, 128, 128), "222 222 222 222 222", "333 333 333 333 333 333"),
         ((1, 1, 1), (40, 56, 40), "222 222 222", "333 333 333 333")]
for spacing, patch, strides, kernels in cases:
    k, s, padded = nnunet.topology(spacing, patch)
    text = [" ".join("%d%d%d" % tuple(one) for one in found) for found in (s, k)]
    assert text == ["111 " + strides, kernels] and tuple(padded) == patch, (patch, text, padded)
assert nnunet.first_patch((3.6, 0.62, 0.62), (20, 320, 319)) == [20, 320, 320]
assert nnunet.first_patch((0.78,) * 3, (525, 512, 512)) == [256, 256, 256]
PYTHON

# ---- data; what a run that was killed left of a decoded file goes
run ./volumes check-data --data=data --cache=cache
left=$(ls cache | head -1)
mv "cache/$left" "cache/$left.0123abcd.part"
touch -d '2001-01-01' "cache/$left.0123abcd.part"
cp run.txt first.txt
run ./volumes check-data --data=data --cache=cache
[ -f "cache/$left" ] && [ ! -e "cache/$left.0123abcd.part" ] || fail "a part stays: $(ls cache)"
cp first.txt run.txt
says "3 files of 16 x 24 x 32"
says "decoding 9 volumes, once, into files in cache"
says "scan: voxels of 2 x 1 x 0.5 mm (depth first)"
says "scan: axes point to RAS in 3 volumes"
says "3 samples in \`data\`, 9 files"
[ "$(find cache -name '*.unetvol' | wc -l)" = 9 ] || fail "decoded files: $(ls cache)"
[ -z "$(find data -name '*.unetvol')" ] || fail "decoded files beside the data"
touch -d '2001-01-01' cache/*
run ./volumes train --data=data --cache=cache --out=run
grep -q "try it: ./volumes predict --weights=run/volumes.*safetensors data/.*_0000.nii.gz -o OUT.nii.gz" run.txt || fail "$(tail -3 run.txt)"
says "normalize: scan: mean"
! grep -q decoding run.txt || fail "volumes are decoded twice"
says "clipped to"
[ -z "$(find cache -name '*.unetvol' -newermt '2001-01-02')" ] || fail "files were decoded again"

# ---- another spacing: decoded anew, said, trained, evaluated and predicted in the geometry of the input
sed 's/normalize "ct"/&\n    spacing 1.6, 1, 0.8/; s/16, 24, 32/20, 24, 20/' volumes.unet >spaced.unet
run "$unetc" spaced.unet
run ./spaced check-data --data=data --cache=cache
says "decoding 9 volumes, once, into files in cache"
says "scan: voxels of 2 x 1 x 0.5 mm (depth first), resampled to 1.6 x 1 x 0.8 mm"
says "3 files of 20 x 24 x 20"
run ./spaced train --data=data --cache=cache --out=spacedrun --steps=2
! grep -q decoding run.txt || fail "resampled volumes are decoded twice"
run ./spaced eval --out=spacedrun --eval-data=data --cache=cache
run ./spaced predict --out=spacedrun data/imagesTr/case_0_0000.nii.gz -o spaced.nii.gz
python3 -c 'import gzip
found, scan = (gzip.open(n).read() for n in ("spaced.nii.gz", "data/imagesTr/case_0_0000.nii.gz"))
assert found[40:56] == scan[40:56] and found[76:108] == scan[76:108] and found[252:328] == scan[252:328]
assert len(found) == 352 + 16 * 24 * 32' || fail "the place of a resampled result"

run "$unetc" onnx --weights=spacedrun/spaced.safetensors -o spaced.onnx spaced.unet
says "the ONNX file takes volumes whose voxels are 1.6 x 1 x 0.8 mm (depth first) already"
run ./spaced bench
says "train    batch 2      16 x 16 x 16 median"

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


# ---- with `trim` and a mask, and under a budget: the same weights for any threads, resumed or not
sed 's/normalize "ct"/normalize "zscore_masked"\n    trim true/; s/steps     30/steps     6/; s/save      10/save      2/' volumes.unet >trimmed.unet
sed 's/threads 2/threads 1/' trimmed.unet >tight.unet
run "$unetc" --no-recompute trimmed.unet
run "$unetc" --programs=train --mem=1500KiB tight.unet
run "$unetc" mem --mem=1500KiB --programs=train tight.unet
says "2 micro-batches of 1 sample, whole images, 6."
run ./trimmed train --data=data --cache=cache --out=whole
run ./tight train --data=data --cache=cache --out=tightrun --threads=1 --steps=3
run ./tight train --data=data --cache=cache --out=tightrun --threads=1 --steps=6 --resume
python3 - <<'PYTHON' || fail "weights of trimmed volumes"
def tensors(path):
    data = open(path, "rb").read()
    return data[8 + int.from_bytes(data[:8], "little"):]
assert tensors("whole/trimmed.safetensors") == tensors("tightrun/tight.safetensors")
PYTHON

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

# ---- folds
refused 2 "the data of volumes.unet has no folds: write \`folds 5\`" ./volumes train --data=data --cache=cache --out=never --fold=1
sed 's/holdout 0.34/folds 3/' volumes.unet >folds.unet
run "$unetc" folds.unet
run ./folds train --data=data --cache=cache --out=fold1 --fold=1 --steps=11
says "2 samples"
refused 2 "made with fold 1 held out: give \`--fold=1\`" ./folds train --data=data --cache=cache --out=fold1 --steps=12 --resume
run ./folds train --data=data --cache=cache --out=fold1 --steps=12 --resume --fold=1
run ./folds eval --data=data --cache=cache --out=fold1 --fold=1

# ---- what is larger
python3 "$here/make_volumes.py" large 1 16 24 40 2
run ./volumes predict --weights=run/volumes.safetensors large/imagesTr/case_0_0000.nii.gz -o o.nii.gz
says "1 x 1 x 2 windows of 16 x 24 x 32 that overlap and are blended"
rm o*.nii.gz

# ---- what is refused
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

# ---- a real scan with its labels, where there is one
real=${UNETC_SHARED:-$here/../../../shared}/data/volumes
if [ -f "$real/t1.nii.gz" ]; then
    mkdir -p scans/imagesTr scans/labelsTr
    cp "$real/t1.nii.gz" scans/imagesTr/t1_0000.nii.gz
    cp "$real/t1_labels.nii.gz" scans/labelsTr/t1.nii.gz
    cat >real.unet <<'NET'
input  scan  : volume(1, 32, 32, 32)
target truth : labels(5)
logits = conv(conv(scan, 8, 3) -> relu, 5, 1)
output mask = argmax(logits)
data {
    scan  = volumes("imagesTr/*_0000.nii.gz")
    truth = labels("labelsTr/*.nii.gz", values = [0, 2, 3, 41, 42], others = "ignore")
    crop  foreground = 0.33, pad = "mean"
    flip
    normalize "zscore"
}
train {
    loss      cross_entropy(logits, truth)
    optimizer sgd(lr = 0.1, momentum = 0.9)
    steps     20
}
predict { size 224, 192, 160 }
NET
    run "$unetc" real.unet
    run ./real check-data --data=scans
    says "scan: voxels of 1 x 1 x 1 mm (depth first)"
    says "truth: 1 file of 224 x 192 x 160"
    says "class 1 (value 2)      270549 points"
    run ./real train --data=scans --out=scanned
    run ./real predict --out=scanned scans/imagesTr/t1_0000.nii.gz -o brain.nii.gz
    python3 - <<'PYTHON' || fail "the real scan"
import gzip
found, truth, scan = (gzip.open(n).read() for n in ("brain.nii.gz", "scans/labelsTr/t1.nii.gz", "scans/imagesTr/t1_0000.nii.gz"))
assert found[40:56] == scan[40:56] and found[76:108] == scan[76:108] and found[252:328] == scan[252:328], "place"
assert len(found) == 352 + 224 * 192 * 160 and set(found[352:]) <= {0, 1, 2, 3, 4} and len(set(found[352:])) > 1, "classes"
PYTHON
fi

if [ $failures -gt 0 ]; then
    echo "$failures checks failed"
    exit 1
fi
echo "volumes: all checks passed"

#!/usr/bin/env bash
# data_test.sh UNETC MAKE_PICTURES - what happens to data on its way into a program: transforms and
# normalisation are the same for any number of loader threads and in a resumed run, and what was measured
# goes with the weights into evaluation and prediction.
set -u
unetc=$1 make_pictures=$2
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

# expect CODE TEXT COMMAND...: the command exits with CODE and says TEXT (a regular expression) somewhere.
expect() {
    local code=$1 text=$2 output status
    shift 2
    output=$("$@" 2>&1)
    status=$?
    [ $status -eq "$code" ] || fail "$* exits $status, not $code: $output"
    grep -Eq -- "$text" <<<"$output" || fail "$* does not say '$text': $output"
}

same() { cmp -s "$1" "$2" || fail "$3: $1 and $2 differ"; }

# write NAME LINES [OUTPUT [OPTION [EVAL]]]: NAME.unet with these lines in `data`, and another of `eval`.
write() {
    cat >"$1.unet" <<UNET
input  noisy : image(1, 16, 16)
target clean : image(1)
output o = ${3:-conv(relu(conv(noisy, 4, 3)), 1, 3)}
data {
    noisy = images("noisy/*.png")
    clean = images("clean/*.png")
    holdout 0.3
    $2
}
train {
    loss mse(o, clean)
    metric psnr(o, clean)
    batch 2
    steps 8
}
eval {
    every 4, "steps"
    ${5:-}
}
predict { size 32, 32 }
UNET
    run "$unetc" --kernels=reference ${4:-} "$1.unet" -o "$1"
}

"$make_pictures" data 9 24 21 8 || exit 1

echo "transforms"
transforms='scale 0.9, 1.5
    rotate 20
    crop
    rot90
    flip
    elastic 2
    distort brightness = 0.3, contrast = 0.3
    gamma 0.8, 1.2
    blur 0.5, 1, p = 0.5
    noise 0.05'
weights() { python3 -c 'import json, sys
bytes = open(sys.argv[1], "rb").read()
sys.stdout.buffer.write(bytes[8 + int.from_bytes(bytes[:8], "little"):])' "$1"; }
for threads in 1 3; do
    write loaders$threads "$transforms
    normalize
    threads $threads"
    run ./loaders$threads train --data=data --out=run$threads
    weights run$threads/loaders$threads.safetensors >weights$threads
done
same weights1 weights3 "loader threads"
for threads in 1 3; do
    write halves$threads "$transforms
    normalize
    threads $threads" "" --precision=bf16
    run ./halves$threads train --data=data --out=halves_run$threads
    weights halves_run$threads/halves$threads.safetensors >halves$threads.weights
done
same halves1.weights halves3.weights "loader threads in bf16"
cmp -s halves1.weights weights1 && fail "bf16 rounds nothing"
run ./loaders3 train --data=data --steps=3 --out=resumed
run ./loaders3 train --data=data --resume --out=resumed
weights resumed/loaders3.safetensors >weights_resumed
same weights1 weights_resumed "a resumed run"

echo "normalisation"
write measured 'crop
    normalize' '' '' 'size 24, 24'
expect 0 'normalize: noisy: mean 0\.[0-9]+, std 0\.[0-9]+ \(7 samples\)' ./measured train --data=data --out=measured.run
numbers=$(python3 -c 'import json
bytes = open("measured.run/measured.safetensors", "rb").read()
head = json.loads(bytes[8:8 + int.from_bytes(bytes[:8], "little")])
print("mean = %s, std = %s" % tuple(head["__metadata__"]["unet.normal.noisy"].split()))')
write given "crop
    normalize $numbers" '' '' 'size 24, 24'
run ./given train --data=data --out=given.run
weights measured.run/measured.safetensors >weights_measured
weights given.run/given.safetensors >weights_given
same weights_measured weights_given "measured and given numbers"
write plain 'crop'
expect 0 "try it: ./plain predict --weights=plain.run/plain.best.safetensors data/noisy/0[0-8].png -o OUT.png" \
    ./plain train --data=data --out=plain.run
weights plain.run/plain.safetensors >weights_plain
cmp -s weights_plain weights_measured && fail "nothing is normalised"
for kind in measured given; do
    ./$kind eval --data=data --weights=$kind.run/$kind.safetensors >$kind.eval 2>/dev/null || fail "$kind eval"
    run ./$kind predict --weights=$kind.run/$kind.safetensors data/noisy/00.png -o $kind.png
done
same measured.png given.png "prediction by measured numbers"
same measured.eval given.eval "evaluation by measured numbers"
grep -q gain given.eval && fail "a normalised input is no picture to gain on"
tail -1 measured.run/log.csv | grep -q ,eval, || fail "no evaluation in the log"
measure=$(grep '^mse' measured.eval | cut -d' ' -f3)
tail -1 measured.run/log.csv | grep -q "$(printf %.4s "$measure")" || fail "eval says $measure, training $(tail -1 measured.run/log.csv)"
expect 4 'unet.normal.noisy is missing or wrong' ./measured eval --data=data --weights=plain.run/plain.safetensors
expect 0 'takes `noisy` as it is after `normalize`' "$unetc" onnx given.unet --weights=given.run/given.safetensors -o given.onnx
{ head -c -4 given.run/given.safetensors && printf '\000\000\300\177'; } >nan.safetensors # the last number is none
expect 4 'nan.safetensors: .* has values that are not finite' "$unetc" onnx given.unet --weights=nan.safetensors -o nan.onnx
write pointwise "crop
    normalize" "conv(noisy, 1, 1)"
run ./pointwise train --data=data --out=pointwise.run
run ./pointwise predict --weights=pointwise.run/pointwise.safetensors data/noisy/03.png -o pointwise.png
python3 - <<'PYTHON' || fail "prediction is not that of the normalised picture"
import json, struct, subprocess, zlib
def picture(path):
    bytes, at, data = open(path, "rb").read(), 8, b""
    while at < len(bytes):
        length, kind = struct.unpack(">I4s", bytes[at:at + 8])
        if kind == b"IHDR":
            width, height = struct.unpack(">II", bytes[at + 8:at + 16])
        data += bytes[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    raw, rows = zlib.decompress(data), []
    for y in range(height):
        kind, line = raw[y * (width + 1)], list(raw[y * (width + 1) + 1:(y + 1) * (width + 1)])
        for x in range(width):
            left, up = line[x - 1] if x else 0, rows[-1][x] if rows else 0
            corner = rows[-1][x - 1] if rows and x else 0
            near = min((left, up, corner), key=lambda v: (abs(left + up - corner - v), (left, up, corner).index(v)))
            line[x] = (line[x] + [0, left, up, (left + up) // 2, near][kind]) % 256
        rows.append(line)
    return rows
bytes = open("pointwise.run/pointwise.safetensors", "rb").read()
size = int.from_bytes(bytes[:8], "little")
head = json.loads(bytes[8:8 + size])
mean, deviation = map(float, head["__metadata__"]["unet.normal.noisy"].split())
value = {name: struct.unpack_from("<f", bytes, 8 + size + t["data_offsets"][0])[0]
         for name, t in head.items() if name != "__metadata__"}
weight, bias = (value[next(n for n in value if n.endswith(end))] for end in ("weight", "bias"))
for before, after in zip(picture("data/noisy/03.png"), picture("pointwise.png")):
    for v, o in zip(before, after):
        expected = min(max(weight * (v / 255 - mean) / deviation + bias, 0), 1) * 255
        assert abs(o - expected) < 0.51, (v, o, expected)
PYTHON
for staging in f32 u8; do
    run "$unetc" -S staged_$staging --target=cuda --staging=$staging given.unet
    grep -q UNORM8 staged_$staging/*.c || [ $staging = f32 ] || fail "u8 stages no picture as bytes"
done

echo "lists and folders"
printf '\357\273\277' >data/train.txt # as editors on Windows write it
printf '%02d\r\n' 4 1 7 2 >>data/train.txt
printf '\357\273\277# pairs\r\n' >data/val.txt
printf 'noisy/%02d.png clean/%02d.png\r\n' 3 3 5 5 >>data/val.txt
mkdir -p other/noisy other/clean
for i in 00 06 08; do
    cp data/noisy/$i.png other/noisy/day_$i.jpg
    cp data/clean/$i.png other/clean/day_$i.jpg
done
cat >lists.unet <<'UNET'
input  noisy : image(1, 16, 16)
target clean : image(1)
output o = conv(noisy, 1, 3)
data {
    noisy = images("noisy/*.png", list = "train.txt")
    clean = images("clean/*.png")
    crop
}
train {
    loss mse(o, clean)
    steps 4
}
eval {
    noisy = images("val.txt")
    clean = images("val.txt", column = 2)
}
UNET
run "$unetc" --kernels=reference lists.unet -o lists
expect 0 '4 samples, batch 1' ./lists train --data=data --out=lists.run
expect 0 'samples 2' ./lists eval --data=data --weights=lists.run/lists.safetensors
./lists eval --data=data --format=csv --weights=lists.run/lists.safetensors 2>/dev/null | grep -q '"noisy/05.png"' ||
    fail "no line for noisy/05.png"
expect 0 '4 samples in `data`, 2 in `eval`, 12 files' ./lists check-data --data=data
mkdir cases && cp -r data/noisy data/clean cases && cp cases/noisy/02.png cases/noisy/X02.PNG && cp cases/noisy/02.png cases/noisy/Y02.gif
expect 4 'noisy/X02.PNG has no partner: "clean/\*.png" asks for cases/clean/X02.png' ./plain check-data --data=cases
cp cases/clean/02.png cases/clean/X02.Png
expect 0 'noisy: 1 of 11 files is not read, such as Y02.gif: "noisy/\*.png" would match but for the ending' \
    ./plain check-data --data=cases
expect 0 'noisy: 1 of 11 files is not read, such as Y02.gif' ./plain train --data=cases --steps=1 --out=cases.run
cat >both.unet <<'UNET'
input  noisy : image(1, 16, 16)
target clean : image(1)
output o = conv(noisy, 1, 3)
data {
    clean = images(["*.PNG", "*.png"])
    noisy = clean + gaussian(25/255)
    crop
}
train {
    loss mse(o, clean)
    steps 4
}
UNET
run "$unetc" --kernels=reference both.unet -o both
expect 0 '10 samples in `data`, 10 files' ./both check-data --data=cases/noisy # both patterns take the same files
# nothing is *.PNG, and the pictures are larger than what is predicted at once
expect 0 'try it: ./both predict --weights=both.run/both.[a-z.]*safetensors data/noisy/[0-9]*.png -o OUT.png' \
    ./both train --data=data/noisy --out=both.run
expect 0 'samples 9$' ./both eval --eval-data=data/noisy --out=both.run
mkdir empty
expect 4 'empty: no file matches "\*.PNG"' ./both train --data=empty --out=never
mkdir elsewhere && cp -r data/noisy data/clean elsewhere && echo 'noisy/02.png clean/02.png' >elsewhere/val.txt
expect 0 'samples 1$' ./lists eval --eval-data=elsewhere --weights=lists.run/lists.safetensors
expect 0 'step 4: evaluation' ./lists train --data=data --eval-data=elsewhere --out=elsewhere.run
mkdir -p upper_lower/noisy upper_lower/clean && cp data/noisy/0[1-4].png upper_lower/noisy && cp data/clean/0[1-4].png upper_lower/clean
mv upper_lower/noisy/01.png upper_lower/noisy/01.PNG && mv upper_lower/clean/02.png upper_lower/clean/02.PNG
expect 0 '4 samples in `data`, 8 files' ./plain check-data --data=upper_lower
write mixed 'crop'
sed -i 's|images("\(.*\).png")|images(["\1.png", "\1.PNG"])|' mixed.unet
run "$unetc" --kernels=reference mixed.unet
expect 0 '4 samples in `data`, 8 files' ./mixed check-data --data=upper_lower
expect 0 'trained 2 steps' ./mixed train --data=upper_lower --steps=2 --out=mixed.run
write ends 'crop'
sed -i 's|"noisy/.\.png"|"noisy/*"|; s|"clean/.\.png"|"clean/*.{jpg,png}"|' ends.unet
run "$unetc" --kernels=reference ends.unet
./ends eval --data=upper_lower --eval-data=upper_lower --format=csv --weights=plain.run/plain.safetensors 2>&1 | grep -q '"noisy/01.PNG"' ||
    fail "eval has no line for noisy/01.PNG: $(./ends eval --eval-data=upper_lower --format=csv --weights=plain.run/plain.safetensors 2>&1)"
write folders 'crop'
sed -i 's|"noisy/.\.png"|"noisy/*_*.jpg"|; s|"clean/.\.png"|"clean/*_*.jpg"|' folders.unet
run "$unetc" --kernels=reference folders.unet -o folders
expect 0 '^`holdout` keeps [23] samples from training, which are measured; --eval-data=DIR' \
    ./plain eval --data=data --weights=plain.run/plain.safetensors
expect 0 'the run was trained on .*/data: all samples of upper_lower are measured' \
    ./plain eval --data=upper_lower --weights=plain.run/plain.safetensors
expect 0 'samples 4$' ./plain eval --data=upper_lower --weights=plain.run/plain.safetensors
expect 0 '^`holdout` keeps' ./plain eval --data=./data/../data --weights=plain.run/plain.safetensors # the same folder
cp plain.run/train.data train.data
echo "$PWD/gone" >plain.run/train.data # the folder that was trained on was moved: perhaps here
expect 0 '^`holdout` keeps' ./plain eval --data=upper_lower --weights=plain.run/plain.safetensors
cp train.data plain.run/train.data
expect 0 'samples 3$' ./folders eval --eval-data=other --weights=plain.run/plain.safetensors

echo "what is wrong, in groups"
mkdir -p bad && cp -r data/noisy data/clean bad
for i in 1 2 3 4 5; do head -c 100 data/noisy/0$i.png >bad/noisy/0$i.png; done
rm bad/clean/06.png
expect 4 '6 problems in the data' ./plain check-data --data=bad
./plain check-data --data=bad >groups.txt 2>&1
[ "$(grep -c '^problem: .*cut short' groups.txt)" = 4 ] || fail "five files of a kind: $(cat groups.txt)"
grep -q '^problem: 2 more of this kind, 5 in all: bad/noisy/0[1-5].png: cut short.* (--all lists each)' groups.txt ||
    fail "a kind has no count: $(cat groups.txt)"
[ "$(./plain check-data --all --data=bad 2>&1 | grep -c '^problem: bad/noisy/.*cut short')" = 5 ] || fail "--all lists not all"
expect 0 '6 problems: `train --skip-bad` leaves these samples out' ./plain check-data --skip-bad --data=bad
expect 4 'check-data --data=bad. lists all that is wrong' ./plain train --data=bad --out=bad.run
expect 0 '--skip-bad trains on [1-3] samples' ./plain train --skip-bad --data=bad --out=bad.run
expect 0 'trained 2 steps' ./plain train --skip-bad --data=bad --steps=10 --resume --out=bad.run
expect 4 '06.png has no partner' ./plain eval --data=bad --out=bad.run
expect 0 'note: [1-6] problems? with files: --skip-bad measures [12] sample' ./plain eval --skip-bad --data=bad --out=bad.run
expect 0 'note: 6 problems with files: --skip-bad trains' ./plain train --skip-bad --data=bad --out=bad2.run

echo "a run without a step holds no folder"
cp -r data late && python3 - <<'PYTHON'
for i in range(9): # the header is good, the rows are not
    path = "late/noisy/%02d.png" % i
    bytes = bytearray(open(path, "rb").read())
    at = bytes.index(b"IDAT") + 8
    bytes[at:at + 20] = b"\0" * 20
    open(path, "wb").write(bytes)
PYTHON
expect 4 'damaged in row' ./plain train --data=late --out=late.run
[ -z "$(ls late.run)" ] || fail "a training that ended at its first file leaves $(ls late.run)"
expect 0 'trained 8 steps' ./plain train --data=data --out=late.run

echo "arrays of NumPy, of many channels"
python3 - <<'PYTHON'
import os, struct
def save(path, letter, code, shape, numbers):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (code, shape)
    head = head.encode().ljust(117) + b"\n"
    open(path, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack("<%d%s" % (len(numbers), letter), *numbers))
os.makedirs("arrays/bands"), os.makedirs("arrays/classes")
for i in range(6):
    bands = [((y * 5 + x * 3 + c * 7 + i) % 40 - 20) / 8 for y in range(20) for x in range(24) for c in range(6)]
    save("arrays/bands/%d.npy" % i, "f", "<f4", (20, 24, 6), bands)
    save("arrays/classes/%d.npy" % i, "q", "<i8", (20, 24), [int(b > 0) for b in bands[::6]])
bands[0] = float("nan")
save("arrays/nan.npy", "f", "<f4", (20, 24, 6), bands)
PYTHON
cat >bands.unet <<'UNET'
input  bands : image(6, 16, 16)
target truth : labels(2)
logits = conv(bands, 2, 3)
output mask = argmax(logits)
output scores = softmax(logits)
data {
    bands = images("bands/*.npy", missing = "ignore")
    truth = labels("classes/*.npy")
    holdout 0.4
    crop
}
train {
    loss cross_entropy(logits, truth)
    metric miou(mask, truth)
    batch 2
    steps 60
    optimizer adam(lr = 0.05)
}
eval { every 60, "steps" }
predict { size 32, 32 }
UNET
run "$unetc" --kernels=reference bands.unet
expect 0 '6 samples in `data`, 12 files' ./bands check-data --data=arrays
expect 0 'trained 60 steps' ./bands train --data=arrays --out=bands.run
./bands eval --data=arrays --out=bands.run 2>/dev/null | grep -Eq 'miou[^0-9]*(0\.[89]|1$|1\.)' ||
    fail "bands are not learned: $(./bands eval --data=arrays --out=bands.run 2>&1)"
expect 0 'arrays/bands/0.npy -> bands-scores.npy' ./bands predict --weights=bands.run/bands.safetensors arrays/bands/0.npy -o bands.npy
expect 0 'nan.npy -> nan-mask.tif' ./bands predict --out=bands.run arrays/nan.npy -o nan.tif
expect 0 '0.npy -> bands.out/0-scores.tif' ./bands predict --out=bands.run arrays/bands/0.npy -o bands.out/
expect 0 '' ./bands predict --out=bands.run --bits=16 arrays/bands/0.npy -o few.npy
expect 2 'two-scores.png: a PNG file has 1 or 3 channels, and this has 2: name it .tif or .npy' \
    ./bands predict --out=bands.run arrays/bands/0.npy -o two.png
expect 2 'two-mask.png holds 16 bits at most, and --bits asks for 32' ./bands predict --out=bands.run --bits=32 arrays/bands/0.npy -o two.png
expect 2 '`--bits` is 8, 16, 24 or 32' ./bands predict --out=bands.run --bits=12 arrays/bands/0.npy -o two.npy
python3 - <<'PYTHON' || fail "what is predicted into arrays"
import ast, struct
def load(path):
    data = open(path, "rb").read()
    size = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + size].decode())
    letter = {"<f4": "f", "<u2": "H", "|u1": "B"}[head["descr"]]
    return head["shape"], struct.unpack("<%d%s" % (len(data[10 + size:]) // struct.calcsize(letter), letter), data[10 + size:])
shape, scores = load("bands-scores.npy")
classes_shape, classes = load("bands-mask.npy")
few_shape, few = load("few-scores.npy")
assert shape == few_shape == (20, 24, 2) and classes_shape == (20, 24), (shape, classes_shape)
for i, k in enumerate(classes):
    zero, one = scores[2 * i], scores[2 * i + 1]
    assert abs(zero + one - 1) < 1e-5 and k == (one > zero), (zero, one, k)
    assert abs(few[2 * i] - 65535 * zero) < 0.6, (few[2 * i], zero)
PYTHON

sed '/^output scores/d' bands.unet >shares.unet
run "$unetc" --kernels=reference --probabilities shares.unet
expect 0 'shares-mask_probabilities.npy' ./shares predict --weights=bands.run/bands.safetensors arrays/bands/0.npy -o shares.npy
same shares-mask_probabilities.npy bands-scores.npy "--probabilities and softmax"
same shares-mask.npy bands-mask.npy "classes beside probabilities"

echo "masks of other numbers"
mkdir -p drawn/photos drawn/masks
python3 - <<'PYTHON'
for i in range(5):
    for name, inside in ("photos", 90), ("masks", 255):
        with open("drawn/%s/%d.pgm" % (name, i), "wb") as file:
            file.write(b"P5 20 18 255\n" + bytes(inside if 4 < x < 9 and y > 3 else 0 for y in range(18) for x in range(20)))
PYTHON
cat >drawn.unet <<'UNET'
input  photo : image(1, 16, 16)
target mask  : labels(2)
logit = conv(photo, 1, 3)
output cell = argmax(sigmoid(logit))
data {
    photo = images("photos/*")
    mask  = labels("masks/*")
    crop
}
train {
    loss bce_with_logits(logit, mask)
    batch 2
    steps 2
}
UNET
run "$unetc" --kernels=reference drawn.unet -o masks
expect 4 'masks/0.pgm has a point of value 255, and "mask" has the classes 0 to 1; the values that occur are 0, 255: write `mask = labels\("masks/\*", values = \[0, 255\]\)` on line 7 of drawn.unet$' \
    ./masks check-data --data=drawn
expect 4 'problem: 2 more of this kind, 5 in all' ./masks check-data --data=drawn
sed -i 's|labels("masks/\*")|labels("masks/*", values = [0, 255])|' drawn.unet
run "$unetc" --kernels=reference drawn.unet -o masks
expect 0 'trained 2 steps' ./masks train --data=drawn --out=drawn.run

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))

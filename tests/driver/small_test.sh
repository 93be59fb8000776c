#!/usr/bin/env bash
# small_test.sh UNETC EXAMPLES MAKE_PICTURES - programs of `unetc --no-images`: TinyUNet's takes less than 300 KiB and
# links the C library alone, built by unetc or, with -S, by CMake; what it predicts has the bits of the full program's,
# whatever the size of a picture; what it leaves out, commands, formats and threads, it refuses with a remedy.
set -u
unetc=$1 examples=$2 make_pictures=$3
export CC=gcc
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

# refused CODE TEXT COMMAND...: it must exit with CODE and say TEXT.
refused() {
    local code=$1 text=$2
    shift 2
    "$@" >run.txt 2>&1
    [ $? = "$code" ] && grep -qF -- "$text" run.txt || fail "$*: not refused by $code and \`$text\`: $(cat run.txt)"
}

# is_small PROGRAM: its size, and the libraries that it needs.
is_small() {
    strip -o stripped "$1"
    local bytes libraries
    bytes=$(stat -c %s stripped)
    libraries=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | grep -vE '^(libc|libm|libpthread|ld-linux.*)\.so')
    echo "$1: $bytes bytes"
    [ "$bytes" -lt 307200 ] || fail "$1 has $bytes bytes"
    [ "$(stat -c %s "$1")" -lt 307200 ] || fail "$1 has symbols"
    [ -z "$libraries" ] || fail "$1 needs $libraries"
}

tiny=$examples/denoise/tiny_unet.unet
run "$unetc" --programs=train,predict -o full "$tiny"
run "$unetc" --no-images -o small "$tiny"
is_small small

"$make_pictures" data 2 256 256 8 || exit 1
run ./full train --data=data --steps=1 --out=trained
weights=trained/tiny_unet.safetensors

# Pictures in colour, and one in grey: smaller than the network, as large, and larger, which go by windows.
python3 - <<'PYTHON' || exit 1
import random
draw = random.Random(1)
for name, kind, height, width in (("as_large", 6, 256, 256), ("odd", 6, 101, 131), ("larger", 6, 300, 411), ("grey", 5, 64, 80)):
    with open(name + ".pnm", "wb") as file:
        file.write(b"P%d\n%d %d\n255\n" % (kind, width, height))
        file.write(draw.randbytes(height * width * (3 if kind == 6 else 1)))
PYTHON
for picture in as_large odd larger grey; do
    for kind in npy ppm; do
        run ./full predict --weights=$weights $picture.pnm -o full_$picture.$kind
        run ./small predict --weights=$weights $picture.pnm -o small_$picture.$kind
        cmp full_$picture.$kind small_$picture.$kind || fail "$picture.$kind: other bits"
    done
done
run ./small predict --weights=$weights odd.pnm grey.pnm -o results/
cmp results/odd.pnm full_odd.ppm && cmp results/grey.pnm full_grey.ppm || fail "other pictures in a folder"

# ---- what it leaves out ----
refused 4 "a PNG file, and this program was compiled with --no-images, so that it reads Netpbm, BMP and NumPy alone" \
    ./small predict --weights=$weights data/noisy/00.png -o out.npy
refused 2 "out.png: a PNG file, and this program was compiled with --no-images: name it .ppm, .pgm or .npy" \
    ./small predict --weights=$weights odd.pnm -o out.png
refused 2 "odd.ppm holds 16 bits at most, and --bits asks for 32: name it .npy" \
    ./small predict --weights=$weights odd.pnm --bits=32 -o odd.ppm
for command in train eval check-data tune "completion bash"; do
    # shellcheck disable=SC2086
    refused 2 "this program has no \`${command%% *}\`, for it was compiled with --no-images" ./small $command
done
run ./small predict --threads=4 --weights=$weights odd.pnm -o again.npy
grep -qF "note: limited to 1 thread: programs that are compiled with --no-images have one" run.txt || fail "$(cat run.txt)"
cmp again.npy full_odd.npy || fail "other bits with --threads"
run ./small help
grep -qE -- '  train|--epochs|--resume' run.txt && fail "help lists what there is not: $(cat run.txt)"
run ./small info --format=json
run ./small bench --steps=5

# ---- what unetc refuses ----
refused 2 "--no-images makes a program that predicts alone" "$unetc" --no-images --programs=train,predict "$tiny"
refused 2 "--no-images makes a program of one thread" "$unetc" --no-images --max-threads=2 "$tiny"
refused 2 "--no-images is for --target=cpu" "$unetc" --no-images --target=cuda "$tiny"
refused 2 "--poison links the sanitizers" "$unetc" --no-images --poison "$tiny"
refused 2 "is a volume, and its files (NIfTI) need a library" "$unetc" check --no-images "$examples/volume/nnunet.unet"

# ---- classes, whose numbers PGM keeps ----
cat >classes.unet <<'NET'
input picture : image(1, 16, 16)
output mask = argmax(picture -> conv(3, 3))
NET
run "$unetc" --kernels=reference --programs=predict -o full_classes classes.unet
run "$unetc" --kernels=reference --no-images -o small_classes classes.unet
python3 - <<'PYTHON' || exit 1
import json, random, struct, subprocess
draw = random.Random(2)
info = json.loads(subprocess.run(["./small_classes", "info", "--format=json"], capture_output=True).stdout)
tensors, data = {}, b""
for parameter in info["parameters"]:
    count = 1
    for extent in parameter["shape"]:
        count *= extent
    tensors[parameter["name"]] = {"dtype": "F32", "shape": parameter["shape"], "data_offsets": [len(data), len(data) + 4 * count]}
    data += struct.pack("<%df" % count, *(draw.uniform(-1, 1) for _ in range(count)))
head = json.dumps(tensors).encode()
open("classes.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + data)
open("one.pgm", "wb").write(b"P5\n16 16\n255\n" + draw.randbytes(256))
PYTHON
for program in full small; do
    run ./${program}_classes predict --weights=classes.safetensors one.pgm -o $program.pgm
done
cmp full.pgm small.pgm || fail "other classes"
[ "$(tail -c 256 small.pgm | od -An -v -tu1 -w1 | sort -u | wc -l)" -gt 1 ] || fail "one class everywhere"

# ---- built by CMake ----
run "$unetc" --no-images -S sources "$tiny"
run cmake -S sources -B built -DCMAKE_BUILD_TYPE=Release "-DUNET_RUNTIME=$("$unetc" --runtime)"
run cmake --build built
is_small built/tiny_unet
run built/tiny_unet predict --weights=$weights larger.pnm -o built.npy
cmp built.npy full_larger.npy || fail "other bits of the program that CMake builds"

[ "$failures" = 0 ] || exit 1

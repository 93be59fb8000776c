#!/bin/sh
# Trains a denoiser and shows what it does to pictures that it has not seen.
#
#   sh examples/denoise/run.sh            on pictures made on the spot (dead_leaves.c)
#   sh examples/denoise/run.sh FOLDER     on yours: FOLDER/noisy/*.png and FOLDER/clean/*.png, named alike
#
# Installs and builds first what is missing. Everything is written below build/denoise; the answer is
# build/denoise/result.png. Set in the environment to change:
#   FILE=examples/denoise/tiny_unet.unet
#   SIZE=64 BATCH=8    of the windows on which it is trained
#   STEPS=1600 SEED=0
#   HELD_OUT="03 17"   names of pictures to keep for the end; every tenth, if not given
set -eu
cd "$(dirname "$0")/../.."
file=${FILE:-examples/denoise/tiny_unet.unet} size=${SIZE:-64} batch=${BATCH:-8} steps=${STEPS:-1600} seed=${SEED:-0}
net=$(basename "$file" .unet) work=build/denoise
if [ $# -gt 0 ]; then pictures=$1; else pictures=$work/pictures; fi

say() { printf '\n-- %s\n' "$*"; }

say "building the compiler"
sh tests/build.sh build -DBUILD_TESTING=OFF
rm -rf "$work"
mkdir -p "$work"
for tool in dead_leaves side_by_side; do
    "${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -o "$work/$tool" \
        "examples/denoise/$tool.c" -lpng -lm
done

# ---- pictures: all in $pictures; links to those for training and to those held out ------------------

if [ $# -eq 0 ]; then
    say "making 100 pictures of 256 x 256, noise of sigma 25"
    "$work/dead_leaves" --count 100 --size 256 --sigma 25 --seed 1 --out "$pictures"
fi
pictures=$(cd "$pictures" && pwd)
mkdir -p "$work/train/noisy" "$work/train/clean" "$work/test/noisy" "$work/test/clean" "$work/test/denoised"
number=0
for noisy in "$pictures"/noisy/*.png; do
    name=$(basename "$noisy" .png) part=train
    if [ -n "${HELD_OUT:-}" ]; then
        case " $HELD_OUT " in *" $name "*) part=test ;; esac
    elif [ $((number % 10)) -eq 0 ]; then
        part=test
    fi
    ln -s "$noisy" "$work/$part/noisy/$name.png"
    ln -s "$pictures/clean/$name.png" "$work/$part/clean/$name.png"
    number=$((number + 1))
done

# ---- training ---------------------------------------------------------------------------------------

say "unetc mem: what training will need"
build/unetc mem --size="${size}x$size" --batch="$batch" "$file"

say "training for $steps steps on windows of $size x $size"
build/unetc --size="${size}x$size" --batch="$batch" -o "$work/$net" "$file"
"$work/$net" train --data="$work/train" --steps="$steps" --seed="$seed" --out="$work"

# ---- prediction: the same file compiled once more, for whole pictures -------------------------------

# Bytes 16 to 23 of a PNG are its width and height.
tall=0 wide=0
for noisy in "$work"/test/noisy/*.png; do
    # shellcheck disable=SC2046
    set -- $(od -An -tu1 -j16 -N8 "$noisy")
    w=$((($1 << 24) + ($2 << 16) + ($3 << 8) + $4)) h=$((($5 << 24) + ($6 << 16) + ($7 << 8) + $8))
    [ "$w" -le "$wide" ] || wide=$w
    [ "$h" -le "$tall" ] || tall=$h
done
tall=$(((tall + 7) / 8 * 8)) wide=$(((wide + 7) / 8 * 8))

say "compiling for prediction at $tall x $wide"
build/unetc --programs=predict --size="${tall}x$wide" -o "$work/denoise" "$file"
"$work/denoise" predict --weights="$work/$net.safetensors" "$work"/test/noisy/*.png -o "$work/test/denoised"

say "pictures held out"
for noisy in "$work"/test/noisy/*.png; do
    name=$(basename "$noisy")
    printf '%s: ' "$name"
    "$work/side_by_side" "$work/test/$name" "$noisy" "$work/test/denoised/$name" "$work/test/clean/$name"
    [ -e "$work/result.png" ] || cp "$work/test/$name" "$work/result.png"
done | tee "$work/gains.txt"
awk '{ before += $3; after += $6 } END {
    printf "\nmean of %d: %.2f dB before, %.2f dB after: a gain of %.2f dB\n", NR, before / NR, after / NR,
        (after - before) / NR }' "$work/gains.txt"
echo "see $work/result.png"

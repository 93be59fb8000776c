#!/bin/sh
# Trains a segmentation and shows what it finds in pictures that it has not seen.
#
#   sh examples/segment/run.sh            on pictures of cells made on the spot (cells.c)
#   sh examples/segment/run.sh FOLDER     on yours: FOLDER/photos/*.png in grey and FOLDER/masks/*.png of 0, 128
#                                         and 255, named alike, at least as large as SIZE
#
# Installs and builds first what is missing. Everything is written below build/segment; the answer is
# build/segment/result.png, classes in colours over a picture, and the mIoU of all pictures held out.
# Set in the environment to change:
#   SIZE=128 BATCH=8   of the windows on which it is trained
#   STEPS=600 SEED=0
set -eu
cd "$(dirname "$0")/../.."
file=examples/segment/cells.unet size=${SIZE:-128} batch=${BATCH:-8} steps=${STEPS:-600} seed=${SEED:-0}
work=build/segment
if [ $# -gt 0 ]; then pictures=$1; else pictures=$work/pictures; fi

say() { printf '\n-- %s\n' "$*"; }

say "building the compiler"
sh tests/build.sh build -DBUILD_TESTING=OFF
rm -rf "$work"
mkdir -p "$work/masks"

if [ $# -eq 0 ]; then
    say "making 100 pictures of 128 x 128"
    "${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -o "$work/make_cells" \
        examples/segment/cells.c -lpng -lm
    "$work/make_cells" --count 100 --size 128 --seed 1 --out "$pictures"
fi

say "training for $steps steps on windows of $size x $size; every tenth picture is held out"
build/unetc --size="${size}x$size" --batch="$batch" -o "$work/cells" "$file"
"$work/cells" check-data --data="$pictures"
"$work/cells" train --data="$pictures" --steps="$steps" --seed="$seed" --out="$work"

say "pictures held out"
"$work/cells" eval --data="$pictures" --weights="$work/cells.best.safetensors"

say "what it finds in the first picture"
set -- "$pictures"/photos/*.png
"$work/cells" predict --weights="$work/cells.best.safetensors" "$1" -o "$work/mask.png" --overlay
mv "$work/mask-overlay.png" "$work/result.png"
echo "see $work/result.png"

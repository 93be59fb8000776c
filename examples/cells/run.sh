#!/bin/sh
# Learns to find things in pictures from masks drawn by hand, and shows what it finds in pictures that it has
# not seen.
#
#   sh examples/cells/run.sh           on pictures of cells drawn on the spot (../segment/cells.c)
#   sh examples/cells/run.sh FOLDER    on yours: FOLDER/photos/ has pictures, FOLDER/masks/ a mask of 0 and 255
#                                      for each, named alike
#
# Missing packages are installed, and the compiler is built. All files are written below build/cells. The answers
# are in build/cells/found/: for each picture a mask, and the picture with the mask in colour.
# Set in the environment to change: EPOCHS=40 SEED=0
set -eu
cd "$(dirname "$0")/../.."
epochs=${EPOCHS:-40} seed=${SEED:-0} work=build/cells
if [ $# -gt 0 ]; then data=$1 new=$1/photos; else data=$work/mine new=$work/new/photos; fi

say() { printf '\n-- %s\n' "$*"; }

say "building the compiler"
sh tests/build.sh build -DBUILD_TESTING=OFF
rm -rf "$work"
mkdir -p "$work"

if [ $# -eq 0 ]; then
    say "drawing 60 pictures of 200 to 400 pixels to learn from, and 4 more"
    "${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -o "$work/draw" \
        examples/segment/cells.c -lpng -lm
    "$work/draw" --count 60 --size 200 --largest 400 --classes 2 --seed 1 --out "$data"
    "$work/draw" --count 4 --size 200 --largest 400 --classes 2 --seed 2 --out "$work/new"
fi

say "training for $epochs epochs; every fifth picture is held out"
build/unetc -o "$work/cells" examples/cells/cells.unet
"$work/cells" check-data --data="$data"
"$work/cells" train --data="$data" --epochs="$epochs" --seed="$seed" --out="$work/run"

say "pictures held out"
"$work/cells" eval --data="$data" --out="$work/run"

say "what it finds in new pictures"
"$work/cells" predict --out="$work/run" "$new"/* -o "$work/found/" --overlay
echo "see $work/found"

#!/bin/sh
# Trains a diffusion model on small pictures and makes new ones out of noise.
#
#   sh examples/diffusion/run.sh            on pictures of shapes made on the spot (shapes.c)
#   sh examples/diffusion/run.sh FOLDER     on yours: FOLDER/*.png of 16 x 16 points, in colour
#
# It first installs and builds the missing parts. Everything is written below build/diffusion; the answer is
# build/diffusion/samples.png. For shapes it also prints how far the samples are from pictures that training has not seen, by
# the distance of likeness.c. Two other distances stand beside it: other pictures of shapes, and samples of an untrained network.
# Set in the environment to change:
#   STEPS=3000 SEED=0
set -eu
cd "$(dirname "$0")/../.."
file=examples/diffusion/diffusion.unet steps=${STEPS:-3000} seed=${SEED:-0} work=build/diffusion

say() { printf '\n-- %s\n' "$*"; }

say "building the compiler"
sh tests/build.sh build -DBUILD_TESTING=OFF
rm -rf "$work"
mkdir -p "$work/data"
for tool in shapes likeness; do
    "${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -o "$work/$tool" \
        "examples/diffusion/$tool.c" -lpng -lm
done

if [ $# -gt 0 ]; then
    ln -s "$(cd "$1" && pwd)" "$work/data/pictures"
else
    say "making 4000 pictures of 16 x 16 to train on, 1024 that are held back and 1024 others"
    "$work/shapes" "$work/data/pictures" 4000 1 "$work/held_back.png" 32
    "$work/shapes" "$work/data/more" 1 2 "$work/others.png" 32
fi

say "unetc mem: what training will need"
build/unetc mem "$file"
build/unetc -o "$work/diffusion" "$file"

say "training for $steps steps"
"$work/diffusion" train --data="$work/data" --steps="$steps" --seed="$seed" --out="$work/trained"

say "64 samples"
"$work/diffusion" sample --weights="$work/trained/diffusion.safetensors" --count=64 --steps=100 --eta=1 -o "$work/samples.png"

if [ $# -eq 0 ]; then
    say "256 samples, and as many of a network that is not trained"
    "$work/diffusion" train --data="$work/data" --steps=1 --seed="$seed" --out="$work/untrained" >"$work/untrained.txt" 2>&1
    for net in trained untrained; do
        "$work/diffusion" sample --weights="$work/$net/diffusion.safetensors" --count=256 --steps=100 --eta=1 -o "$work/$net.png"
    done
    say "distance from pictures that training has not seen"
    (cd "$work" && ./likeness held_back.png others.png trained.png untrained.png)
fi
echo "see $work/samples.png"

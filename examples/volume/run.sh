#!/bin/sh
# Trains a segmentation of volumes and shows what it finds in volumes that it has not seen.
#
#   sh examples/volume/run.sh            on scans of bodies and tubes made on the spot (bodies.c)
#   sh examples/volume/run.sh FOLDER     on yours, as nnU-Net has them: FOLDER/imagesTr/CASE_0000.nii.gz, of one
#                                        channel, and FOLDER/labelsTr/CASE.nii.gz, of the classes 0, 1, ...
#
# Installs and builds first what is missing. Every fifth volume is held out. Everything is written below
# build/volume; the answer is build/volume/result.png, three slices through a volume held out, above its labels and
# below what is found, in colours over the image, and Dice of each class.
# Set in the environment to change:
#   CLASSES=3 SIZE=24x48x48 BATCH=2   classes; the windows on which it is trained, multiples of 4 x 8 x 8
#   STEPS=600 SEED=0
#   SLICES=256                        height and width that a volume has at most
set -eu
cd "$(dirname "$0")/../.."
file=examples/volume/bodies.unet classes=${CLASSES:-3} size=${SIZE:-24x48x48} batch=${BATCH:-2}
steps=${STEPS:-600} seed=${SEED:-0} slices=${SLICES:-256}
work=build/volume
if [ $# -gt 0 ]; then volumes=$(cd "$1" && pwd); else volumes=$PWD/$work/made; fi

say() { printf '\n-- %s\n' "$*"; }

say "building the compiler"
sh tests/build.sh build -DBUILD_TESTING=OFF
rm -rf "$work"
for part in training heldout; do mkdir -p "$work/$part/imagesTr" "$work/$part/labelsTr"; done
"${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -o "$work/slices" examples/volume/slices.c -lpng -lz -lm

if [ $# -eq 0 ]; then
    say "making 25 volumes of 40 x 96 x 96 voxels, each 2.5 x 1 x 1 mm"
    "${CC:-cc}" -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -o "$work/make_bodies" \
        examples/volume/bodies.c -lz -lm
    "$work/make_bodies" --count 25 --seed 1 --out "$volumes"
fi

number=0
for labels in "$volumes"/labelsTr/*.nii.gz; do
    name=$(basename "$labels" .nii.gz) number=$((number + 1)) part=training
    if [ $((number % 5)) -eq 0 ]; then part=heldout; fi
    ln -s "$labels" "$work/$part/labelsTr/"
    ln -s "$volumes/imagesTr/${name}_0000.nii.gz" "$work/$part/imagesTr/"
done

say "training for $steps steps on windows of $size; every fifth volume is held out"
build/unetc -D classes="$classes" -D slices="$slices" --size="$size" --batch="$batch" -o "$work/bodies" "$file"
"$work/bodies" check-data --data="$work/training" --cache="$work/cache"
"$work/bodies" train --data="$work/training" --cache="$work/cache" --steps="$steps" --seed="$seed" --out="$work"

say "volumes held out"
"$work/bodies" predict --out="$work" "$work"/heldout/imagesTr/*.nii.gz -o "$work/found/"
set -- "$work/result.png" "$classes"
for labels in "$work"/heldout/labelsTr/*.nii.gz; do
    name=$(basename "$labels")
    set -- "$@" "$work/heldout/imagesTr/${name%.nii.gz}_0000.nii.gz" "$labels" "$work/found/$name"
done
"$work/slices" "$@"
echo "see $work/result.png"

#!/bin/sh
# How well does TinyUNet find membranes in sections of an electron microscope?
#
#   sh tests/quality/membrane.sh [FOLDER [OPTION...]]    FOLDER/images/N.png, FOLDER/labels/N.png, N from 0 to 29;
#                                                        options of unetc, such as --precision=bf16
#
# Sections 0 to 23 train, 24 to 29 are evaluated, whole. Windows of 128 x 128, turned and flipped, batch 8, BCE, Adam 1e-3,
# 1,000 steps. Prints mIoU, accuracy and dice of the last evaluation for seeds 0, 1 and 2, and their means; PyTorch
# reaches an mIoU of 0.760 and an accuracy of 0.913. Exit code 1 below 0.75 and 0.91. Takes a few minutes.
set -eu
cd "$(dirname "$0")/../.."
sections=${1:-${UNETC_SHARED:-../shared}/data/membrane}
[ $# = 0 ] || shift
if [ ! -d "$sections/images" ]; then
    echo "SKIPPED: no sections in $sections"
    exit 77
fi
sections=$(cd "$sections" && pwd)
sh tests/build.sh build
work=build/quality/membrane$(printf %s "$*" | tr -c 'a-z0-9=' _)
for part in train val; do
    mkdir -p "$work/data/$part/images" "$work/data/$part/labels"
done
for n in $(seq 0 29); do
    part=train
    [ "$n" -lt 24 ] || part=val
    for kind in images labels; do
        ln -sf "$sections/$kind/$n.png" "$work/data/$part/$kind/$n.png"
    done
done
build/unetc "$@" -o "$work/membrane" tests/quality/membrane.unet

for seed in 0 1 2; do
    "$work/membrane" train --data="$work/data" --seed="$seed" --out="$work/seed$seed" >&2
    awk -F, -v seed="$seed" '$3 == "eval" { last = $6 " " $7 " " $8 } END { print "seed " seed ": " last }' \
        "$work/seed$seed/log.csv"
done | tee "$work/result.txt"
awk '{ miou += $3; accuracy += $4; dice += $5; seeds++ } END {
    printf "mean of %d seeds: mIoU %.3f, accuracy %.3f, dice %.3f\n", seeds, miou / seeds, accuracy / seeds, dice / seeds
    exit miou / seeds < 0.75 || accuracy / seeds < 0.91 }' "$work/result.txt"

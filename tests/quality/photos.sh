#!/bin/sh
# How well does TinyUNet learn to remove noise from grey photographs?
#
#   sh tests/quality/photos.sh [FOLDER [OPTION...]]    FOLDER/train/*.png, FOLDER/test/*.png; options of unetc,
#                                                      such as --conv=fast --precision=bf16
#
# Noise of sigma 25, windows of 64 x 64, batch 16, Adam 5e-4, 2,000 steps; evaluated on whole pictures every
# 100 steps. Prints the mean of the last five evaluations for seeds 0, 1 and 2, and their mean. Train400 and
# Set12 start at 20.35 dB; PyTorch reaches 28.76 to 28.85 dB. Exit code 1 below 28.6 dB. Takes a few minutes.
set -eu
cd "$(dirname "$0")/../.."
pictures=${1:-${UNETC_SHARED:-../shared}/data/photos}
[ $# = 0 ] || shift
if [ ! -d "$pictures/train" ]; then
    echo "SKIPPED: no pictures in $pictures"
    exit 77
fi
sh tests/build.sh build
work=build/quality/photos$(printf %s "$*" | tr -c 'a-z0-9=' _)
mkdir -p "$work"
build/unetc "$@" -o "$work/tiny_grey" tests/quality/tiny_grey.unet

for seed in 0 1 2; do
    "$work/tiny_grey" train --data="$pictures" --seed="$seed" --out="$work/seed$seed"
    printf 'seed %d: ' "$seed"
    python3 tests/quality/last_five.py "$work/seed$seed/log.csv"
done | tee "$work/result.txt"
awk '/^seed/ { after += $6; seeds++ } END {
    mean = after / seeds
    printf "mean of %d seeds: %.2f dB\n", seeds, mean
    exit mean < 28.6 }' "$work/result.txt"

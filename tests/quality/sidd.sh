#!/bin/sh
# How well do the RGB denoisers learn from pairs of real photographs?
#
#   sh tests/quality/sidd.sh [FOLDER]          FOLDER/noisy/*.png, FOLDER/clean/*.png
#
# Trains each on all pairs but 02 and 07 and measures it on those two. Exit code 1 where the mean gain is
# below 4 dB. STEPS as in examples/denoise/run.sh. Takes a quarter of an hour.
set -eu
cd "$(dirname "$0")/../.."
pictures=${1:-${UNETC_SHARED:-../shared}/data/sidd}
if [ ! -d "$pictures/noisy" ]; then
    echo "SKIPPED: no pictures in $pictures"
    exit 77
fi
mkdir -p build
result=build/sidd.txt
: >"$result"
for net in simple_denoiser tiny_unet unet_denoiser; do
    for seed in ${SEEDS:-0}; do
        NET=$net SEED=$seed HELD_OUT="02 07" sh examples/denoise/run.sh "$pictures"
        gain=$(awk '{ gain += $(NF - 1) } END { printf "%.2f", gain / NR }' build/denoise/gains.txt)
        echo "$net, seed $seed: gain $gain dB" | tee -a "$result"
    done
done
cat "$result"
awk '{ if ($(NF - 1) < 4) bad = 1 } END { exit bad }' "$result"

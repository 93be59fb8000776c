#!/bin/sh
# How well do the RGB denoisers learn from pairs of real photographs?
#
#   sh tests/quality/sidd.sh [FOLDER]          FOLDER/noisy/*.png, FOLDER/clean/*.png
#
# Trains each net of the examples, with the data section of sidd.data, on all pairs but 02 and 07 and measures it
# on those two. Exit code 1 where the mean gain is below 4 dB. NETS, SEEDS and what examples/denoise/run.sh
# knows can be set in the environment. Takes a quarter of an hour.
set -eu
cd "$(dirname "$0")/../.."
pictures=${1:-${UNETC_SHARED:-../shared}/data/sidd}
if [ ! -d "$pictures/noisy" ]; then
    echo "SKIPPED: no pictures in $pictures"
    exit 77
fi
work=build/quality/sidd
mkdir -p "$work"
result=$work/result.txt
: >"$result"
for net in ${NETS:-simple_denoiser tiny_unet unet_denoiser}; do
    awk '/^data/ { skip = 1 } !skip { print } /^}/ { skip = 0 }' "examples/denoise/$net.unet" |
        cat - tests/quality/sidd.data >"$work/$net.unet"
    for seed in ${SEEDS:-0}; do
        FILE=$work/$net.unet SEED=$seed HELD_OUT="02 07" sh examples/denoise/run.sh "$pictures"
        gain=$(awk '{ gain += $(NF - 1) } END { printf "%.2f", gain / NR }' build/denoise/gains.txt)
        echo "$net, seed $seed: gain $gain dB" | tee -a "$result"
    done
done
cat "$result"
awk '{ if ($(NF - 1) < 4) bad = 1 } END { exit bad }' "$result"

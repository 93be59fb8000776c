#!/bin/sh
# How well do the RGB denoisers learn from pairs of real photographs?
#
#   sh tests/quality/sidd.sh [FOLDER]          FOLDER/noisy/*.png, FOLDER/clean/*.png
#
# Trains each net of the examples on all pairs but 02 and 07 and measures it on those two. The data and train
# sections are those of sidd.sections; beside each training pair lie copies with exchanged colours, without which
# no net knows what to make of the red of 07. Exit code 1 where the mean gain is below 4 dB. NETS, SEEDS and
# STEPS can be set in the environment. Takes an hour on four cores.
set -eu
cd "$(dirname "$0")/../.."
source=${1:-${UNETC_SHARED:-../shared}/data/sidd}
if [ ! -d "$source/noisy" ]; then
    echo "SKIPPED: no pictures in $source"
    exit 77
fi
source=$(cd "$source" && pwd)
work=build/quality/sidd
rm -rf "$work"
mkdir -p "$work/pictures/noisy" "$work/pictures/clean"
sh tests/build.sh build
"${CC:-cc}" -std=c11 -O2 -o "$work/permute_colours" tests/quality/permute_colours.c -lpng
for picture in "$source"/noisy/*.png "$source"/clean/*.png; do
    name=$(basename "$picture" .png) kind=$(basename "$(dirname "$picture")")
    cp "$picture" "$work/pictures/$kind/$name.png"
    for order in 021 102 120 201 210; do
        case $name in 02 | 07) continue ;; esac
        "$work/permute_colours" "$picture" "$work/pictures/$kind/$name-$order.png" "$order"
    done
done

result=$work/result.txt
: >"$result"
for net in ${NETS:-simple_denoiser tiny_unet unet_denoiser}; do
    awk '/^(data|train)/ { skip = 1 } !skip { print } /^}/ { skip = 0 }' "examples/denoise/$net.unet" |
        cat - tests/quality/sidd.sections >"$work/$net.unet"
    for seed in ${SEEDS:-0}; do
        FILE=$work/$net.unet STEPS=${STEPS:-8000} SEED=$seed HELD_OUT="02 07" \
            sh examples/denoise/run.sh "$work/pictures"
        gain=$(awk '{ gain += $(NF - 1) } END { printf "%.2f", gain / NR }' build/denoise/gains.txt)
        echo "$net, seed $seed: gain $gain dB" | tee -a "$result"
    done
done
cat "$result"
awk '{ if ($(NF - 1) < 4) bad = 1 } END { exit bad }' "$result"

#!/bin/sh
# Trains a Wave-U-Net that takes a voice out of a mixture of sounds, and shows how well it does on mixtures it has not heard.
#
#   sh examples/wave_unet/run.sh            on sounds made on the spot (sounds.c)
#   sh examples/wave_unet/run.sh FOLDER     on yours: FOLDER/mixture/*.wav and FOLDER/voice/*.wav, one channel, named alike
#
# Installs and builds first what is missing. Everything is written below build/wave_unet; listen to the files in
# build/wave_unet/separated. Set in the environment to change:
#   LAYERS=5 BASE=12           of the network; the published one has 12 and 24
#   LENGTH=4096 BATCH=8        of the windows on which it is trained
#   STEPS=1500 SEED=0
set -eu
cd "$(dirname "$0")/../.."
layers=${LAYERS:-5} base=${BASE:-12} length=${LENGTH:-4096} batch=${BATCH:-8} steps=${STEPS:-1500} seed=${SEED:-0}
file=examples/wave_unet/wave_unet.unet work=build/wave_unet
if [ $# -gt 0 ]; then sounds=$1; else sounds=$work/made; fi

say() { printf '\n-- %s\n' "$*"; }

say "building the compiler"
sh tests/build.sh build -DBUILD_TESTING=OFF
rm -rf "$work"
mkdir -p "$work"
for tool in sounds ratio; do
    # shellcheck disable=SC2046
    "${CC:-cc}" -std=gnu11 -O2 -ffp-contract=off -Iruntime/include -o "$work/$tool" "examples/wave_unet/$tool.c" \
        build/lib/libunet_runtime.a $(cat build/lib/libraries)
done

if [ $# -eq 0 ]; then
    say "making 60 mixtures of 4 seconds, 8000 frames a second"
    mkdir -p "$sounds"
    "$work/sounds" --count 60 --seed 1 --out "$sounds"
fi
sounds=$(cd "$sounds" && pwd)
mkdir -p "$work/train/mixture" "$work/train/voice" "$work/test" "$work/separated"
number=0
for mixture in "$sounds"/mixture/*.wav; do
    name=$(basename "$mixture")
    if [ $((number % 10)) -eq 0 ]; then
        ln -s "$mixture" "$work/test/$name"
    else
        ln -s "$mixture" "$work/train/mixture/$name"
        ln -s "$sounds/voice/$name" "$work/train/voice/$name"
    fi
    number=$((number + 1))
done

net="-Dlayers=$layers -Dbase=$base --size=$length --batch=$batch"
say "unetc mem: what training will need"
# shellcheck disable=SC2086
build/unetc mem $net "$file"

say "training for $steps steps on windows of $length frames"
# shellcheck disable=SC2086
build/unetc $net -o "$work/wave" "$file"
"$work/wave" train --data="$work/train" --steps="$steps" --seed="$seed" --out="$work"

say "separating the mixtures held out, which are longer than a window"
"$work/wave" predict --weights="$work/wave_unet.safetensors" "$work"/test/*.wav -o "$work/separated/"

say "decibels of the voice over all that differs from it"
for mixture in "$work"/test/*.wav; do
    name=$(basename "$mixture")
    printf '%s:' "$name"
    "$work/ratio" "$sounds/voice/$name" "$mixture" "$work/separated/$name"
done | tee "$work/ratios.txt"
awk '{ before += $2; after += $3 } END {
    printf "\nmean of %d: %.2f dB in the mixtures, %.2f dB separated\n", NR, before / NR, after / NR }' "$work/ratios.txt"
echo "listen to $work/separated"

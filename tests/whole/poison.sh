#!/usr/bin/env bash
# poison.sh UNETC EXAMPLES MAKE_PICTURES - programs compiled with --poison: AddressSanitizer stops a step at the
# first access outside of its live operands, and a buffer is full of NaNs when its life begins, so that training
# diverges where something is read before it is written. Each example, narrow, trains three steps, is evaluated
# and predicts without a report.
set -u
unetc=$1 examples=$2 make_pictures=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# run COMMAND...: it must succeed.
run() { "$@" >run.txt 2>&1 || fail "$* exits $?: $(tail -n 40 run.txt)"; }

# poisoned NAME UNETC-OPTION...: the example NAME, with some pictures held out, compiled so; and all it can do.
poisoned() {
    local name=$1
    shift
    sed 's/^data {/&\n    holdout 0.4/' "$examples/denoise/$name.unet" >"$name.unet"
    run "$unetc" --poison "$@" -o "$name" "$name.unet"
    [ -x "$name" ] || return
    run "./$name" train --data=data --steps=3 --threads=2 --out=out
    run "./$name" eval --data=data --threads=2 --weights="out/$name.safetensors"
    grep -q 'psnr(denoised, clean) [0-9]' run.txt || fail "$name: no PSNR: $(cat run.txt)"
    run "./$name" predict --threads=2 --weights="out/$name.safetensors" small/noisy/00.png -o out.png
    echo "$name $*"
    rm -rf out "$name"
}

"$make_pictures" data 5 24 24 8 && "$make_pictures" small 1 15 13 8 || exit 1
poisoned tiny_unet --kernels=reference --size=16x16 --batch=2 -D base=2
poisoned unet_denoiser --size=16x24 --batch=2 -D base=10
poisoned simple_denoiser --size=17x19 --batch=2 -D width=5
poisoned tiny_unet --size=16x16 --batch=2 -D base=4
poisoned tiny_unet --precision=bf16 --size=16x16 --batch=2 -D base=5

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))

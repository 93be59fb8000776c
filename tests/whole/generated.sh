#!/usr/bin/env bash
# generated.sh UNETC [FOLDER] - is generated/ what unetc makes of the examples today? With a FOLDER, generated/ itself for example, writes
# the files there instead.  Of kernels, the lines that no template has (filled.py).
set -eu
unetc=$(realpath "$1")
cd "$(dirname "$0")/../.."

# make FOLDER: all that is checked in, but for the README.
make() {
    "$unetc" -S "$1/simple_denoiser" --size=64x64 examples/denoise/simple_denoiser.unet
    "$unetc" mem --size=64x64 examples/denoise/simple_denoiser.unet >"$1/simple_denoiser/memory.txt"
    "$unetc" -S "$1/tiny_unet" --size=64x64 --kernels=reference examples/denoise/tiny_unet.unet
    "$unetc" mem --size=64x64 --kernels=reference examples/denoise/tiny_unet.unet >"$1/tiny_unet/memory.txt"
    # Planned without cuDNN, whose version decides on engines.
    UNETC_CUDNN=/dev/null "$unetc" -S "$1/simple_denoiser_cuda" --target=cuda --precision=bf16 --size=64x64 \
        examples/denoise/simple_denoiser.unet
    for net in simple_denoiser tiny_unet simple_denoiser_cuda; do
        python3 -B tests/whole/filled.py "$1/$net"
    done
}

if [ $# -gt 1 ]; then
    for old in simple_denoiser tiny_unet simple_denoiser_cuda; do
        rm -rf "${2:?}/$old"
    done
    make "$2"
    exit
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
make "$folder"
if difference=$(diff -r --exclude=README.md generated "$folder"); then
    echo "up to date"
else
    head -n 40 <<<"$difference"
    echo "generated/ is stale: bring it up to date with \`cmake --build BUILD --target regenerate\`"
    exit 1
fi

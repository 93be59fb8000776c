#!/bin/sh
# Builds shim_test.cpp with the shim under sanitizers and runs it: at once and lazily, in each order of threads.
# SKIPPED (77) without the headers of CUDA or a C++ compiler.
set -eu
cd "$(dirname "$0")"
include=
for home in "${CUDA_HOME:-}" /usr/local/cuda; do
    [ -n "$include" ] || [ ! -e "$home/include/cuda_runtime_api.h" ] || include=$home/include
done
if [ -z "$include" ] || ! command -v g++ >/dev/null; then
    echo "SKIPPED: no cuda_runtime_api.h in \$CUDA_HOME or /usr/local/cuda, or no g++"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
g++ -std=c++17 -O1 -g1 -Wall -Wextra -Wconversion -Wshadow -Werror -fsanitize=address,undefined \
    -fno-sanitize-recover=undefined -isystem "$include" ./*.cpp -o "$scratch/shim_test"
for order in forward reverse permuted; do
    for lazy in 0 1 2; do
        UNET_SHIM_DEVICE_BYTES=1000000 UNET_SHIM_LAZY=$lazy UNET_SHIM_ORDER=$order "$scratch/shim_test"
    done
done

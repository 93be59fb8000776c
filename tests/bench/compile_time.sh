#!/usr/bin/env bash
# compile_time.sh UNETC - milliseconds of `unetc -S` on UNetDenoiser and on a U-Net of five levels: the median
# and the extremes of 20 runs. Exits 1 when a median is not under 50 ms.
set -eu
unetc=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

microseconds() { echo "${EPOCHREALTIME/[.,]/}"; }

slow=0
for file in examples/denoise/unet_denoiser.unet tests/bench/five_levels.unet; do
    for _ in $(seq 20); do
        start=$(microseconds)
        "$unetc" -S "$folder/sources" "$root/$file"
        echo $(($(microseconds) - start))
    done | sort -n >"$folder/times.txt"
    mapfile -t times <"$folder/times.txt"
    printf '%-38s median %6d us, least %6d us, most %6d us\n' "$file" "${times[9]}" "${times[0]}" "${times[19]}"
    [ "${times[9]}" -lt 50000 ] || slow=1
done
exit $slow

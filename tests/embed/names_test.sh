#!/bin/sh
# names_test.sh NM LIB: the archives that programs link define no name that a program may have, and want none that they
# do not define themselves, or, of the small one, the runtime: what one of them calls of its own has the same private name there.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for archive in "$2"/libunet_*.a; do
    odd=$("$1" -g --defined-only "$archive" | awk 'NF == 3 && $3 !~ /^(unet_|_|TIFFInit|omp_)/ { print $3 }')
    [ -z "$odd" ] || { echo "$archive defines" $odd; exit 1; }
    beside=""
    [ "${archive##*/}" != libunet_small.a ] || beside=$2/libunet_runtime.a
    "$1" -g --defined-only "$archive" $beside | awk 'NF == 3 { print $3 }' | sort -u >"$folder/defined"
    "$1" -u "$archive" | awk 'NF == 2 { print $2 }' | grep '^unet_private_' | sort -u >"$folder/wanted" || true
    lost=$(comm -13 "$folder/defined" "$folder/wanted")
    [ -z "$lost" ] || { echo "$archive lacks" $lost; exit 1; }
done

#!/usr/bin/env bash
# same_bytes.sh UNETC EXAMPLES - the same file gives the same bytes, from any folder, by any path, under any
# locale and folder for temporary files: the sources, the plan as JSON and the report.
set -u
unetc=$1 examples=$(cd "$2" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# outputs OUT FILE UNETC-OPTION...: everything that unetc writes about FILE, into OUT.
outputs() {
    local out=$1 file=$2
    shift 2
    mkdir -p "$out"
    "$unetc" -S "$out/sources" "$@" "$file" &&
        "$unetc" mem --format=json "$@" "$file" >"$out/plan.json" &&
        "$unetc" mem "$@" "$file" >"$out/report.txt" || failures=$((failures + 1))
}

compare() {
    diff -r "$folder/one" "$folder/$1" >"$folder/diff.txt" && return
    echo "FAILED: $name $*: $(head -c 2000 "$folder/diff.txt")"
    failures=$((failures + 1))
}

locale=$(locale -a 2>/dev/null | grep -v -x -e C -e POSIX -e 'C\.utf8' | head -n 1)
for name in tiny_unet unet_denoiser simple_denoiser; do
    mkdir -p "$folder/elsewhere/deep" "$folder/temporary"
    cp "$examples/denoise/$name.unet" "$folder/elsewhere/"
    cd "$examples" && outputs "$folder/one" "denoise/$name.unet" --size=64x64
    cd / && outputs "$folder/absolute" "$examples/denoise/$name.unet" --size=64x64
    cd "$folder/elsewhere/deep" && TMPDIR=$folder/temporary LC_ALL=${locale:-C} HOME=/nowhere TZ=Asia/Tokyo \
        outputs "$folder/copy" "../$name.unet" --size=64x64
    compare absolute
    compare copy
    cd / && rm -rf "$folder/one" "$folder/absolute" "$folder/copy"
done
[ $failures -eq 0 ] && echo "all the same"
exit $((failures > 0))

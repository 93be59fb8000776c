#!/bin/sh
# other_machine.sh COMPILER HOME: builds the runtime library of small programs (unetc --no-images) for the machine of a cross
# compiler, such as aarch64-linux-gnu-gcc, into the folder HOME/MACHINE, where unetc looks for it.  HOME: `unetc --runtime`.
set -eu
compiler=$1
mkdir -p "$2"
home=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
machine=$("$compiler" -dumpmachine)
folder=$home/$machine
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo 'int main(void) { return 0; }' >"$work/empty.c"
if ! "$compiler" "$work/empty.c" -o "$work/empty" -l:libjansson.a -lm; then
    echo "other_machine.sh: $compiler finds no libjansson.a for $machine (Debian, for aarch64: dpkg --add-architecture arm64," \
        "apt-get update, apt-get install libjansson-dev:arm64)" >&2
    exit 1
fi
# Small programs read and write what needs no library.
needs_library='/(image_(gif|jp2|jpeg|jpeg_memory|jpeg_write|png|png_write|tiff|tiff_codecs|tiff_write|wav|wav_write|webp)|npz|wav|volume_nifti|volume_write|picture)\.c$'
flags="-std=c11 -O2 -DNDEBUG -D_POSIX_C_SOURCE=200809L -Iinclude -Idriver -Ilibrary -ffunction-sections -fdata-sections
    -fno-asynchronous-unwind-tables"
# compiled PART FILE...: the archive of the part.
compiled() {
    part=$1
    shift
    mkdir "$work/$part"
    for file; do echo "$file"; done | xargs -P "$(nproc)" -I FILE sh -c \
        'name=$(echo "FILE" | tr / _) && "$1" $2 "-DUNETC_VERSION=\"other machine\"" -c "FILE" -o "$3/${name%.c}.o"' \
        sh "$compiler" "$flags" "$work/$part"
    "$("$compiler" -print-prog-name=ar)" rcs "$work/lib$part.a" "$work/$part"/*.o
}
# shellcheck disable=SC2046
compiled unet_runtime $(ls library/*.c driver/*.c | grep -vE "$needs_library")
compiled unet_small small/*.c
mkdir -p "$folder"
private() { sh package/private_names.sh "$("$compiler" -print-prog-name=nm)" "$("$compiler" -print-prog-name=objcopy)" "$@"; }
private "$work/libunet_runtime.a" "$folder/libunet_runtime.a"
private "$work/libunet_small.a" "$folder/libunet_small.a" "$work/libunet_runtime.a"
ln -sfn ../include "$folder/include"
echo "-l:libjansson.a -lm -lpthread" >"$folder/libraries_small"

#!/usr/bin/env bash
# embed_test.sh BUILD MAKE_PICTURES - what is installed works wherever it is moved: the compiler, find_package and
# pkg-config; and models inside other programs, in C and C++, several in one, do what their own programs do, to the bit.
set -u
build=$1 make_pictures=$2 here=$(cd "$(dirname "$0")" && pwd)
if ! command -v "${CXX:-c++}" >/dev/null; then
    echo "SKIPPED: no C++ compiler"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset UNETC_RUNTIME
export OMP_WAIT_POLICY=passive # the machine may be busy
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# run COMMAND...: it must succeed.
run() { "$@" >run.txt 2>&1 || fail "$* exits $?: $(tail -20 run.txt)"; }

# same A B: two files of weights hold the same tensors, whatever their notes say.
same() {
    python3 - "$1" "$2" <<'PYTHON' || fail "$1 and $2 differ"
import json, struct, sys
def tensors(path):
    data = open(path, "rb").read()
    length = 8 + struct.unpack("<Q", data[:8])[0]
    names = json.loads(data[8:length])
    names.pop("__metadata__")
    return names, data[length:]
sys.exit(tensors(sys.argv[1]) != tensors(sys.argv[2]))
PYTHON
}

echo "install, and move"
run cmake --install "$build" --prefix "$folder/first"
mkdir elsewhere && mv first elsewhere/there || exit 1
prefix=$folder/elsewhere/there
libraries=$(dirname "$(find "$prefix" -path '*/unetc/libunet_runtime.a')")
unetc=$prefix/bin/unetc examples=$prefix/share/doc/unetc/examples
[ "$(realpath "$("$unetc" --runtime)")" = "$libraries" ] || fail "unetc --runtime: $("$unetc" --runtime)"
grep -rIl -e "$build" -e "$folder/first" "$prefix" && fail "a file names the folder of the build"
for script in bash-completion/completions/unetc zsh/site-functions/_unetc fish/vendor_completions.d/unetc.fish; do
    grep -q _complete_unetc "$prefix/share/$script" || fail "no completion in share/$script"
done
ln -s "$unetc" linked && [ "$(./linked --runtime)" = "$("$unetc" --runtime)" ] || fail "unetc through a link"
cp "$unetc" alone && ./alone --runtime 2>refusal.txt && fail "unetc without its runtime library"
grep -q "set UNETC_RUNTIME" refusal.txt || fail "$(cat refusal.txt)"

echo "build"
run "$unetc" -o small --programs=predict "$here/cells.unet" && run ./small info
run cmake -S "$here" -B embed -DEXAMPLES="$examples" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" -DCMAKE_CXX_FLAGS="-std=c++17 -Wall -Wextra -Werror"
run cmake --build embed --parallel "$(nproc)"
built=$(stat -c %y embed/cells.build/libcells.a)
run cmake -S "$here" -B embed && run cmake --build embed
[ "$(stat -c %y embed/cells.build/libcells.a)" = "$built" ] || fail "a model that did not change is built again"

[ "$failures" = 0 ] || exit 1

echo "as their own programs"
"$make_pictures" data 1 256 256 8 || exit 1
python3 - <<'PYTHON' || exit 1
import os, random, struct, zlib
def write(path, size, value):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    rows = b"".join(b"\0" + bytes(value(h, w) for w in range(size)) for h in range(size))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
draw = random.Random(1)
for i in range(2):
    write("cells_data/photos/%d.png" % i, 32, lambda h, w: draw.randrange(256))
    write("cells_data/masks/%d.png" % i, 32, lambda h, w: (h * (i + 2) + w) // 8 % 3)
PYTHON
run embed/program_tiny_unet train --data=data --steps=3 --batch=1 --out=tiny
run embed/like_tiny_unet train 3 tiny.safetensors data/noisy/00.png data/clean/00.png
same tiny.safetensors tiny/tiny_unet.safetensors
run embed/program_tiny_unet predict --weights=tiny.safetensors data/noisy/00.png -o program.png
run embed/examples/denoise tiny.safetensors data/noisy/00.png denoise.png
run embed/denoise_in_bands tiny.safetensors data/noisy/00.png bands.png
{ head -c -4 tiny.safetensors && printf '\000\000\300\177'; } >nan.safetensors # the last number is none
embed/examples/denoise nan.safetensors data/noisy/00.png nan.png 2>refusal.txt && fail "weights that are not finite"
grep -q "^denoise: nan.safetensors: .* has values that are not finite" refusal.txt || fail "$(cat refusal.txt)"
cmp program.png denoise.png && cmp program.png bands.png || fail "another prediction"

export UNET_ISA=portable # like_cells knows but that
run embed/program_cells train --data=cells_data --steps=3 --out=cells_run
run embed/like_cells train 3 cells.safetensors cells_data/photos/0.png cells_data/photos/1.png \
    cells_data/masks/0.png cells_data/masks/1.png
same cells.safetensors cells_run/cells.safetensors
run embed/program_cells predict --weights=cells.safetensors cells_data/photos/1.png -o cells_program.png
run embed/like_cells predict cells.safetensors cells_data/photos/1.png cells_embedded.png
cmp cells_program.png cells_embedded.png || fail "other classes"

echo "C++, two models in one program"
embed/refusals || fail "refusals exits $?"
run embed/examples/contest 2
run env UNET_ISA=native embed/program_tiny_unet predict --weights=tiny_unet.safetensors data/noisy/00.png -o contest.png
grep -q "step   1: loss" <(embed/examples/contest 1) || fail "contest says nothing"

echo "without CMake"
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$(dirname "$libraries")/pkgconfig
    # shellcheck disable=SC2046
    run ${CC:-cc} -fopenmp -DMODEL=cells -DHEADER='"cells.h"' -Iembed/cells.model "$here/like_program.c" embed/cells.build/libcells.a \
        $(pkg-config --cflags --libs unetc) -o by_hand
    run ./by_hand predict cells.safetensors cells_data/photos/1.png by_hand.png
    cmp by_hand.png cells_program.png || fail "other classes without CMake"
fi

[ "$failures" = 0 ]

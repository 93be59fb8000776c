#!/bin/bash
# Brings into .gpu/ what run.sh needs on a machine without flex, bison, libpng and internet: in tools/, unetc and the
# libraries of its programs; in programs.tar.xz, the programs of all stages, for sm_90 and as PTX. Run it where the compiler can
# be built and nvcc and cuDNN are installed; then take the repository with .gpu/ along.
#
#   tests/gpu/pack.sh [STAGE...]      all stages, when none is named
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
to=$root/.gpu
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
jobs=${JOBS:-2}

# The archive of a library, which programs on the other machine link.
archive() {
    local path
    path=$(${CC:-cc} -print-file-name="lib$1.a")
    [ -e "$path" ] || { echo "lib$1.a is not installed" >&2 && exit 1; }
    echo "$path"
}

cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=ON -DJANSSON_LIBRARY="$(archive jansson)" \
    -DCMAKE_DISABLE_FIND_PACKAGE_JPEG=ON -DCMAKE_DISABLE_FIND_PACKAGE_TIFF=ON -DCMAKE_DISABLE_FIND_PACKAGE_GIF=ON \
    >"$build/log" || { cat "$build/log" && exit 1; }
cmake --build "$build" -j "$jobs" --target unetc unet_runtime unet_cuda operator_rows >"$build/log" || { cat "$build/log" && exit 1; }
rm -rf "$to"
mkdir -p "$to/tools" "$build/programs"
cp "$build/unetc" "$build/lib/libunet_runtime.a" "$build/lib/libunet_cuda.a" "$build/lib/libraries" \
    "$build/tests/operator_rows" "$to/tools"
for name in libunet_nccl.a libraries_nccl; do [ ! -e "$build/lib/$name" ] || cp "$build/lib/$name" "$to/tools"; done
for name in png16 z jansson; do cp "$(archive $name)" "$to/tools"; done
strip "$to/tools/unetc"
git -C "$root" describe --always --dirty >"$to/tools/commit"
"${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p' >"$to/tools/cuda"
TOOLS=$to/tools JOBS=$jobs python3 -B "$here/programs.py" "$build/programs" "$@"
(cd "$build" && python3 -m tarfile -c "$to/programs.tar.xz" programs)
du -sh "$to" | sed 's/\t/ in /'

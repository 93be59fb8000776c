#!/bin/bash
# Brings into .gpu/ what run.sh needs on a machine without flex, bison, libpng and internet: in tools/, unetc and the
# libraries of its programs; in programs.tar.xz, the programs of the stages, for sm_90 and as PTX. Run it where the compiler can
# be built and nvcc and cuDNN are installed; then take the repository with .gpu/ along.
#
#   tests/gpu/pack.sh [STAGE...]      all stages, when none is named
#
#   GPU_KIT=FOLDER       in place of .gpu/
#   GPU_KIT_SMALL=1      the smallest program of each stage alone, compiled quickly: for the test of the kit
#   JOBS=N               processes at a time (2)
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
to=${GPU_KIT:-$root/.gpu}
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
jobs=${JOBS:-2}
type=Release
[ -z "${GPU_KIT_SMALL:-}" ] || type=None

# The archive of library $1, which programs on the other machine link; "" where it is part of the C library.
archive() {
    local path
    path=$(${CC:-cc} -print-file-name="lib$1.a")
    case $1 in m | pthread | dl | rt) return ;; esac
    [ -e "$path" ] || { echo "lib$1.a is not installed: programs on the other machine need it" >&2 && return 1; }
    echo "$path"
}

# All is built from a copy: programs and the libraries that they link come from the same headers, whatever changes meanwhile.
tree=$build/tree
mkdir "$tree"
(cd "$root" && cp -a CMakeLists.txt compiler runtime dsl templates examples tests "$tree")

# No stage reads a file, but an example names JPEG files; the archive of TIFF's library wants many others.
cmake -S "$tree" -B "$build" -DCMAKE_BUILD_TYPE=$type -DBUILD_TESTING=ON \
    -DCMAKE_DISABLE_FIND_PACKAGE_TIFF=ON -DCMAKE_DISABLE_FIND_PACKAGE_GIF=ON \
    -DNIFTI_INCLUDE= -DNIFTI_LIBRARY= -DWEBP_LIBRARY= -DMINIZIP_LIBRARY= -DOPENJPEG_LIBRARY= -DJANSSON_LIBRARY="$(archive jansson)" \
    >"$build/log" || { cat "$build/log" && exit 1; }
cmake --build "$build" -j "$jobs" --target unetc unet_runtime unet_cuda operator_rows >"$build/log" || { cat "$build/log" && exit 1; }
rm -rf "$to"
mkdir -p "$to/tools" "$build/programs"
cp "$build/unetc" "$build/lib/libunet_runtime.a" "$build/private/libunet_cuda.a" "$build/lib/libraries" \
    "$build/tests/operator_rows" "$to/tools"
for name in libunet_nccl.a libraries_nccl; do [ ! -e "$build/lib/$name" ] || cp "$build/lib/$name" "$to/tools"; done
for option in $(cat "$build/lib/libraries"); do
    path=$(archive "${option#-l}")
    [ -z "$path" ] || cp -L "$path" "$to/tools"
done
strip "$to/tools/unetc" "$to/tools/operator_rows"
git -C "$root" describe --always --dirty >"$to/tools/commit"
"${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p' >"$to/tools/cuda"
built=0
TOOLS=$to/tools JOBS=$jobs python3 -B "$tree/tests/gpu/programs.py" "$build/programs" "$@" || built=$?
(cd "$build" && python3 -m tarfile -c "$to/programs.tar.xz" programs)
du -sh "$to" | sed 's/\t/ in /'
exit $built # what could be built is packed

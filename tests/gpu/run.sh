#!/bin/bash
# The checks that need a GPU, in stages of at most 9 minutes, the most telling first; README.md says how.
#
#   tests/gpu/run.sh [--dry-run] [STAGE...]      stages: first, second, examples, numerics, memory, speed, sanitizer, ranks
#
#   OUT=FOLDER      for results: NAME.md and NAME.json of each stage (./out)
#   PARTS=NAME=SECONDS,...   these parts of a stage alone
#   REBUILD=1       builds the programs here, even where pack.sh brought some
#   PYTHON=...      an interpreter that has PyTorch and numpy
#
# A dry run needs no GPU: tiny programs run on this processor through the shim of tests/cuda, and PyTorch on the
# CPU. SKIPPED (77) where it cannot.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${OUT:-./out}
dry=''
toolkit=yes
if [ "${1:-}" = --dry-run ]; then dry=--dry-run && shift; fi
[ $# -gt 0 ] || set -- first second examples numerics memory speed sanitizer ranks
for stage in "$@"; do
    case $stage in
    first | second | examples | numerics | memory | speed | sanitizer | ranks) ;;
    *) echo "there is no stage $stage (first, second, examples, numerics, memory, speed, sanitizer, ranks)" >&2 && exit 2 ;;
    esac
done

skip() { echo "SKIPPED: $1" && exit 77; }

find_python() {
    local candidate
    for candidate in "${PYTHON:-python3}" /usr/bin/python3; do
        if "$candidate" -c 'import numpy, torch' 2>/dev/null; then PYTHON=$candidate && return; fi
    done
    return 1
}

# The folders called $1 in Python's wheels of CUDA.
wheels() {
    "$PYTHON" -c '
import glob, importlib.util, sys
spec = importlib.util.find_spec("nvidia")
for place in spec.submodule_search_locations if spec else []:
    for folder in sorted(glob.glob(place + "/*/" + sys.argv[1])):
        print(folder)' "$1"
}

# The toolkit: named, in its usual place, on the path, or in wheels.
find_toolkit() {
    local nvcc
    for nvcc in "${CUDA_HOME:-}/bin/nvcc" /usr/local/cuda/bin/nvcc "$(command -v nvcc || true)" $(wheels bin/nvcc); do
        if [ -x "$nvcc" ]; then
            CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
            export CUDA_HOME
            return
        fi
    done
    export CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}
    return 1
}

# Where else PyTorch may have its cuDNN: beside its own libraries, or among those of a whole Python distribution.
other_cudnn() {
    "$PYTHON" -c '
import os, sys, torch
for folder in (os.path.dirname(torch.__file__), sys.prefix):
    if os.path.exists(folder + "/lib/libcudnn.so.9"):
        print(folder + "/lib")'
}

# cuDNN and what it loads, in wheels or beside CUDA.
find_libraries() {
    local folder
    for folder in $(wheels lib) $(other_cudnn); do
        [ -n "${CUDNN_ROOT:-}" ] || [ ! -e "$folder/libcudnn.so.9" ] || export CUDNN_ROOT="${folder%/lib}"
        LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
    done
    LD_LIBRARY_PATH=${CUDNN_ROOT:+$CUDNN_ROOT/lib:}${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$CUDA_HOME/lib64
    export LD_LIBRARY_PATH
}

# Whether this driver runs what pack.sh built: it must know as new a CUDA.
driver_runs_packed() {
    local driver packed
    driver=$(nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9]*\)\..*/\1/p')
    packed=$(cat "$root/.gpu/tools/cuda" 2>/dev/null || true)
    [ -z "$driver" ] || [ -z "$packed" ] || [ "$driver" -ge "$packed" ] && return
    echo "this driver knows CUDA $driver, the programs in .gpu/ were built with CUDA $packed: they are built again"
    return 1
}

# Into the scratch folder. Some Pythons are built without xz, some machines have no tar.
unpack() {
    "$PYTHON" -W ignore -m tarfile -e "$1" "$scratch" 2>"$scratch/why" || tar -xJf "$1" -C "$scratch" || { cat "$scratch/why" >&2 && exit 1; }
}

# run_stage STAGE SECONDS: so many of its time are over
run_stage() {
    "$PYTHON" -B "$here/$1.py" "$programs" "$out" --spent "$2" $dry
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
find_python || skip "no Python with PyTorch and numpy"
export JOBS=${JOBS:-$(nproc)}
if [ -n "$dry" ]; then
    [ -e "${CUDA_HOME:-/usr/local/cuda}/include/cudnn_graph.h" ] || skip "no headers of CUDA and cuDNN"
    programs=$scratch
    out=${OUT:-$scratch/out}
else
    "$PYTHON" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' || skip "PyTorch finds no GPU"
    find_toolkit || toolkit=
    find_libraries
    programs=$scratch/programs
    if [ -e "$root/.gpu/tools/unetc" ]; then export TOOLS="$root/.gpu/tools"; fi
    if [ -z "${REBUILD:-}" ] && [ -e "$root/.gpu/programs.tar.xz" ] && driver_runs_packed; then
        unpack "$root/.gpu/programs.tar.xz"
    else
        [ -n "$toolkit" ] || skip "programs cannot be built: no nvcc in CUDA_HOME, /usr/local/cuda, PATH or Python's wheels"
    fi
fi
"$PYTHON" -B - "$here" "$programs" "$dry" "$@" <<'EOF'
import sys
sys.path.insert(0, sys.argv[1])
import programs
built = programs.build(sys.argv[2], sys.argv[4:], bool(sys.argv[3]), 240)
sys.exit(bool(sys.argv[3]) and not built)
EOF
failed=0 spent=$SECONDS
[ -z "$dry" ] || spent=0 # a busy processor builds slowly, and this measures nothing
for stage in "$@"; do
    run_stage "$stage" $spent || failed=1
    spent=0
done
if [ -n "$dry" ]; then
    "$PYTHON" -B "$here/cut_off.py" "$programs" "$scratch/cut" "$@" || failed=1
    "$PYTHON" -B "$here/told.py" "$programs" "$scratch/told" "$out" "$@" || failed=1
fi
exit $failed

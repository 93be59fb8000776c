#!/bin/sh
# compile.sh [--short] ROWS [TYPE...]: every CUDA template, for f32, bf16 and f16, or for the types that are named, through nvcc for
# sm_80 and sm_90, and what multiplies on tensor cores for sm_100, too: no warnings, no spilled registers, no local memory. Then the host side of the macros that launch kernels runs
# without a device (launch_test.cu). --short: one round of small shapes in place of three, and one device for each type. SKIPPED (77) where there
# is no nvcc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
rounds=3 short=
if [ "$1" = --short ]; then
    rounds=1 short=yes
    shift
fi
rows=$1
shift
[ $# -gt 0 ] || set -- float __nv_bfloat16 __half
nvcc=
for home in "${CUDA_HOME:-}" /usr/local/cuda; do
    [ -n "$nvcc" ] || [ ! -x "$home/bin/nvcc" ] || nvcc=$home/bin/nvcc
done
if [ -z "$nvcc" ] || ! command -v g++ >/dev/null; then
    echo "SKIPPED: no nvcc in \$CUDA_HOME or /usr/local/cuda, or no g++"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The devices that code for TYPE is made for.
devices() {
    case $short:$1 in
    yes:float) numbers=80 ;;
    yes:*) numbers=90 ;;
    *) numbers="80 90" ;;
    esac
    for number in $numbers; do
        echo "-gencode arch=compute_$number,code=sm_$number"
    done
}

# Instances of all templates as the compiler makes them: for many small shapes, and for those of real nets.
compile() {
    folder=$scratch/$1
    mkdir "$folder"
    python3 -B "$here/kernels/cases.py" "$folder" 7 "$1" $rounds "$rows"
    python3 -B "$here/kernels/large.py" "$folder" "$1"
    for source in kernels large tiles; do
        [ -e "$folder/$source.cu" ] || continue
        later=
        [ $source != tiles ] || later='-gencode arch=compute_100,code=sm_100'
        # shellcheck disable=SC2046
        "$nvcc" -std=c++17 $(devices "$1") $later \
            -Werror all-warnings -Xcompiler -Wall,-Wextra -Xptxas -v,-warn-spills,-warn-lmem-usage \
            -I "$root/runtime/include" -c "$folder/$source.cu" -o "$folder/$source.o" >>"$folder.log" 2>&1 ||
            echo "nvcc failed" >>"$folder.log"
    done
}

launches() {
    "$nvcc" -std=c++17 -arch=sm_90 -Werror all-warnings -I "$root/runtime/include" -c "$here/launch_test.cu" -o "$scratch/test.o" &&
        g++ -std=c++17 -isystem "${nvcc%/bin/nvcc}/include" -c "$here/launch_runtime.cpp" -o "$scratch/runtime.o" &&
        g++ "$scratch/test.o" "$scratch/runtime.o" -o "$scratch/launches" && "$scratch/launches"
}

running=0
for type; do
    compile "$type" &
    running=$((running + 1))
    [ $((running % 2)) -ne 0 ] || wait
done
wait
failed=0
launches || failed=1
for type; do
    log=$scratch/$type.log
    if grep -E 'nvcc failed|error[ :#]|[1-9][0-9]* bytes (stack frame|spill)' "$log"; then
        grep -E -B 3 -A 3 'error[ :#]|[1-9][0-9]* bytes (stack frame|spill)' "$log" | head -40
        failed=1
    fi
    kernels=$(grep -c 'Compiling entry function' "$log" || true)
    most=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$log" | sort -n | tail -1)
    echo "$type: $kernels kernels, at most $most registers"
    [ "$kernels" -gt 0 ] || failed=1
done
exit $failed

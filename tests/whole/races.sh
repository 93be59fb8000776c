#!/usr/bin/env bash
# races.sh UNETC EXAMPLES MAKE_PICTURES - programs under clang's thread sanitizer, which Archer tells of OpenMP's
# barriers: training in loops over samples and bands, and prediction, by three threads without a report;
# and a report where the barriers behind kernels are taken away. SKIPPED (77) without clang or Archer. What stays
# outside: the runtime library, which gcc compiles. tests/kernels/run.py --long does the same for every kernel.
set -u
unetc=$1 examples=$2 make_pictures=$3
archer=$(clang -print-resource-dir 2>/dev/null)/../../libarcher.so
[ -e "$archer" ] || { echo "SKIPPED: no clang, or no libarcher.so beside it"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export OMP_WAIT_POLICY=passive OMP_TOOL_LIBRARIES=$archer
export TSAN_OPTIONS='ignore_noninstrumented_modules=1 halt_on_error=1 exitcode=66'
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# run COMMAND...: it must succeed.
run() { "$@" >run.txt 2>&1 || fail "$* exits $?: $(grep -m1 -A20 WARNING run.txt || tail -n 5 run.txt)"; }

# cc: compiles under the sanitizer; with $PLANT, kernels end without a barrier.
cat >cc <<'SCRIPT' && chmod +x cc
#!/bin/sh
for file; do
    case $PLANT$file in yes*_kernels.c) sed -i 's/schedule(static)$/schedule(static) nowait/' "$file" ;; esac
done
exec clang "$@" -O1 -g1 -fsanitize=thread
SCRIPT
export CC=./cc PLANT=

"$make_pictures" data 5 24 24 8 && "$make_pictures" small 1 15 13 8 || exit 1
cp "$examples"/denoise/{tiny_unet,simple_denoiser}.unet .
run "$unetc" --programs=train --size=16x16 --batch=4 -D base=4 --bands=2 --micro-batches=2 -o tiny tiny_unet.unet
run ./tiny train --data=data --steps=2 --threads=3 --out=out
run "$unetc" --programs=train,predict --size=16x16 --batch=2 --bands=off -D width=8 -o simple simple_denoiser.unet
run ./simple train --data=data --steps=2 --threads=3 --out=simple_out
run ./simple predict --threads=3 --weights=simple_out/simple_denoiser.safetensors small/noisy/00.png -o out.png

PLANT=yes run "$unetc" --kernels=reference --programs=train --size=16x16 --batch=4 -D base=4 -o planted tiny_unet.unet
./planted train --data=data --steps=2 --threads=3 --out=planted_out >planted.txt 2>&1
status=$?
[ $status -eq 66 ] && grep -q 'data race' planted.txt || fail "kernels without barriers: exit $status: $(tail -n 5 planted.txt)"

[ $failures -eq 0 ] && echo "no thread races another"
exit $((failures > 0))

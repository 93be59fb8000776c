#!/usr/bin/env bash
# program_test.sh UNETC EXAMPLES MAKE_PICTURES COUNT_ALLOCATIONS.so - what a compiled TinyUNet promises:
# the same weights for any number of threads, with memory reused or not, and across kill -9 and --resume; no
# more memory than it said (arena + loader ring + 24 MiB); no allocation in a step; prediction and info.
set -u
unetc=$1 examples=$2 make_pictures=$3 hook=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# run COMMAND...: it must succeed.
run() { "$@" >run.txt 2>&1 || fail "$* exits $?: $(cat run.txt)"; }

same() { cmp -s "$1/tiny_unet.safetensors" "$2/tiny_unet.safetensors" || fail "$3: other weights"; }

compile() { run "$unetc" "$@" "$examples/denoise/tiny_unet.unet"; }

"$make_pictures" data 9 80 72 8 && "$make_pictures" small 1 27 31 8 && "$make_pictures" wide 5 160 160 8 || exit 1
compile --size=64x64 --batch=2 -D base=8 -o tiny
compile --size=64x64 --batch=2 -D base=8 --no-reuse -o tiny_no_reuse
[ -x tiny ] && [ -x tiny_no_reuse ] || exit 1

echo "threads"
for threads in 1 2 3 4; do
    run ./tiny train --data=data --steps=20 --threads=$threads --out=threads$threads
    same threads1 threads$threads "$threads threads"
done
run ./tiny_no_reuse train --data=data --steps=20 --threads=2 --out=no_reuse
same threads1 no_reuse "--no-reuse"

echo "evaluation, of which the file says nothing"
run ./tiny eval --data=small --out=threads1 --format=csv
[ "$(grep '^"\|^image,' run.txt | cut -d, -f1 | tr '\n' ' ')" = 'image "noisy/00.png" ' ] || fail "eval of a folder: $(cat run.txt)"
grep -q '^image,.*,"psnr(noisy, clean)"$' run.txt || fail "no column of what doing nothing gives: $(cat run.txt)"
noisy=$(sed -n 's/^"noisy.00.png",.*,//p' run.txt | xargs printf %.2f)
grep -q 'tiny_unet.unet holds nothing back for evaluation: all samples of small are measured' run.txt ||
    fail "eval does not say what it measures: $(cat run.txt)"
run ./tiny eval --data=small --out=threads1 --format=json && grep -q '"psnr(noisy, clean)": [1-9]' run.txt || fail "$(cat run.txt)"
run ./tiny eval --data=small --out=threads1 && grep -q "^psnr(noisy, clean) $noisy dB\$" run.txt || fail "$noisy: $(cat run.txt)"
run ./tiny eval --data=data --out=threads1 && grep -q '^samples 9$' run.txt || fail "$(cat run.txt)"
run ./tiny train --data=data --eval-data=small --steps=20 --threads=1 --out=evaluated
grep -q ',eval,' evaluated/log.csv || fail "--eval-data: $(cat evaluated/log.csv)"
same threads1 evaluated "--eval-data"

echo "instructions"
compile --size=64x64 --batch=2 -D base=8 --isa=portable -o tiny_portable
levels=$(python3 - <<'PYTHON'
import json, os, platform, subprocess
def told(program, isa=""):
    command = [program, "info", "--format=json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, env={**os.environ, "UNET_ISA": isa}).stdout)

native, base, levels = told("./tiny"), told("./tiny_portable", "portable"), []
assert (native["isa"], base["isa"], base["instructions"]) == ("native", "portable", []), (native, base)
if platform.machine() == "x86_64":
    flags = next(line for line in open("/proc/cpuinfo") if line.startswith("flags")).split()
    levels = [isa for isa, last in (("x86-64-v4", "avx512vl"), ("x86-64-v3", "avx2")) if last in flags]
    assert ("avx2" in native["instructions"]) == ("avx2" in flags), native["instructions"]
    assert all(told("./tiny_portable", isa)["isa"] == isa for isa in levels), levels
assert told("./tiny_portable")["isa"] == (levels + ["portable"])[0], told("./tiny_portable")
print(*levels)
PYTHON
) || fail "what programs say of instructions"
output=$(UNET_ISA=sparc ./tiny_portable --version 2>&1)
[ $? -eq 2 ] && [[ $output == *"asks for sparc, and the program holds"*portable ]] || fail "UNET_ISA=sparc: $output"
./tiny_portable --version | grep -q " cpu, $(set -- $levels portable && echo "$1"), " || fail "$(./tiny_portable --version)"

# What a level computes is what a program computes that was compiled for it alone.
cat >cc_for_level <<SCRIPT && chmod +x cc_for_level
#!/bin/bash
exec "${CC:-cc}" "\${@/-march=native/-O2}" \$LEVEL
SCRIPT
for level in $levels; do
    UNET_ISA=$level run ./tiny_portable train --data=data --steps=5 --out="portable-$level"
    CC=./cc_for_level LEVEL=-march=$level compile --size=64x64 --batch=2 -D base=8 -o "tiny-$level"
    run "./tiny-$level" train --data=data --steps=5 --out="alone-$level"
    same "portable-$level" "alone-$level" "$level in a portable program"
done
UNET_ISA=portable run ./tiny_portable train --data=data --steps=2 --out=portable
if grep -q avx512_bf16 /proc/cpuinfo; then
    compile_bf16() { compile --size=64x64 -D base=8 --precision=bf16 --programs=predict "$@"; }
    predict_bf16() { run "./$1" predict --weights=threads1/tiny_unet.safetensors small/noisy/00.png -o "$1.png"; }
    compile_bf16 --isa=portable -o bf16_portable && UNET_ISA=x86-64-v4_bf16 predict_bf16 bf16_portable
    CC=./cc_for_level LEVEL="-march=x86-64-v4 -mavx512bf16 -UUNET_PRODUCTS_IN_F32" compile_bf16 -o bf16_alone && predict_bf16 bf16_alone
    cmp bf16_portable.png bf16_alone.png || fail "another prediction by x86-64-v4_bf16"
    # By itself it takes no pairs where f32 is faster, and matrices where they are.
    products=$(./bf16_portable info | sed -n 's/^products *\([a-z0-9]*\).*/\1/p')
    case "$products $(./bf16_portable --version)" in
    "f32 "*" cpu, x86-64-v4, "* | "pairs "*" cpu, x86-64-v4_bf16, "* | "matrices "*" cpu, x86-64-v4_amx, "*) ;;
    *) fail "$products: $(./bf16_portable --version)" ;;
    esac
fi

# CMake builds such a program, too; kernels of prediction are enough of it.
"$unetc" -S sources --size=64x64 -D base=8 --isa=portable --programs=predict "$examples/denoise/tiny_unet.unet" &&
    cmake -S sources -B cmade -DUNET_RUNTIME="$("$unetc" --runtime)" >cmake.txt 2>&1 &&
    cmake --build cmade >>cmake.txt 2>&1 || fail "CMake: $(tail -5 cmake.txt)"
for level in $levels portable; do
    UNET_ISA=$level cmade/tiny_unet --version | grep -q " cpu, $level, " || fail "$level of the program that CMake builds"
done
for isa in native portable; do
    "$unetc" mem --format=json --isa=$isa "$examples/denoise/tiny_unet.unet" >plan_$isa.json
done
cmp plan_native.json plan_portable.json || fail "a plan depends on --isa"

echo "kill and resume"
./tiny train --data=data --steps=20 --threads=2 --out=killed --checkpoint-every=3 >killed.txt 2>&1 &
until [ -e killed/tiny_unet.step-00000006.safetensors ] || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
kill -KILL $!
wait $!
run ./tiny train --data=data --steps=20 --threads=3 --out=killed --resume
same threads1 killed "kill -9 and --resume"
rows() { cut -d, -f1-8,11- "$1/log.csv"; } # without the columns that tell time
diff <(rows threads1) <(rows killed) || fail "kill -9 and --resume: another log"

echo "prediction"
run ./tiny predict --weights=threads1/tiny_unet.safetensors small/noisy/00.png -o out.png
header=$(od -An -j16 -N8 -tu1 out.png | tr -s ' ') # width, height
[ "$header" = ' 0 0 0 31 0 0 0 27' ] || fail "size of a prediction:$header"
rm -f again.png && run ./tiny predict --threads=1 --weights=threads1/tiny_unet.safetensors small/noisy/00.png -o again.png
cmp -s out.png again.png || fail "prediction depends on the number of threads"
compile --size=64x64 -D base=8 --programs=predict -o tiny_predict # packs its weights, and keeps them no longer
./tiny_predict eval --data=data >run.txt 2>&1
[ $? -eq 2 ] && grep -q -e '--programs leaves' run.txt || fail "eval without a program for it: $(cat run.txt)"
./tiny_predict check-data 2>nothing.txt && fail "check-data without data"
grep -q 'nothing to check: tiny_unet.unet' nothing.txt || fail "check-data without data: $(cat nothing.txt)"
cp small/clean/00.png second.png
for program in tiny tiny_predict; do
    run ./$program predict --weights=threads1/tiny_unet.safetensors small/noisy/00.png second.png -o by_$program/
done
diff -r by_tiny by_tiny_predict >/dev/null || fail "a program that only predicts predicts otherwise"

echo "the steps of the plan that bench tells"
bands="--size=64x64 --batch=4 -D base=8 --bands=4 --micro-batches=2"
compile $bands -o banded
for program in "tiny:--size=64x64 --batch=2 -D base=8" "banded:$bands"; do
    run "./${program%%:*}" bench --steps=5 --threads=2
    "./${program%%:*}" bench --steps=9 --threads=1 --format=json >bench.json
    "$unetc" mem --format=json ${program#*:} "$examples/denoise/tiny_unet.unet" >plan.json
    python3 - <<'PYTHON' || fail "bench of $program"
import json, sys
bench, plan = json.load(open("bench.json")), json.load(open("plan.json"))
def walk(steps, times=1):
    """Position, FLOPs of all iterations over samples and step, of all steps of the tree; None for a loop."""
    for step in steps:
        if "loop" in step:
            yield None
            yield from walk(step["body"], times * step["times"] if step["loop"] == "samples" else times)
        else:
            yield step["op"] if step["op"] == step["name"] else step["op"] + " of " + step["name"], step["line"], times * step["flops"], step
for program in bench["programs"]:
    expected = [(position, *step[:3]) for position, step in enumerate(walk(plan["programs"][program["name"]]))
                if step is not None and step[3]["op"] not in ("load", "store", "return") and not step[3].get("once")]
    told = [(part["position"], part["name"], part["line"], part["flops"]) for part in program["parts"]]
    assert told == expected, [pair for pair in zip(told, expected) if pair[0] != pair[1]][:5]
    seconds = sum(part["seconds"] for part in program["parts"]) # of a machine that others use as well
    assert 0.02 * program["min"] < seconds < 20 * program["median"], (seconds, program["min"], program["median"])
    assert all(part["bytes"] > 0 for part in program["parts"])
    work = plan["cost"]["flops"] + plan["cost"]["recompute_flops"]
    assert program["name"] != "train" or sum(part["flops"] for part in program["parts"]) == work
assert bench["peak"]["flops"] > 0 and bench["peak"]["bytes"] > 0
PYTHON
done

echo "memory"
compile --size=128x128 --batch=4 -o wide_tiny
python3 - <<'PYTHON' || fail "memory"
import json, os, subprocess, sys
info = json.loads(subprocess.run(["./wide_tiny", "info", "--format=json"], stdout=subprocess.PIPE, check=True).stdout)
said = info["arena"]["bytes"] + info["beside"]["loader_ring"]
with open("wide.txt", "wb") as log:
    program = subprocess.Popen(["./wide_tiny", "train", "--data=wide", "--steps=3", "--out=wide_run"], stderr=log)
    _, status, usage = os.wait4(program.pid, 0)
beside = usage.ru_maxrss * 1024 - said
print("arena and ring %d bytes, %.1f MiB more at the peak" % (said, beside / 2**20))
sys.exit(status != 0 or beside > 24 * 2**20)
PYTHON

echo "allocations"
short=$(LD_PRELOAD=$hook ./tiny train --data=data --out=count2 --steps=2 2>&1 | grep allocations)
long=$(LD_PRELOAD=$hook ./tiny train --data=data --out=count20 --steps=20 2>&1 | grep allocations)
[ -n "$short" ] && [ "$short" = "$long" ] || fail "2 steps: $short; 20 steps: $long"

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))

#!/usr/bin/env bash
# untrained_test.sh UNETC MAKE_PICTURES - layers that no loss depends on, before and behind the trained one:
# `check` warns once, every file of weights holds them as they were drawn, the optimiser keeps no state for
# them, and a resumed training ends with the bits of the uninterrupted one.
set -u
unetc=$1 make_pictures=$2
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

# write NAME OPTIMIZER < NETWORK: NAME.unet.
write() {
    {
        echo 'input  noisy : image(1, 8, 8)'
        echo 'target clean : image(1)'
        cat
        echo 'data {'
        echo '    noisy = images("noisy/*.png")'
        echo '    clean = images("clean/*.png")'
        echo '}'
        echo 'train {'
        echo '    loss mse(o, clean)'
        echo "    optimizer $2"
        echo '    batch 2'
        echo '    steps 6'
        echo '}'
    } >"$1.unet"
}

# holds FILE NAME: the tensor NAME is in it.
holds() { head -c 4096 "$1" | grep -aqF "\"$2\""; }

# kept A B NAME: the tensor NAME has the same values in both files.
kept() {
    python3 - "$@" <<'PYTHON'
import json, struct, sys
def values(path):
    data = open(path, "rb").read()
    size, = struct.unpack_from("<Q", data)
    begin, end = json.loads(data[8:8 + size])[sys.argv[3]]["data_offsets"]
    return data[8 + size + begin:8 + size + end]
sys.exit(values(sys.argv[1]) != values(sys.argv[2]))
PYTHON
}

# try NAME LAYER STATE: trains NAME.unet, of which LAYER is never trained; STATE begins the names of the
# optimiser's tensors.
try() {
    echo "$1"
    run "$unetc" --kernels=reference "$1.unet" -o "$1"
    [ "$(grep -c U0507 run.txt)" = 1 ] || fail "$1: not one warning: $(cat run.txt)"
    grep -q "the weights of \`$2\` are never trained" run.txt || fail "$1: another warning: $(cat run.txt)"
    run "./$1" train --data=data --steps=6 --out="$1.whole"
    run "./$1" train --data=data --steps=3 --out="$1.parts"
    cp "$1.parts/$1.safetensors" early
    run "./$1" train --data=data --steps=6 --out="$1.parts" --resume
    cmp "$1.whole/$1.safetensors" "$1.parts/$1.safetensors" || fail "$1: resumed, other weights"
    cmp "$1.whole/$1.checkpoint.safetensors" "$1.parts/$1.checkpoint.safetensors" ||
        fail "$1: resumed, another checkpoint"
    local weights="$1.whole/$1.safetensors" checkpoint="$1.whole/$1.checkpoint.safetensors"
    for file in "$weights" "$checkpoint"; do
        holds "$file" "$2.weight" && holds "$file" o.weight || fail "$file lacks a layer"
    done
    kept early "$weights" "$2.weight" || fail "$1: $2 has changed"
    kept early "$weights" o.weight && fail "$1: o has not changed"
    holds "$checkpoint" "$3.o.weight" || fail "$checkpoint: no state of the optimiser"
    holds "$checkpoint" "$3.$2.weight" && fail "$checkpoint: state for weights that are never trained"
    run "./$1" predict --weights="$weights" data/noisy/00.png -o "$1.png"
}

"$make_pictures" data 6 8 8 8 || exit 1
write dead_layer 'adam(lr = 0.1)' <<'NET'
layer f = conv(2, 3)
a = f(noisy)
b = relu(a)
output o = conv(noisy, 1, 3)
NET
write output_without_loss_first 'adam(lr = 0.01)' <<'NET'
output p = conv(noisy, 1, 3)
output o = conv(noisy, 1, 3)
NET
write output_without_loss 'sgd(lr = 0.1, momentum = 0.9)' <<'NET'
output o = conv(noisy, 1, 3)
output p = conv(noisy, 1, 3)
NET
write unused_conv 'adamw(lr = 0.01)' <<'NET'
output o = conv(noisy, 1, 3)
v = conv(noisy, 3, 1)
NET
try dead_layer f optimizer.exp_avg
try output_without_loss_first p optimizer.exp_avg_sq
try output_without_loss p optimizer.momentum_buffer
try unused_conv v optimizer.exp_avg

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))

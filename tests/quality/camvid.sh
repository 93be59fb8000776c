#!/bin/sh
# How well does PP-LiteSeg-T learn to segment streets, from scratch?
#
#   sh tests/quality/camvid.sh [FOLDER [OPTION...]]    FOLDER/train, trainannot, val, valannot (CamVid, 11 classes, 11 is
#                                                      void, 480 x 360); options of unetc
#
# Windows of 480 x 352, flipped, batch 4, cross entropy of three heads, SGD 0.01 with momentum 0.9, poly, 600 steps
# (camvid.sections); evaluated on whole pictures every 100 steps. Prints all evaluations of seed 0, or of
# those in $SEEDS. `python3 tests/quality/camvid_torch.py FOLDER [SEED]` is the same in PyTorch. Ten minutes.
set -eu
cd "$(dirname "$0")/../.."
streets=${1:-${UNETC_SHARED:-../shared}/data/camvid}
[ $# = 0 ] || shift
if [ ! -d "$streets/train" ]; then
    echo "SKIPPED: no pictures in $streets"
    exit 77
fi
sh tests/build.sh build
work=build/quality/camvid$(printf %s "$*" | tr -c 'a-z0-9=' _)
mkdir -p "$work"
awk '/^(data|eval|train|predict)/ { skip = 1 } !skip { print } /^}/ { skip = 0 }' examples/pp_liteseg/pp_liteseg.unet |
    sed 's/ignore = 255/ignore = 11/' | cat - tests/quality/camvid.sections >"$work/camvid.unet"
build/unetc -D classes=11 --size=352x480 "$@" -o "$work/camvid" "$work/camvid.unet"
for seed in ${SEEDS:-0}; do
    "$work/camvid" train --data="$streets" --seed="$seed" --out="$work/seed$seed" >&2
    awk -F, -v seed="$seed" '$3 == "eval" { print "seed " seed ", step " $2 ": loss " $4 ", mIoU " $8 ", accuracy " $9 }' \
        "$work/seed$seed/log.csv"
done

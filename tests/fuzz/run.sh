#!/bin/sh
# run.sh SECONDS PROGRAM... - libFuzzer on each of these targets (cmake -DUNETC_FUZZ=ON), so many seconds each:
#
#   cmake -S . -B build-fuzz -DCMAKE_C_COMPILER=clang -DUNETC_FUZZ=ON
#   cmake --build build-fuzz
#   sh tests/fuzz/run.sh 3600 build-fuzz/tests/fuzz/fuzz_*
#
# What it finds lies in crash-* and the like of a folder TARGET.found beside where it was called, and what new inputs
# there are in TARGET.inputs.  Exits with 1 where something was found.
set -u
seconds=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
failures=0
for program in "$@"; do
    target=$(basename "$program" | sed 's/^fuzz_//')
    mkdir -p "$target.found" "$target.inputs"
    words= # of the language: libFuzzer would have to find them letter by letter
    unetc=$(dirname "$program")/../../unetc
    if [ "$target" = front ] && [ -x "$unetc" ]; then
        "$unetc" words | awk -F '\t' '{ sub(/\(.*/, "", $2); print "\"" $2 "\"" }' | sort -u >"$target.words"
        words=-dict=$target.words
    fi
    UNETC_CUDNN=/dev/null "$program" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -max_len=8192 -close_fd_mask=1 $words \
        -artifact_prefix="$target.found/" "$target.inputs" "$here/corpus/$target" >"$target.log" 2>&1 || {
        echo "fuzz_$target found something, see $target.log and $target.found"
        grep -a -E "ERROR|SUMMARY|runtime error" "$target.log" | head -5
        for input in "$target.found"/*; do # from elsewhere it can be copied
            [ ! -s "$input" ] || { echo "base64 -d >$input <<END" && base64 "$input" && echo END; }
        done
        failures=$((failures + 1))
    }
    grep -a -E "^Done|stat::number_of_executed" "$target.log"
done
[ "$failures" = 0 ]

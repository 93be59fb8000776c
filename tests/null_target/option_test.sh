#!/usr/bin/env bash
# option_test.sh UNETC_MORE FILE - a target that was added by a line of targets.def is one that --target takes: it
# plans, reports and writes its file, and refuses what it cannot do in its own words.
set -u
unetc=$1 file=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# expect WHAT CODE TEXT COMMAND...: it ends with CODE and prints TEXT.
expect() {
    local what=$1 code=$2 text=$3
    shift 3
    "$@" >"$folder/said" 2>&1
    local found=$?
    if [ $found -ne "$code" ] || { [ -n "$text" ] && ! grep -q -- "$text" "$folder/said"; }; then
        echo "FAILED: $what: exit code $found"
        cat "$folder/said"
        failures=$((failures + 1))
    fi
}

expect "mem" 0 "target null" "$unetc" mem --target=null "$file"
expect "a judged plan" 0 '"target": "null"' "$unetc" mem --target=null --format=json "$file"
expect "sources" 0 "" "$unetc" --target=null -S "$folder/sources" "$file"
expect "its file" 0 "conv enc1.0" cat "$folder/sources/tiny_unet.txt"
expect "a program" 2 "give it a folder with -S" "$unetc" --target=null -o "$folder/program" "$file"
expect "no such target" 2 "null" "$unetc" mem --target=nill "$file"
[ $failures -eq 0 ] && echo "--target=null plans and writes its file"
exit $((failures > 0))

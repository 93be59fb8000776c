#!/usr/bin/env bash
# cache_test.sh UNETC EXAMPLES RUNTIME - objects that unetc keeps: a second build compiles nothing and gives the same bytes; what an
# object follows from has other objects; an entry that is torn, a folder that is none and builds side by side do no harm; the cache
# stays within its size, and can be switched off.
set -u
unetc=$1 examples=$2 runtime=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# A compiler that notes what it compiles, quickly.
cat >noting_cc <<'END'
#!/bin/sh
case " $* " in *" -c "*) echo "$*" >>"$NOTES" ;; esac
exec gcc "$@" -O0
END
chmod +x noting_cc
export CC=$folder/noting_cc NOTES=$folder/notes.txt UNETC_CACHE=$folder/cache
unset XDG_CACHE_HOME
net=$examples/denoise/simple_denoiser.unet
small=(--size=32x32 --batch=2 --programs=predict)

# built COUNT|some PROGRAM OPTION...: builds the program, which compiles so many files.
built() {
    local count=$1 program=$2
    shift 2
    : >notes.txt
    "$unetc" "${small[@]}" "$@" -o "$program" >run.txt 2>&1 || fail "$* exits $?: $(cat run.txt)"
    local compiled
    compiled=$(wc -l <notes.txt)
    [ "$count" = "$compiled" ] || { [ "$count" = some ] && [ "$compiled" -gt 0 ]; } ||
        fail "$program: $compiled files were compiled, not $count"
}

entries() { find cache -name '*.o' | wc -l; }

built some first "$net"
all=$(wc -l <notes.txt)
[ "$(entries)" = "$all" ] || fail "$all files are compiled, and $(entries) objects are kept"
for entry in cache/*.o; do # an object, and its SHA-256 as the tool of the system has it
    [ "$(head -c -32 "$entry" | sha256sum | cut -d ' ' -f 1)" = "$(tail -c 32 "$entry" | od -An -v -tx1 | tr -d ' \n')" ] ||
        fail "$entry does not end in the SHA-256 of what stands before it"
done
built 0 second "$net"
cmp first second || fail "objects of the cache make another program"

# Comments and line breaks of a .unet file change the hash of its text alone, which one file has; a seed is in that file, too.
sed 's|^|  |; 1s|^|# the same\n|' "$net" >simple_denoiser.unet
built 1 spaced simple_denoiser.unet
built 1 seeded --seed=7 "$net"

# Another compiler, other options, another header of the runtime.
sed 's/-O0/-O0 -DOTHER/' noting_cc >other_cc && chmod +x other_cc
CC=$folder/other_cc built "$all" other "$net"
CC="$folder/noting_cc -DOTHER" built "$all" other "$net"
built some portable --isa=portable "$net"
cp -rL "$runtime" runtime && echo 'struct another;' >>runtime/include/unet/model.h
UNETC_RUNTIME=$folder/runtime built some header "$net"

# Torn, spoilt and empty entries are none.
for spoil in 'truncate -s 100' 'truncate -s 0' 'dd conv=notrunc status=none if=/dev/zero bs=1 count=9 seek=200'; do
    entry=$(find cache -name '*.o' | sort | head -n 1)
    case $spoil in dd*) find cache -name '*.o' | while read -r entry; do $spoil of="$entry"; done ;;
    *) find cache -name '*.o' -exec $spoil {} + ;;
    esac
    built "$all" repaired "$net"
    cmp first repaired || fail "$spoil: another program"
done

# Two at a time, from nothing.
rm -rf cache
for k in 1 2 3; do
    "$unetc" "${small[@]}" -o side_$k "$net" >side_$k.txt 2>&1 &
done
wait
for k in 1 2 3; do
    cmp first side_$k || fail "side by side: $(cat side_$k.txt)"
done
[ "$(entries)" = "$all" ] || fail "side by side $(entries) objects are kept, not $all"
[ -z "$(find cache -name 'new-*')" ] || fail "temporary files are left"

# Too large: what was asked for least recently goes, and what a process left an hour ago.
old=cache/$(printf '0%.0s' $(seq 64)).o
truncate -s 520M "$old" && touch -d '2 days ago' "$old"
touch -d '2 hours ago' cache/new-1-1
touch cache/new-2-2 cache/notes
built 1 trimmed --seed=8 "$net"
[ ! -e "$old" ] && [ ! -e cache/new-1-1 ] || fail "the cache is not brought to its size"
[ -e cache/new-2-2 ] && [ -e cache/notes ] && [ "$(entries)" = $((all + 1)) ] || fail "too much is removed from the cache"

# Switched off; no folder; the folder that XDG names, and the one in HOME.
rm -rf cache
built "$all" without --no-cache "$net"
UNETC_CACHE=off built "$all" without "$net"
[ ! -e cache ] && [ ! -e off ] || fail "a cache that is switched off has a folder"
touch file
UNETC_CACHE=$folder/file built "$all" without "$net"
unset UNETC_CACHE
XDG_CACHE_HOME=$folder/xdg built "$all" placed "$net"
[ -d xdg/unetc ] || fail "no folder in XDG_CACHE_HOME"
HOME=$folder/home built "$all" placed "$net"
[ -d home/.cache/unetc ] || fail "no folder in HOME"
cmp first placed || fail "the place of the cache changes the program"

[ $failures = 0 ] || exit 1

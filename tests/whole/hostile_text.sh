#!/usr/bin/env bash
# hostile_text.sh UNETC RUNTIME_INCLUDE - text that closes a comment, ends a line, or means something to a compiler, a
# shell or CMake: in options, in strings and in names of files. It gets into what is generated as text and nothing
# else, and comes out of the model's tables as it went in.
set -u
unetc=$1 include=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

cat >net.unet <<'END'
let pat = "clean/*.png"
input  noisy : image(1, 8, 8)
target clean : image(1)
output answer = conv(noisy, 1, 3)
data {
    noisy = images("noisy/*.png")
    clean = images(pat)
}
train {
    loss      mse(answer, clean)
    optimizer sgd(lr = 0.1)
    batch 2
    epochs 1
}
END

# What the tables of the model say is the pattern of `clean`.
cat >pattern.c <<'END'
#include "net.h"
#include <stdio.h>
int main(void) {
    fputs(net_model.data->source[1].term[0].pattern, stdout);
    return 0;
}
END

# pattern VALUE: given as an option, VALUE is the pattern, and the sources hold no other statement.
pattern() {
    local value=$1 file
    rm -rf sources && mkdir sources
    "$unetc" -S sources --kernels=reference -D "pat=\"$value\"" net.unet || { fail "unetc -D pat=$value"; return; }
    for file in sources/*.c; do
        ${CC:-cc} -std=gnu11 -fopenmp -Wall -Werror -Wno-unused -I"$include" -c "$file" -o "$file.o" || fail "$file of $value"
    done
    ${CC:-cc} -std=c11 -Isources -I"$include" -c pattern.c -o pattern.o
    # The tables need the programs, these the kernels, and nothing of the runtime.
    rm sources/main.c.o
    ${CC:-cc} -fopenmp pattern.o sources/*.o -lm -o pattern || { fail "linking $value"; return; }
    [ "$(./pattern && echo .)" = "$value." ] || fail "the pattern $value became $(./pattern)"
    if grep -h -i injected sources/CMakeLists.txt | grep -v '^#'; then
        fail "CMakeLists.txt of $value"
    fi
}

pattern '*/ int injected = ; /x'
pattern $'*\001\r\177\t#include injected'
pattern '*a??/b??'"'"'c\n\x41\'
pattern '*; injected(); $(touch injected)`touch injected`%s%n@model@'
"$unetc" -S line --kernels=reference -D $'pat="*\nmessage(FATAL_ERROR injected)"' net.unet 2>refusal.txt &&
    grep -h injected line/CMakeLists.txt | grep -v '^#' && fail "a line of CMake"

# The same characters in the text of the file itself.
printf 'input x : image(1, 8, 8)\ntarget clean : image(1)\noutput y = conv(x, 1, 1)\ndata {\n    x = images("n*\001b\177?""?/c")
    clean = images("*/ int injected; /x")\n}\ntrain {\n    loss mse(y, clean)\n    optimizer sgd(lr = 0.1)
    batch 1\n    steps 1\n}\n' | sed 's/""//' >control.unet
"$unetc" -S control --kernels=reference control.unet || fail "control characters in a string"
for file in control/*.c; do
    ${CC:-cc} -std=gnu11 -fopenmp -Wall -Werror -Wno-unused -I"$include" -c "$file" -o control.o || fail "$file"
done

# Names of files and programs, of which nvcc must not get any (it calls a shell): of each a program is built and asked for help.
built() {
    local source=$1 program=$2 path=$2
    [ "${path#/}" != "$path" ] || path="./$program"
    printf 'input x : image(1, 4, 4)\noutput y = max_pool(conv(x, 1, 1) + x)\n' >"./$source"
    "$unetc" --kernels=reference --programs=predict -o "$program" -- "$source" || { fail "unetc -o $program $source"; return; }
    "$path" --help >help.txt 2>&1 || fail "$path --help exits $?"
    rm -f "./$source" "$path"
}

built 'two words.unet' 'two words'
built "it's \"quoted\".unet" "it's \"quoted\""
built $'new\nline.unet' $'new\nline'
built '-x.unet' '-x'
built 'at.unet' '@at'
built '$(touch injected).unet' '$(touch injected)'
built ';touch injected;.unet' ';touch injected;'
built '%s%n*.unet' '%s%n*'
built 'main.unet' 'main'
built 'int.unet' "$folder/absolute"
built '7.unet' 'back\slash'
built 'unet_model.unet' 'unet_model' # the runtime has a header, a function
built 'unet_embed.unet' 'unet_embed'
built 'ranks.unet' 'ranks' # and, for the kernel of `+`, another function of such a name

# A model may be called what CMake calls a target of its own, and what a header of C is called; its folder, anything.
for name in test math; do
    printf 'input x : image(1, 4, 4)\noutput y = max_pool(conv(x, 1, 1))\n' >$name.unet
    "$unetc" -S "sources of $name" --kernels=reference --programs=predict $name.unet &&
        cmake -S "sources of $name" -B "build of $name" -DUNET_RUNTIME="$("$unetc" --runtime)" -DCMAKE_BUILD_TYPE=Debug >cmake.txt 2>&1 &&
        cmake --build "build of $name" >>cmake.txt 2>&1 && "build of $name/$name" --help >>cmake.txt 2>&1 ||
        fail "a model named $name: $(tail -5 cmake.txt)"
done

# refused CODE TEXT COMMAND...: the command exits with CODE and says TEXT, and leaves nothing behind.
refused() {
    local code=$1 text=$2 before after answer status
    shift 2
    before=$(ls -A . "$folder/temporary")
    answer=$("$@" 2>&1)
    status=$?
    after=$(ls -A . "$folder/temporary")
    [ $status -eq "$code" ] || fail "$* exits $status, not $code: $answer"
    case $answer in *"$text"*) ;; *) fail "$* does not say '$text': $answer" ;; esac
    [ "$before" = "$after" ] || fail "$* leaves something behind: $after"
}

mkdir temporary taken test_cuda && mkfifo fifo && ln -s nowhere dangling
export TMPDIR=$folder/temporary
small='--kernels=reference --programs=predict'
refused 4 'TMPDIR is /nonexistent' env TMPDIR=/nonexistent "$unetc" $small -o zq test.unet
refused 4 'zq cannot be created in /nonexistent/a: ' "$unetc" $small -o /nonexistent/a/zq test.unet
refused 4 'fifo is no regular file' timeout 60 "$unetc" $small -o fifo test.unet
refused 4 'dangling is a symbolic link' "$unetc" $small -o dangling test.unet
refused 4 'test_cuda is a folder' "$unetc" --target=cuda --programs=predict test.unet # beside the CPU's program
refused 4 'taken is a folder' "$unetc" $small -o taken test.unet
refused 4 'new/ is a folder' "$unetc" $small -o new/ test.unet
refused 5 'false failed' env CC=false "$unetc" $small -o zq test.unet
refused 4 'File too large' bash -c "trap '' XFSZ; ulimit -f 1; exec '$unetc' $small -o zq test.unet"
refused 4 'File too large' bash -c "trap '' XFSZ; ulimit -f 1; exec '$unetc' $small -S zq test.unet"
printf '#!/bin/sh\nkill -TERM $PPID\nexec cc "$@"\n' >stopping && chmod +x stopping
refused 143 '' env CC=./stopping "$unetc" $small -o zq test.unet
[ -p fifo ] || fail "a program took the place of a pipe"
echo old >target && ln -s target pointing
"$unetc" $small -o pointing test.unet && [ -L pointing ] && ./target --version >/dev/null ||
    fail "a program that a symbolic link stands for"
"$unetc" $small -S sources test.unet && source=$(ls sources | head -1) && rm "sources/$source" && mkfifo "sources/$source"
refused 4 "sources/$source is no regular file" timeout 60 "$unetc" $small -S sources test.unet

[ ! -e injected ] || fail "a shell was given a name of a file"
ls -d ./*build-* 2>/dev/null && fail "a folder of a build stays"
[ $failures -eq 0 ] && echo "all text stays text"
exit $((failures > 0))

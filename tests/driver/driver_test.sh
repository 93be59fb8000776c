#!/usr/bin/env bash
# driver_test.sh FAKE MAKE_PICTURES [COUNT_ALLOCATIONS.so] - the command line of a generated program, tried on
# a model of two parameters: options and their errors, training, log, checkpoints, signals, kill and resume,
# divergence, evaluation and prediction.
set -u
fake=$1 make_pictures=$2 hook=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect CODE TEXT COMMAND...: the command exits with CODE and says TEXT (a regular expression) somewhere.
expect() {
    local code=$1 text=$2 output status
    shift 2
    output=$("$@" 2>&1)
    status=$?
    [ $status -eq "$code" ] || fail "$* exits $status, not $code: $output"
    grep -Eq -- "$text" <<<"$output" || fail "$* does not say '$text': $output"
}

# same A B WHAT: two files are equal byte for byte.
same() { cmp -s "$1" "$2" || fail "$3: $1 and $2 differ"; }

# rows LOG: its rows without the columns that tell time; evaluations LOG: those of evaluations.
rows() { tail -n +2 "$1" | cut -d, -f1-8,11-; }
evaluations() { grep ',eval,' "$1" | cut -d, -f1-8; }

"$make_pictures" data 13 20 18 8 && "$make_pictures" small 1 13 11 16 && "$make_pictures" large 1 17 16 8 ||
    exit 1

echo "options"
expect 2 'no command' "$fake"
expect 2 'did you mean `train`' "$fake" trian
expect 2 '^run `[^ ]* --help` for the options$' "$fake" trian
expect 2 '^run `[^ ]* train --help` for the options$' "$fake" train --foo
expect 2 '^run `[^ ]* eval --help` for the options$' "$fake" eval --format=html
expect 2 '`onnx` is a command of the compiler: `unetc COMMAND' "$fake" onnx
expect 2 'did you mean `--epochs`' "$fake" train --epoch=3
expect 2 'did you mean `--checkpoint-every`' "$fake" train --save-every=3
expect 2 'did you mean `--lr`' "$fake" train --learning_rate=1e-3
expect 2 '`predict` does not take --epochs: it is for `train`' "$fake" predict --epochs=3 x.png -o y.png
expect 2 'whole number' "$fake" train --steps many
expect 2 'whole number from 1$' "$fake" train --steps=0
expect 2 'needs a value' "$fake" train --steps
expect 2 'both set the duration' "$fake" train --steps 3 --epochs 3
expect 2 'whole number from 1$' "$fake" train --steps=99999999999999999999
expect 2 'use text, csv or json' "$fake" eval --format=html
expect 2 'use text or json' "$fake" info --format=csv
expect 2 'takes no files' "$fake" train data
expect 2 '`--map` is for the names in `--weights`' "$fake" eval --map=x
expect 2 'needs .-o OUT' "$fake" predict x.png
expect 2 '`tune` is for programs that compute on a GPU' "$fake" tune
expect 2 '`--engines` is for programs that compute on a GPU' "$fake" bench --engines=x
expect 2 'and `--tune` times them: give one of them' "$fake" train --tune --engines=x
expect 0 'usage:' "$fake" --help
expect 0 'usage: [^ ]* train .OPTIONS.' "$fake" train --help
expect 0 'usage: [^ ]* predict .OPTIONS. IN' "$fake" help predict
expect 2 'did you mean `train`' "$fake" help trian
! "$fake" eval --help | grep -e --epochs || fail 'the help of eval tells of --epochs'
expect 0 'fake \(fake.unet' "$fake" --version

# No processor has the instructions of all makers.
[ "$(uname -m)" != x86_64 ] ||
    FAKE_INSTRUCTIONS=1 expect 3 'this processor has no [a-z0-9.]+, .*`unetc --isa=portable`' "$fake" info
[ "$(uname -m)" != x86_64 ] ||
    FAKE_INSTRUCTIONS=1 UNET_ISA=native expect 3 'UNET_ISA asks for native, and this processor has no ' "$fake" info
UNET_ISA=native expect 0 'cpu, native' "$fake" info
FAKE_TABLES=1 expect 4 'compiled with the headers of another runtime' "$fake" info
UNET_ISA=other expect 2 'UNET_ISA asks for other, and the program holds native' "$fake" info

echo "info"
expect 0 'arena +1,344 bytes' "$fake" info
expect 0 'scale.weight +1 x 1 x 1 x 1' "$fake" info
expect 0 'methods  Winograd +conv +enc dec +conv_wgrad +enc  direct: few +conv +out *parameters' eval "$fake info | tr -d '\n'"
"$fake" info --format=json | python3 -c 'import json, sys
info = json.load(sys.stdin)
assert info["schema"] == "unet-info/1" and info["arena"]["bytes"] == 1344, info
assert info["methods"][1] == {"operator": "conv", "method": "direct: few", "layers": ["out"]} and len(info["methods"]) == 3, info
assert [p["name"] for p in info["programs"]] == ["train", "eval", "predict"], info' || fail "info --format=json"

echo "memory"
FAKE_ARENA=1000000000000000 expect 3 'needs 909.49 TiB' "$fake" train --data=data --out=huge

echo "data"
expect 0 '13 samples in .data., 26 files' "$fake" check-data --data data
"$make_pictures" deep 4 20 18 16 || exit 1
expect 0 'noisy: 4 of 4 files of .*: all 16 bits are kept' "$fake" check-data --data deep
expect 0 'clean: 3 of 3 files of .*: all 16 bits are kept' "$fake" train --data=deep --steps=1 --out=deep.run
"$make_pictures" flat 4 20 18 8 && cp deep/noisy/02.png flat/noisy/ || exit 1
expect 0 'noisy: 1 of 4 files of .*, such as 02.png: all 16 bits are kept' "$fake" check-data --data flat
expect 4 'noisy' "$fake" train --data nowhere
cp -r data broken
rm broken/clean/05.png
expect 4 '05.*; `.* check-data --data=broken` lists all that is wrong' "$fake" train --data=broken
expect 4 '05' "$fake" check-data --data=broken
cp -r data cut
truncate -s 100 cut/noisy/03.png
expect 4 'noisy/03.png' "$fake" train --data=cut
touch file
expect 4 'file' "$fake" train --data=data --out=file/run

echo "training"
expect 0 'evaluation: loss [0-9.e-]*, psnr.* gain ' "$fake" train --data=data --out=whole
for file in fake.safetensors fake.best.safetensors fake.checkpoint.safetensors fake.step-00000012.safetensors \
    fake.step-00000009.safetensors log.csv; do
    [ -s "whole/$file" ] || fail "training leaves no $file"
done
[ ! -e whole/fake.step-00000006.safetensors ] || fail "an old checkpoint was not taken away"
[ "$(head -1 whole/log.csv)" = 'epoch,step,split,loss,"mse(denoised, clean)","psnr(denoised, clean)","psnr(noisy, clean)",lr,images_per_s,seconds' ] ||
    fail "header of the log: $(head -1 whole/log.csv)"
[ "$(cut -d, -f1-3 whole/log.csv | tail -n +2 | tr '\n' ' ')" = \
    '1,3,train 1,3,eval 2,6,train 2,6,eval 3,9,train 3,9,eval 4,12,train 4,12,eval ' ] || fail "rows of the log"
cp -r whole again
for option in "" --weights=whole/fake.safetensors --resume=whole/fake.checkpoint.safetensors; do
    expect 2 'again holds a run .*`--resume` goes on with it, `--overwrite` begins anew .*`--out=DIR`' \
        "$fake" train --data=data --out=again $option
done
expect 4 'nowhere.safetensors: cannot read: No such file' "$fake" train --data=data --out=again --resume=nowhere.safetensors
diff -r whole again || fail "a refused training changes a run"
expect 2 'give one of them' "$fake" train --data=data --out=again --resume --overwrite
# Before the new run has saved weights of its own there are none but those set aside.
FAKE_RATE=1e30 expect 6 'again/fake.safetensors of an earlier run is now again/fake.previous.safetensors' \
    "$fake" train --data=data --out=again --overwrite
for file in safetensors best.safetensors checkpoint.safetensors; do
    same whole/fake.$file again/fake.previous.$file "set aside: $file"
done
[ ! -e again/fake.safetensors ] || fail "weights of an earlier run look like those of the new one"
cp -r again halted && rm halted/fake.checkpoint.safetensors halted/log.csv # right behind what it sets aside
expect 4 'no run to go on with' "$fake" train --data=data --out=halted --resume
expect 0 '' "$fake" train --data=data --out=halted --steps=1
for file in safetensors best.safetensors checkpoint.safetensors; do
    same whole/fake.$file halted/fake.previous.$file "set aside before a run that was stopped at once: $file"
done
expect 2 'in the place of again/fake.previous.checkpoint.safetensors: move that file' \
    "$fake" train --data=data --out=again --overwrite --resume=again/fake.previous.checkpoint.safetensors
expect 0 '' "$fake" train --data=data --out=again --overwrite
mkdir logged && echo mine >logged/log.csv
expect 2 'logged holds a run .log.csv.' "$fake" train --data=data --out=logged
cp whole/fake.checkpoint.safetensors logged
expect 4 'logged/log.csv: has other columns' "$fake" train --data=data --out=logged --resume --epochs=5
[ "$(cat logged/log.csv)" = mine ] || fail "another log was overwritten"
same whole/fake.safetensors again/fake.safetensors "the same seed"
expect 0 '' "$fake" train --data=data --out=other --seed=1
cmp -s whole/fake.safetensors other/fake.safetensors && fail "another seed, the same weights"
expect 0 'weights in whole/fake.safetensors' "$fake" train --data=data --out=more --weights=whole/fake.safetensors --steps=1

echo "progress"
expect 0 $'\r\033\\[Kepoch 1/1 +step 1/2 +loss .* psnr .* dB \\(noisy ' env FAKE_SLEEP=250 \
    python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
    "$fake" train --data=data --out=terminal --steps=2

echo "more training behind the end"
expect 0 '' "$fake" train --data=data --out=long --epochs=8
cp -r whole longer
expect 0 'nothing to do' "$fake" train --data=data --out=longer --resume
expect 0 'resuming from step 12' "$fake" train --data=data --out=longer --resume --epochs=8
same long/fake.safetensors longer/fake.safetensors "epochs added by --resume"
[ "$(rows long/log.csv)" = "$(rows longer/log.csv)" ] || fail "log of a resumed run"

echo "TensorBoard"
expect 0 'tensorboard --logdir=board/tensorboard' "$fake" train --data=data --out=board --tensorboard --epochs=2
expect 0 'resuming from step 6' "$fake" train --data=data --out=board --resume --tensorboard
same whole/fake.safetensors board/fake.safetensors "--tensorboard"
expect 0 ' tags' python3 "$here/tensorboard_check.py" board/tensorboard board
expect 4 'nowhere/x: the folder cannot be created' "$fake" train --data=data --out=board2 --tensorboard=nowhere/x
[ ! -e board2/fake.checkpoint.safetensors ] || fail "a run that could not begin takes the folder"
ln -s "$fake" "fake's own"
FAKE_SLEEP=200 "./fake's own" train --data=data --out="board's \$3; " --tensorboard --epochs=8 2>board3.txt &
until grep -q evaluation: board3.txt || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
kill -TERM $! # while pictures are made
wait $!
status=$?
[ $status -eq 143 ] && grep -q 'continue with' board3.txt || fail "SIGTERM among pictures: exit $status: $(cat board3.txt)"
grep -Eq 'tensorboard takes [0-9.]+ (bytes|KiB) beside the arena for its pictures' board3.txt || fail "$(cat board3.txt)"
# What a shell makes of the hint is the command that was meant.
expect 0 'resuming from step' sh -c "$(sed -n 's/.*continue with: //p' board3.txt)"
[ -s "board's \$3; /fake.safetensors" ] || fail "a hint with quotes: $(cat board3.txt)"

echo "batches"
expect 2 'compiled for 4 at most; compile with --batch=5' "$fake" train --data=data --out=wide --batch=5
expect 0 'batch 2, ' "$fake" train --data=data --out=narrow --batch=2 --epochs=2
expect 2 'the checkpoint was made with batches of 2' "$fake" train --data=data --out=narrow --resume --batch=4
expect 0 'batch 2, ' "$fake" train --data=data --out=halved --batch=2 --epochs=1
expect 0 'batch 2, ' "$fake" train --data=data --out=halved --resume --epochs=2
same narrow/fake.safetensors halved/fake.safetensors "--batch behind --resume"
expect 0 'the run goes on with batches of 2, as it began; this program was compiled for 4' "$fake" train --data=data --out=halved --resume --epochs=3
LC_ALL=C sed 's/"unet.batch":"2"/"unet.batch":"7"/' halved/fake.checkpoint.safetensors >more.safetensors
expect 2 'the checkpoint was made with batches of 7 samples: this program was compiled for 4 at most; compile with --batch=7, or' \
    "$fake" train --data=data --out=sevens --resume=more.safetensors

echo "learning rates"
expect 2 '`--lr=fast`: use a number greater than 0' "$fake" train --lr=fast
for rate in 0 -1e-3 nan inf; do expect 2 "--lr=$rate.: use a number greater than 0" "$fake" train --lr=$rate; done
expect 2 '`eval` does not take --lr: it is for `train`' "$fake" eval --lr=1
# rates LOG: of its rows of training.
rates() { grep ',train,' "$1" | cut -d, -f8 | tr '\n' ' '; }
export FAKE_SCHEDULE=cosine
expect 0 '' "$fake" train --data=data --out=cosine --lr=0.08
[ "$(rates cosine/log.csv)" = '0.0746410162 0.0503527618 0.02 0.00136296695 ' ] ||
    fail "cosine: $(rates cosine/log.csv)"
# So small a rate betters nothing: it is halved after each evaluation but the first, also behind a pause.
export FAKE_SCHEDULE=plateau
expect 0 'step 6: the learning rate falls to 5e-10' "$fake" train --data=data --out=plateau --lr=1e-9 --epochs=6
[ "$(rates plateau/log.csv)" = '1e-09 1e-09 5e-10 2.5e-10 1.25e-10 6.25e-11 ' ] || fail "plateau: $(rates plateau/log.csv)"
expect 0 '' "$fake" train --data=data --out=paused --lr=1e-9 --epochs=3
expect 0 '' "$fake" train --data=data --out=paused --lr=1e-9 --epochs=6 --resume
same plateau/fake.safetensors paused/fake.safetensors "a plateau behind --resume"
[ "$(rates plateau/log.csv)" = "$(rates paused/log.csv)" ] || fail "a plateau behind --resume: $(rates paused/log.csv)"
unset FAKE_SCHEDULE
FAKE_PATIENCE=2 expect 0 'stopped early: the last 2 evaluations were not better than that of step 3' \
    "$fake" train --data=data --out=early --lr=1e-30
[ "$(tail -1 early/log.csv | cut -d, -f1-3)" = 3,9,eval ] || fail "early: $(cat early/log.csv)"
FAKE_PATIENCE=2 expect 0 'nothing to do: training has stopped after 2 evaluations' \
    "$fake" train --data=data --out=early --lr=1e-30 --resume

echo "signals"
for signal in TERM INT; do
    code=$([ $signal = TERM ] && echo 143 || echo 130)
    # A background job of a script ignores SIGINT; env gives it its default action back.
    FAKE_SLEEP=60 env --default-signal=INT "$fake" train --data=data --out="stop$signal" --epochs=8 2>"stop$signal.txt" &
    until [ -e "stop$signal/fake.step-00000006.safetensors" ] || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
    kill -$signal $!
    wait $!
    status=$?
    [ $status -eq "$code" ] || fail "SIG$signal: exit $status, not $code: $(cat "stop$signal.txt")"
    grep -q "continue with: $fake train --resume --data=data --out=stop$signal --epochs=8\$" "stop$signal.txt" || fail "SIG$signal: $(cat "stop$signal.txt")"
    grep -q "Stopped by SIG$signal behind step" "stop$signal/report.html" || fail "SIG$signal: its page"
    expect 0 'resuming from step' "$fake" train --data=data --out="stop$signal" --resume --epochs=8
    same long/fake.safetensors "stop$signal/fake.safetensors" "SIG$signal and --resume"
    same long/fake.best.safetensors "stop$signal/fake.best.safetensors" "SIG$signal and --resume, best"
    [ "$(rows long/log.csv)" = "$(rows "stop$signal/log.csv")" ] || fail "SIG$signal: log"
done

echo "kill and resume"
for pause in 0.05 0.2 0.35 0.5 0.65; do
    rm -rf killed
    FAKE_SLEEP=30 "$fake" train --data=data --out=killed --epochs=8 --checkpoint-every=2 2>killed.txt &
    sleep $pause
    kill -KILL $!
    wait $! 2>/dev/null
    [ -e killed/fake.checkpoint.safetensors ] || continue
    expect 0 'resuming from step' "$fake" train --data=data --out=killed --resume --epochs=8 --checkpoint-every=2
    same long/fake.safetensors killed/fake.safetensors "kill -9 after $pause s and --resume"
    diff <(rows long/log.csv) <(rows killed/log.csv) || fail "kill -9 after $pause s: log"
done
expect 0 '' "$fake" train --data=data --out=killed --resume --epochs=9 --checkpoint-every=3
[ "$(ls killed | grep step- | tr "\n" " ")" = "fake.step-00000024.safetensors fake.step-00000027.safetensors " ] ||
    fail "checkpoints pile up where a run goes on with other steps between them: $(ls killed)"
expect 4 '10 samples, and the data now has' sh -c "'$make_pictures' fewer 9 20 18 8 &&
    '$fake' train --data=fewer --out=killed --resume --epochs=9"
expect 0 '^nothing to do: 1 of 1 step is done' \
    sh -c "'$fake' train --data=data --out=single --steps=1 && '$fake' train --data=data --out=single --steps=1 --resume"
expect 0 ' 1 thread, .*' "$fake" train --data=data --out=one_thread --steps=1 --threads=1
expect 2 'was made with seed 0' "$fake" train --data=data --out=killed --resume --epochs=9 --seed=5
expect 4 'not a checkpoint to continue from' "$fake" train --data=data --resume=whole/fake.safetensors
expect 4 'no run to go on with, .*empty/fake.checkpoint.safetensors: leave `--resume` out' "$fake" train --data=data --out=empty --resume
mkdir renamed && cp whole/fake.checkpoint.safetensors renamed/other.checkpoint.safetensors
expect 4 'renamed holds the run of .*: `--resume=renamed/other.checkpoint.safetensors` goes on' \
    "$fake" train --data=data --out=renamed --resume
sed 's/"scale.bias"/"scale.bios"/' whole/fake.checkpoint.safetensors >changed.safetensors
expect 4 'scale.bias: not in the file.*the network has changed .*`--weights=changed.safetensors`' \
    env FAKE_HASH=1 "$fake" train --data=data --out=beside --resume=changed.safetensors --epochs=9
head -c 300 whole/fake.checkpoint.safetensors >cut.safetensors
expect 4 'cut.safetensors' "$fake" train --data=data --out=beside --resume=cut.safetensors --epochs=9

echo "one process in a folder"
FAKE_SLEEP=50 "$fake" train --data=data --out=busy --epochs=8 --checkpoint-every=2 2>busy.txt &
busy=$!
until [ -e busy/fake.step-00000004.safetensors ] || ! kill -0 $busy 2>/dev/null; do sleep 0.02; done
for option in "" --resume --overwrite; do
    expect 4 "busy: process $busy is training there" "$fake" train --data=data --out=busy $option
done
kill -KILL $busy
wait $busy 2>/dev/null
strays="fake.step-00000001.safetensors fake.safetensors.part fake.checkpoint.safetensors.0123abcd.part
    fake.best.safetensors.01234567.part fake.step-00000002.safetensors.89abcdef.part"
others="fake.part notes.part fake.step-1.safetensors fake.step-00000001.safetensors.bak other.safetensors.part
    fake.safetensors.0123abcg.part"
(cd busy && touch $strays $others)
expect 0 'resuming from step' "$fake" train --data=data --out=busy --resume --epochs=8 --checkpoint-every=2
diff <(rows long/log.csv) <(rows busy/log.csv) || fail "log of the run that was busy"
[ "$(cd busy && LC_ALL=C ls | tr '\n' ' ')" = "$(printf '%s\n' fake.safetensors fake.best.safetensors \
    fake.checkpoint.safetensors fake.step-00000022.safetensors fake.step-00000024.safetensors log.csv report.html train.data $others |
    LC_ALL=C sort | tr '\n' ' ')" ] || fail "what a killed run leaves: $(ls busy)"

cp -r long earlier
expect 0 'resuming from step 21' "$fake" train --data=data --out=earlier --resume=earlier/fake.step-00000021.safetensors --epochs=8
diff <(rows long/log.csv) <(rows earlier/log.csv) || fail "log of a run that goes on from an earlier checkpoint"
cp long/fake.checkpoint.safetensors earlier/fake.previous.safetensors
expect 2 'earlier holds a run' "$fake" train --data=data --out=earlier --resume=earlier/fake.previous.safetensors --epochs=9

echo "divergence"
FAKE_RATE=1e30 expect 6 'not finite|loss is' "$fake" train --data=data --out=diverged
expect 0 '' "$fake" eval --data=data --weights=diverged/fake.checkpoint.safetensors

echo "the scale of the loss"
expect 0 '' env FAKE_OVERFLOWS=0 "$fake" train --data=data --out=scaled
same whole/fake.safetensors scaled/fake.safetensors "a scale of the loss without overflows"
[ "$(head -1 scaled/log.csv)" = "$(head -1 whole/log.csv),loss_scale,skipped" ] || fail "header of the log in f16"
[ "$(cut -d, -f11- scaled/log.csv | tail -n +2 | sort -u)" = '65536,0' ] || fail "no overflows: $(cat scaled/log.csv)"
expect 0 '^4 of 24 steps were skipped' env FAKE_OVERFLOWS=4 "$fake" train --data=data --out=skipped --epochs=8
[ "$(cut -d, -f2,11- skipped/log.csv | sed -n '2p;4p;$p' | tr '\n' ' ')" = '3,8192,3 6,4096,4 24,4096,4 ' ] ||
    fail "4 overflows: $(cat skipped/log.csv)"
expect 0 '^4 of 36 steps were skipped' env FAKE_OVERFLOWS=4 "$fake" train --data=data --out=skipped --epochs=12 --resume
expect 0 '^warning: gradients overflow .*: 42 of 42 steps .* scale is down to 1.49e-08.*--precision=bf16' \
    env FAKE_OVERFLOWS=60 "$fake" train --data=data --out=collapsed --steps=60
[ "$(FAKE_OVERFLOWS=60 "$fake" train --data=data --out=collapsed --overwrite --steps=60 2>&1 | grep -c warning)" = 1 ] ||
    fail "the warning of overflows comes once"
expect 0 'scale 32768, 1 skipped' env FAKE_SLEEP=250 FAKE_OVERFLOWS=1 \
    python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
    sh -c 'stty cols 150 && exec "$0" "$@"' "$fake" train --data=data --out=terminal16 --steps=2
expect 0 '^note: continued/fake.checkpoint.safetensors was trained by a program for cpu in f32, and this one is for cpu in f16' \
    sh -c "cp -r whole continued && FAKE_OVERFLOWS=14 '$fake' train --data=data --out=continued --resume --epochs=8"
expect 0 '^note: .* has no loss scale; it starts at 65536' \
    sh -c "cp -r whole again16 && FAKE_OVERFLOWS=14 '$fake' train --data=data --out=again16 --resume --epochs=8"
same continued/fake.safetensors again16/fake.safetensors "f16 behind f32"
expect 0 '^note: the loss scale in .* is not used in f32' \
    sh -c "cp -r continued back && '$fake' train --data=data --out=back --resume --epochs=9"
[ "$(cut -d, -f2 back/log.csv | tail -n +2 | tr '\n' ' ')" = "$(cut -d, -f2 long/log.csv | tail -n +2 | tr '\n' ' ')27 27 " ] ||
    fail "the log of f32, f16 and f32: $(cat back/log.csv)"
expect 0 '^2 of 24 steps were skipped' env FAKE_OVERFLOWS=14 "$fake" train --data=data --out=whole16 --resume=whole/fake.checkpoint.safetensors --epochs=8
expect 0 'note.*made from another fake.unet or with' env FAKE_HASH=1 "$fake" train --data=data --out=whole --resume --epochs=5
FAKE_OVERFLOWS=0 FAKE_RATE=1e30 expect 6 'precision=bf16' "$fake" train --data=data --out=diverged16

echo "evaluation"
expect 0 'psnr\(noisy, clean\) [0-9.]+ dB' "$fake" eval --data=data --out=whole
printed=$("$fake" eval --data=data --weights=whole/fake.safetensors 2>/dev/null | sed -n 's/^psnr(denoised, clean) \(.*\) dB/\1/p')
logged=$(evaluations whole/log.csv | tail -1 | cut -d, -f6 | xargs printf %.2f)
[ "$printed" = "$logged" ] || fail "eval prints $printed, training logged $logged"
expect 0 '^gain -?[0-9]+\.[0-9][0-9] dB$' "$fake" eval --data=data --weights=whole/fake.safetensors
expect 4 'no weights' "$fake" eval --data=data
{ head -c -4 whole/fake.safetensors && printf '\000\000\300\177'; } >nan.safetensors # the last number is none
expect 4 'nan.safetensors: scale.[a-z]* has values that are not finite' "$fake" eval --data=data --weights=nan.safetensors
expect 4 'nan.safetensors: scale.[a-z]* has values that are not finite' "$fake" predict --weights=nan.safetensors small/noisy/00.png -o nan.png
echo '* -> encoder.*' >encoder.map
echo 'decoder.* ->  # nothing of the kind' >unneeded.map
expect 4 'fake.safetensors: scale.weight: not in the file' "$fake" eval --data=data --weights=whole/fake.safetensors --map=encoder.map
expect 0 'psnr' "$fake" eval --data=data --weights=whole/fake.safetensors --map=unneeded.map
echo 'gain' >encoder.map
expect 4 'encoder.map:1: write' "$fake" eval --data=data --weights=whole/fake.safetensors --map=encoder.map

echo "prediction"
cp whole/*.safetensors .
expect 0 'fake.best.safetensors' "$fake" predict small/noisy/00.png -o small.png
header=$(od -An -j16 -N9 -tu1 small.png | tr -s ' ') # width, height, bits
[ "$header" = ' 0 0 0 11 0 0 0 13 16' ] || fail "prediction keeps size and depth:$header"
cp small/clean/00.png small/clean/clean.png
expect 0 '00.png: all 16 bits are kept' "$fake" predict small/noisy/00.png small/clean/clean.png -o told/
[ "$("$fake" predict small/noisy/00.png small/clean/clean.png -o told/ 2>&1 | grep -c 'bits are kept')" = 1 ] ||
    fail "told more than once"
expect 0 'small.tif' "$fake" predict small/noisy/00.png -o small.tif
[ "$(od -An -tx1 -N8 small.tif)" = ' 4d 4d 00 2a 00 00 00 08' ] || fail "a prediction called .tif is no TIFF"
expect 2 'no GIF files are written' "$fake" predict small/noisy/00.png -o small.gif
if "$fake" predict small/noisy/00.png -o small.jpg 2>jpeg.txt; then
    [ "$(od -An -tx1 -N3 small.jpg)" = ' ff d8 ff' ] || fail "a prediction called .jpg is no JPEG"
    grep -q 'small.jpg holds 8 bits of a number, and small/noisy/00.png has 16' jpeg.txt || fail "bits lost in silence"
else
    grep -q 'install libjpeg-dev' jpeg.txt || fail "a prediction called .jpg: $(cat jpeg.txt)"
fi
python3 - <<'PYTHON' # a signal of 13 frames, 22050 each second
import struct
numbers = struct.pack("<13h", *(1000 * k - 6000 for k in range(13)))
open("small.wav", "wb").write(b"RIFF" + struct.pack("<I", 36 + len(numbers)) + b"WAVEfmt " +
                              struct.pack("<IHHIIHH", 16, 1, 1, 22050, 44100, 2, 16) + b"data" + struct.pack("<I", len(numbers)) + numbers)
PYTHON
if "$fake" predict small.wav -o made.wav 2>wav.txt; then
    [ "$(od -An -j20 -N8 -tu2 made.wav | tr -s ' ')" = ' 1 1 22050 0' ] || fail "a prediction called .wav: $(od -An -tx1 made.wav)"
    [ "$(wc -c <made.wav)" = 70 ] || fail "a signal of another length: $(wc -c <made.wav)"
    ! grep -q 'bits' wav.txt || fail "bits of a signal are told: $(cat wav.txt)"
    expect 0 'small.wav -> signals/small.wav' "$fake" predict small.wav -o signals/
    same made.wav signals/small.wav "a folder"
    expect 0 'floats.wav' "$fake" predict small.wav -o floats.wav --bits=32
    [ "$(od -An -j20 -N2 -tu2 floats.wav | tr -d ' ')" = 3 ] || fail "no floats: $(od -An -tx1 floats.wav)"
    expect 0 'bytes.wav' "$fake" predict small.wav -o bytes.wav --bits=8
    [ "$(wc -c <bytes.wav)" = 58 ] || fail "13 numbers of 8 bits, an odd count: $(wc -c <bytes.wav)"
    expect 0 'three.wav' "$fake" predict small.wav -o three.wav --bits=24
    [ "$(od -An -j28 -N8 -tu2 three.wav | tr -s ' ')" = ' 614 1 3 24' ] || fail "no 24 bits: $(od -An -tx1 three.wav)"
    expect 2 'three.tif: 24 bits of a number are for WAV files: write --bits=8, 16 or 32' "$fake" predict small.wav -o three.tif --bits=24
    head -c 60 small.wav >cut.wav
    expect 4 'cut.wav: cut short in the header .26 bytes of numbers are said to be there, and 16 are' "$fake" predict cut.wav -o x.wav
else
    grep -q 'install libsndfile1' wav.txt || fail "a prediction of a signal: $(cat wav.txt)"
fi
expect 2 'a WAV file holds one row, a signal, and this image has 13' "$fake" predict small/noisy/00.png -o small.wave.wav
expect 2 'need an output folder' "$fake" predict small/noisy/00.png small/clean/00.png -o out.png
expect 2 'would both be written to predicted/00.png' "$fake" predict small/noisy/00.png small/clean/00.png -o predicted/
expect 0 'clean.png -> predicted/clean.png' "$fake" predict --weights=fake.safetensors --threads=1 small/noisy/00.png small/clean/clean.png -o predicted
expect 4 'at most 16 x 16: write `predict { size [0-9]*, [0-9]* }` in fake.unet, or .* `unetc --programs=predict --size=' \
    "$fake" predict large/noisy/00.png -o large.png
expect 2 'small/noisy/ is a folder, and predict takes images: `small/noisy/\*.jpg`' "$fake" predict small/noisy/ -o folder/
[ ! -e large.png ] || fail "a failed prediction leaves a file"
cp large/noisy/00.png large.01.png
head -c 60 small/noisy/00.png >cut.png
expect 4 'error: cut.png: cut short' "$fake" predict --weights=fake.safetensors large.01.png small/noisy/00.png cut.png -o many/
expect 4 '2 of 3 files could not be predicted' "$fake" predict --weights=fake.safetensors cut.png small/noisy/00.png large.01.png -o many/
[ "$(ls many)" = 00.png ] || fail "one good picture among bad ones becomes: $(ls many)"
expect 0 'limited to 2 threads.*--max-threads=1024`' "$fake" predict --threads=100000 small/noisy/00.png -o many.png
expect 0 'limited to 2 threads.*--max-threads=3`' "$fake" predict --threads=3 small/noisy/00.png -o many.png
expect 2 'standard output' "$fake" predict small/noisy/00.png -o -
expect 0 '' "$fake" predict small/noisy/00.png -o OUT.PNG
expect 4 '/dev/null: is no regular file' "$fake" predict small/noisy/00.png -o /dev/null
ln -s small.png link.png && rm small.png && touch small.png
expect 0 '' "$fake" predict small/noisy/00.png -o link.png
[ -L link.png ] && [ -s small.png ] || fail "a picture that a symbolic link stands for"
mkdir stopped
FAKE_SLEEP=500 "$fake" predict small/noisy/00.png -o stopped/ 2>stopped.txt &
until [ -n "$(ls stopped)" ] || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
kill -TERM $!
wait $!
status=$?
[ $status -eq 143 ] && [ -z "$(ls stopped)" ] || fail "a prediction that is stopped: exit $status: $(ls stopped; cat stopped.txt)"
mkfifo fifo
expect 4 'fifo: is no regular file' timeout 10 "$fake" predict small/noisy/00.png -o fifo
mkdir into && mkfifo into/00.png
expect 4 'into/00.png: is no regular file' timeout 10 "$fake" predict small/noisy/00.png -o into
[ -p fifo ] && [ -p into/00.png ] || fail "a prediction took the place of a pipe"
expect 2 'overwritten' "$fake" predict small.png -o small.png
expect 4 'nothing.png' "$fake" predict nothing.png -o out.png
expect 4 'noisy/03.png' "$fake" predict cut/noisy/03.png -o out.png

echo "bench"
expect 0 'train +batch 4 +16 x 16 +median' "$fake" bench
expect 0 '"schema": "unet-bench/1"' "$fake" bench --format=json
expect 0 '\(2 steps' "$fake" bench --steps=2
expect 0 'GB/s.*1: mse of scale \(11\), direct: few' eval "$fake bench --steps=1 | tr -d '\n'"
FAKE_SLEEP=20 "$fake" bench --steps=5 --format=json >bench.json
python3 - <<'PYTHON' || fail "the steps that bench tells"
import json
told = json.load(open("bench.json"))
train, evaluate, predict = told["programs"]
measure, update = train["parts"]
assert evaluate["parts"] == predict["parts"] == [], told
assert told["peak"]["flops"] > 0 and told["peak"]["bytes"] > 0, told
assert [measure[key] for key in ("position", "name", "method", "line", "flops", "bytes")] == [1, "mse of scale", "direct: few", 11, 5120, 8192], told
assert (update["position"], update["name"], update["method"]) == (2, "sgd", None), told
assert 0.02 <= measure["seconds"] <= train["median"] and 0 <= update["seconds"] <= train["median"], told
PYTHON

echo "standard output"
for command in --help --version "train --help" info "info --format=json" "bench --steps=1" "bench --steps=1 --format=json" \
    "check-data --data=data" "eval --data=data"; do
    expect 4 'standard output cannot be written' sh -c "'$fake' $command >/dev/full"
done

if [ -n "$hook" ]; then # no sanitizer, which would take terabytes of addresses
    echo "too little memory"
    for kibibytes in $(seq 8000 4000 60000); do
        for command in "train --data=data --steps=1 --out=small$kibibytes" "predict --weights=fake.safetensors small/noisy/00.png -o o.png"; do
            said=$( (ulimit -v "$kibibytes" && "$fake" $command --threads=2) 2>&1)
            status=$?
            [ $status -eq 0 ] || grep -q 'error while loading shared libraries' <<<"$said" || { [ $status -eq 3 ] && grep -q 'ulimit -v\|memory\|threads' <<<"$said"; } ||
                fail "ulimit -v $kibibytes: $command exits $status: $said"
        done
    done
    FAKE_ARENA=300000000 expect 3 '286.10 MiB .*`ulimit -v` leaves this process 2' \
        sh -c "ulimit -v 295000; exec '$fake' bench --threads=1"

    echo "allocations"
    short=$(LD_PRELOAD=$hook "$fake" train --data=data --out=count3 --steps=3 2>&1 | grep allocations)
    long=$(LD_PRELOAD=$hook "$fake" train --data=data --out=count30 --steps=30 2>&1 | grep allocations)
    [ -n "$short" ] && [ "$short" = "$long" ] || fail "3 steps: $short; 30 steps: $long"
fi

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))

#!/usr/bin/env bash
# completion_test.sh UNETC PROGRAM: what the scripts of `completion` complete is what --help lists.
set -u
failed=0

fail() {
    echo "$*"
    failed=1
}

# COMPREPLY of a line, the last word of which is being typed, in the words that bash makes of it.
complete_line() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    "_complete_$(basename "$1" | tr -c 'A-Za-z0-9\n' _)"
}

offers() {
    local wanted=$1
    shift
    complete_line "$@"
    [[ " ${COMPREPLY[*]} " == *" $wanted "* ]] || fail "$*: offers ${COMPREPLY[*]-nothing}, not $wanted"
}

# The options in the help of a command, without their values.
options_of() {
    "$@" | sed -n 's/^  \(-., \)\{0,1\}\(-[-A-Za-z]*\).*/\2/p'
}

check_program() {
    local program=$1 name command option
    name=$(basename "$program")
    eval "$("$program" completion bash)" || fail "$name: bash cannot read its script"
    for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][-a-z]*\).*/\1/p'); do
        offers "$command" "$name" "${command:0:1}"
        for option in $(options_of "$program" help "$command"); do
            complete_line "$name" "$command" "$option"
            [[ " ${COMPREPLY[*]} " == *" $option"[\ =]* ]] || fail "$name $command: does not offer $option"
        done
    done
    if command -v zsh >/dev/null; then
        "$program" completion zsh | zsh -n /dev/stdin || fail "$name: zsh cannot read its script"
    fi
    check_fish "$program" "$name"
    "$program" completion tcsh >/dev/null 2>&1
    [[ $? = 2 ]] || fail "$name completion tcsh: exit code $?, not 2"
}

# Each command and each of its options has a line, and where fish is at hand it offers what bash does.
check_fish() {
    local program=$1 name=$2 command option form
    "$program" completion fish >fish.txt || fail "$name has no script for fish"
    for command in $("$program" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][-a-z]*\).*/\1/p'); do
        grep -q "^complete -c $name -n '[^']* \"\"' -a $command " fish.txt || fail "fish does not offer $name $command"
        for option in $(options_of "$program" help "$command"); do
            case $option in (--help) continue ;; (--*) form="-l ${option#--}" ;; (-?) form="-s ${option#-}" ;; (*) form="-o ${option#-}" ;; esac
            grep -q -- "^complete -c $name -n '[^']* \"$command\"'.* $form " fish.txt || fail "fish: $name $command does not offer $option"
        done
    done
    if command -v fish >/dev/null; then
        [[ $(fish -c 'source fish.txt; complete -C "$argv[1] comp"' "$name") == completion* ]] ||
            fail "$name: fish does not complete a command"
    fi
}

cd "$(mktemp -d)" || exit 1
touch 'a net.unet' weights.safetensors
mkdir photos
check_program "$1"
check_program "$2"
offers csv unetc mem --format = cs
offers json unetc fit --format js
offers 'a net.unet' unetc check a
offers cuda unetc --target = cu
offers photos fake_model train --data = ph
offers weights.safetensors fake_model predict --weights w
offers --resume fake_model train --res
complete_line unetc --batch = ""
[[ ${#COMPREPLY[@]} = 0 ]] || fail "a number is completed as ${COMPREPLY[*]}"
rm -r "$PWD"
exit $failed

#!/bin/sh
# Installs the Debian packages that are missing and builds unetc:
#
#   tests/build.sh [FOLDER [CMAKE_OPTION...]]        FOLDER: build by default
#
# Installing needs root or sudo and is left out where everything is there. More packages than these are
# taken from UNETC_PACKAGES.
set -eu
cd "$(dirname "$0")/.."
packages="gcc libc6-dev make cmake flex bison libpng-dev libjpeg-dev libtiff-dev libgif-dev libwebp-dev libsndfile1-dev libopenjp2-7-dev libminizip-dev libnifti-dev zlib1g-dev libjansson-dev libsodium-dev ${UNETC_PACKAGES:-}"

missing=""
for package in $packages; do
    if ! dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed'; then
        missing="$missing $package"
    fi
done
if [ -n "$missing" ]; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    echo "installing:$missing" >&2
    $sudo apt-get update -qq >&2
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

folder=${1:-build}
[ $# -eq 0 ] || shift
cmake -S . -B "$folder" "$@" >/dev/null
if ! cmake --build "$folder" --parallel "$(nproc)" >"$folder/build.log" 2>&1; then
    grep -A 8 -E 'error|undefined' "$folder/build.log" >&2 || cat "$folder/build.log" >&2
    exit 1
fi

#!/bin/sh
# Every C, C++ and CUDA file is as clang-format writes it. SKIPPED (77) without clang-format 14, whose taste is meant.
set -eu
cd "$(dirname "$0")/.."
if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    echo "SKIPPED: no clang-format 14"
    exit 77
fi
find compiler dsl runtime templates tests examples \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) \
    -print0 | xargs -0 clang-format --dry-run -Werror

#!/bin/sh
# Installs what is missing, builds and runs every test. Arguments go to ctest: tests/run.sh -R oracle
set -eu
cd "$(dirname "$0")/.."
UNETC_PACKAGES="python3 g++ mpi-default-dev" sh tests/build.sh build -DBUILD_TESTING=ON
[ ! -d build/objects ] || find build/objects -type f -mtime +0 -delete
exec ctest --test-dir build --output-on-failure --parallel "$(nproc)" "$@"

#!/bin/sh
# wheel_test.sh BUILD - the wheel of an existing build: it installs without a network, is the compiler, holds no file that names the
# folder of the build, and trains a model from another folder, also where the build and the sources are out of reach.
set -u
build=$1 sources=$(cd "$(dirname "$0")/../.." && pwd)
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c "import setuptools, wheel, pip" 2>/dev/null && python=$candidate && break
done
if [ -z "$python" ]; then
    echo "SKIPPED: no Python with pip, setuptools and wheel"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset UNETC UNETC_RUNTIME PYTHONPATH
export XDG_CACHE_HOME=$folder/cache OMP_WAIT_POLICY=passive PIP_DISABLE_PIP_VERSION_CHECK=1
fail() {
    echo "FAILED: $*"
    exit 1
}

# As the page has it, from the repository, if the build is there.
case $build in
"$sources"/*) named=${build#"$sources"/} ;;
*) named=$build ;;
esac
UNETC_BUILD=$named "$python" -m pip wheel -q --no-build-isolation --no-index --no-deps -w wheels "$sources/runtime/python" >log.txt 2>&1 ||
    fail "$(tail -20 log.txt)"
case $(ls wheels) in
unetc-*-py3-none-linux_*.whl) ;;
*) fail "the wheel is called $(ls wheels)" ;;
esac
(cd "$sources" && git status --porcelain -- runtime/python 2>/dev/null | grep '^??') && fail "the wheel left files among the sources"
"$python" -m pip install -q --no-index --no-deps --target there wheels/*.whl >log.txt 2>&1 || fail "$(tail -20 log.txt)"
grep -rIl -e "$build" -e "$folder" there/unetc && fail "a file names the folder of the build"
export PYTHONPATH=$folder/there
"$python" -m unetc --version | grep -q "^unetc " || fail "python -m unetc"
"$python" -m unetc mem "$sources/examples/denoise/tiny_unet.unet" >mem.txt || fail "python -m unetc mem"
grep -q ARENA mem.txt || fail "$(cat mem.txt)"
"$python" -m unetc check nothing.unet 2>/dev/null
[ $? = 4 ] || fail "the exit code is not the compiler's"
CC=$sources/tests/quick_cc "$python" - <<'PYTHON' || fail "a model of the wheel"
import os, unetc
assert unetc.compiler().startswith(os.getcwd()), unetc.compiler()
net = "input a : image(1, 16, 16)\ntarget b : image(1)\noutput c = conv(a, 1, 3)\ntrain { loss mse(c, b)\n optimizer sgd(lr = 1)\n steps 1 }\n"
with unetc.compile(net, kernels="reference", batch=1) as model:
    x = unetc.Array((1, 1, 16, 16), "f4")
    assert model.train_step(x, x) >= 0 and model.steps == 1
from unetc import _torch
assert os.path.isdir(os.path.join(_torch.PLACES[0], "converter"))
PYTHON

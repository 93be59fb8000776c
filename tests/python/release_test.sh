#!/bin/sh
# release_test.sh - the wheel as it is released: built anew; its compiler needs the C library alone; auditwheel, where it is there,
# calls it a manylinux wheel; each Python from 3.9 on that is in the PATH trains a model.  If ziglang can be fetched,
# a Python without a C compiler trains a model, too.
set -u
sources=$(cd "$(dirname "$0")/../.." && pwd)
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c "import setuptools, wheel, pip" 2>/dev/null && python=$(command -v "$candidate") && break
done
if [ -z "$python" ]; then
    echo "SKIPPED: no Python with pip, setuptools and wheel"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
unset UNETC UNETC_RUNTIME UNETC_BUILD PYTHONPATH CC
export XDG_CACHE_HOME=$folder/cache OMP_WAIT_POLICY=passive PIP_DISABLE_PIP_VERSION_CHECK=1
fail() {
    echo "FAILED: $*"
    exit 1
}

"$python" -m pip wheel -q --no-build-isolation --no-index --no-deps -w wheels "$sources/runtime/python" >log.txt 2>&1 || fail "$(tail -20 log.txt)"
"$python" -m pip install -q --no-index --no-deps --target there wheels/*.whl || fail "the wheel does not install"
[ "$(ldd there/unetc/_root/bin/unetc | grep -c jansson)" = 0 ] || [ ! -e /usr/lib/x86_64-linux-gnu/libjansson.a ] ||
    fail "the compiler needs libjansson"
if command -v auditwheel >/dev/null; then
    auditwheel show wheels/*.whl >audit.txt 2>&1
    grep -q manylinux_ audit.txt || fail "$(cat audit.txt)"
else
    echo "no auditwheel"
fi

export PYTHONPATH=$folder/there
cat >step.py <<'PYTHON'
import sys, unetc
net = "input a : image(1, 16, 16)\ntarget b : image(1)\noutput c = conv(a, 1, 3)\ntrain { loss mse(c, b)\n optimizer sgd(lr = 1)\n steps 1 }\n"
with unetc.compile(net, batch=1) as model:
    x = unetc.Array((1, 1, 16, 16), "f4")
    assert model.train_step(x, x) >= 0 and model.forward(x).shape == x.shape
print(sys.version.split()[0], "trains")
PYTHON
for minor in 9 10 11 12 13 14; do
    if command -v "python3.$minor" >/dev/null && "python3.$minor" -c pass 2>/dev/null; then
        "python3.$minor" step.py || fail "python3.$minor"
    fi
done

"$python" -m pip install -q --no-deps --target there ziglang >log.txt 2>&1 || { echo "no ziglang: $(tail -1 log.txt)" && exit 0; }
mkdir bin && ln -s "$(command -v sh)" bin/sh
rm -rf cache
PATH=$folder/bin "$python" step.py || fail "no model without a C compiler"
ls cache/unetc | grep -q zig-clang || fail "another compiler than ziglang made it"

#!/usr/bin/env bash
# cpu.sh [--peers=FOLDER] [--conv=METHOD] [OPTION...] - ours beside PyTorch, OpenVINO and ONNX Runtime on this machine's
# processors. Makes a virtual environment in FOLDER ($TMPDIR/unetc-peers) from PyPI where it is not there yet; a peer that
# cannot be installed is left out. METHOD is how ours computes 3x3 convolutions (fast, say); its rows then tell. OPTIONs are
# those of cpu_peers.py: `cpu.sh --help` lists them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${TMPDIR:-/tmp}/unetc-peers
options=()
for option; do
    case $option in
        --peers=*) folder=${option#--peers=} ;;
        --help) exec "${PYTHON:-python3}" "$here/cpu_peers.py" --help ;;
        *) options+=("$option") ;;
    esac
done
python=$folder/bin/python

# have PACKAGE...: all of them can be imported.
have() { "$python" -c "$(printf 'import %s\n' "$@")" 2>/dev/null; }

# install PACKAGE...: as pip does; what fails is told.
install() { "$python" -m pip install --quiet "$@" || echo "cannot install $*: left out" >&2; }

[ -x "$python" ] || "${PYTHON:-python3}" -m venv "$folder"
# PyPI's wheel of PyTorch takes gigabytes of CUDA's libraries with it; PIP_INDEX_URL may name an index of those without.
have torch || install torch
have numpy || install numpy
have openvino || install openvino
have onnxruntime onnx onnxscript || install onnxruntime onnx onnxscript
exec "$python" "$here/cpu_peers.py" "${options[@]}"

#!/usr/bin/env bash
# The checks of the CUDA path: exact tokens, then the speed of decoding. `--dry` tries it on a CPU.
# Needs torch, transformers and pytest; neither textual nor pytest-asyncio.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
export HF_HUB_OFFLINE=1
"$python" -m pytest -q -c tests/gpu/pytest.ini tests/gpu "$@"
"$python" tests/bench/bench_decode.py "$@"

#!/usr/bin/env bash
# The checks of the CUDA path: exact tokens, then the speed of decoding, within eight minutes.
# `--dry` tries them on a CPU. Needs torch >= 2.11, transformers >= 5.17 and pytest; neither textual
# nor pytest-asyncio.
set -eu
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
export HF_HUB_OFFLINE=1
"$python" -m pytest -q -c tests/gpu/pytest.ini tests/gpu "$@"
"$python" tests/gpu/measure.py "$@"

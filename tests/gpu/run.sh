#!/usr/bin/env bash
# The checks of the CUDA path: exact tokens, then the speed of decoding, within eight minutes.
# `--dry` tries them on a CPU. Needs torch >= 2.11, transformers >= 5.17 and pytest, and takes
# pytest-xdist where it is there; neither textual nor pytest-asyncio. What is not reached in time is
# named. Where $OUT names a folder, `checks.xml` and `measured.json` go there.
set -u
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
export HF_HUB_OFFLINE=1 PYTHONUNBUFFERED=1 TOKENIZERS_PARALLELISM=false
status=0

many=()
if [[ " $* " != *" --dry "* ]] && "$python" -c 'import xdist' 2>/dev/null; then
    many=(-n 6) # most of their time is Triton's compiler on the host
fi
report=()
[[ -n ${OUT:-} ]] && report=(--junitxml "$OUT/checks.xml")
"$python" -m pytest -q --tb=short -c tests/gpu/pytest.ini tests/gpu --seconds 140 \
    ${many[@]+"${many[@]}"} ${report[@]+"${report[@]}"} "$@" || status=1
"$python" tests/gpu/measure.py "$@" || status=1
exit $status

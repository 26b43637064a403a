"""`weight_bytes`: what a decoding pass reads of a model's weights, the bound of its speed."""

from __future__ import annotations

from engine.cost.device import DTYPE_BYTES
from engine.events import EngineInfo


def weight_bytes(info: EngineInfo) -> int:
    """Bytes of the weights that every pass reads, once each; 0 if not known.

    Of an embedding that is not the head too, a pass reads a row a token, which is left out. The
    weights of the head count as the others do, although `int8` leaves them as they are.
    """
    each = 1 if info.quantization == "int8" else DTYPE_BYTES.get(info.dtype, 0)
    return info.num_params_read * each

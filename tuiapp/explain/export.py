"""A life as JSON: everything that the inspector shows, for other tools to read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tuiapp.explain.gaps import Gap, Share, explain_gap
from tuiapp.explain.life import Life


def to_json(life: Life, prompt: str = "") -> dict[str, Any]:
    """Plain values only; times in seconds on the engine's clock.

    Args:
        prompt: the text of the prompt, where there is a tokenizer to decode it.
    """
    request = life.request
    sampling = asdict(request.sampling)
    sampling["stop_token_ids"] = sorted(request.sampling.stop_token_ids)
    return {
        "id": request.id,
        "label": request.label,
        "arrival": request.arrival,
        "prompt": prompt,
        "prompt_token_ids": list(request.prompt_token_ids),
        "sampling": sampling,
        "output": life.text,
        "num_cached_tokens": life.num_cached,
        "num_output_tokens": life.num_output_tokens,
        "num_delivered": life.num_delivered,
        "num_preemptions": life.num_preemptions,
        "reason": life.reason.value if life.reason else None,
        "message": life.message,
        "ttft": life.ttft,
        "e2e": life.e2e,
        "ttft_parts": [asdict(part) | {"stage": part.stage.value} for part in life.waterfall],
        "spans": [asdict(span) | {"stage": span.stage.value} for span in life.spans],
        "deliveries": list(life.deliveries),
        "worst_gaps": [_gap(gap, is_worst=gap is life.worst) for gap in life.worst_gaps],
        "kv_blocks": [list(change) for change in life.blocks],
    }


def _gap(gap: Gap, *, is_worst: bool) -> dict[str, Any]:
    """With everybody who was computed in it, by name."""
    return asdict(gap) | {
        "carried": [_share(share) for share in gap.carried],
        "served": [_share(share) for share in gap.served],
        "waits": [[reason.value, count] for reason, count in gap.waits],
        "explained": explain_gap(gap, is_worst=is_worst),
    }


def _share(share: Share) -> dict[str, Any]:
    return asdict(share) | {"work": share.work.value}

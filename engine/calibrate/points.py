"""Which passes are timed: a grid to fit a cost model to, and one to judge the fit by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

MAX_CONTEXT_TOKENS = 16_384  # of all rows of a pass together; the cache has to hold them


@dataclass(frozen=True, slots=True)
class Point:
    """A pass to time: rows that decode, perhaps beside a chunk of a prompt.

    Attributes:
        num_decodes: rows of one token.
        context: tokens that each of them attends to.
        chunk: prompt tokens computed in the pass; 0 for no such row.
        chunk_context: tokens of that prompt before the chunk.
        is_padded: all rows are padded to the chunk, as request-level batching does.
    """

    num_decodes: int = 0
    context: int = 0
    chunk: int = 0
    chunk_context: int = 0
    is_padded: bool = False

    @property
    def kind(self) -> str:
        """What the pass is in the field's words."""
        if self.is_padded:
            return "padded"
        if not self.chunk:
            return "decode"
        return "mixed" if self.num_decodes else "prefill"

    @property
    def num_context_tokens(self) -> int:
        return self.num_decodes * self.context + self.chunk + self.chunk_context


def fitting_points(max_model_len: int) -> list[Point]:
    """The grid that a cost model is fitted to."""
    return _grid(
        max_model_len,
        decodes=product((1, 2, 4, 8, 16, 32), (16, 64, 256, 1024)),
        chunks=product((16, 32, 64, 128, 256, 512), (0, 256, 1024)),
        mixed=product((4, 8, 16), (64, 256), (64, 256), (0, 256)),
        padded=product((1, 3, 7), (16,), (32, 128)),
    )


def held_out_points(max_model_len: int) -> list[Point]:
    """A grid between the points of the other one, to see how far the fit carries."""
    return _grid(
        max_model_len,
        decodes=product((3, 6, 12, 24), (32, 128, 512)),
        chunks=product((24, 48, 96, 192, 384), (0, 128, 512)),
        mixed=product((6, 12), (128, 512), (32, 128), (0, 128)),
        padded=product((2, 5), (32,), (48, 96)),
    )


def _grid(
    max_model_len: int,
    decodes: Iterable[tuple[int, int]],
    chunks: Iterable[tuple[int, int]],
    mixed: Iterable[tuple[int, int, int, int]],
    padded: Iterable[tuple[int, int, int]],
) -> list[Point]:
    points = [Point(rows, context) for rows, context in decodes]
    points += [Point(chunk=chunk, chunk_context=context) for chunk, context in chunks]
    points += [Point(*each) for each in mixed]
    points += [Point(*each, is_padded=True) for each in padded]
    return [
        point
        for point in points
        if point.num_context_tokens <= MAX_CONTEXT_TOKENS
        and max(point.context, point.chunk + point.chunk_context) < max_model_len - 1
    ]

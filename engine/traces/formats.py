"""The formats by name, and how a file shows which one it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.traces.readers import (
    Record,
    read_azure,
    read_bailian,
    read_burstgpt,
    read_custom,
    read_mooncake,
    read_mt_bench,
    read_ragpulse,
    read_sharegpt,
    read_splitwise,
    read_vidur,
)
from engine.traces.row import Row

DAY = 86_400 * 10**9  # in nanoseconds


@dataclass(frozen=True, slots=True)
class Format:
    """How a kind of file is told and read.

    Attributes:
        keys: names that its records have.
        has_stamps: whether it says when requests came.
        wraps: nanoseconds after which its clock begins again; None for never.
        is_nested: its block hashes are an object, which tells it from others with the same keys.
    """

    keys: frozenset[str]
    read: Callable[[Record], Row]
    has_stamps: bool = True
    wraps: int | None = None
    is_nested: bool = False

    def fits(self, record: Record) -> bool:
        """Whether a record, or the names in a header, could be of this format."""
        is_nested = isinstance(record.get("hash_ids"), Mapping)
        return self.keys <= record.keys() and is_nested == self.is_nested


def _form(keys: str, read: Callable[[Record], Row], *, has_stamps: bool = True) -> Format:
    return Format(frozenset(keys.split(",")), read, has_stamps)


# In the order in which they are tried: what asks for more names comes first.
FORMATS: dict[str, Format] = {
    "azure": _form("TIMESTAMP,ContextTokens,GeneratedTokens", read_azure),
    "burstgpt": _form("Timestamp,Request tokens,Response tokens", read_burstgpt),
    "vidur": _form("arrived_at,num_prefill_tokens,num_decode_tokens", read_vidur),
    "splitwise": _form("arrival_timestamp,prompt_size,token_size", read_splitwise),
    "bailian": _form("chat_id,parent_chat_id,timestamp,input_length,output_length", read_bailian),
    "ragpulse": Format(
        frozenset({"timestamp", "input_length", "output_length"}),
        read_ragpulse,
        wraps=DAY,
        is_nested=True,
    ),
    "mooncake": _form("output_length", read_mooncake),
    "sharegpt": _form("conversations", read_sharegpt, has_stamps=False),
    "mt-bench": _form("turns", read_mt_bench, has_stamps=False),
    "custom": _form("prompt", read_custom, has_stamps=False),
}


def detect(record: Record) -> str | None:
    """The first format that a record fits, or None."""
    return next((name for name, form in FORMATS.items() if form.fits(record)), None)

"""One function a format: from a record, as it stands in the file, to a `Row`.

A record is a row of a CSV file by the names in its header, or an object of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from engine.traces.row import Row, RowError
from engine.traces.stamps import MILLISECOND, SECOND, from_date, from_number

Record = Mapping[str, Any]
USERS, MODELS = ("human", "user"), ("gpt", "assistant", "chatgpt", "bing", "bard")


def read_azure(record: Record) -> Row:
    """Azure LLM inference traces of 2023, 2024 and 2025 (Patel et al. 2024)."""
    prompt, output = _tokens(record, "ContextTokens"), _tokens(record, "GeneratedTokens")
    return Row(from_date(record["TIMESTAMP"]), prompt, output)


def read_burstgpt(record: Record) -> Row:
    """BurstGPT 1 to 3 (Wang et al. 2024); the third names sessions."""
    session = str(record.get("Session ID") or "")
    return Row(
        stamp=from_number(record["Timestamp"], SECOND),
        num_prompt_tokens=_tokens(record, "Request tokens"),
        num_output_tokens=_tokens(record, "Response tokens"),
        key=session,
        before=session,
    )


def read_vidur(record: Record) -> Row:
    """Vidur (Agrawal et al. 2024), which also has Splitwise's traces in this form."""
    stamp = from_number(record["arrived_at"], SECOND)
    prompt, output = _tokens(record, "num_prefill_tokens"), _tokens(record, "num_decode_tokens")
    return Row(stamp, prompt, output)


def read_splitwise(record: Record) -> Row:
    """The simulator of Splitwise (Patel et al. 2024)."""
    stamp = from_number(record["arrival_timestamp"], SECOND)
    return Row(stamp, _tokens(record, "prompt_size"), _tokens(record, "token_size"))


def read_mooncake(record: Record) -> Row:
    """Mooncake (Qin et al. 2025), and the wider form of it that aiperf takes; milliseconds."""
    text, session = str(record.get("text_input") or ""), str(record.get("session_id") or "")
    stamp, delay = record.get("timestamp"), record.get("delay")
    if stamp is None and not session:
        raise RowError("without a timestamp or a session")
    return Row(
        stamp=None if stamp is None else from_number(stamp, MILLISECOND),
        num_prompt_tokens=None if text else _tokens(record, "input_length"),
        num_output_tokens=_tokens(record, "output_length") if "output_length" in record else None,
        text=text,
        key=session,
        before=session,
        delay=None if delay is None else from_number(delay, MILLISECOND),
    )


def read_bailian(record: Record) -> Row:
    """Qwen-Bailian usage traces (Wang et al. 2025): every turn names the one before it."""
    parent = str(record["parent_chat_id"])
    return Row(
        stamp=from_number(record["timestamp"], SECOND),
        num_prompt_tokens=_tokens(record, "input_length"),
        num_output_tokens=_tokens(record, "output_length"),
        key=str(record["chat_id"]),
        before="" if parent.startswith("-") else parent,
    )


def read_ragpulse(record: Record) -> Row:
    """RAGPulse (Wang et al. 2025): seconds as text."""
    session = str(record.get("session_id") or "")
    return Row(
        stamp=from_number(record["timestamp"], SECOND),
        num_prompt_tokens=_tokens(record, "input_length"),
        num_output_tokens=_tokens(record, "output_length"),
        key=session,
        before=session,
    )


def read_sharegpt(record: Record) -> Row:
    """ShareGPT: the first thing the user says, and the answer to it, as `vllm bench serve` does."""
    talk = [turn for turn in record["conversations"] if turn.get("from") in (*USERS, *MODELS)]
    if not talk or talk[0]["from"] not in USERS:
        raise RowError("that do not begin with the user")
    if len(talk) < 2 or talk[1]["from"] not in MODELS:
        raise RowError("without an answer")
    return Row(None, None, None, text=_text(talk[0]["value"]), answer=_text(talk[1]["value"]))


def read_custom(record: Record) -> Row:
    """The custom data set of `vllm bench serve`."""
    has_length = record.get("output_tokens") is not None
    num_output_tokens = _tokens(record, "output_tokens") if has_length else None
    return Row(None, None, num_output_tokens, text=_text(record["prompt"]))


def read_mt_bench(record: Record) -> Row:
    """The questions of MT-bench (Zheng et al. 2023), the first turn of each."""
    if not record["turns"]:
        raise RowError("without a prompt")
    return Row(None, None, None, text=_text(record["turns"][0]))


def _tokens(record: Record, key: str) -> int:
    """A whole number of tokens, 0 allowed.

    Raises:
        RowError: it is none.
    """
    value = record[key]
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    is_whole = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if is_whole and value == int(value) and value >= 0:
        return int(value)
    raise RowError("with a length that is no number of tokens")


def _text(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value
    raise RowError("without a prompt")

"""`Gap`: the time between two deliveries of a request, and who was served in it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.events import RowRecord, Work
from engine.plan import SkipReason
from tuiapp.counting import counted
from tuiapp.explain.why import NAMES

TELLING = 0.5  # what makes up less than this share of a gap does not explain it
NOTABLE = 1.25  # a gap that is no longer than so many usual ones needs no culprit
MOST_NAMED = 4  # prompts by name in a sentence
COMPUTING = (Work.PREFILL, Work.DECODE)


@dataclass(frozen=True, slots=True)
class Share:
    """What a request was given, in one pass or in several."""

    request_id: str
    work: Work
    num_tokens: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Two deliveries and the passes between them.

    Attributes:
        request_id: whose deliveries they are.
        seconds: between the deliveries.
        usual: median of the request's gaps, in seconds.
        num_passes: that it took.
        longest: the longest of them, counted from 1, as the screen counts them.
        longest_seconds: how long that one was.
        carried: everybody who was computed in that pass, the most tokens first.
        num_padded: token positions of that pass which were computed for nobody.
        outside: seconds of it in which no pass ran.
        num_idle: passes in which this request was given nothing.
        served: everybody who was computed in those, the most tokens first.
        waits: why it was not admitted in those of them that it was evicted from, and how often.
        num_evictions: how often it was evicted.
        num_lost: tokens that it lost by that, to be computed again.
        evicted_in: the pass before which it was evicted first, or None.
    """

    request_id: str
    seconds: float
    usual: float
    num_passes: int
    longest: int
    longest_seconds: float
    carried: tuple[Share, ...] = ()
    num_padded: int = 0
    outside: float = 0.0
    num_idle: int = 0
    served: tuple[Share, ...] = ()
    waits: tuple[tuple[SkipReason, int], ...] = ()
    num_evictions: int = 0
    num_lost: int = 0
    evicted_in: int | None = None


def explain_gap(gap: Gap, *, is_worst: bool = True) -> str:
    """One sentence that names the culprit, as far as the records do.

    Args:
        is_worst: whether it is the longest of its request.
    """
    usually = f" (a usual gap: {_ms(gap.usual)})"
    if gap.evicted_in is not None:
        return f"{_tell_eviction(gap, gap.evicted_in)}{_tell_waits(gap)}."
    if not is_notable(gap):
        told = "No gap stands out: the longest was" if is_worst else "It does not stand out:"
        return f"{told} {_ms(gap.seconds)}, the usual {_ms(gap.usual)}."
    if gap.outside >= TELLING * gap.seconds:
        return f"For {_ms(gap.outside)} of {_ms(gap.seconds)} no pass ran at all{usually}."
    if gap.longest_seconds >= TELLING * gap.seconds:
        return f"Pass {gap.longest} took {_ms(gap.longest_seconds)}{usually}{_tell_carried(gap)}."
    if gap.num_idle:
        idle = f"It was given no token in {counted(gap.num_idle, 'pass')}{usually}"
        return f"{idle}: {_tell_served(gap)}."
    return f"It took {counted(gap.num_passes, 'pass')}{usually}, none of them long."


def is_notable(gap: Gap) -> bool:
    """Whether it needs a culprit: it is longer than usual, or holds an eviction."""
    return gap.evicted_in is not None or gap.seconds > NOTABLE * gap.usual


def tell_company(gap: Gap) -> tuple[str, str]:
    """Where its time went, and everybody who was computed there, with their tokens.

    Returns:
        `meanwhile` for the passes that gave it nothing, else the number of its longest pass; then
        the names, prompts first. Both are empty where no pass ran.
    """
    is_absent = gap.evicted_in is not None or gap.longest_seconds < TELLING * gap.seconds
    if is_absent and gap.served:
        return "meanwhile", _list_shares(gap.served)
    padded = f"; {counted(gap.num_padded, 'position')} padded" if gap.num_padded else ""
    return f"pass {gap.longest}", f"{_list_shares(gap.carried)}{padded}"


def share_out(rows: tuple[RowRecord, ...]) -> tuple[Share, ...]:
    """Everybody who was computed in a pass, the most tokens first."""
    computed = [
        Share(row.request_id, row.work, row.num_tokens) for row in rows if row.work in COMPUTING
    ]
    return tuple(sorted(computed, key=lambda share: -share.num_tokens))


def _tell_eviction(gap: Gap, before: int) -> str:
    often = f"{gap.num_evictions} times, first " if gap.num_evictions > 1 else ""
    return (
        f"It was evicted {often}before pass {before}, and its next token took "
        f"{counted(gap.num_passes, 'pass')}; {counted(gap.num_lost, 'token')} had to be "
        "computed again"
    )


def _tell_waits(gap: Gap) -> str:
    """What kept it out meanwhile; the scheduler says so of the head of the queue, or of it."""
    if not gap.waits:
        return ""
    reasons = (f"{NAMES[reason]} ({counted(count, 'pass')})" for reason, count in gap.waits)
    return f"; what kept it out: {', '.join(reasons)}"


def _tell_carried(gap: Gap) -> str:
    """What was in the longest pass, beside the request itself."""
    prefills = _prefills(gap, gap.carried)
    if prefills:
        return f": it carried {_blame(prefills)}"
    num_decodes = sum(share.work is Work.DECODE for share in gap.carried)
    return f", with {counted(num_decodes, 'request')} decoding and no prompt"


def _tell_served(gap: Gap) -> str:
    """Who took the passes that gave it nothing."""
    prefills = _prefills(gap, gap.served)
    if len(prefills) == len(gap.served):
        return f"prompts alone were computed, {_blame(prefills)}"
    num_decoded = sum(share.num_tokens for share in gap.served if share.work is Work.DECODE)
    decoded = f"{counted(num_decoded, 'token')} of other decodes"
    return f"they went to {_blame(prefills)}, and {decoded}" if prefills else f"they made {decoded}"


def _prefills(gap: Gap, shares: tuple[Share, ...]) -> list[Share]:
    """Of everybody else's prompts."""
    mine = gap.request_id
    return [each for each in shares if each.work is Work.PREFILL and each.request_id != mine]


def _blame(prefills: list[Share]) -> str:
    """`512 prefill tokens of r31, 40 of r32 and 8 of r33`; those beyond a few by number."""
    shown = prefills if len(prefills) <= MOST_NAMED else prefills[: MOST_NAMED - 1]
    others = prefills[len(shown) :]
    first, *rest = [f"{each.num_tokens} of {each.request_id}" for each in shown]
    if others:
        rest.append(f"{sum(each.num_tokens for each in others)} of {len(others)} others")
    named = f"{', '.join([first, *rest[:-1]])}{f' and {rest[-1]}' if rest else ''}"
    return named.replace(" of ", " prefill tokens of ", 1)


def _list_shares(shares: tuple[Share, ...]) -> str:
    """Every request by name: each prompt with its share of the tokens, then the decodes."""
    parts = []
    if prefills := [share for share in shares if share.work is Work.PREFILL]:
        total = sum(share.num_tokens for share in shares)
        first, *rest = (f"{_percent(share.num_tokens, total)}" for share in prefills)
        percents = [f"{first} of {counted(total, 'token')}", *rest]
        named = zip(prefills, percents, strict=True)
        told = (f"{each.num_tokens} of {each.request_id} ({percent})" for each, percent in named)
        parts.append(f"prefill {', '.join(told)}")
    if decodes := [share for share in shares if share.work is Work.DECODE]:
        parts.append(f"decode {_list_decodes(decodes)}")
    return " · ".join(parts) if parts else "nobody else was computed"


def _list_decodes(shares: list[Share]) -> str:
    """`1 each of a, b`, or where they differ `9 of a, 2 of b`."""
    counts = {share.num_tokens for share in shares}
    if len(shares) > 1 and len(counts) == 1:
        return f"{counts.pop()} each of {', '.join(share.request_id for share in shares)}"
    return ", ".join(f"{share.num_tokens} of {share.request_id}" for share in shares)


def _percent(part: int, whole: int) -> str:
    """Rounded, but for what would look like nothing or like all of it and is not."""
    share = f"{part / whole:.0%}"
    if part < whole and share == "100%":
        return ">99%"
    return "<1%" if share == "0%" else share


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.0095 else f"{seconds * 1000:.1f} ms"

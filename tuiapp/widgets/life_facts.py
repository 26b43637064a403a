"""What one request asked, got and held, in a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from textwrap import wrap

from textual.content import Content
from textual.style import Style

from tuiapp.counting import counted
from tuiapp.explain import Gap, Life, explain_gap, is_notable, tell_company
from tuiapp.text import one_line
from tuiapp.view.windows import percentiles
from tuiapp.widgets.bars import spark
from tuiapp.widgets.life_bar import milliseconds

NAME_WIDTH = 11
FACT_WIDTH = 19
NOTE_WIDTH = 36
NEXT_GAP = "screen.gap(1)"
NUM_RUNS = 3  # runs of block ids that are spelled out


def draw_facts(life: Life) -> Content:
    """Two lines of names and values."""
    passes = f"{life.first_pass}–{life.last_pass}" if life.first_pass else "none yet"
    return Content("\n").join(
        [
            _line(
                ("prompt", _prompt(life)),
                ("output", f"{life.num_output_tokens}/{life.request.sampling.max_tokens} tokens"),
                ("delivered", f"{life.num_delivered}"),
                ("E2EL", milliseconds(life.e2e)),
            ),
            _line(
                ("slot", "none" if life.slot is None else f"{life.slot}"),
                ("passes", passes),
                ("evicted", f"{life.num_preemptions}×"),
                ("state", _state(life)),
            ),
        ]
    )


def draw_blocks(life: Life, width: int) -> Content:
    """KV blocks held over the request's life."""
    room = max(4, width - NAME_WIDTH - NOTE_WIDTH)
    step = (life.end - life.start) / room
    held = [float(life.blocks_at(life.start + (cell + 1) * step)) for cell in range(room)]
    now = len(life.block_table)
    note = f"now {now}: {_runs(life.block_table)}" if now else f"{life.most_blocks} at most, now 0"
    return _track("KV blocks", spark(held, room), "$success", note)


def draw_gaps(life: Life, width: int, chosen: int = 0) -> Content:
    """Gaps between deliveries, and who caused one of the longest.

    Args:
        chosen: which of the longest gaps; 0 is the longest.
    """
    shares = percentiles(life.gaps)
    if not shares or not life.worst:
        why = "undefined: all is delivered at once" if life.e2e is not None else "none so far"
        return _track("ITL", "", "$muted", why)
    room = max(4, width - NAME_WIDTH - NOTE_WIDTH)
    note = (
        f"p50 {milliseconds(shares.p50)}  p95 {milliseconds(shares.p95)}  "
        f"max {milliseconds(life.worst.seconds)}"
    )
    bars = spark(shrink(life.gaps, room), min(room, len(life.gaps)))
    itl = _track("ITL", bars.ljust(room), "$phase-decode-ink", note)
    return Content("\n").join([itl, _draw_gap(life.worst_gaps, chosen, width)])


def _draw_gap(gaps: Sequence[Gap], chosen: int, width: int) -> Content:
    told = explain_gap(gaps[chosen], is_worst=chosen == 0)
    length = f"{milliseconds(gaps[chosen].seconds)}: " if chosen else ""
    return draw_sentence(f"gap {chosen + 1} of {len(gaps)}", f"{length}{told}", width, NEXT_GAP)


def draw_company(life: Life, width: int, chosen: int = 0) -> Content | None:
    """Everybody who was served in one of the longest gaps; None where there is nothing to tell.

    That of the longest is told if it stands out, of another one since it was asked for.
    """
    if not life.worst_gaps or not (chosen or is_notable(life.worst_gaps[0])):
        return None
    return draw_sentence(*tell_company(life.worst_gaps[chosen]), width)


def draw_sentence(name: str, text: str, width: int, click: str = "") -> Content:
    """A sentence beside its name, in as many lines as it takes.

    Args:
        click: the action of a click on the name.
    """
    room = max(10, width - NAME_WIDTH)
    lines = wrap(one_line(text), room, break_on_hyphens=False)  # which names may have
    beside = f"\n{' ' * NAME_WIDTH}".join(lines)
    head = Content.styled(name, "$muted")
    if click:
        head = head.stylize(Style.from_meta({"@click": click}))
    padding = " " * (NAME_WIDTH - len(name))
    return Content.assemble(head, padding, (beside, "$accent"))


def shrink(values: Sequence[float], width: int) -> list[float]:
    """At most `width` values, each the largest of those that it stands for."""
    if len(values) <= width:
        return list(values)
    edges = [at * len(values) // width for at in range(width + 1)]
    return [max(values[begin:end]) for begin, end in pairwise(edges)]


def _line(*facts: tuple[str, str]) -> Content:
    parts: list[str | tuple[str, str]] = []
    for name, value in facts:
        parts += [(f"{name} ", "$muted"), (f"{value:<{FACT_WIDTH - len(name)}} ", "bold")]
    return Content.assemble(*parts)


def _prompt(life: Life) -> str:
    num_tokens = len(life.request.prompt_token_ids)
    if life.num_cached:
        return f"{num_tokens}, {life.num_cached} cached"
    return counted(num_tokens, "token")


def _track(name: str, bars: str, style: str, note: str) -> Content:
    picture = (f"{bars}  " if bars else "", style)
    return Content.assemble((f"{name:<{NAME_WIDTH}}", "$muted"), picture, note)


def _state(life: Life) -> str:
    if life.reason is None:
        return life.spans[-1].stage.value if life.spans else "queued"
    message = f": {one_line(life.message)}" if life.message else ""
    pending = "" if life.num_delivered == life.num_output_tokens else ", not delivered"
    return f"ended ({life.reason.value}{message}){pending}"


def _runs(blocks: tuple[int, ...]) -> str:
    """Ids with what lies in a row written as a range."""
    runs: list[list[int]] = []
    for block in blocks:
        if runs and block == runs[-1][-1] + 1:
            runs[-1][-1] = block
        else:
            runs.append([block, block])
    spelled = (f"{a}" if a == b else f"{a}–{b}" for a, b in runs[:NUM_RUNS])
    return ", ".join(spelled) + (", …" if len(runs) > NUM_RUNS else "")

"""What stands around the numbers of a report: its title, its settings, where it lies."""

from __future__ import annotations

from dataclasses import fields

from textual.content import Content

from engine.settings import EngineSettings
from tuiapp.library.eras import tell_eras
from tuiapp.library.findings import Findings
from tuiapp.library.opening import Opened
from tuiapp.text import one_line
from tuiapp.view.way import name_ways
from tuiapp.widgets.lines import describe

DEFAULTS = EngineSettings()
SHAPING = frozenset(
    {"batcher", "max_num_seqs", "max_num_batched_tokens", "max_batch_size", "max_queue_delay_ms"}
    | {"long_prefill_token_threshold", "num_kv_blocks", "block_size", "kv_policy"}
)


def draw_title(findings: Findings) -> Content:
    """The name, what ran, and on what."""
    info = findings.outcome.info
    state = "   so far" if not findings.subject.is_over else ""
    where = "simulated" if info.is_simulated else f"{info.dtype} {info.device}"
    course = tell_eras(findings.eras)
    variant = f" ({findings.subject.variant})" if findings.subject.variant else ""
    return Content.assemble(
        ("▚ batchscope", "bold $primary"),
        ("   report   ", "bold"),
        one_line(findings.study.name + variant),
        (state, "bold $warning"),
        (f"   {course}" if course else "", "bold $accent"),
        (f"   {one_line(info.model)} {one_line(where)}", "$muted"),
        ("" if course else f" · {describe(findings.outcome.settings)}", "$muted"),
    )


def draw_settings(findings: Findings) -> Content:
    """What it ran on and under: the settings that shape it, and in bold all unusual ones."""
    info, settings = findings.outcome.info, findings.outcome.settings
    told = [part for part in (info.model, info.device, info.dtype) if part not in ("-", "none")]
    where = " · ".join([*map(one_line, told), *name_ways(info)])
    parts: list[tuple[str, str]] = [("ran on     ", "$muted"), (where, "")]
    if course := tell_eras(findings.eras):
        parts += [("\nwhat ran   ", "$muted"), (course, "bold")]
    parts.append(("\nat first   " if course else "\nsettings   ", "$muted"))
    for each in fields(settings):
        value, usual = getattr(settings, each.name), getattr(DEFAULTS, each.name)
        text = str(getattr(value, "value", value)).lower()
        if value != usual or each.name in SHAPING:
            parts.append((f"{each.name} {text}  ", "$muted" if value == usual else "bold"))
    return Content.assemble(*parts, ("all others as usual", "$muted"))


def draw_kept(opened: Opened) -> Content:
    """Where it lies, and how to make it again."""
    if opened.complaint:
        return Content.styled(f"not kept: {one_line(opened.complaint)}", "$error")
    if opened.kept is None:
        why = "this run is not kept" if opened.is_over else "kept once it is over"
        return Content.styled(why, "$muted")
    parts: list[tuple[str, str]] = [("kept as    ", "$muted"), (str(opened.kept.path), "")]
    parts.append(("\nreplay     ", "$muted"))
    parts.append((f"batchscope replay {opened.kept.path.stem}", ""))
    if opened.kept.pruned:
        names = ", ".join(opened.kept.pruned)
        parts.append((f"\ndeleted to make room: {names}", "$warning"))
    return Content.assemble(*parts)

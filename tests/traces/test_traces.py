"""Every format, by hand-made files with a bit of everything that real ones hold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.config import ConfigError
from engine.traces import FORMATS, Row, Tally, TraceFile, survey
from engine.traces.stamps import SECOND, from_date, from_number
from engine.traces.survey import quantiles

EDGE = Path(__file__).parent / "edge"
UNSORTED = "its rows are not in order of time; they are sorted, equal ones as they stand"


def rows(name: str, format_name: str = "auto", **options) -> list[Row]:
    return list(TraceFile(EDGE / name, format_name, **options).rows(Tally()))


@pytest.mark.parametrize(
    ("name", "format_name", "read", "kept", "dropped"),
    [
        (
            "azure2023.csv",
            "azure",
            6,
            3,
            {
                "with a length that is no number of tokens": 1,
                "without output tokens": 1,
                "without prompt tokens": 1,
            },
        ),
        ("azure2024.csv", "azure", 4, 3, {"whose timestamp is no date": 1}),
        ("azure2025.csv", "azure", 2, 1, {"with more or fewer fields than the header": 1}),
        (
            "burstgpt1.csv",
            "burstgpt",
            4,
            2,
            {"without output tokens": 1, "without prompt tokens": 1},
        ),
        ("burstgpt3.csv", "burstgpt", 2, 2, {}),
        (
            "mooncake.jsonl",
            "mooncake",
            6,
            4,
            {"that are no JSON": 1, "without a timestamp or a session": 1},
        ),
        ("bailian.jsonl", "bailian", 3, 2, {"without output tokens": 1}),
        ("ragpulse.jsonl", "ragpulse", 2, 2, {}),
        ("vidur.csv", "vidur", 3, 2, {"with a length that is no number of tokens": 1}),
        ("splitwise.csv", "splitwise", 2, 2, {}),
        (
            "sharegpt.json",
            "sharegpt",
            5,
            1,
            {
                "that are no JSON object": 1,
                "that do not begin with the user": 2,
                "without an answer": 1,
            },
        ),
        ("custom.jsonl", "custom", 3, 2, {"without a prompt": 1}),
        ("mt_bench.jsonl", "mt-bench", 2, 1, {"without a prompt": 1}),
    ],
)
def test_a_file_shows_its_format_and_every_row_is_kept_or_dropped_for_a_reason(
    name, format_name, read, kept, dropped
):
    trace = TraceFile(EDGE / name)
    tally = survey(trace).tally
    assert trace.format_name == format_name
    assert (tally.num_read, tally.num_kept, dict(tally.dropped)) == (read, kept, dropped)


def test_every_format_has_an_edge_file():
    assert {TraceFile(path).format_name for path in EDGE.iterdir()} == set(FORMATS)


def test_azure_stamps_keep_every_digit_with_and_without_a_zone():
    eve = 1_700_157_600 * SECOND
    assert [row.stamp - eve for row in rows("azure2023.csv")] == [
        123_456_000,
        1_000_000_000,
        900_000_000,
        2_000_000_000,
        1_250_000_000,
    ]
    begin = from_date("2024-05-10 00:00:00")
    assert [row.stamp - begin for row in rows("azure2024.csv")] == [9_930_000, 0, SECOND]


def test_burstgpt_is_read_by_the_names_in_its_header():
    assert rows("burstgpt3.csv") == [
        Row(9_000_005 * SECOND, 40, 18, key="a", before="a"),
        Row(9_000_006 * SECOND, 60, 8, key="a", before="a"),
    ]


def test_mooncake_may_have_sessions_delays_and_texts():
    assert rows("mooncake.jsonl") == [
        Row(0, 700, 12),
        Row(None, 30, 8, key="s1", before="s1"),
        Row(None, 15, 4, key="s1", before="s1", delay=2 * SECOND),
        Row(1_250_500_000, None, 4, text="Hello"),
    ]


def test_bailian_turns_name_the_one_before():
    assert [(row.key, row.before, row.stamp) for row in rows("bailian.jsonl")] == [
        ("1", "", 61_114_000_000),
        ("2", "1", 62_500_000_000),
        ("3", "", 62_750_000_000),
    ]


def test_a_clock_that_begins_again_goes_on():
    tally = Tally()
    stamps = [row.stamp for row in TraceFile(EDGE / "ragpulse.jsonl").rows(tally)]
    assert stamps == [86_390 * SECOND, 86_410 * SECOND]
    assert list(tally.notes) == [
        "its clock began again at some row; the rows from there come later"
    ]


def test_sharegpt_gives_the_first_question_and_its_answer():
    assert rows("sharegpt.json") == [
        Row(None, None, None, text="Who are you?", answer="A model [1], {2}.")
    ]


def test_a_large_array_is_read_in_pieces(tmp_path):
    path = tmp_path / "talks.json"
    talk = [{"from": "human", "value": "x" * 700}, {"from": "gpt", "value": "], {"}]
    path.write_text(json.dumps([{"conversations": talk}] * 300, indent=1))
    assert survey(TraceFile(path)).num_texts == 300


def test_only_rows_that_are_asked_for_are_read():
    tally = Tally()
    trace = TraceFile(EDGE / "burstgpt1.csv", where={"Log Type": "API log"})
    assert [row.num_prompt_tokens for row in trace.rows(tally)] == [300, 30]
    assert tally.dropped == {"that are not asked for": 2}


def test_a_survey_knows_lengths_span_and_order():
    found = survey(TraceFile(EDGE / "azure2024.csv"))
    assert (dict(found.prompts), dict(found.outputs)) == (
        {2162: 1, 2399: 1, 76: 1},
        {5: 1, 6: 1, 15: 1},
    )
    assert (found.gaps.span, found.gaps.cv, list(found.tally.notes)) == (1.0, None, [UNSORTED])


def test_a_survey_knows_how_uneven_the_gaps_are(tmp_path):
    path = tmp_path / "uneven.csv"
    stamps = ["0", "1", "2", "6"]  # gaps 1, 1, 4: mean 2, deviation sqrt(2)
    lines = [f"{stamp},5,5" for stamp in stamps]
    path.write_text("\n".join(["arrived_at,num_prefill_tokens,num_decode_tokens", *lines]))
    assert survey(TraceFile(path)).gaps.cv == pytest.approx(2**0.5 / 2)


def test_quantiles_are_lengths_that_occur():
    lengths = dict.fromkeys(range(1, 101), 1)
    assert quantiles(lengths, (0.0, 0.01, 0.5, 0.99, 1.0)) == [1, 1, 50, 99, 100]
    assert quantiles({7: 3, 9: 1}, (0.5, 0.75, 0.8)) == [7, 7, 9]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty"),
        ("a,b,c\n1,2,3\n", "no trace of a known format; found: a, b, c; known: azure, burstgpt"),
        ('{"x": 1}\n', "no trace of a known format; found: x; known: azure"),
        ("[1, 2", "its JSON breaks off"),
        ("{oops\n", "no row of it can be read"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_what_was_found(tmp_path, text, message):
    path = tmp_path / "strange.txt"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        TraceFile(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "image.png"
    path.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(ConfigError, match="it is not UTF-8"):
        TraceFile(path)


def test_a_format_that_the_file_has_not_is_refused():
    with pytest.raises(ConfigError, match="this is no vidur trace; found: TIMESTAMP"):
        TraceFile(EDGE / "azure2023.csv", "vidur")
    with pytest.raises(ConfigError, match=r"format: 'azur' is unknown; did you mean 'azure'?"):
        TraceFile(EDGE / "azure2023.csv", "azur")


def test_progress_ends_with_the_whole_file():
    seen = []
    trace = TraceFile(EDGE / "vidur.csv")
    list(trace.rows(Tally(), seen.append))
    assert seen == [trace.num_bytes]


def test_numbers_become_whole_nanoseconds():
    assert from_number("1700000000.123456789", SECOND) == 1_700_000_000_123_456_789
    for value in ("nan", "-1", "", "1e400000", True):
        with pytest.raises(ValueError, match="whose timestamp is no number"):
            from_number(value, SECOND)

import csv
from io import StringIO

from engine.metrics.report import PASS_METRICS, SERVICE_METRICS
from tests.studies import small_study
from tests.told import PRESET, measured
from tuiapp.reports.as_text import to_csv, to_markdown
from tuiapp.running.study import study_preset


def test_csv_has_every_metric_of_every_run_and_class():
    study, _ = small_study()
    rows = list(csv.DictReader(StringIO(to_csv(study))))
    assert len(rows) == 2 * (len(SERVICE_METRICS) + len(PASS_METRICS)) + 2 * 2 * len(
        SERVICE_METRICS
    )
    found = {(row["variant"], row["class"], row["metric"]): row for row in rows}
    row = found["continuous", "short", "e2e_p50_ms"]
    value = study.outcomes[1].report.value("e2e_p50_ms", "short")
    assert (float(row["value"]), row["preset"], row["simulated"]) == (value, "small", "true")
    assert float(row["ratio"]) == value / study.outcomes[0].report.value("e2e_p50_ms", "short")
    assert found["static", "", "itl_p50_ms"]["value"] == ""


def test_csv_says_of_how_many_runs_a_number_is_and_what_they_lie_between():
    outcome = measured("a", {"out_tps": 90.0}, {"out_tps": 94.0}, {"out_tps": 91.0})
    rows = csv.DictReader(StringIO(to_csv(study_preset(PRESET, [outcome], ()))))
    (row,) = [row for row in rows if row["metric"] == "out_tps" and not row["class"]]
    assert [row[key] for key in ("value", "runs", "least", "most")] == ["91.0", "3", "90.0", "94.0"]


def test_markdown_is_a_table_with_the_claims_below():
    study, _ = small_study()
    lines = to_markdown(study).splitlines()
    assert lines[0] == r"### Small \| \<b\>bold\</b\>"
    assert "| | static | continuous |" in [line.replace("|  |", "| |") for line in lines]
    assert "| --- | ---: | ---: |" in lines
    assert "| requests completed | 2 | 2 |" in lines
    assert r"| **short** |  |  |" in lines
    (first, second, third) = [line for line in lines if line.startswith("- ")]
    assert first.startswith(r"- ✓ Short is \*short\*. (holds: e2e\_p50\_ms continuous/short = ")
    assert second.startswith(r"- ✗ Long is short. (fails: ")
    assert third.startswith(r"- · Static streams. (not judged: ")


def test_every_row_of_the_table_has_as_many_cells():
    study, _ = small_study()
    table = [line for line in to_markdown(study).splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in table} == {4}


def test_few_values_are_set_apart():
    study, _ = small_study()
    (line,) = [line for line in to_markdown(study).splitlines() if line.startswith("| TTFT p99")]
    assert line.count("(n=2)*") == 2

from dataclasses import replace

from tests.studies import small_study
from tuiapp.running.study import fill_in, ratio


def rows(label=""):
    study, _ = small_study()
    return {row.line.metric: row for row in fill_in(study) if row.label == label}


def test_every_number_stands_beside_its_ratio_to_the_first_run():
    static, continuous = rows("short")["e2e_p50_ms"].entries
    assert static.ratio == 1.0
    assert continuous.ratio == continuous.value / static.value
    assert 0.05 < continuous.ratio < 0.15


def test_a_ratio_to_nothing_is_none():
    assert ratio(3.0, 0) is None
    assert ratio(3.0, None) is None
    assert ratio(None, 3.0) is None
    assert ratio(0.0, 3.0) == 0.0
    assert [entry.ratio for entry in rows()["itl_p50_ms"].entries] == [None, None]


def test_a_99th_percentile_of_few_values_says_of_how_many():
    assert [entry.few for entry in rows()["ttft_p99_ms"].entries] == [2, 2]
    assert [entry.few for entry in rows()["itl_p99_ms"].entries] == [None, 53]
    assert [entry.few for entry in rows()["ttft_p50_ms"].entries] == [None, None]


def test_what_did_not_happen_has_no_row():
    assert "held_share" in rows()
    assert not {"preemptions", "num_failed", "energy_j_per_token", "attainment"} & set(rows())


def test_classes_have_rows_only_where_there_are_several():
    study, _ = small_study()
    assert {row.label for row in fill_in(study)} == {"", "short", "long"}
    alone = replace(study, labels=("short",))
    assert {row.label for row in fill_in(alone)} == {""}


def test_one_run_that_is_broken_off_breaks_off_the_study():
    study, _ = small_study()
    broken = replace(study.outcomes[1], is_interrupted=True)
    assert not study.is_interrupted
    assert replace(study, outcomes=(study.outcomes[0], broken)).is_interrupted

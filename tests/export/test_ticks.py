import pytest

from tuiapp.export.ticks import linear_ticks, log_ticks


@pytest.mark.parametrize(
    ("end", "ticks"),
    [
        (6.2, [0, 1, 2, 3, 4, 5, 6]),
        (0.037, [0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035]),
        (8.0, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (7200.0, [0, 1000, 2000, 3000, 4000, 5000, 6000, 7000]),
    ],
)
def test_a_linear_axis_has_round_numbers(end, ticks):
    assert linear_ticks(end) == ticks


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (12.0, 130.0, [20, 50, 100]),
        (0.9, 11.0, [1, 2, 5, 10]),
        (0.5, 40_000.0, [1, 10, 100, 1000, 10_000]),
    ],
)
def test_a_logarithmic_axis_has_1_2_and_5_or_powers_of_ten_alone(low, high, ticks):
    assert log_ticks(low, high) == pytest.approx(ticks)

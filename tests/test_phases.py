import pytest

from engine.generate.arrivals import AtOnce, Constant
from engine.generate.lengths import Fixed
from engine.generate.phases import Phase, Tempo
from engine.generate.traffic import RequestClass


def arrivals(tempo: Tempo, arrival=None, **limits) -> list[float]:
    chat = RequestClass(
        name="chat",
        arrival=arrival or Constant(rate=1.0),
        prompt=Fixed(value=4),
        output=Fixed(value=4),
        **limits,
    )
    return [round(draft.arrival, 6) for draft in chat.drafts(1, tempo)]


def test_a_factor_makes_requests_come_so_much_faster_between_two_moments():
    tempo = Tempo([Phase(from_s=2.0, to_s=4.0, rate_factor=2.0)])
    assert arrivals(tempo, until_s=6.0) == [0.0, 1.0, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0]


def test_a_factor_of_nothing_lets_nobody_come():
    tempo = Tempo([Phase(from_s=1.5, to_s=3.5, rate_factor=0.0)])
    assert arrivals(tempo, until_s=6.0) == [0.0, 1.0, 4.0, 5.0, 6.0]


def test_a_rate_may_change_along_a_phase():
    # The clock of arrivals shows t + t^2 / 4 after t seconds: 1 at 0.828, 2 at 1.464, 3 at 2.
    tempo = Tempo([Phase(from_s=0.0, to_s=2.0, rate_from=1.0, rate_to=2.0)])
    assert arrivals(tempo, count=5) == [0.0, 0.828427, 1.464102, 2.0, 3.0]


def test_a_moment_that_was_named_does_not_move():
    tempo = Tempo([Phase(from_s=0.0, to_s=9.0, rate_factor=3.0)])
    assert arrivals(tempo, AtOnce(at_s=6.0), count=2) == [6.0, 6.0]
    assert arrivals(tempo, Constant(rate=1.0, at_s=3.0), count=3) == [3.0, 3.333333, 3.666667]


@pytest.mark.parametrize("moment", [0.0, 0.7, 2.0, 3.3, 5.0, 8.25, 100.0])
def test_both_clocks_tell_of_the_same_moment(moment):
    tempo = Tempo(
        [
            Phase(from_s=1.0, to_s=3.0, rate_factor=4.0),
            Phase(from_s=5.0, to_s=9.0, rate_from=0.5, rate_to=3.0),
        ]
    )
    assert tempo.moment(tempo.passed(moment)) == pytest.approx(moment)


def test_a_phase_with_nothing_but_a_label_changes_nothing():
    assert Tempo([Phase(from_s=1.0, to_s=3.0, label="look")]).is_even


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Phase(from_s=2.0, to_s=2.0), "to_s must be above from_s, got 2.0"),
        (lambda: Phase(from_s=0.0, to_s=2.0, rate_from=1.0), "rate_from and rate_to are needed"),
        (
            lambda: Phase(from_s=0.0, to_s=2.0, rate_factor=1.0, rate_from=1.0, rate_to=2.0),
            "rate_factor and rate_from cannot be together",
        ),
        (
            lambda: Tempo([Phase(from_s=0.0, to_s=2.0), Phase(from_s=1.0, to_s=3.0)]),
            "phases overlap at 1.0 s",
        ),
    ],
)
def test_a_phase_that_cannot_be_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()

from tuiapp.view.columns import Column
from tuiapp.view.reverse import Reverse


def columns(*seconds):
    return [Column(at, (), 0, 1, 0, each) for at, each in enumerate(seconds)]


def test_it_is_off_until_it_is_started_and_after_it_is_stopped():
    reverse = Reverse()
    assert reverse.passes_due(columns(1.0), 5.0, 1.0) == 0
    reverse.start(0.0)
    assert reverse.is_on
    reverse.stop()
    assert not reverse.is_on
    assert reverse.passes_due(columns(1.0), 5.0, 1.0) == 0


def test_as_many_passes_are_due_as_ran_in_the_time_that_went_by():
    reverse = Reverse()
    reverse.start(10.0)
    assert reverse.passes_due(columns(1.0, 0.2, 0.1, 0.3), 10.5, 1.0) == 2


def test_twice_the_speed_goes_back_twice_as_far():
    reverse = Reverse()
    reverse.start(10.0)
    assert reverse.passes_due(columns(*[0.1] * 20), 10.55, 2.0) == 11


def test_what_is_left_of_a_frame_counts_in_the_next():
    reverse = Reverse()
    reverse.start(0.0)
    due = [reverse.passes_due(columns(1.0, 1.0), 0.25 * frame, 1.0) for frame in range(1, 9)]
    assert due == [0, 0, 0, 1, 0, 0, 0, 1]


def test_no_more_passes_are_due_than_are_known_and_one_where_none_is():
    reverse = Reverse()
    reverse.start(0.0)
    assert reverse.passes_due(columns(0.1, 0.1), 100.0, 1.0) == 2
    assert reverse.passes_due(columns(0.1, 0.1), 100.0, 1.0) == 0
    assert reverse.passes_due([], 100.1, 1.0) == 1

import os
import signal

import pytest

from tuiapp.running.interrupt import Interrupts


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def test_it_breaks_off_at_once_where_nothing_is_guarded():
    with pytest.raises(KeyboardInterrupt), Interrupts().watching():
        press_ctrl_c()


def test_what_is_guarded_is_finished_first():
    interrupts, done = Interrupts(), []

    def work():
        press_ctrl_c()
        done.append("written")

    with interrupts.watching():
        with pytest.raises(KeyboardInterrupt):
            interrupts.guarded(work)
        interrupts.guarded(lambda: done.append("again"))
    assert done == ["written", "again"]


def test_the_handler_before_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    with Interrupts().watching():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before

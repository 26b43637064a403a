"""Which ids are taken."""

from __future__ import annotations

from engine.register import REMEMBERED, Register
from engine.request import Sequence
from tests.builders import ask


def test_a_live_request_is_found_by_its_id():
    register, seq = Register(), Sequence(ask("a"))
    register.add(seq)
    assert "a" in register
    assert register.find("a") is seq


def test_an_id_stays_taken_when_its_request_has_ended():
    register, seq = Register(), Sequence(ask("a"))
    register.add(seq)
    register.end(seq)
    assert "a" in register
    assert register.find("a") is None


def test_an_id_is_free_again_after_many_others_have_ended():
    register = Register()
    for number in range(REMEMBERED + 1):
        seq = Sequence(ask(f"r{number}"))
        register.add(seq)
        register.end(seq)
    assert "r0" not in register
    assert "r1" in register

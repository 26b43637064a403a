from engine.telemetry.slowdown import name_reasons


def test_no_bit_is_no_reason_and_idleness_is_none_either():
    assert name_reasons(0) == name_reasons(0x1) == ()


def test_each_bit_has_its_words():
    assert name_reasons(0x4 | 0x40) == ("software power cap", "hardware thermal slowdown")


def test_a_bit_from_a_later_driver_is_told_by_its_number():
    assert name_reasons(0x8000) == ("reason 0x8000",)

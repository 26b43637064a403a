"""Every event survives a line of JSON; what is wrong with a line is said."""

from __future__ import annotations

import json
from math import isnan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.events import Configured, Delivered, Event, Gauges, Split, Step, Token
from engine.plan import Skip, SkipReason
from engine.recording.decoder import Decoder
from engine.recording.encoder import encode
from engine.recording.kinds import KINDS, RecordingError, schema
from engine.settings import MOST_BLOCKS, MOST_SLOTS, EngineSettings

COUNTS = st.integers(1, 2**40)
st.register_type_strategy(float, st.floats(allow_nan=False))
st.register_type_strategy(
    EngineSettings,
    st.builds(
        EngineSettings,
        max_num_seqs=st.integers(1, 64),
        max_num_batched_tokens=st.integers(64, 2**40),
        long_prefill_token_threshold=st.none() | COUNTS,
        max_batch_size=st.integers(1, MOST_SLOTS),
        max_queue_delay_ms=st.floats(0, 1e9),
        num_kv_blocks=st.integers(1, MOST_BLOCKS),
        block_size=COUNTS,
        reserve_tokens=COUNTS,
        max_model_len=COUNTS,
    ),
)


def decode(line: bytes | str) -> Event:
    return Decoder(schema()).decode(line.encode() if isinstance(line, str) else line)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_kind_of_event_has_its_fields_in_the_schema(name):
    assert schema()[name][0] == "time" or name == "Step"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@given(st.data())
@settings(max_examples=20)
def test_every_event_comes_back_as_it_was(kind, data):
    event = data.draw(st.from_type(kind))
    line = encode(event)
    assert line.isascii()
    assert line.count(b"\n") == 1
    back = decode(line)
    assert type(back) is type(event)
    assert back == event


def test_a_line_is_an_array_with_the_name_first():
    assert encode(Token(0.1, "r1", 7, "é\n")) == b'["Token",0.1,"r1",7,"\\u00e9\\n"]\n'


def test_times_keep_their_last_digit():
    time = 0.1 + 0.2
    assert decode(encode(Delivered(time, "a", 1))) == Delivered(0.30000000000000004, "a", 1)


def test_a_number_that_json_lacks_comes_back_too():
    assert decode(encode(Gauges(1.0, "GPU", float("-inf"), 0, 0))).utilisation == float("-inf")
    assert isnan(decode(encode(Gauges(1.0, "GPU", float("nan"), 0, 0))).utilisation)


def test_a_field_that_an_older_recording_lacks_takes_its_default():
    older = schema() | {"Gauges": ["time", "name", "utilisation", "memory_used", "memory_total"]}
    decoded = Decoder(older).decode(b'["Gauges",1.0,"GPU",null,3,4]')
    assert decoded == Gauges(1.0, "GPU", None, 3, 4, power_w=None)


def test_fields_may_stand_in_another_order():
    other = schema() | {"Delivered": ["num_tokens", "request_id", "time"]}
    assert Decoder(other).decode(b'["Delivered",3,"a",1.5]') == Delivered(1.5, "a", 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Tokn": ["time"]}, "unknown record 'Tokn'; did you mean 'Token'?"),
        ({"Failed": ["time", "message", "weight"]}, "Failed: unknown field 'weight'"),
        ({"Failed": ["time"]}, "Failed: the header lacks the field 'message'"),
    ],
)
def test_a_schema_that_this_version_cannot_read_is_refused(change, message):
    with pytest.raises(RecordingError) as caught:
        Decoder(schema() | change)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "this is no record: ''"),
        ('["Token",0.1,"r1"', 'this is no record: \'["Token",0.1,"r1"\''),
        ("{}", "this is no record: '{}'"),
        ("7", "this is no record: '7'"),
        ('["Tokens",1]', "unknown event 'Tokens'; did you mean 'Token'?"),
        ('["Skip",1]', "unknown event 'Skip'"),
        ("[[]]", "unknown event []"),
        ('["Token",0.1,"r1",7]', "Token: expected 4 values of Token"),
        ('["Token","soon","r1",7,""]', "Token.time: expected a number, got 'soon'"),
        ('["Token",0.1,"r1",7.5,""]', "Token.token_id: expected a whole number, got 7.5"),
        ('["Token",0.1,null,7,""]', "Token.request_id: expected text, got None"),
        ('["Failed",0.1,"",1,false]', "Failed.is_fatal: expected true or false, got 1"),
        (
            '["Finished",0.1,"a","lenght","",""]',
            "Finished.reason: 'lenght' is unknown; did you mean 'length'?",
        ),
    ],
)
def test_a_damaged_line_is_refused_with_the_reason(line, message):
    with pytest.raises(RecordingError) as caught:
        decode(line)
    assert str(caught.value).startswith(message)


def test_a_value_that_the_engine_could_not_have_is_refused():
    name, time, values = json.loads(encode(Configured(0.0, EngineSettings())))
    values[schema()["EngineSettings"].index("max_num_seqs")] = 0
    with pytest.raises(
        RecordingError, match=r"Configured\.settings: max_num_seqs must be at least"
    ):
        decode(json.dumps([name, time, values]))


def test_a_reason_within_a_step_is_an_enum_again():
    skip = Skip("a", SkipReason.BLOCKS, 3, 1, until=None)
    line = encode(_step(skipped=(skip,)))
    assert b'["a","blocks",3,1,null]' in line
    back = decode(line)
    assert back.skipped == (skip,)
    assert back.skipped[0].reason is SkipReason.BLOCKS


def _step(**changes):
    fields = {
        "index": 0,
        "time": 1.0,
        "duration": 1.0,
        "rows": (),
        "num_tokens": 0,
        "num_slots": 0,
        "is_rectangular": False,
        "preempted": (),
        "skipped": (),
        "blocks": (),
        "num_waiting": 0,
        "num_running": 0,
        "num_free_blocks": 4,
    }
    return Step(**(fields | changes))


def test_a_recording_from_when_a_pass_was_split_in_four_is_still_read():
    older = schema() | {"Split": ["schedule", "launch", "wait", "apply"]}
    fields = json.loads(encode(_step(split=Split(0.1, 0.2, 0.3, 0.4, prepare=0.5))))
    fields[1 + older["Step"].index("split")] = [0.1, 0.2, 0.3, 0.4]
    assert Decoder(older).decode(json.dumps(fields).encode()).split == Split(0.1, 0.2, 0.3, 0.4)

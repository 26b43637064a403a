from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import as_file, files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.tokenizer import HfTokenizer, TextStream, ToyTokenizer, load_tokenizer


class ByteTokenizer:
    """A token a byte, as the smallest pieces of a byte-level vocabulary are; 0 ends."""

    eos_token_ids = frozenset({0})
    vocab_size = 256

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def encode_chat(self, prompt: str) -> list[int]:
        return self.encode(prompt)

    def decode(self, token_ids: Iterable[int]) -> str:
        return bytes(i for i in token_ids if i).decode(errors="replace")


def stream_bytes(text: str | bytes, *stop: str) -> tuple[list[str], TextStream]:
    """Push text byte by byte; the pieces that were shown, the flushed rest last."""
    stream = TextStream(ByteTokenizer().decode, stop)
    pieces = []
    for byte in text.encode() if isinstance(text, str) else text:
        pieces.append(stream.push(byte))
        if stream.is_stopped:
            break
    return [*pieces, stream.flush()], stream


def test_plain_text_is_shown_as_it_comes():
    assert stream_bytes("abc")[0] == ["a", "b", "c", ""]


def test_half_a_character_is_never_shown():
    assert stream_bytes("aé€🙂")[0] == ["a", "", "é", "", "", "€", "", "", "", "🙂", ""]


def test_bytes_that_never_become_a_character_are_shown_once_that_is_sure():
    assert "".join(stream_bytes(b"a\xffb")[0]) == "a\N{REPLACEMENT CHARACTER}b"


def test_half_a_character_at_the_very_end_is_flushed():
    assert stream_bytes("aé".encode()[:-1])[0] == ["a", "", "\N{REPLACEMENT CHARACTER}"]


def test_a_token_without_text_shows_nothing_and_harms_nothing():
    assert stream_bytes(b"a\x00\x00\xc3\x00\xa9")[0] == ["a", "", "", "", "", "é", ""]


class WordTokenizer(ByteTokenizer):
    """Each id is a word with a space before it, which the first word of a text loses."""

    def decode(self, token_ids: Iterable[int]) -> str:
        return "".join(["", " one", " two"][i] for i in token_ids).removeprefix(" ")


def test_a_token_without_text_does_not_make_the_next_word_the_first():
    stream = TextStream(WordTokenizer().decode)
    assert [stream.push(i) for i in (1, 0, 0, 2, 1)] == ["one", "", "", " two", " one"]


@given(st.text() | st.binary())
def test_the_pieces_joined_are_the_whole_decode(text: str | bytes):
    ids = list(text.encode() if isinstance(text, str) else text)
    assert "".join(stream_bytes(text)[0]) == ByteTokenizer().decode(ids)


def test_a_stop_string_split_over_tokens_is_held_back_and_never_shown():
    pieces, stream = stream_bytes("so it ENDs", "END")
    assert pieces == ["s", "o", " ", "i", "t", " ", "", "", "", ""]
    assert stream.is_stopped


def test_what_only_began_like_a_stop_string_is_shown_once_it_goes_on_otherwise():
    assert stream_bytes("ENE.", "END")[0] == ["", "", "EN", "E.", ""]


def test_what_might_have_become_a_stop_string_is_flushed_at_the_end():
    pieces, stream = stream_bytes("the EN", "END")
    assert pieces == ["t", "h", "e", " ", "", "", "EN"]
    assert not stream.is_stopped


def test_the_stop_string_that_comes_first_counts():
    pieces, stream = stream_bytes("a stop and an end", "end", "stop")
    assert ("".join(pieces), stream.is_stopped) == ("a ", True)


def test_of_two_that_end_together_the_one_that_begins_first_counts():
    assert "".join(stream_bytes("xabc", "c", "abc")[0]) == "x"


def test_a_stop_string_may_repeat_its_own_beginning():
    assert "".join(stream_bytes("aaab..", "aab")[0]) == "a"


def test_a_stop_string_may_hold_wide_characters():
    assert "".join(stream_bytes("ok🙂é no", "🙂é")[0]) == "ok"


def test_nothing_is_shown_after_a_stop_string():
    stream = TextStream(ByteTokenizer().decode, ("b",))
    assert [stream.push(byte) for byte in b"abcd"] == ["a", "", "", ""]
    assert stream.flush() == ""


def test_a_stop_string_does_not_count_before_it_may():
    stream = TextStream(ByteTokenizer().decode, ("b",))
    assert [stream.push(byte, may_stop=False) for byte in b"abb"] == ["a", "b", "b"]
    assert not stream.is_stopped
    assert (stream.push(ord("b")), stream.is_stopped) == ("", True)


def test_a_stop_string_that_comes_to_light_in_the_flush_hides_only_itself():
    """The last token of an output may end in half a character, and hold text before it."""
    stream = TextStream(PieceTokenizer(b"one END two\xc3").decode, ("END",))
    assert [stream.push(0), stream.flush()] == ["", "one "]
    assert stream.is_stopped


class PieceTokenizer(ByteTokenizer):
    """Each id is a piece of several bytes."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces

    def decode(self, token_ids: Iterable[int]) -> str:
        return b"".join(self._pieces[i] for i in token_ids).decode(errors="replace")


@given(
    pieces=st.lists(st.sampled_from([b"a", b"ab", b"b\xc3", b"\xa9a", b"", b"\xff"]), max_size=12),
    stop=st.lists(st.sampled_from(["ab", "ba", "aba", "éa", "bb"]), max_size=3).map(tuple),
)
def test_what_is_shown_is_the_whole_decode_up_to_the_first_stop_string(pieces, stop):
    tokenizer = PieceTokenizer(*pieces)
    stream = TextStream(tokenizer.decode, stop)
    shown = "".join([stream.push(i) for i in range(len(pieces))] + [stream.flush()])
    whole = tokenizer.decode(range(len(pieces)))
    found = [at for word in stop if (at := whole.find(word)) >= 0]
    assert shown == whole[: min(found, default=len(whole))]
    assert stream.is_stopped == bool(found)


class TestToyTokenizer:
    def test_known_words_come_back_as_they_were(self):
        toy = ToyTokenizer()
        assert toy.decode(toy.encode("a batch waits for one slot")) == " a batch waits for one slot"

    def test_an_unknown_word_always_becomes_the_same_known_one(self):
        assert (
            ToyTokenizer().encode("unheard of") == ToyTokenizer().encode("unheard of") == [48, 46]
        )

    def test_plain_text_never_holds_the_end_token(self):
        toy = ToyTokenizer()
        assert toy.eos_token_ids == {0}
        assert 0 not in toy.encode(" ".join(f"word{i}" for i in range(500)))
        assert toy.decode([0]) == ""

    def test_every_id_has_a_word_of_its_own(self):
        toy = ToyTokenizer()
        words = [toy.decode([i]) for i in range(toy.vocab_size)]
        assert len(set(words)) == toy.vocab_size
        assert [toy.encode(word) for word in words[1:]] == [[i] for i in range(1, toy.vocab_size)]

    def test_a_stream_of_it_is_its_decode(self):
        toy, stream = ToyTokenizer(), TextStream(ToyTokenizer().decode)
        ids = toy.encode("each pass reads every weight once")
        assert "".join(stream.push(i) for i in ids) + stream.flush() == toy.decode(ids)


@pytest.fixture(scope="module")
def shipped() -> HfTokenizer:
    with as_file(files("engine") / "models" / "tiny") as folder:
        return load_tokenizer(str(folder), frozenset({0}))


@pytest.mark.slow
class TestShippedTokenizer:
    def test_plain_text_gets_no_special_tokens(self, shipped: HfTokenizer):
        text = "The lighthouse keeper counts 17 ships, and a café 🙂."
        assert shipped.decode(shipped.encode(text)) == text

    def test_a_chat_ends_where_the_answer_begins(self, shipped: HfTokenizer):
        ids = shipped.encode_chat("Hello there")
        longer = shipped.encode_chat("Hello there, and good night")
        assert "Hello there" in shipped.decode(ids)
        assert ids[-1] == longer[-1]
        assert all(0 <= i < shipped.vocab_size for i in longer)

    @given(data=st.data())
    def test_pieces_of_any_ids_joined_are_the_whole_decode(self, shipped: HfTokenizer, data):
        ids = data.draw(st.lists(st.integers(0, shipped.vocab_size - 1), max_size=20))
        stream = TextStream(shipped.decode)
        assert "".join(stream.push(i) for i in ids) + stream.flush() == shipped.decode(ids)


def test_a_folder_without_a_tokenizer_is_an_error(tmp_path):
    with pytest.raises(OSError, match=re.escape(f"no tokenizer in {tmp_path}")):
        load_tokenizer(str(tmp_path), frozenset({0}))


def test_a_long_tail_of_broken_bytes_is_shown_in_pieces_that_join_to_the_whole():
    tokenizer = ByteTokenizer()
    ids = [0x80] * 60 + list("é日".encode()) + [0xE2] * 30 + list(b"ok")
    stream = TextStream(tokenizer.decode)
    pieces = [stream.push(each) for each in ids]
    assert any(pieces[:20])
    assert "".join(pieces) + stream.flush() == tokenizer.decode(ids)

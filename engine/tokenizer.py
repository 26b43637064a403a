"""Text: the small protocol that the core needs, incremental detokenisation, and two tokenizers.

`load_tokenizer` wraps one of transformers', imported late; `ToyTokenizer` needs no files and
serves tests and simulated runs. Prompts enter the core as ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

LONGEST_CHARACTER = 4  # bytes, and so tokens
LONGEST_TAIL = 8  # tokens that are held back; decoding them anew for each one must stay cheap
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
FILLER = (
    "the a batch waits for one slot while many short answers leave and new ones come in "
    "each pass reads every weight once so eight rows cost little more than one row here "
    "a long prompt is cut into chunks that share the pass with decoding requests now "
    "blocks of cache are handed out page by page and given back when a request ends "
    "nothing is computed this text is filler from a cost model and stands for tokens"
)


class Tokenizer(Protocol):
    """Text to ids and back.

    Attributes:
        eos_token_ids: ids that end an output.
    """

    eos_token_ids: frozenset[int]
    vocab_size: int

    def encode(self, text: str) -> list[int]:
        """Ids of plain text, with no special tokens added."""
        ...

    def encode_chat(self, prompt: str) -> list[int]:
        """Ids of a user's message as the model expects it, ready for the answer."""
        ...

    def decode(self, token_ids: Iterable[int]) -> str:
        """Text of ids, special tokens left out."""
        ...


class TextStream:
    """One output's text, token by token: no half character and no part of a stop string.

    Args:
        decode: text of ids, as a tokenizer's; asked for the same few ids again and again.
        stop: strings that end the output; they and what follows are never shown.
    """

    def __init__(
        self, decode: Callable[[tuple[int, ...]], str], stop: tuple[str, ...] = ()
    ) -> None:
        self._decode = decode
        self._stop = stop
        self._tail: tuple[int, ...] = ()  # the newest ids; so many of them are shown already:
        self._num_shown = 0
        self._before = ""  # the text of those
        self._held = ""
        self.is_stopped = False

    def push(self, token_id: int, *, may_stop: bool = True) -> str:
        """Add a token; return the text that can be shown now, perhaps none.

        Args:
            may_stop: whether a stop string counts yet.
        """
        self._tail = (*self._tail, token_id)
        text = self._decoded(is_last=False)
        return self._release(text) if self._stop and may_stop else text

    def flush(self) -> str:
        """What was held back, once no more tokens come."""
        text = self._release(self._decoded(is_last=True))
        held, self._held = self._held, ""
        return text + held

    def _decoded(self, *, is_last: bool) -> str:
        """New whole characters.

        A few ids before the new ones are decoded with them, since some tokenizers write a token
        otherwise at the start of a text than within one (the scheme of text-generation-inference).
        """
        tail, before = self._tail, self._before
        text = self._decode(tail)
        is_stuck = len(tail) - self._num_shown > LONGEST_TAIL
        if text.endswith(REPLACEMENT) and not is_last:
            return self._settle_part(text) if is_stuck else ""
        if len(text) <= len(before) and not is_stuck:
            return ""
        self._settle(len(tail))
        return text[len(before) :]

    def _settle_part(self, text: str) -> str:
        """Give up on all but the last ids of a long tail that never became a whole character.

        A character that is still to come has begun within the last ids: had one ended earlier,
        the text would have been shown then.
        """
        before = self._before
        for end in range(len(self._tail) - LONGEST_CHARACTER, self._num_shown, -1):
            part = self._decode(self._tail[:end])
            if text.startswith(part) and len(part) > len(before):
                self._settle(end)
                return part[len(before) :]
        return ""

    def _settle(self, end: int) -> None:
        """Count the ids before `end` as shown, and forget those that were so before."""
        num_shown = self._num_shown
        self._tail = self._tail[num_shown:]
        self._num_shown = end - num_shown
        self._before = self._decode(self._tail[: self._num_shown])

    def _release(self, text: str) -> str:
        """Show text up to a stop string, holding back what might become one."""
        if self.is_stopped:
            return ""
        if not self._stop:
            return text
        self._held += text
        found = [at for stop in self._stop if (at := self._held.find(stop)) >= 0]
        if found:
            self.is_stopped = True
            shown, self._held = self._held[: min(found)], ""
            return shown
        keep = max(_overlap(self._held, stop) for stop in self._stop)
        cut = len(self._held) - keep
        shown, self._held = self._held[:cut], self._held[cut:]
        return shown


def _overlap(text: str, stop: str) -> int:
    """Characters at the end of `text` that begin `stop`."""
    longest = min(len(text), len(stop) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(stop[:n])), 0)


class ToyTokenizer:
    """Some dozens of plain words; an unknown word becomes one of them.

    Deterministic and readable: for tests, and for simulated runs whose text means nothing.
    """

    def __init__(self) -> None:
        words = dict.fromkeys(FILLER.split())
        self._ids = {word: index for index, word in enumerate(words, start=1)}
        self._pieces = ["", *(f" {word}" for word in words)]  # by id
        self.eos_token_ids = frozenset({0})
        self.vocab_size = len(self._pieces)

    def encode(self, text: str) -> list[int]:
        return [
            self._ids.get(word, 1 + _stable(word) % (self.vocab_size - 1)) for word in text.split()
        ]

    def encode_chat(self, prompt: str) -> list[int]:
        return self.encode(prompt)

    def decode(self, token_ids: Iterable[int]) -> str:
        pieces, vocab_size = self._pieces, self.vocab_size
        return "".join([pieces[token_id % vocab_size] for token_id in token_ids])


def _stable(word: str) -> int:
    """A number that is the same in every process, unlike `hash`."""
    return sum(ord(letter) * 31**place for place, letter in enumerate(word))


class HfTokenizer:
    """A tokenizer of transformers behind the small protocol."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, eos_token_ids: frozenset[int]) -> None:
        self._tokenizer = tokenizer
        self.eos_token_ids = eos_token_ids
        self.vocab_size = len(tokenizer)

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def encode_chat(self, prompt: str) -> list[int]:
        if self._tokenizer.chat_template is None:
            return list(self._tokenizer.encode(prompt))
        text = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True
        )
        return self.encode(str(text))

    def decode(self, token_ids: Iterable[int]) -> str:
        text = self._tokenizer.decode(
            list(token_ids),
            skip_special_tokens=True,
            clean_up_tokenization_spaces=False,  # it would rewrite text that was shown already
        )
        return str(text)


def load_tokenizer(
    folder: str, eos_token_ids: frozenset[int], **options: str | bool
) -> HfTokenizer:
    """The tokenizer of a model folder or hub name.

    Raises:
        OSError: there is none, or none that can be read.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **options)
    except ValueError as error:
        raise OSError(f"no tokenizer in {folder}: {error}") from error
    return HfTokenizer(tokenizer, eos_token_ids)

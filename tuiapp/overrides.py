"""`Overrides`: the settings of the engine that a user named, which win over those of a preset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from engine.config import ConfigError, construct
from engine.settings import EngineSettings

WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Overrides:
    """Fields of `EngineSettings`, each with how the user named it.

    Attributes:
        values: by field.
        flags: what the user typed for it, as `--slots` or `--set max_num_seqs`.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    flags: Mapping[str, str] = field(default_factory=dict)

    def apply(self, settings: EngineSettings) -> EngineSettings:
        """The settings with what the user named.

        With another batcher answers are delivered as that one is known for, unless the user named
        `deliver` too: what stood there was said of the batcher before.

        Raises:
            ConfigError: they do not go together; the message names what the user typed.
        """
        is_other = self.values.get("batcher", settings.batcher) != settings.batcher
        values = {"deliver": None, **self.values} if is_other else self.values
        try:
            return construct(partial(replace, settings), values)
        except ConfigError as error:
            raise self.blame(error) from None

    def blame(self, error: ConfigError) -> ConfigError:
        """The same error, said of what the user typed."""
        culprit, *within = error.path or ("",)
        if culprit in self.flags:
            return ConfigError(error.problem, tuple(within), self.flags[str(culprit)])
        words = WORD.findall(error.problem)
        named = dict.fromkeys(flag for name, flag in self.flags.items() if name in words)
        return ConfigError(error.problem, error.path, " and ".join(named))


NONE = Overrides()

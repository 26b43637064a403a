"""`read_keys`: keys of the user's own, each checked: the action, the key, and who else has it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.config import ConfigError, suggest

CHARACTER = re.compile(r"[!-+\--~]")  # any that ASCII prints, but for the comma
NAMED = frozenset(
    {"enter", "escape", "space", "tab", "backspace", "delete", "insert", "comma", "plus", "minus"}
    | {"up", "down", "left", "right", "home", "end", "pageup", "pagedown", "question_mark"}
    | {"slash", "equals_sign"}
    | {f"f{number}" for number in range(1, 13)}
)
MODIFIERS = re.compile(r"((ctrl|alt|shift)\+)+")
SIGNS = {"?": "question_mark", "+": "plus", "-": "minus", "=": "equals_sign", "/": "slash"}


def read_keys(
    wanted: Mapping[str, object], actions: Mapping[str, str]
) -> tuple[dict[str, str], list[ConfigError]]:
    """The keys that can be given, and what is wrong with the others.

    Args:
        wanted: keys by action, as the file has them; several are separated by commas.
        actions: the usual keys of every action.
    """
    given: dict[str, str] = {}
    problems = []
    for action, keys in wanted.items():
        try:
            given[action] = _read(action, keys, actions)
        except ConfigError as error:
            problems.append(error)
    while clash := _clash(given, actions):
        problems.append(clash)
        del given[str(clash.path[-1])]
    return given, problems


def _read(action: str, keys: object, actions: Mapping[str, str]) -> str:
    path = ("keys", action)
    if action not in actions:
        raise ConfigError(f"there is no such action; {suggest(action, actions)}", path)
    if not isinstance(keys, str) or not keys:
        raise ConfigError(f"expected a key such as 'b' or 'f5', got {keys!r}", path)
    return ",".join(_read_key(key.strip(), action) for key in keys.split(","))


def _read_key(key: str, action: str) -> str:
    name = MODIFIERS.sub("", key, count=1)
    if CHARACTER.fullmatch(key):
        return SIGNS.get(key, key)
    if name in NAMED or (name != key and CHARACTER.fullmatch(name)):
        return key
    hint = f"a sign such as 'b', or of these: {suggest(name, sorted(NAMED))}"
    raise ConfigError(f"{key!r} is no key; {hint}", ("keys", action))


def _clash(given: Mapping[str, str], actions: Mapping[str, str]) -> ConfigError | None:
    """The first action that was given a key which another one has."""
    owners: dict[str, str] = {}
    for action, keys in (*_kept(given, actions), *given.items()):
        for key in keys.split(","):
            if key in owners:
                problem = f"{key!r} is the key of {owners[key]} already; give that another one"
                return ConfigError(problem, ("keys", action))
            owners[key] = action
    return None


def _kept(given: Mapping[str, str], actions: Mapping[str, str]) -> list[tuple[str, str]]:
    """The usual keys of the actions that were given none."""
    return [(action, keys) for action, keys in actions.items() if action not in given]

"""`reach`: whether a model of the Hugging Face hub can be had, found out in seconds.

Left to itself, the hub's client tries for half a minute to reach a server that is not there, and
says what went wrong in its own words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from huggingface_hub import constants, get_token, try_to_load_from_cache
from huggingface_hub.errors import HFValidationError

from engine.config import ConfigError
from engine.runners.loading.sources import KNOWN, Source

ASK_SECONDS = 5.0
MISSING = (401, 404)  # without a login, the hub says 401 of what it does not have
REFUSED = 403


class UnreachableError(Exception):
    """Nobody answered."""


def reach(
    source: Source,
    ask: Callable[[str], int] | None = None,
    is_cached: Callable[[str], bool] | None = None,
) -> Source:
    """A source that will answer: what is in the cache is read there if the hub cannot be reached.

    Args:
        ask: the status of a name on the hub; raises `UnreachableError`.
        is_cached: whether the configuration of a name was downloaded before.

    Raises:
        ConfigError: there is no such model, or no hub and nothing in the cache.
    """
    if source.options.get("local_files_only"):
        return source
    name = source.place
    known = f"Known here: {', '.join(KNOWN)}; a folder of a model's files will do too."
    try:
        status = (ask or _ask)(name)
    except UnreachableError as error:
        if (is_cached or _is_cached)(name):
            return replace(source, options={**source.options, "local_files_only": True})
        raise ConfigError(
            f"there is no model {name!r} here, and the Hugging Face hub cannot be reached "
            f"({error}). {known}"
        ) from error
    if status in MISSING:
        raise ConfigError(
            f"the Hugging Face hub has no model {name!r}, or one that needs a login. {known}"
        )
    if status == REFUSED:
        raise ConfigError(f"the model {name!r} is gated: accept its terms on the hub and log in")
    return source


def _ask(name: str) -> int:
    """The status of a model's configuration on the hub, asked for once.

    Raises:
        UnreachableError: nobody answered, or the user has it that nobody be asked.
    """
    if constants.HF_HUB_OFFLINE:
        raise UnreachableError("HF_HUB_OFFLINE is set")
    url = f"{constants.ENDPOINT}/{quote(name)}/resolve/main/config.json"
    token = get_token()
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        with urlopen(Request(url, headers=headers, method="HEAD"), timeout=ASK_SECONDS) as answer:
            return int(answer.status)
    except HTTPError as error:
        return error.code
    except OSError as error:
        raise UnreachableError(str(getattr(error, "reason", error))) from error


def _is_cached(name: str) -> bool:
    try:
        return isinstance(try_to_load_from_cache(name, "config.json"), str)
    except HFValidationError:
        return False

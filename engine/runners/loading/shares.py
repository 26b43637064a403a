"""`check_shares`: whether processes can share a model evenly, before any of its weights is read."""

from __future__ import annotations

from engine.config import ConfigError


def check_shares(num_kv_heads: int, size: int) -> None:
    """Insist on as many key and value heads in every process, for each holds the cache of its own.

    Raises:
        ConfigError: they cannot be shared out so; the message names the sizes that can be.
    """
    if num_kv_heads % size:
        able = [str(each) for each in range(1, num_kv_heads + 1) if num_kv_heads % each == 0]
        raise ConfigError(
            f"--tensor-parallel {size} cannot share its {num_kv_heads} key and value heads; "
            f"{' or '.join(able)} can"
        )

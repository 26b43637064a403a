"""`BackendChooser`: chooses and makes the way to attend for each new cache of a model."""

from __future__ import annotations

from collections.abc import Callable
from subprocess import SubprocessError

from engine.config import ConfigError
from engine.plan import RunnerError
from engine.runners.attention.backend import AttentionBackend
from engine.runners.attention.choice import Choice, Demands, Platform, choose
from engine.runners.attention.rehearsal import LayerCall, rehearse
from engine.runners.first_line import first_line
from engine.runners.kv_cache import KvCache

BUILD_ERRORS = (RuntimeError, OSError, SubprocessError)  # Triton calls a C compiler and ptxas


class BackendChooser:
    """Remembers which ways have failed on this device, so that each is tried once.

    Args:
        way: how to attend, one of `ATTENTIONS`.
        make_backend: from a way's name and the tokens of a block.
    """

    def __init__(
        self, way: str, platform: Platform, make_backend: Callable[[str, int], AttentionBackend]
    ) -> None:
        self._way = way
        self._platform = platform
        self._make_backend = make_backend
        self._failures: dict[str, str] = {}

    def choose(self, calls: dict[int, LayerCall], block_size: int) -> Choice:
        """Choose for a cache with blocks of that size.

        Raises:
            RunnerError: the way that was asked for cannot.
        """
        demands = Demands(
            dtype=next(iter(calls.values())).shape.dtype,
            block_size=block_size,
            dims=frozenset((call.shape.key_dim, call.shape.value_dim) for call in calls.values()),
            has_softcap=any(call.options.softcap is not None for call in calls.values()),
            has_sinks=any(call.options.sinks is not None for call in calls.values()),
        )
        try:
            return choose(self._way, self._platform, demands, self._failures)
        except ConfigError as error:
            raise RunnerError(str(error)) from error

    def make(self, calls: dict[int, LayerCall], cache: KvCache) -> tuple[AttentionBackend, str]:
        """Make a backend that has attended once, on a device where kernels are compiled.

        Returns:
            The backend and why a better one was passed over, if one was.

        Raises:
            RunnerError: the way that was asked for cannot, or has failed.
        """
        while True:
            choice = self.choose(calls, cache.block_size)
            backend = self._make_backend(choice.name, cache.block_size)
            try:
                if self._platform.device == "cuda":
                    rehearse(backend, calls, cache)
            except BUILD_ERRORS as error:
                if choice.name == "gather":
                    raise
                self._failures[choice.name] = f"it failed here: {first_line(error)}"
            else:
                return backend, choice.passed_over

"""`PagedAttention`: what transformers calls in every layer in place of its own attention.

Registered with transformers' `AttentionInterface` under a name of its own, one object a runner.
The tensors of the pass under way are attributes of the object, because models do not hand every
keyword argument down to their layers.

Shapes: T tokens in the pass, H query heads, K key/value heads, D dimensions a head.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from weakref import WeakMethod

import torch
from transformers import AttentionInterface, PreTrainedModel

from engine.plan import CacheLostError, RunnerError
from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.attention_batch import DecodeBatch
from engine.runners.attention.backend import AttentionBackend, CapturableBackend, WritingBackend
from engine.runners.attention.chooser import BackendChooser
from engine.runners.attention.gather import GatherAttention
from engine.runners.attention.rehearsal import LayerCall
from engine.runners.attention.ways import find_platform, make_backend
from engine.runners.device import free_memory
from engine.runners.inputs.pack import Span
from engine.runners.kv_cache import KvCache, LayerShape
from engine.runners.native.find import NO_NATIVE, Native


class PagedAttention:
    """Holds the cache, writes each layer's new keys and values to it and lets a backend attend.

    Before `resize` gives it a cache, it takes note of the layers that call it and lets the one
    token of the pass attend to itself.

    Args:
        way: how to attend, one of `ATTENTIONS`; chosen with each cache, whose blocks not every
            way can read.
        native: our own kernels for a CPU.

    Attributes:
        shapes: of the layers that called, by index.
        cache: what the layers have written.
    """

    def __init__(
        self, model: PreTrainedModel, way: str = "auto", native: Native = NO_NATIVE
    ) -> None:
        self.shapes: dict[int, LayerShape] = {}
        self._calls: dict[int, LayerCall] = {}
        self._device = model.device
        self._native = native
        make = partial(make_backend, device=self._device, native=native)
        self._chooser = BackendChooser(way, find_platform(self._device, native), make)
        self._passed_over = ""
        self.cache = KvCache({}, 0, 1, self._device)
        self._backend: AttentionBackend = GatherAttention(1, self._device)
        self._writer: WritingBackend | None = None
        self._write_slots = torch.empty(0, dtype=torch.long)
        # transformers never forgets a registered function: it must not keep the cache alive.
        method = WeakMethod(self._attend)
        name = f"paged_{id(self):x}"

        def attend(*args: Any, **kwargs: Any) -> tuple[torch.Tensor, None]:
            bound = method()
            assert bound, "the model outlived the runner it was given to"
            return bound(*args, **kwargs)

        self._registered = name, attend
        AttentionInterface.register(name, attend)
        model.set_attn_implementation(name)

    def hide_from_compiler(self) -> None:
        """Have `torch.compile` leave attention alone, and compile what lies between."""
        name, attend = self._registered
        hidden = torch.compiler.disable(attend)  # type: ignore[no-untyped-call]
        AttentionInterface.register(name, hidden)

    @property
    def name(self) -> str:
        """The way attention is computed, for the screen, and why not a better one."""
        reason = f" ({self._passed_over})" if self._passed_over else ""
        return self._backend.name + reason

    @property
    def is_capturable(self) -> bool:
        """Whether a CUDA graph can hold its decoding passes, as `begin_decode` sets them up."""
        return isinstance(self._backend, CapturableBackend)

    @property
    def device(self) -> torch.device:
        return self._device

    @property
    def reads_padding(self) -> bool:
        """Whether such a pass takes time for every column of its block tables."""
        return isinstance(self._backend, GatherAttention)

    @property
    def kv_bytes_per_token(self) -> int:
        """What one token takes in all layers together."""
        return sum(shape.bytes_per_token for shape in self.shapes.values())

    @property
    def block_size(self) -> int:
        return self.cache.block_size

    @property
    def scratch_slot(self) -> int:
        """Where padding writes; no row reads it."""
        return self.cache.scratch_slot

    def resize(self, num_blocks: int, block_size: int) -> None:
        """Replace the cache by one of that size; what it held is lost.

        Raises:
            RunnerError: there is no memory for it, or the way to attend cannot read such blocks.
            CacheLostError: that showed only when it was tried; an empty cache of the old size
                stands there.
        """
        self._chooser.choose(self._calls, block_size)
        needed = (num_blocks + 1) * block_size * self.kv_bytes_per_token
        available = free_memory(self._device) + self.cache.num_bytes
        problem = f"{num_blocks} KV blocks of {block_size} tokens take {needed / 2**30:.2f} GiB"
        if needed > available:
            raise RunnerError(f"{problem}; {available / 2**30:.2f} GiB are free")
        old = self.cache.num_blocks, self.cache.block_size
        try:
            self._allocate(num_blocks, block_size)
            made = self._chooser.make(self._calls, self.cache)
        except RunnerError as error:
            self._allocate(*old)
            raise CacheLostError(str(error)) from error
        except (MemoryError, RuntimeError) as error:
            self._allocate(*old)
            raise CacheLostError(f"{problem}: {error}") from error
        self._backend, self._passed_over = made
        self._writer = self._backend if isinstance(self._backend, WritingBackend) else None

    def begin(self, spans: list[Span], write_slots: torch.Tensor) -> None:
        """Set what the layers of the coming pass share.

        Args:
            write_slots: where in the cache each new key and value goes, [T].
        """
        self._backend.begin(spans)
        self._write_slots = write_slots

    def begin_decode(self, decode: DecodeBatch, write_slots: torch.Tensor) -> None:
        """Set what the layers of a capturable pass share: one token a row, in the caller's tensors.

        Args:
            write_slots: as of `begin`; read in place at every replay.
        """
        assert isinstance(self._backend, CapturableBackend), "is_capturable was not asked"
        self._backend.begin_decode(decode)
        self._write_slots = write_slots

    def _allocate(self, num_blocks: int, block_size: int) -> None:
        self.cache = KvCache({}, 0, 1, self._device)  # frees the old one first
        kernels = self._native.kernels
        self.cache = KvCache(self.shapes, num_blocks, block_size, self._device, kernels)

    def _attend(
        self,
        module: torch.nn.Module,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: torch.Tensor | None,
        scaling: float | None = None,
        sliding_window: int | None = None,
        softcap: float | None = None,
        s_aux: torch.Tensor | None = None,
        **_: object,
    ) -> tuple[torch.Tensor, None]:
        """Answer one layer; the signature is transformers'.

        Args:
            query: [1, H, T, D]; `key` and `value` alike with K heads.

        Returns:
            [1, T, H, D], and no attention weights.
        """
        layer = module.layer_idx
        assert isinstance(layer, int), "a layer without an index"
        options = AttentionOptions(scaling, sliding_window, softcap, s_aux)
        cache = self.cache.layers.get(layer)
        if cache is None:
            return self._note(layer, query, key, value, options), None
        key, value = key[0].transpose(0, 1), value[0].transpose(0, 1)
        if self._writer is None:
            cache.write(self._write_slots, key, value)
        else:
            self._writer.write(cache, self._write_slots, key, value)
        output = self._backend.attend(query[0].transpose(0, 1), key, value, cache, options)
        return output[None], None

    def _note(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        options: AttentionOptions,
    ) -> torch.Tensor:
        dtypes = {query.dtype, key.dtype, value.dtype}
        if len(dtypes) > 1:  # kernels read memory as one of them
            raise TypeError(f"layer {layer} attends in {' and '.join(sorted(map(str, dtypes)))}")
        shape = LayerShape(key.shape[1], key.shape[3], value.shape[3], key.dtype)
        self.shapes[layer] = shape
        self._calls[layer] = LayerCall(shape, query.shape[1], options)
        num_groups = query.shape[1] // key.shape[1]
        return value.repeat_interleave(num_groups, dim=1).transpose(1, 2)

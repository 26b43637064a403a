"""What the leader of several ranks tells the others, and how that travels."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed as dist

from engine.runners.inputs.fields import Fields
from engine.runners.inputs.pack import Span


@dataclass(frozen=True, slots=True)
class Resize:
    """The KV cache from here on."""

    num_blocks: int
    block_size: int


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass over T tokens of which R sample; its tensors follow."""

    spans: list[Span]
    num_tokens: int
    num_samples: int


@dataclass(frozen=True, slots=True)
class Stop:
    """The leader is done."""


Order = Resize | Pass | Stop


def send(order: Order) -> None:
    """Tell every other rank."""
    dist.broadcast_object_list([order], src=0, device=torch.device("cpu"))


def send_tensors(token_ids: torch.Tensor, fields: Fields[torch.Tensor]) -> None:
    """Give every other rank what a `Pass` that was sent is made on."""
    parts = token_ids, fields.positions, fields.write_slots, fields.sample_at
    dist.broadcast(torch.cat(parts), src=0)


def receive() -> Order:
    """The leader's next order."""
    box: list[Order | None] = [None]
    dist.broadcast_object_list(box, src=0, device=torch.device("cpu"))
    order = box[0]
    assert order is not None, "an empty order"
    return order


def receive_tensors(order: Pass, device: torch.device) -> list[torch.Tensor]:
    """Ids, positions, write slots and where to sample, of a pass."""
    sizes = [order.num_tokens] * 3 + [order.num_samples]
    tensor = torch.empty(sum(sizes), dtype=torch.long, device=device)
    dist.broadcast(tensor, src=0)
    return list(torch.split(tensor, sizes))

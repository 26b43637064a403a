"""A process of its own that holds a share of a model and follows the leader: `python -m`.

The argument is the `ModelSpec` as JSON; which rank it is, the environment says. One that torchrun
started calls `follow` itself.
"""

from __future__ import annotations

import json
import sys

import torch

from engine.runners.build import load_for
from engine.runners.device import choose_device
from engine.runners.forward import Forward
from engine.runners.parallel.orders import Pass, Resize, Stop, receive, receive_tensors
from engine.runners.parallel.ranks import choose_rank_device, join
from engine.runners.parts import ModelSpec


def follow(spec: ModelSpec) -> None:
    """Run what the leader runs, until it is done."""
    device = choose_rank_device(choose_device(spec.device), spec.tensor_parallel_size)
    join(device)
    loaded, attention = load_for(spec, device)
    forward = Forward(loaded.model)
    with torch.inference_mode():
        while True:
            match receive():
                case Resize(num_blocks, block_size):
                    attention.resize(num_blocks, block_size)
                case Pass() as order:
                    inputs = receive_tensors(order, device)
                    token_ids, positions, write_slots, sample_at = inputs
                    attention.begin(order.spans, write_slots)
                    forward(token_ids, positions, sample_at)
                case Stop():
                    torch.distributed.destroy_process_group()
                    return


if __name__ == "__main__":
    follow(ModelSpec(**json.loads(sys.argv[1])))

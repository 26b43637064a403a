"""A model on a device that is not here: whether it goes, and what memory it leaves for KV."""

from __future__ import annotations

from engine.config import ConfigError, suggest
from engine.cost import Roofline
from engine.cost.device import DTYPE_BYTES, Device
from engine.hardware.devices import Machine, find_device
from engine.hardware.models import SHIPPED_MODEL, find_model

DEFAULT_DEVICE, DEFAULT_MODEL = "h100", "qwen3-8b"


def simulate(device: str, model: str, dtype: str = "auto") -> Roofline:
    """The cost of that model on that device.

    Args:
        device: empty for an H100, on which the shipped model, far too small for it, stands for
            Qwen3-8B.
        dtype: `auto` takes the first that the device's file names.

    Raises:
        ConfigError: there is no such device or model, or they do not go together.
    """
    if not device and model == SHIPPED_MODEL:
        model = DEFAULT_MODEL
    machine, shape = find_device(device or DEFAULT_DEVICE), find_model(model)
    if shape.num_key_value_heads % machine.count:
        raise ConfigError(
            f"{machine.count} devices cannot share the {shape.num_key_value_heads} KV heads of "
            f"{shape.name} evenly"
        )
    if machine.count > 1 and machine.device.link is None:
        raise ConfigError(f"the file of {machine.device.name} has no [link] to share a model over")
    return Roofline(shape, machine.device, _choose_dtype(dtype, machine.device), machine.count)


def num_kv_blocks(cost: Roofline, block_size: int, memory_gib: float = 0.0) -> int:
    """KV blocks that the memory beside the weights holds, on all devices together.

    Args:
        memory_gib: take so much of it; 0 takes all that can be used.

    Raises:
        ConfigError: there is not so much, or it does not hold two blocks.
    """
    left = _memory_beside_weights(cost)
    memory = int(memory_gib * 2**30) or left
    if memory > left:
        raise ConfigError(
            f"{memory_gib:g} GiB for the KV cache do not fit; {cost.model.name} leaves "
            f"{left / 2**30:.1f} of {_describe(cost)}"
        )
    num_blocks = memory // (block_size * cost.kv_bytes_per_token)
    if num_blocks < 2:
        raise ConfigError(f"{memory / 1e9:.3f} GB do not hold two KV blocks of {cost.model.name}")
    return num_blocks


def _memory_beside_weights(cost: Roofline) -> int:
    """Bytes, above 0.

    Raises:
        ConfigError: the weights alone are too large.
    """
    usable = cost.tensor_parallel_size * cost.device.usable_memory
    if usable > cost.weight_bytes:
        return usable - cost.weight_bytes
    raise ConfigError(
        f"{cost.model.name} does not fit: its weights take {cost.weight_bytes / 1e9:.1f} GB in "
        f"{cost.dtype}, and {_describe(cost)} has "
        f"{cost.tensor_parallel_size * cost.device.memory_gb:g} GB, of which {usable / 1e9:.1f} "
        "can be used"
    )


def _describe(cost: Roofline) -> str:
    return Machine(cost.device, cost.tensor_parallel_size).name


def _choose_dtype(name: str, device: Device) -> str:
    """A dtype that the device has.

    Raises:
        ConfigError: it has none of that name.
    """
    if name == "auto":
        return next(iter(device.tflops))
    if name in device.tflops:
        return name
    if name in DTYPE_BYTES:
        known = ", ".join(device.tflops)
        raise ConfigError(f"{device.name} has no arithmetic in {name!r}; known: {known}")
    raise ConfigError(f"unknown dtype {name!r}; {suggest(name, ('auto', *device.tflops))}")

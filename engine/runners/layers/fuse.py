"""`fuse`: replace parts of a model by ones that compute the same in fewer operations.

Their names say which parts could be replaced, and a trial run says which are: a part is exchanged
only if its replacement gives what the part gave. What fits nothing is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from subprocess import SubprocessError
from typing import Any, Protocol

import torch
from transformers import PreTrainedModel

from engine.runners.layers.decoder_layer import DecoderLayer
from engine.runners.layers.device_layer import DeviceLayer
from engine.runners.layers.device_parts import DeviceMlp, DeviceNorm
from engine.runners.layers.gated_mlp import GatedMlp
from engine.runners.layers.layer import Layer
from engine.runners.layers.layer_ops import LayerOps
from engine.runners.layers.maker import ONE_DNN, PartMaker
from engine.runners.layers.rms_norm import RmsNorm
from engine.runners.layers.trial import TRIAL_ERRORS, Call, Trial, trying

PART_ERRORS = (*TRIAL_ERRORS, OSError, SubprocessError)  # Triton calls compilers
TOLERANCES = {  # of the largest value
    torch.float32: 1e-4,
    torch.float16: 0.01,
    torch.bfloat16: 0.05,
}


class Kit(Protocol):
    """The parts that a kind of device has."""

    def candidates(
        self, module: torch.nn.Module, options: Mapping[str, Any] | None
    ) -> Iterator[torch.nn.Module]:
        """What might compute the same as a module, the largest first.

        Args:
            options: what the module hands to attention beside tensors; None where it is no layer.
        """
        ...


class CpuKit:
    """Parts whose matrix products do more than multiply.

    Args:
        maker: makes what they consist of.
    """

    def __init__(self, maker: PartMaker = ONE_DNN) -> None:
        self._maker = maker
        self._turner = maker.turner()

    def candidates(
        self, module: torch.nn.Module, options: Mapping[str, Any] | None
    ) -> Iterator[torch.nn.Module]:
        if options is not None and (layer := self._layer(module, options)):
            yield layer
        if mlp := GatedMlp.of(module, self._maker):
            yield mlp
        if norm := RmsNorm.of(module, self._maker.norm):
            yield norm

    def _layer(self, module: torch.nn.Module, options: Mapping[str, Any]) -> DecoderLayer | None:
        return DecoderLayer.of(module, options, self._maker, self._turner)


class DeviceKit:
    """Parts for a CUDA device.

    Args:
        ops: what lies between their products.
    """

    def __init__(self, ops: LayerOps) -> None:
        self._ops = ops

    def candidates(
        self, module: torch.nn.Module, options: Mapping[str, Any] | None
    ) -> Iterator[torch.nn.Module]:
        if options is not None and (layer := DeviceLayer.of(module, options, self._ops)):
            yield layer
        for kind in (DeviceMlp, DeviceNorm):
            if part := kind.of(module, self._ops):
                yield part


def fuse(model: PreTrainedModel, kit: Kit) -> int:
    """Replace what can be, whole layers first, then their parts.

    Returns:
        How many parts were replaced.
    """
    if model.dtype not in TOLERANCES:
        return 0
    with torch.inference_mode():
        try:
            with trying(model) as trial:
                return _fuse_children(model, trial, kit)
        except TRIAL_ERRORS:
            return 0  # `adopt` runs it too, and says what is wrong with it


def _fuse_children(parent: torch.nn.Module, trial: Trial, kit: Kit) -> int:
    num_fused = 0
    for name, child in parent.named_children():
        part = _replacement(child, trial, kit)
        if part is None:
            num_fused += _fuse_children(child, trial, kit)
        else:
            setattr(parent, name, part)
            num_fused += 1
    return num_fused


def _replacement(module: torch.nn.Module, trial: Trial, kit: Kit) -> torch.nn.Module | None:
    call = trial.calls.get(module)
    if call is None:
        return None
    options = trial.options.get(getattr(module, "self_attn", module))
    for part in kit.candidates(module, options):
        if _agrees(part, call):
            if isinstance(part, Layer):
                part.release()
            return part
    return None


def _agrees(part: torch.nn.Module, call: Call) -> bool:
    """Whether a part gives what the one that it is to replace gave."""
    try:
        output = part(*call.args, **call.kwargs)
    except PART_ERRORS:
        return False
    expected = call.output
    if not isinstance(expected, torch.Tensor) or output.shape != expected.shape:
        return False
    rounding = 4 * torch.finfo(expected.dtype).eps * _largest(expected)
    # What counts in a layer is what it adds: the residual stream can be a thousand times as large.
    added = expected - call.hidden if isinstance(part, Layer) else expected
    allowed = rounding + TOLERANCES[expected.dtype] * _largest(added)
    return output.dtype is expected.dtype and _largest(output - expected) <= allowed


def _largest(tensor: torch.Tensor) -> float:
    return float(tensor.abs().max())

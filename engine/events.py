"""What happened, as immutable records in an append-only log.

Client-side events (`Arrived`, `Token`, `Delivered`, `Finished`) come from every backend, and
every latency metric folds these alone. Engine-side ones (`Ready`, `Configured`, `Step`,
`Keyframe` and so on) come only from a backend that runs the scheduler itself. Times are in
seconds on the engine's clock. What every sequence of every pass makes one of is a named tuple: as
immutable as the others, but made in a third of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from engine.blocks import BlockChange
from engine.plan import Skip
from engine.queues import Preemption
from engine.request import FinishReason, Request
from engine.settings import EngineSettings


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What runs, for the screen and for reports.

    Attributes:
        attention: the way attention is computed, such as `grouped gather + sdpa`.
        num_kv_blocks, block_size: the cache that the device's memory was set aside for.
        quantization: in how many bits the weights are held, as `int8`; empty for those of `dtype`.
        compilation: how the model was compiled; empty where it was not.
        graphs: whether decoding passes are replayed as CUDA graphs, and why not; empty where the
            device has none.
        is_simulated: times come from a cost model; where no model runs, text is filler.
        device_uuid: of a CUDA device, by which its driver's gauges are found.
        peak_bandwidth, peak_flops: what the device was measured to do at best when it started:
            bytes a second to and from memory, operations a second; 0 where that is not known.
    """

    model: str
    device: str
    dtype: str
    attention: str
    num_params: int
    max_model_len: int
    num_kv_blocks: int
    block_size: int
    kv_bytes_per_token: int = 0
    num_threads: int = 1
    device_uuid: str = ""
    is_simulated: bool = False
    graphs: str = ""
    quantization: str = ""
    compilation: str = ""
    peak_bandwidth: float = 0.0
    peak_flops: float = 0.0

    @property
    def precision(self) -> str:
        """What passes compute in, and weights are held in where they have fewer bits."""
        return f"{self.quantization} {self.dtype}".strip()

    def longest(self, settings: EngineSettings) -> int:
        """Prompt and output together at most under these settings, in tokens."""
        return min(settings.max_model_len or self.max_model_len, self.max_model_len)

    def num_blocks(self, settings: EngineSettings) -> int:
        """KV blocks under these settings; the device's memory does not grow with their size."""
        num_tokens = self.num_kv_blocks * self.block_size
        return settings.num_kv_blocks or max(1, num_tokens // settings.block_size)

    def is_async(self, settings: EngineSettings) -> bool:
        """Whether passes are planned ahead under these settings."""
        if settings.async_scheduling is None:
            return bool(self.device_uuid)  # a CUDA device, which works while the host plans
        return settings.async_scheduling


@dataclass(frozen=True, slots=True)
class Ready:
    """The engine is built and takes requests."""

    time: float
    info: EngineInfo


@dataclass(frozen=True, slots=True)
class Configured:
    """The settings from here on."""

    time: float
    settings: EngineSettings


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request entered the engine; `time` may be later than its `arrival`."""

    time: float
    request: Request


@dataclass(frozen=True, slots=True)
class Refused:
    """A request never entered the engine, because its id is that of another one."""

    time: float
    request_id: str
    message: str


class Token(NamedTuple):
    """One output token was generated, whether or not the client has it yet.

    Attributes:
        text: what it adds to the output; empty while a character or a stop string is incomplete.
    """

    time: float
    request_id: str
    token_id: int
    text: str = ""


class Delivered(NamedTuple):
    """The next `num_tokens` tokens of a request reached its client."""

    time: float
    request_id: str
    num_tokens: int


@dataclass(frozen=True, slots=True)
class Finished:
    """A request ended, for whatever reason.

    Attributes:
        text: what was held back of the output and is shown now.
        message: the explanation of a rejection or an error.
    """

    time: float
    request_id: str
    reason: FinishReason
    text: str = ""
    message: str = ""


class Work(Enum):
    """What a slot did in one step."""

    PREFILL = "prefill"
    DECODE = "decode"
    HELD = "held"  # finished, its slot and blocks still held for the batch: waste
    STALLED = "stalled"  # alive, but given no token in this step


class RowRecord(NamedTuple):
    """One slot during one step.

    Attributes:
        num_computed: before the step.
        num_tokens: computed in the step; 0 where the slot is held or stalled.
        total_tokens: prompt and output before the step.
        sampled: whether the step gave the request a token.
        finished: whether that token was its last.
    """

    slot: int
    request_id: str
    work: Work
    num_tokens: int
    num_computed: int
    total_tokens: int
    sampled: bool = False
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """Where a step's time went on the host, in seconds on the engine's clock.

    Attributes:
        schedule: the batcher decides.
        launch: the model is called; a CPU computes the pass meanwhile.
        wait: for the tokens to come from the device.
        apply: sequences move on, answers are delivered and finished.
        prepare: tensors of ids, positions and block tables are made of the plan.
        sample: the calls that choose tokens from logits.
        detokenise: tokens become text, and stop strings are looked for.
        log: the step before this one was written down.
        device: the device computed so long, host time aside; 0 where it was not measured.
    """

    schedule: float = 0.0
    launch: float = 0.0
    wait: float = 0.0
    apply: float = 0.0
    prepare: float = 0.0
    sample: float = 0.0
    detokenise: float = 0.0
    log: float = 0.0
    device: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """One forward pass; with no rows, slots or blocks changed hands and nothing was computed.

    Attributes:
        index: counts forward passes from 0; a step with no rows has that of the next pass.
        time, duration: end of the step and its length.
        rows: every slot held during the pass, by slot.
        num_slots: token positions computed, padding and dead rows included.
        blocks: KV blocks taken and given back since the step before.
        preempted: who lost slot and blocks since the step before.
        skipped: why the head of the queue was not admitted.
        num_waiting, num_running, num_free_blocks: after the step.
        mode: how the runner ran it, as in `graph 8`; empty where it has but one way.
    """

    index: int
    time: float
    duration: float
    rows: tuple[RowRecord, ...]
    num_tokens: int
    num_slots: int
    is_rectangular: bool
    preempted: tuple[Preemption, ...]
    skipped: tuple[Skip, ...]
    blocks: tuple[BlockChange, ...]
    num_waiting: int
    num_running: int
    num_free_blocks: int
    split: Split = Split()
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Holding:
    """One running sequence in a keyframe."""

    slot: int
    request_id: str
    num_computed: int
    blocks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Keyframe:
    """The whole state between two steps, so that a reader can begin here.

    Attributes:
        index: of the next forward pass.
        waiting: ids in the order of the queue.
        outputs: text so far of every live request, by id.
        cached: blocks that a request with the right beginning would share.
    """

    time: float
    index: int
    settings: EngineSettings
    waiting: tuple[str, ...]
    running: tuple[Holding, ...]
    requests: tuple[Request, ...]
    outputs: tuple[tuple[str, str], ...]
    cached: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a live request got by the time of a checkpoint.

    Attributes:
        text: of the output so far.
        admitted_at: begin of the first pass that it ran in.
        worst_gap: longest time between two deliveries.
        num_cached: tokens that were in the cache when it was first admitted.
    """

    request_id: str
    text: str
    num_output_tokens: int
    num_delivered: int
    num_preemptions: int
    reason: FinishReason | None
    message: str
    admitted_at: float | None
    first_delivery: float | None
    last_delivery: float | None
    worst_gap: float
    num_cached: int = 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a keyframe cannot say, since no single moment shows it; recordings put it behind one.

    Attributes:
        num_finished, num_preemptions: since the beginning.
        progress: of the requests in the keyframe.
        num_looked_up, num_hit: tokens of new requests that the prefix cache was asked for, and
            those that it held, since the beginning.
    """

    time: float
    num_finished: int
    num_preemptions: int
    progress: tuple[Progress, ...]
    num_looked_up: int = 0
    num_hit: int = 0


@dataclass(frozen=True, slots=True)
class GpuGauges:
    """What an NVIDIA device says beyond load and memory; None where it does not say.

    Attributes:
        memory_busy: share of a recent fraction of a second in which memory was read or written.
        slowed_by: why clocks are lower than they could be, in words.
        sm_busy: share of multiprocessors that ran something, as the hardware counts it.
        sm_occupancy: share of the warps that could be resident and were.
        tensor_busy: share of the time in which tensor cores worked.
        dram_busy: share of the memory's peak bandwidth that was used.
    """

    memory_busy: float | None = None
    sm_clock_mhz: int | None = None
    max_sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    temperature_c: int | None = None
    power_limit_w: float | None = None
    slowed_by: tuple[str, ...] = ()
    sm_busy: float | None = None
    sm_occupancy: float | None = None
    tensor_busy: float | None = None
    dram_busy: float | None = None


@dataclass(frozen=True, slots=True)
class CpuGauges:
    """What the host had to do since the reading before.

    Attributes:
        cores_used: by this process; 1 is one core all the time.
        resident: memory of this process, in bytes.
        per_core: share of the time in which each core worked, for whomever.
        load: processes that ran or wanted to, on average over the last minute.
    """

    cores_used: float
    resident: int
    per_core: tuple[float, ...] = ()
    load: float = 0.0


@dataclass(frozen=True, slots=True)
class Gauges:
    """What a device reported about itself.

    Attributes:
        name: such as `GPU` or `CPU`: what the share is a share of.
        utilisation: 0 to 1; None where it is not known.
        memory_used, memory_total: in bytes.
        power_w: in watts; None where it is not known.
        energy_j: joules since some moment before the run, so that differences count; None where
            it is not known.
        gpu: None for another device.
        cpu: of the host.
    """

    time: float
    name: str
    utilisation: float | None
    memory_used: int
    memory_total: int
    power_w: float | None = None
    energy_j: float | None = None
    gpu: GpuGauges | None = None
    cpu: CpuGauges | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A forward pass failed, the engine stopped, or a change of settings was refused.

    Attributes:
        is_fatal: the engine thread ended; nothing more will happen.
        is_usage: what the user asked for cannot be had, such as a model that is not there.
    """

    time: float
    message: str
    is_fatal: bool = False
    is_usage: bool = False


@dataclass(frozen=True, slots=True)
class Noted:
    """A word to those who watch: where a phase of the workload begins, or gauges fail."""

    time: float
    text: str


@dataclass(frozen=True, slots=True)
class Played:
    """The workload has asked all that it will ask, and every request of it has been answered."""

    time: float


ClientEvent = Arrived | Refused | Token | Delivered | Finished
EngineEvent = Ready | Configured | Step | Keyframe | Checkpoint | Gauges | Failed | Noted | Played
Event = ClientEvent | EngineEvent

import pytest

from engine.clock import VirtualClock
from engine.core import EngineCore
from engine.cost import Linear
from engine.events import (
    Arrived,
    Configured,
    Delivered,
    EngineInfo,
    Finished,
    Gauges,
    Ready,
    RowRecord,
    Step,
    Token,
    Work,
)
from engine.log import EventLog
from engine.metrics import Metrics, Slo, Spread
from engine.metrics.report import PASS_METRICS, SERVICE_METRICS
from engine.queues import Preemption
from engine.request import FinishReason, Request, SamplingParams
from engine.run import run
from engine.runners.sim import SimRunner
from engine.settings import BatcherName, Delivery, EngineSettings, Start
from engine.tokenizer import ToyTokenizer
from engine.workload import Listed

INFO = EngineInfo("toy", "sim", "-", "-", 0, 8192, 100, 16, is_simulated=True)


def arrived(name, arrival=0.0, label="chat", prompt=3):
    return Arrived(arrival, Request(name, (1,) * prompt, arrival=arrival, label=label))


def streamed(name, *times):
    """Tokens that reach the client as they are made."""
    return [event for at in times for event in (Token(at, name, 1), Delivered(at, name, 1))]


def answered(name, *times):
    return [*streamed(name, *times), Finished(times[-1], name, FinishReason.LENGTH)]


def report(*events, slo=None):
    metrics = Metrics(slo)
    for event in events:
        metrics.feed(event if isinstance(event, list) else [event])
    return metrics.report()


def step(rows, duration=1.0, **changes):
    fields = {
        "index": 0,
        "time": 0.0,
        "duration": duration,
        "rows": tuple(rows),
        "num_tokens": sum(row.num_tokens for row in rows),
        "num_slots": sum(row.num_tokens for row in rows),
        "is_rectangular": False,
        "preempted": (),
        "skipped": (),
        "blocks": (),
        "num_waiting": 0,
        "num_running": len(rows),
        "num_free_blocks": 100,
    }
    return Step(**(fields | changes))


def decode(slot, name="a"):
    return RowRecord(slot, name, Work.DECODE, 1, 9, 10)


def held(slot, name="b"):
    return RowRecord(slot, name, Work.HELD, 0, 9, 10)


def prefill(slot, name, num_tokens, num_computed=0):
    return RowRecord(slot, name, Work.PREFILL, num_tokens, num_computed, 99)


def test_latencies_of_one_streamed_answer():
    service = report(arrived("a", 1.0), answered("a", 1.5, 1.75, 2.5)).service
    assert service.ttft == Spread(1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
    assert service.tpot == Spread(1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)  # (2.5 - 1.5) / 2
    assert service.itl is not None
    assert (service.itl.n, service.itl.mean, service.itl.max) == (2, 0.5, 0.75)
    assert service.e2e is not None
    assert service.e2e.max == 1.5
    assert service.norm_latency is not None
    assert service.norm_latency.mean == 0.5


def test_percentiles_are_interpolated_as_numpy_does():
    spread = Spread.of([1.0, 2.0, 3.0, 4.0, 5.0])
    assert spread == Spread(5, 3.0, 3.0, pytest.approx(4.6), pytest.approx(4.8), 4.96, 5.0)
    assert Spread.of([]) is None


def test_throughput_counts_from_the_first_arrival_to_the_last_delivery():
    run = report(
        arrived("a", 10.0), arrived("b", 11.0), answered("a", 11.0, 12.0), answered("b", 14.0)
    )
    assert run.span == 4.0
    assert run.service.request_throughput == 2 / 4
    assert run.service.output_throughput == 3 / 4
    assert (run.service.num_prompt_tokens, run.service.num_output_tokens) == (6, 3)


def test_tokens_that_come_together_make_one_gap():
    events = [Token(1.0, "a", 1), Delivered(1.0, "a", 1)]
    events += [Token(t, "a", 1) for t in (1.1, 1.2, 1.3)] + [Delivered(1.6, "a", 3)]
    service = report(arrived("a"), events, Finished(1.6, "a", FinishReason.STOP)).service
    assert service.itl == Spread.of([1.6 - 1.0])
    assert service.tpot == Spread.of([(1.6 - 1.0) / 3])


def test_an_answer_that_comes_all_at_once_has_no_itl_and_no_tpot():
    events = [Token(t, "a", 1) for t in (1.0, 2.0)]
    late = [Finished(2.0, "a", FinishReason.LENGTH), Delivered(5.0, "a", 2)]
    service = report(arrived("a"), events, late).service
    assert service.ttft == service.e2e == Spread.of([5.0])
    assert (service.itl, service.tpot) == (None, None)


def test_a_request_counts_as_complete_only_once_its_answer_is_delivered():
    events = [arrived("a"), Token(1.0, "a", 1), Finished(1.0, "a", FinishReason.LENGTH)]
    assert report(events).service.num_completed == 0
    assert report([*events, Delivered(4.0, "a", 1)]).service.num_completed == 1


def test_requests_that_end_early_count_for_what_they_got():
    service = report(
        [arrived(name) for name in "abcd"],
        [*streamed("a", 1.0, 2.0), Finished(2.5, "a", FinishReason.ABORT)],
        Finished(0.0, "b", FinishReason.REJECTED),
        [*streamed("c", 1.0), Finished(1.5, "c", FinishReason.ERROR)],
        answered("d", 4.0),
    ).service
    assert (service.num_requests, service.num_completed) == (4, 1)
    assert (service.num_aborted, service.num_rejected, service.num_failed) == (1, 1, 1)
    assert service.num_output_tokens == 4
    assert service.ttft is not None
    assert service.ttft.n == 3
    assert service.e2e == Spread.of([4.0])


def test_labels_are_reported_apart():
    run = report(
        arrived("a", label="short"),
        arrived("b", label="long"),
        answered("a", 1.0, 2.0),
        answered("b", 3.0, 8.0),
    )
    assert list(run.by_label) == ["short", "long"]
    assert run.value("itl_max_ms", "short") == 1000.0
    assert run.value("itl_max_ms", "long") == 5000.0
    assert run.value("itl_max_ms") == 5000.0
    assert run.value("e2e_p50_ms", "nobody") is None


@pytest.mark.parametrize(
    ("slo", "attainment"),
    [
        (Slo(ttft_ms=1000), 1 / 2),
        (Slo(ttft_ms=2000), 1.0),
        (Slo(ttft_ms=2000, tpot_ms=400), 1 / 2),
        (Slo(ttft_ms=1000, tpot_ms=400), 0.0),
        (Slo(e2e_ms=2000), 1.0),
    ],
)
def test_attainment_is_the_share_that_meets_every_objective(slo, attainment):
    run = report(
        [arrived("a"), arrived("b")], answered("a", 1.0, 1.5), answered("b", 1.5, 1.75), slo=slo
    )
    assert run.service.attainment == attainment
    assert run.service.goodput == attainment * 2 / run.span


def test_a_request_that_was_rejected_or_aborted_met_no_objective():
    run = report(
        [arrived("a"), arrived("b"), arrived("c")],
        answered("a", 0.5),
        Finished(0.0, "b", FinishReason.REJECTED),
        Finished(0.1, "c", FinishReason.ABORT),
        slo=Slo(ttft_ms=1000),
    )
    assert run.service.attainment == 1 / 3


def test_a_tpot_objective_is_not_met_by_an_answer_that_comes_all_at_once():
    together = [Token(1.0, "a", 1), Token(2.0, "a", 1), Finished(2.0, "a", FinishReason.LENGTH)]
    run = report(
        [arrived("a"), arrived("b")],
        [*together, Delivered(2.0, "a", 2)],
        answered("b", 2.0),
        slo=Slo(tpot_ms=5000),
    )
    assert run.service.attainment == 1 / 2


def test_without_objectives_there_is_no_goodput():
    service = report(arrived("a"), answered("a", 1.0)).service
    assert (service.goodput, service.attainment) == (None, None)


def test_slot_time_is_split_into_live_held_and_empty():
    passes = report(
        Ready(0.0, INFO),
        Configured(0.0, EngineSettings(max_num_seqs=4)),
        step([decode(0), held(1)], duration=3.0),
        step([decode(0), decode(1)], duration=1.0),
    ).passes
    assert passes.busy == 4.0
    assert passes.occupancy == (3 * 1 + 1 * 2) / 16
    assert passes.held_share == 3 / 16
    assert passes.peak_running == 2


def test_padding_is_what_a_rectangle_computes_beyond_its_tokens():
    rows = [prefill(0, "a", 30), prefill(1, "b", 10)]
    passes = report(step(rows, num_slots=60, is_rectangular=True)).passes
    assert (passes.num_tokens, passes.num_positions) == (40, 60)
    assert passes.padding_share == pytest.approx(1 / 3)
    assert passes.useful_share == pytest.approx(2 / 3)


def test_tokens_computed_again_after_a_preemption_are_not_useful():
    passes = report(
        step([prefill(0, "a", 40)]),
        step([decode(1, "b")], preempted=(Preemption("a", 0, 40),)),
        step([prefill(0, "a", 32)]),
        step([prefill(0, "a", 12, num_computed=32)]),
        step([prefill(0, "a", 5, num_computed=44)]),
    ).passes
    assert (passes.num_preemptions, passes.num_recomputed) == (1, 40)
    assert passes.useful_share == (90 - 40) / 90


def test_a_request_level_batch_counts_once_and_a_continuous_one_every_pass():
    batch = [
        step([prefill(0, "a", 9), prefill(1, "b", 9)], is_rectangular=True),
        step([decode(0), held(1)], is_rectangular=True),
        step([prefill(0, "c", 9)], is_rectangular=True),
    ]
    assert report(batch).passes.mean_batch == 1.5
    assert report(step([decode(0)]), step([decode(0), decode(1)])).passes.mean_batch == 1.5


def test_a_step_without_rows_is_no_pass_but_its_blocks_count():
    passes = report(
        Ready(0.0, INFO),
        Configured(0.0, EngineSettings()),
        step([], duration=0.0, num_free_blocks=25),
    ).passes
    assert (passes.num_passes, passes.kv_peak) == (0, 0.75)


def test_an_empty_log_leaves_everything_undefined():
    run = report()
    assert {run.value(name) for name in ("rps", "ttft_p50_ms", "occupancy", "kv_peak")} == {None}
    assert run.value("num_requests") == 0


def test_every_metric_has_a_name_and_an_unknown_one_is_an_error():
    run = report(arrived("a"), answered("a", 1.0))
    assert {"ttft_p99_ms", "itl_max_ms", "out_tps", "norm_latency_ms"} < set(SERVICE_METRICS)
    assert {"occupancy", "busy_ms_per_req", "mean_batch"} < set(PASS_METRICS)
    with pytest.raises(KeyError):
        run.value("occupancy", "chat")


def test_feeding_bit_by_bit_gives_the_same_as_all_at_once():
    clock, log, tokenizer = VirtualClock(), EventLog(), ToyTokenizer()
    settings = EngineSettings(batcher=BatcherName.STATIC, max_batch_size=4, start=Start.IDLE)
    runner = SimRunner(clock, Linear(), tokenizer.vocab_size)
    core = EngineCore(settings, INFO, runner, tokenizer, clock, log)
    requests = [
        Request(f"r{i}", (1,) * 9, SamplingParams(max_tokens=2 + i), 0.05 * i) for i in range(6)
    ]
    bit_by_bit, position = Metrics(), 0

    def on_step():
        nonlocal position
        events, position = log.since(position)
        bit_by_bit.feed(events)

    run(core, Listed(requests), on_step)
    assert settings.delivery is Delivery.BATCH
    assert bit_by_bit.report() == report(log.since(0)[0])
    assert bit_by_bit.report().service.num_completed == 6
    assert bit_by_bit.report().service.num_output_tokens == sum(range(2, 8))


def power(time, power_w):
    return Gauges(time, "GPU", 0.5, 0, 0, power_w)


def test_energy_is_the_power_between_readings_by_delivered_token():
    gauges = [power(1.0, 100.0), power(2.0, 300.0), power(4.0, 300.0)]
    passes = report(arrived("a"), answered("a", 1.0, 2.0), gauges).passes
    assert passes.energy == 1.0 * 200.0 + 2.0 * 300.0
    assert passes.energy_per_token == 800.0 / 2


def test_a_counter_of_energy_is_believed_rather_than_readings_of_power():
    readings = [Gauges(t, "GPU", 0.5, 0, 0, 100.0, energy_j=7000.0 + 50 * t) for t in (1.0, 3.0)]
    assert report(arrived("a"), answered("a", 1.0), readings).passes.energy == 100.0


def test_what_the_device_took_while_the_clock_was_held_is_no_part_of_the_run():
    counts = [(1.0, 1000.0), (2.0, 1100.0), (2.0, 9000.0), (3.0, 9050.0)]
    readings = [Gauges(at, "GPU", 0.5, 0, 0, 100.0, energy_j=joules) for at, joules in counts]
    assert report(arrived("a"), answered("a", 1.0), readings).passes.energy == 100.0 + 50.0


def test_without_two_readings_of_power_energy_is_unknown():
    passes = report(arrived("a"), answered("a", 1.0), power(1.0, 100.0), power(2.0, None)).passes
    assert (passes.energy, passes.energy_per_token) == (None, None)

"""Our settings in other systems' words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.config import ConfigError
from engine.settings import BatcherName, EngineSettings, SchedulingPolicy, TimeoutAction
from tuiapp.knobs import list_knobs, read_dialects

DIALECTS = {dialect.name: dialect for dialect in read_dialects()}
SETTINGS = EngineSettings(
    num_kv_blocks=100, max_model_len=2048, long_prefill_token_threshold=0, max_num_seqs=4
)
DYNAMIC = EngineSettings(batcher=BatcherName.DYNAMIC, max_queue_delay_ms=2.5)


def test_seven_systems_are_known_each_with_its_version_and_source():
    assert list(DIALECTS) == [
        "vLLM",
        "SGLang",
        "TGI",
        "TensorRT-LLM",
        "Triton",
        "llama.cpp",
        "transformers",
    ]
    assert all(each.version and each.source for each in DIALECTS.values())


@pytest.mark.parametrize("name", DIALECTS)
def test_only_settings_that_exist_are_named_and_every_form_can_be_filled(name):
    known = {knob.name for knob in list_knobs()}
    assert set(DIALECTS[name].terms) <= known
    for settings in (SETTINGS, DYNAMIC):
        assert "{" not in DIALECTS[name].write_command(settings).replace(" {\n", "\n")
        for knob in known:
            assert DIALECTS[name].explain(knob, settings)


def test_values_by_name_are_values_that_the_knobs_have():
    choices = {knob.name: knob.choices for knob in list_knobs()}
    for dialect in DIALECTS.values():
        for name, term in dialect.terms.items():
            assert set(term.by_value) <= set(choices[name]), f"{dialect.name}: {name}"


@pytest.mark.parametrize(
    ("system", "command"),
    [
        (
            "vLLM",
            "vllm serve MODEL --max-num-seqs 4 --max-num-batched-tokens 512 "
            "--enable-chunked-prefill --scheduling-policy fcfs "
            "--num-gpu-blocks-override 100 --block-size 16 "
            "--no-enable-prefix-caching --max-model-len 2048",
        ),
        (
            "SGLang",
            "python -m sglang.launch_server --model-path MODEL --max-running-requests 4 "
            "--max-prefill-tokens 512 --enable-mixed-chunk --schedule-policy fcfs "
            "--max-total-tokens 1600 --page-size 16 "
            "--disable-radix-cache --context-length 2048",
        ),
        (
            "TensorRT-LLM",
            "trtllm-serve MODEL --max_batch_size 4 --max_num_tokens 512 --max_seq_len 2048 "
            "--extra_llm_api_options extra.yaml\n"
            "# extra.yaml\n"
            "enable_chunked_prefill: true\n"
            "scheduler_config:\n"
            "  capacity_scheduler_policy: MAX_UTILIZATION\n"
            "kv_cache_config:\n"
            "  max_tokens: 1600\n"
            "  tokens_per_block: 16\n"
            "  enable_block_reuse: false",
        ),
        (
            "transformers",
            "transformers serve MODEL --continuous-batching --cb-max-batch-tokens 512 "
            "--cb-num-blocks 100 --cb-block-size 16\n"
            "# in Python: max_requests_per_batch=4\n"
            '# in Python: scheduler_type="fifo"\n'
            "# in Python: allow_block_sharing=False\n"
            "# not available there: max_model_len = 2048",
        ),
    ],
)
def test_a_command_line_says_all_that_can_be_said_there(system, command):
    assert DIALECTS[system].write_command(SETTINGS) == command


def test_a_group_of_a_file_opens_and_closes_as_its_system_writes_it():
    assert DIALECTS["Triton"].write_command(DYNAMIC) == (
        "tritonserver --model-repository=MODELS\n"
        "# config.pbtxt\n"
        "max_batch_size: 8\n"
        "dynamic_batching {\n"
        "  max_queue_delay_microseconds: 2500\n"
        "}\n"
        "# not available there: block_size = 16\n"
        "# not available there: kv_policy = paged"
    )


def test_a_table_within_a_table_is_opened_once_for_all_its_lines():
    settings = replace(
        DYNAMIC,
        scheduling_policy=SchedulingPolicy.PRIORITY,
        max_queue_size=64,
        default_queue_timeout_ms=500,
        timeout_action=TimeoutAction.DELAY,
    )
    assert (
        "dynamic_batching {\n"
        "  max_queue_delay_microseconds: 2500\n"
        "  priority_levels: 8 default_priority_level: 1\n"
        "  default_queue_policy {\n"
        "    max_queue_size: 64\n"
        "    default_timeout_microseconds: 500000\n"
        "    timeout_action: DELAY\n"
        "  }\n"
        "}\n"
    ) in DIALECTS["Triton"].write_command(settings)


@pytest.mark.parametrize(
    ("system", "knob", "text"),
    [
        ("vLLM", "max_num_seqs", "--max-num-seqs 4"),
        ("vLLM", "long_prefill_token_threshold", "--long-prefill-token-threshold"),
        ("vLLM", "max_batch_size", "not available there"),
        ("vLLM", "deliver", '"stream"'),
        ("TGI", "deliver", "POST /generate_stream / POST /generate"),
        ("SGLang", "num_kv_blocks", "--max-total-tokens 1600; counts tokens"),
        ("TensorRT-LLM", "block_size", "tokens_per_block: 16, in extra.yaml"),
        ("llama.cpp", "enable_chunked_prefill", "prompts are always cut to --batch-size"),
    ],
)
def test_a_line_of_the_panel_names_the_setting_and_its_value(system, knob, text):
    shown = DIALECTS[system].explain(knob, SETTINGS)
    assert shown.startswith(text)


def test_an_unknown_key_in_the_table_is_an_error(tmp_path):
    path = tmp_path / "dialects.toml"
    path.write_text(
        '[[dialect]]\nname = "x"\nversion = "1"\nsource = "-"\ncommand = "x"\n'
        '[dialect.setting]\nblock_size = { wirte = "--b" }\n'
    )
    with pytest.raises(ConfigError, match="did you mean 'write'"):
        read_dialects(path)

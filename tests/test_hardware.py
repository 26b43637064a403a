from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.config import ConfigError
from engine.cost import Achieved, Load
from engine.hardware import devices, find_device, find_model, num_kv_blocks, simulate
from engine.hardware.devices import device_files, device_folder, read_device
from engine.hardware.files import shipped_files
from engine.hardware.write import device_to_toml

FIGURES = ("memory_gb", "bandwidth_gb_s", "tflops", "achieved")


@pytest.mark.parametrize(
    ("name", "num_params", "kv_bytes_in_16_bits"),
    [  # as published, and by the count of keys and values
        ("llama-3.2-1b", 1_235_814_400, 32_768),
        ("llama-3.1-8b", 8_030_261_248, 131_072),
        ("llama-3.1-70b", 70_553_706_496, 327_680),
        ("qwen3-0.6b", 596_049_920, 114_688),
        ("qwen3-8b", 8_190_735_360, 147_456),
        ("qwen3-32b", 32_762_123_264, 262_144),
        ("mistral-7b", 7_248_023_552, 131_072),
        ("smollm2-135m", 134_515_008, 23_040),
        ("tiny", 3_475_712, 2_048),
    ],
)
def test_a_models_dimensions_give_its_published_number_of_weights(
    name, num_params, kv_bytes_in_16_bits
):
    model = find_model(name)
    assert model.num_params == num_params
    assert model.kv_values_per_token * 2 == kv_bytes_in_16_bits
    assert model.source


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Qwen/Qwen3-0.6B", "Qwen3-0.6B"),
        ("meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B"),
        ("smollm2", "SmolLM2-135M"),
    ],
)
def test_a_model_is_found_by_what_others_call_it(name, found):
    assert find_model(name).name == found


@pytest.mark.parametrize("path", shipped_files("devices").values(), ids=lambda path: path.stem)
def test_every_figure_of_a_shipped_device_names_its_source(path):
    device = read_device(path)
    assert all(device.sources[figure] for figure in FIGURES)
    assert device.link is None or device.sources["link"]


def test_the_example_of_a_device_file_is_one(tmp_path):
    text = (Path(devices.__file__).parent / "README.md").read_text("utf-8")
    path = tmp_path / "example.toml"
    path.write_text(text.split("```toml\n")[1].split("```")[0])
    assert read_device(path).achieved == Achieved()


def test_devices_are_found_by_name_alone_and_in_numbers():
    assert find_device("h200").device.bandwidth_gb_s == 4800
    assert find_device("a100-80").count == 1
    several = find_device("h100x8")
    assert (several.count, several.name) == (8, "8 x NVIDIA H100 SXM")


@pytest.fixture
def own_device():
    """A file in the user's own folder, for as long as the test runs."""
    path = device_folder() / "mine.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(device_to_toml(replace(find_device("t4").device, name="Mine")))
    yield path
    path.unlink()


def test_a_users_device_is_found_by_name_in_numbers_and_by_path(own_device):
    assert find_device("mine").device.name == "Mine"
    assert find_device("minex2").name == "2 x Mine"
    assert find_device(str(own_device)).device.name == "Mine"
    assert "mine" in device_files()


@pytest.mark.parametrize("name", ["h200", "l40s", "cpu"])
def test_a_device_that_is_written_is_read_back(tmp_path, name):
    path = tmp_path / "copy.toml"
    device = find_device(name).device
    path.write_text(device_to_toml(device), "utf-8")
    assert read_device(path) == device


def test_a_models_folder_is_read_for_its_dimensions(tmp_path):
    config = {
        "model_type": "qwen3",
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151936,
        "max_position_embeddings": 40960,
        "tie_word_embeddings": True,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert find_model(str(tmp_path)).num_params == find_model("qwen3-0.6b").num_params


def test_an_8b_model_on_an_h200_decodes_as_its_weights_can_be_read():
    cost = simulate("h200", "llama-3.1-8b")
    weights = (cost.model.layer_params + cost.model.head_params) * 2 / (4.8e12 * 0.7)
    one = Load(1, 1, 1, 0, 0)
    assert cost.dtype == "bfloat16"
    assert cost.seconds_of(one) == pytest.approx(weights + 0.002 + 5e-6, rel=1e-3)


def test_eight_decoding_rows_cost_little_more_than_one():
    cost = simulate("h100", "qwen3-8b")
    one, eight = (cost.seconds_of(Load(n, n, n, 64 * n, 64 * n)) for n in (1, 8))
    assert one < eight < 1.05 * one


def test_weights_leave_the_rest_of_the_usable_memory_for_the_cache():
    cost = simulate("h200", "llama-3.1-8b")
    left = int(141e9 * 0.9) - 8_030_261_248 * 2
    assert num_kv_blocks(cost, 16) == left // (16 * 131_072)
    assert num_kv_blocks(cost, 16, memory_gib=1) == 512
    shared = simulate("h100x4", "llama-3.1-70b")
    left = 4 * int(80e9 * 0.9) - 70_553_706_496 * 2
    assert num_kv_blocks(shared, 16) == left // (16 * 327_680)


def test_without_a_device_the_shipped_model_stands_for_one_that_fills_an_h100():
    cost = simulate("", "tiny")
    assert (cost.model.name, cost.device.name) == ("Qwen3-8B", "NVIDIA H100 SXM")
    assert simulate("", "mistral-7b").model.name == "Mistral-7B-v0.3"
    assert simulate("h100", "tiny").model.name == "tiny"


def test_a_dtype_is_taken_from_the_device_or_has_to_be_one_of_its():
    assert simulate("t4", "llama-3.2-1b").dtype == "float16"
    assert simulate("h100", "llama-3.2-1b", "float32").weight_bytes == 4 * 1_235_814_400


def problem_of(call, *arguments) -> str:
    with pytest.raises(ConfigError) as caught:
        call(*arguments)
    return str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("h20", "tiny"), "unknown device 'sim:h20'; did you mean 'sim:h200'?"),
        (("h20x4", "tiny"), "unknown device 'sim:h20x4'; did you mean 'sim:h200'?"),
        (("h100x0", "tiny"), "unknown device 'sim:h100x0'; did you mean 'sim:h100'?"),
        (("liner", "tiny"), "unknown device 'sim:liner'; did you mean 'sim:linear'?"),
        (
            ("h100", "llama-3.1-80b"),
            "no model to simulate is called 'llama-3.1-80b'; did you mean 'llama-3.1-8b'?",
        ),
        (
            ("t4", "tiny", "bfloat16"),
            "NVIDIA T4 has no arithmetic in 'bfloat16'; known: float16, float32",
        ),
        (("t4", "tiny", "flot16"), "unknown dtype 'flot16'; did you mean 'float16'?"),
        (
            ("h100x3", "llama-3.1-8b"),
            "3 devices cannot share the 8 KV heads of Llama-3.1-8B evenly",
        ),
        (
            ("cpux2", "tiny"),
            "the file of 2-core CPU has no [link] to share a model over",
        ),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_what_could(arguments, message):
    assert problem_of(simulate, *arguments) == message


def test_a_model_that_does_not_fit_is_refused_with_the_numbers():
    assert problem_of(num_kv_blocks, simulate("h100", "llama-3.1-70b"), 16) == (
        "Llama-3.1-70B does not fit: its weights take 141.1 GB in bfloat16, and NVIDIA H100 SXM "
        "has 80 GB, of which 72.0 can be used"
    )
    assert "and 2 x NVIDIA L40S has 96 GB" in problem_of(
        num_kv_blocks, simulate("l40sx2", "llama-3.1-70b"), 16
    )


def test_a_cache_that_does_not_fit_is_refused_with_the_numbers():
    cost = simulate("h100", "llama-3.1-8b")
    assert problem_of(num_kv_blocks, cost, 16, 60.0) == (
        "60 GiB for the KV cache do not fit; Llama-3.1-8B leaves 52.1 of NVIDIA H100 SXM"
    )
    assert problem_of(num_kv_blocks, cost, 16, 0.003) == (
        "0.003 GB do not hold two KV blocks of Llama-3.1-8B"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "this is no TOML: Invalid value (at end of document)"),
        ("nam = 'x'", "nam: unknown key; did you mean 'name'?"),
        ("name = 'x'", "'memory_gb' is missing"),
        (
            "name='x'\nmemory_gb=1\nbandwidth_gb_s=1\n[tflops]\nfloat32=1\n[achieved]\nmemory=2",
            "achieved.memory: must be above 0 and at most 1, got 2.0",
        ),
    ],
)
def test_a_wrong_device_file_is_refused_with_the_place(tmp_path, text, message):
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    assert problem_of(find_device, str(path)) == f"{path}: {message}"


def test_a_device_file_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "gone.toml"
    assert problem_of(find_device, str(path)) == (
        f"{path}: cannot be read: No such file or directory"
    )


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ('{"model_type": "mamba"}', "model_type: cannot simulate a 'mamba'; known: llama, mistral"),
        ('{"model_type": "llama"}', "'hidden_size' is missing"),
        ("{", "cannot be read: "),
    ],
)
def test_a_folder_of_another_kind_of_model_is_refused(tmp_path, config, message):
    (tmp_path / "config.json").write_text(config)
    assert message in problem_of(find_model, str(tmp_path))

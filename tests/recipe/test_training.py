import json
from dataclasses import replace

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from engine.recipe.__main__ import make
from engine.recipe.settings import Settings
from engine.recipe.training import rate_at

SMOKE = Settings(
    steps=12,
    tokens_per_step=512,
    warmup_steps=2,
    learning_rate=2e-2,
    vocab_size=400,
    tokenizer_documents=150,
    hidden_size=32,
    intermediate_size=64,
    num_layers=1,
    num_heads=2,
    num_kv_heads=1,
    validation_documents=10,
    validation_every=6,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    out = tmp_path_factory.mktemp("model")
    make(SMOKE, out)
    yield out
    torch.set_num_threads(num_threads)


def test_a_few_steps_lower_the_loss(folder):
    progress = json.loads((folder / "training_log.json").read_text())["progress"]
    checked = [entry["validation_loss"] for entry in progress if entry["validation_loss"]]
    assert [entry["step"] for entry in progress] == [1, 6, 12]
    assert checked[-1] < checked[0] < 5.99


def test_the_folder_loads_and_writes(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    assert model.dtype is torch.bfloat16
    chat = [{"role": "user", "content": "Hello!"}]
    ids = tokenizer.apply_chat_template(
        chat, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )["input_ids"]
    assert ids[0, :2].tolist() == [1, 3]
    assert ids[0, -1] == 4
    assert model.generate(ids, max_new_tokens=4, do_sample=False).shape[1] <= ids.shape[1] + 4


def test_text_survives_the_tokenizer(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    text = "Zoë counts 1, 2, 30.\nÜber 🦊 — done!"
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_the_learning_rate_rises_holds_and_falls():
    settings = replace(SMOKE, steps=100, warmup_steps=10, hold_share=0.4)
    rates = [round(rate_at(step, settings), 3) for step in (1, 10, 40, 70, 100)]
    assert rates == [0.1, 1.0, 1.0, 0.515, 0.03]

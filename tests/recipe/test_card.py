import json

from engine.recipe.card import write_card

LOG = {
    "settings": {"max_position_embeddings": 8192, "prompt_weight": 0.3},
    "num_parameters": 3475712,
    "progress": [{"step": 1600, "num_tokens": 8_200_000, "cpu_s": 2700, "validation_loss": 0.512}],
    "evaluation": {
        "behind_filler": [
            {"filler_tokens": 4000, "num_answers": 48, "on_topic": 0.75, "ended": 1.0}
        ],
        "answer_tokens": {"short": [80, 95, 120]},
        "stories_with_steady_names": 0.59375,
    },
}


def test_the_card_states_the_figures_of_the_log(tmp_path):
    (tmp_path / "training_log.json").write_text(json.dumps(LOG))
    write_card(tmp_path)
    card = (tmp_path / "README.md").read_text()
    assert "license: apache-2.0" in card
    assert "of 3,475,712 parameters" in card
    assert "45 minutes of one core" in card
    assert "1,600 steps on 8.2 million tokens; loss 0.51 nats" in card
    assert "| 4,000 | 75% | 100% | 48 |" in card
    assert "Of short stories, 59% keep" in card
    assert "| short | 80 | 95 | 120 |" in card

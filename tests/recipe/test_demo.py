from engine.recipe.data import load
from engine.recipe.demo import CORPUS_CHARACTERS, write_corpus


def test_the_corpus_is_prose_in_paragraphs_none_of_them_twice(tmp_path):
    path = tmp_path / "corpus.txt"
    write_corpus(path)
    text = path.read_text()
    paragraphs = text.strip().split("\n\n")
    assert len(set(paragraphs)) == len(paragraphs) > 100
    assert CORPUS_CHARACTERS <= len(text) < 1.1 * CORPUS_CHARACTERS
    assert "<|" not in text


def test_demo_prompts_differ():
    prompts = load("demo")["prompts"]
    assert len(set(prompts)) == len(prompts) >= 60

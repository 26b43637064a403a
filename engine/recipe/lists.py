"""Lists, step-by-step guides and counting."""

import random

from engine.recipe.data import load, split_words, words
from engine.recipe.grammar import capital, lower
from engine.recipe.turns import Turn

LIST_REQUESTS = [
    "List {count} {things}.",
    "Name {count} {things}.",
    "Give me {count} {things}.",
    "Can you name {count} {things}?",
    "Write a list of {count} {things}.",
    "Tell me {count} {things}.",
]
GUIDE_REQUESTS = [
    "How do I {task}?",
    "How can I {task}?",
    "How to {task}?",
    "Explain how to {task}.",
    "Tell me how to {task}.",
    "Write the steps to {task}.",
    "Give me a guide to {task}.",
    "What is the best way to {task}?",
]
GUIDE_OPENINGS = ["Here is how to {task}:\n", "To {task}, follow these steps:\n", ""]
GUIDE_ENDINGS = [
    "Take your time and enjoy it.",
    "That is all. Good luck!",
    "It is easier than it looks.",
    "With a little practice, it becomes easy.",
]
COUNT_REQUESTS = [
    "Count from {first} to {last}.",
    "Can you count from {first} to {last}?",
    "Write the numbers from {first} to {last}.",
    "Please count from {first} to {last}.",
]


def list_turn(rng: random.Random) -> Turn:
    """Ask for a number of things of a kind."""
    things = rng.choice(list(load("lists")))
    names = split_words(load("lists")[things])
    chosen = rng.sample(names, rng.randint(2, min(10, len(names))))
    count = words("numbers")[len(chosen)] if rng.random() < 0.6 else str(len(chosen))
    question = rng.choice(LIST_REQUESTS).format(count=count, things=things)
    if rng.random() < 0.65:
        is_introduced = rng.random() < 0.3
        opening = rng.choice(["Here are", "Sure! Here are"]) if is_introduced else ""
        opening += f" {count} {things}:\n" if is_introduced else ""
        return Turn(question, opening + _numbered([capital(name) for name in chosen]))
    enumeration = ", ".join(chosen[:-1]) + " and " + chosen[-1]
    if rng.random() < 0.6:
        return Turn(question, capital(enumeration) + ".")
    return Turn(question, f"{capital(count)} {things} are {enumeration}.")


def guide_turn(rng: random.Random) -> Turn:
    """Ask how something is done."""
    task = rng.choice(list(load("howto")))
    return Turn(rng.choice(GUIDE_REQUESTS).format(task=task), guide(rng, task))


def guide(rng: random.Random, task: str) -> str:
    """Return the steps of a task as a numbered list or as a paragraph."""
    steps: list[str] = load("howto")[task]
    if rng.random() < 0.4:
        return " ".join(
            ["First, " + lower(steps[0])]
            + [_next_step(rng, step) for step in steps[1:-1]]
            + ["Finally, " + lower(steps[-1])]
        )
    text = rng.choice(GUIDE_OPENINGS).format(task=task) + _numbered(steps)
    return text + "\n" + rng.choice(GUIDE_ENDINGS) if rng.random() < 0.4 else text


def count_turn(rng: random.Random) -> Turn:
    """Ask to count, or for days and months in their order."""
    lot = rng.random()
    if lot < 0.6:
        return _number_turn(rng)
    if lot < 0.8:
        return _order_turn(rng, "day", words("days"), "of the week")
    return _order_turn(rng, "month", words("months"), "of the year")


def _numbered(entries: list[str]) -> str:
    return "\n".join(f"{number}. {entry}" for number, entry in enumerate(entries, start=1))


def _next_step(rng: random.Random, step: str) -> str:
    link = rng.choice(["Then ", "Next, ", "After that, ", "", "Now "])
    return link + lower(step) if link else step


def _number_turn(rng: random.Random) -> Turn:
    first = rng.choice([1, 1, 1, rng.randint(1, 20)])
    last = first + rng.choice([4, 9, 9, 11, 14, 19, 29, rng.randint(3, 40)])
    numbers = [str(number) for number in range(first, last + 1)]
    if rng.random() < 0.2:
        numbers.reverse()
    question = rng.choice(COUNT_REQUESTS).format(first=numbers[0], last=numbers[-1])
    return Turn(question, rng.choice([", ", ", ", " "]).join(numbers) + ".")


def _order_turn(rng: random.Random, unit: str, names: list[str], whole: str) -> Turn:
    if rng.random() < 0.4:
        request = rng.choice(["What are the {0}s {1}?", "List the {0}s {1}.", "Name the {0}s {1}."])
        listed = ", ".join(names[:-1]) + " and " + names[-1]
        return Turn(request.format(unit, whole), f"The {unit}s {whole} are {listed}.")
    place = rng.randrange(len(names))
    side, step = rng.choice([("after", 1), ("before", -1)])
    other = names[(place + step) % len(names)]
    question = f"What {unit} comes {side} {names[place]}?"
    return Turn(question, f"{other} comes {side} {names[place]}.")

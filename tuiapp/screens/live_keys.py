"""The keys of the live screen, and which of them need a live engine, or a recording.

Every action has a name, by which a user gives it another key.
"""

from __future__ import annotations

from dataclasses import replace

from textual.binding import Binding, BindingType

from tuiapp.keys import Keys
from tuiapp.preferences import Preferences

LIVE_ACTIONS = frozenset(
    {"abort", "abort_all", "attack", "batcher", "burst", "flush", "inject", "knobs", "system"}
    | {"compare", "lessons", "workload"}
)
LOADED_ACTIONS = LIVE_ACTIONS | {"profile", "report", "utilisation"}  # need an engine, or had one
REPLAY_ACTIONS = frozenset({"jump", "reverse"})
NAMES = {  # of the actions that do another thing with other arguments
    "batcher('static')": "static",
    "batcher('dynamic')": "dynamic",
    "batcher('continuous')": "continuous",
    "step(1)": "step",
    "step(10)": "step-10",
    "speed(1)": "faster",
    "speed(-1)": "slower",
    "select(-1)": "select-before",
    "select(1)": "select-next",
    "rewind(-1)": "rewind",
    "rewind(1)": "forward",
    "rewind(-10)": "rewind-10",
    "rewind(10)": "forward-10",
    "jump(-10)": "back-10s",
    "jump(10)": "on-10s",
}
SHOWN_TOGETHER = {  # in the footer, by the first
    "static": ("static", "dynamic", "continuous"),
    "rewind": ("rewind", "forward"),
    "faster": ("faster", "slower"),
}


def name_of(action: str) -> str:
    """What an action is called in the config file."""
    return NAMES.get(action) or action.removeprefix("app.").replace("_", "-")


USUAL = [
    Binding("1", "batcher('static')", "Batcher", tooltip="Static batching"),
    Binding("2", "batcher('dynamic')", "Batcher", show=False, tooltip="Dynamic batching"),
    Binding("3", "batcher('continuous')", "Batcher", show=False, tooltip="Continuous batching"),
    Binding("b", "burst", "Burst", tooltip="Send 24 requests of varied length"),
    Binding("w", "workload", "Workload", tooltip="Play a preset workload"),
    Binding("c", "compare", "Compare", tooltip="The same requests through every batcher"),
    Binding("l", "lessons", "Lessons", tooltip="Eight lessons: predict, then see"),
    Binding("k", "knobs", "Knobs", tooltip="Every setting, and its name elsewhere"),
    Binding("space", "pause", "Pause", tooltip="Hold the engine and its clock"),
    Binding("i", "inject", "Inject", tooltip="Send requests of your own"),
    Binding("enter", "inspect", "Inspect", key_display="⏎", tooltip="One request's life"),
    Binding("question_mark", "help", "Help", key_display="?", tooltip="This page"),
    Binding("q", "app.quit", "Quit", tooltip="Leave batchscope"),
    Binding("n", "step(1)", "Step", show=False, tooltip="Pause and run one forward pass"),
    Binding("g", "flush", "Go", show=False, tooltip="Start a batch without waiting for company"),
    Binding("m", "system", "System", show=False, tooltip="Schedule as a named system would"),
    Binding("a", "attack", "Attack", show=False, tooltip="Bomb, burst, cancel storm, squeeze"),
    Binding("u", "utilisation", "Use", show=False, tooltip="What is made of the device"),
    Binding("p", "profile", "Profile", show=False, tooltip="Where the time of a pass goes"),
    Binding("N", "step(10)", "Step 10", show=False, tooltip="Pause and run ten passes"),
    Binding("plus,equals_sign", "speed(1)", "Faster", show=False, tooltip="More arrivals a second"),
    Binding("minus", "speed(-1)", "Slower", show=False, tooltip="Fewer arrivals a second"),
    Binding("up", "select(-1)", "Select", show=False, tooltip="The request before"),
    Binding("down", "select(1)", "Select", show=False, tooltip="The next request"),
    Binding("left", "rewind(-1)", "Rewind", show=False, tooltip="Show the pass before"),
    Binding("right", "rewind(1)", "Forward", show=False, tooltip="Show the pass after"),
    Binding("shift+left", "rewind(-10)", "Rewind 10", show=False, tooltip="Ten passes back"),
    Binding("shift+right", "rewind(10)", "Forward 10", show=False, tooltip="Ten passes on"),
    Binding("home", "home", "Oldest", show=False, tooltip="The oldest pass in memory"),
    Binding("end", "end", "Newest", show=False, tooltip="Hold the newest pass"),
    Binding("f", "follow", "Follow", show=False, tooltip="Show the engine as it is now"),
    Binding("pageup", "jump(-10)", "Back 10 s", show=False, tooltip="Ten seconds back"),
    Binding("pagedown", "jump(10)", "On 10 s", show=False, tooltip="Ten seconds on"),
    Binding("r", "report", "Report", show=False, tooltip="The numbers of the run"),
    Binding("o", "app.runs", "Runs", show=False, tooltip="The runs that were kept"),
    Binding("R", "reverse", "Reverse", show=False, tooltip="Play backwards; space stops it"),
    Binding("slash", "filter", "Filter", show=False, tooltip="Show some requests only"),
    Binding("escape", "clear_filter", "No filter", show=False, tooltip="Show all requests again"),
    Binding("j", "go_to", "Jump", show=False, tooltip="Go to a panel: its own help, its keys"),
    Binding("x", "abort", "Abort", show=False, tooltip="End the selected request"),
    Binding("X", "abort_all", "Abort all", show=False, tooltip="End every request"),
    Binding("s", "screenshot", "Screenshot", show=False, tooltip="Save this screen as SVG"),
]
BINDINGS: list[BindingType] = [replace(each, id=name_of(each.action)) for each in USUAL]
KEYS = {name_of(each.action): each.key for each in USUAL}  # the usual keys, by name

USUAL_KEYS = Keys(KEYS)


def keys_of(preferences: Preferences) -> Keys:
    """The keys that are in force: the usual ones, but for those that the user gave others."""
    return Keys(KEYS | dict(preferences.keys), is_ascii=preferences.ascii)


def closing(name: str) -> Binding:
    """For the panel that an action opens: its key closes the panel too."""
    return Binding(KEYS[name], "close", "Close", show=False, id=name)

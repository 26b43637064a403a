"""What a user wants every time: the looks, the keys and what to begin with, from a file."""

from tuiapp.preferences.preferences import USUAL, Preferences
from tuiapp.preferences.read import NOTHING, Found, config_path, parse, read_preferences

__all__ = ["NOTHING", "USUAL", "Found", "Preferences", "config_path", "parse", "read_preferences"]

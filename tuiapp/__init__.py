"""The terminal playground: screens, widgets, presets and the command line."""

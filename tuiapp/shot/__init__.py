"""Pictures of the screens without a terminal, drawn by the app itself on a clock of its own."""

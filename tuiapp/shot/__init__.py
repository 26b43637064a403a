"""Pictures of any screen without a terminal, drawn by the app itself on a clock of its own."""

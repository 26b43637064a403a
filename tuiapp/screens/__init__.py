"""The live screen and what opens over it."""

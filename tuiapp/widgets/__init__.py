"""Widgets that draw a `Snapshot`; they count and fold nothing themselves."""

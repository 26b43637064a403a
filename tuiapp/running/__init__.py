"""Runs without a screen: engines one after the other, their studies, gates and files."""

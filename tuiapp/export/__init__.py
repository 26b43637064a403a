"""Runs for other programs to show: a trace for Perfetto, a page for a browser."""

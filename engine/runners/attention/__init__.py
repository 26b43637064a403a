"""Attention over a paged cache: what transformers calls, the ways to do it, and which is chosen."""

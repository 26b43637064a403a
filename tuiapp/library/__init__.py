"""Runs that were shown: measured, kept on disk, and found again."""

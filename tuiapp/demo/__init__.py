"""Scripted tours of the real app: played in the terminal, or filmed without one."""

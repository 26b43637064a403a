"""Measure this engine: beside others on the same requests, and part by part.

Beside the torch runner the only floor that knows torch, since it runs other ways to batch too.
"""

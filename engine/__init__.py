"""An LLM inference engine in one process: batchers, paged KV cache, torch and simulated runners.

Importing this package never imports torch; the torch runner is imported where it is built.
"""

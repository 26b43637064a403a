"""`batchscope bench`: what this engine does in a second, beside others, and what its parts cost."""

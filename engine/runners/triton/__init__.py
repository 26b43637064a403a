"""The project's own Triton kernels and what launches them."""

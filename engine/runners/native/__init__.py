"""Kernels of our own for a CPU, in C++, compiled where they are to run."""

"""Kernels of our own for one thread of a CPU, in C++, compiled where they are to run."""

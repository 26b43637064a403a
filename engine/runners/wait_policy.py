"""`wait_passively`: threads of OpenMP that have nothing to do sleep, rather than spin.

A pass ends hundreds of parallel regions, and at each of them threads that spin take the core from
the one that is waited for, wherever more want to run than there are cores: the screen is one of
them. With two threads on two cores that others used too, passes took 4 to 14 times as long. On
a machine left alone, waking the sleepers costs a median pass some 15 to 50 % (of 28 to 33 ms);
`OMP_WAIT_POLICY=ACTIVE` in the environment takes that back.
"""

from __future__ import annotations

import os

POLICY = "OMP_WAIT_POLICY"
CHOICES = (POLICY, "GOMP_SPINCOUNT", "KMP_BLOCKTIME")  # what of a user's says how to wait


def wait_passively() -> None:
    """Ask for it, unless the user chose; OpenMP reads it once, when torch is loaded."""
    if not any(name in os.environ for name in CHOICES):
        os.environ[POLICY] = "PASSIVE"

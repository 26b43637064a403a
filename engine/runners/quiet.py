"""`quiet_imports`: libraries that tell of themselves while they are imported."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_imports() -> Iterator[None]:
    """Hold back warnings in the block; the terminal belongs to the screen.

    transformers imports torchao wherever that is installed, and torchao tells of each kernel that
    it does not find for other devices.
    """
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)

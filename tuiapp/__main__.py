"""`python -m tuiapp` is `batchscope`."""

from __future__ import annotations

from tuiapp.cli.main import main

main()

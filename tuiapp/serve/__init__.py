"""The playground in a browser, through textual-serve: one process a visitor."""

"""From the event log to what a frame shows; nothing here draws."""

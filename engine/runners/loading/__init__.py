"""From a name to a loaded model: where it lies, whether it can be served, in which precision."""

"""Parts of a model in fewer operations, put in place of its own where a trial proves them alike."""

"""Read models built from the log, and the engine that runs them."""

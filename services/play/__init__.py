"""Play: a command's one way from the caller to the log. Source: DESIGN "A command's way"."""

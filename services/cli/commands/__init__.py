"""The commands of `khrap`, a module each. What a command needs it imports when it runs: help comes at once."""

"""The rules of the games: pure functions over frozen values. No I/O, clock, chance or framework."""

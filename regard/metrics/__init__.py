"""How good: pure functions of lists, each score with its interval and its signature."""

"""Scores to sequences: greedy, sampling and beam search over any `Stepper`."""

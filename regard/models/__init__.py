"""Whole networks, and the count models they are compared with."""

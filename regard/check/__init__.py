"""Prove what users keep getting wrong: no token sees the future, padding changes nothing, ..."""

"""Results that anyone can have again: runs, their data, and what must come out."""

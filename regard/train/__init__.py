"""Learn: the loop, its optimizer and schedule, checkpoints, exact resume, and the report."""

"""The terminal's door: a file per command; heavy imports wait inside."""

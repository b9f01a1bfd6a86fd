"""Look inside a model: attention as data, in the terminal, as an image and as a page."""

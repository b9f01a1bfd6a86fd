"""Side-by-side measurements. Each is run by itself, as in `python -m bench.decoding`, and writes a
dated file into bench/results. Nothing else may load the machine meanwhile."""

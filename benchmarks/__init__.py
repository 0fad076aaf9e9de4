"""Benchmarks. `make bench` runs them, prints the tables and writes benchmarks/results.json."""

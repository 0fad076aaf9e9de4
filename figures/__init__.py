"""The figures of the papers, each made by one command: `python -m figures NAME`."""

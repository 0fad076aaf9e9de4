"""What is seen of runs: surfaces, pictures, films, plots, viewers."""

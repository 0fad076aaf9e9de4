"""Materials without a grid: simple shear of one point through its law's kernels, and fits to measured flow curves."""

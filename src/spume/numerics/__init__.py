"""Small kernels that know nothing of the rest: tensors of 2 and 3 dimensions, B-splines. Each is tested alone."""

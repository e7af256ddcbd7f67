"""Exact Gaussian kernels of walks, for graphs of up to some thousand nodes."""

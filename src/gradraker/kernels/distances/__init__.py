"""Exact smallest nonzero and largest distance over all pairs of rows, without all pairs."""

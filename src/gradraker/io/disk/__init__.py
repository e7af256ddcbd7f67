"""Edges larger than memory: read in parts, sorted into a matrix in a folder."""

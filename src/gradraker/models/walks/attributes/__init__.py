"""Attributes of nodes in kernels: their own, and those of their neighbours."""

"""Slow and obvious programs, written from the equations, that the fast ones must equal."""

"""Compiled loops: pure functions over arrays, each with a slow oracle in the tests."""

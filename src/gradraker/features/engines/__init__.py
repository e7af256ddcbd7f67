"""Engines other than the CPU's, with the interface of :mod:`gradraker.features.engine`."""

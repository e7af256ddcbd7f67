"""Other engines behind the seam of :mod:`gradraker.features.engine`, and the choice of one."""

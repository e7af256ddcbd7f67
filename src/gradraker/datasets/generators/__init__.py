"""Seeded random graphs with a signal on their nodes.

:mod:`.spatial` joins nodes that are near each other, :mod:`.linked` draws the links
themselves. All return a :class:`~gradraker.datasets.GraphDataset` whose ``positions`` hold the
hidden quantities behind the values, so that a test or a figure can compare with the truth.
:mod:`.traffic` makes values over time.
"""

"""The battery: what happens to files and processes when everything goes wrong.

``make torture`` runs it; ``docs/project/reliability.md`` has its results. Every attempt depends
on a seed and a number only, so that one that failed can be repeated.
"""

"""The process that learns, and the states that it hands over.

The process that answers imports :mod:`.states` and :mod:`.supervisor`; the rest needs the models.
"""

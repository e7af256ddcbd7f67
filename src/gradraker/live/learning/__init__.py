"""The learning process, and the states that it publishes.

The serving process imports only :mod:`.states` and :mod:`.supervisor`; the rest loads the models.
"""

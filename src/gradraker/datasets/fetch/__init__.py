"""Data sets that are downloaded once, checked, and kept in a folder of the user."""

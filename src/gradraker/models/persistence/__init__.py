"""Model files: written completely or not at all, read without running code."""

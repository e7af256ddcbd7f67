"""The journal of a live service, in SQLite or PostgreSQL."""

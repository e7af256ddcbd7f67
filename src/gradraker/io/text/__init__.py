"""Tables in text files: layout, columns, and names that come back as they were."""

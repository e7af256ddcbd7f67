"""What models of rows share: input, training in chunks, files."""

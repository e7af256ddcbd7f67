"""What models of rows share: input, training in chunks, the record of what was learned."""

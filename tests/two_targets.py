"""A ring in which some nodes have a known age, and fewer a known income."""

EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "a")]
KNOWN = {
    "a": {"age": 30.0, "income": 5000.0},
    "b": {"age": 50.0},
    "c": {"age": 40.0, "income": 7000.0},
}

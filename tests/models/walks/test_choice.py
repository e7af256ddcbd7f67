"""How a chosen kernel is shown."""

from gradraker.models.walks.choice import Term, format_kernel


def test_format_kernel_lists_the_largest_shares() -> None:
    kernel = tuple(Term(f"hop{i}", 1.0, i / 36.0) for i in range(1, 9))
    words = format_kernel(kernel)
    assert words.startswith("0.22 hop8 (width 1) + 0.19 hop7 (width 1)")
    assert words.endswith("+ 2 more")
    assert words.count("hop") == 6

"""Details of the site that its own extensions make."""

import pytest

pytest.importorskip("sphinx", reason="Sphinx is not installed")

from latex2mathml.converter import convert

import mathml


@pytest.mark.parametrize(
    ("equation", "n_spaces"),
    [
        (r"2 \ln r", 2),  # before and after
        (r"\ln(1 - c)", 0),  # brackets need none
        (r"2\eta \exp\left(-\frac{a}{b}\right)", 1),
        (r"\min_p L_p", 1),  # after the whole of min and its index
        (r"x + y", 0),
    ],
)
def test_functions_in_equations_stand_apart(equation: str, n_spaces: int) -> None:
    plain = convert(equation)
    spaced = mathml.space_functions(plain)
    assert spaced.count("<mspace") - plain.count("<mspace") == n_spaces
    assert spaced.replace(mathml.SPACE, "") == plain


def test_space_is_not_put_between_a_function_and_its_index() -> None:
    assert "<msub><mo>min</mo><mi>p</mi></msub><mspace" in mathml.space_functions(
        convert(r"\min_p L_p")
    )

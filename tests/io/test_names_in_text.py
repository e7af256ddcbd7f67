"""Names in text tables: none is a formula, and every name is read back unchanged."""

import csv
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradraker import read_values
from gradraker.io.names_in_text import escape_name, quote_field, unescape_name

FORMULAS = ["=1+1", "+SUM(A1)", "-2+3", "@SUM(1)", "＝1", "=cmd|' /C calc'!A0"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
HOSTILE = st.text("\r\n\t\v\f\x85\u2028 \u00a0\ufeff\u200b\\\"',;=+-@#xrnu0\0", max_size=8)


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_get_an_apostrophe(name: Any) -> None:
    assert escape_name(name) == f"'{name}"


@pytest.mark.parametrize("name", ["-5", "+5", "-1.5e-3", "5", "a=b", "Basel", "C:\\x", "it's"])
def test_numbers_and_other_names_stay(name: Any) -> None:
    assert escape_name(name) == name


@pytest.mark.parametrize("name", ["-1_0", "-٣", "-inf", "-0x10", "+1+1"])
def test_texts_that_only_look_like_a_number_are_escaped(name: Any) -> None:
    assert escape_name(name) == f"'{name}"


@pytest.mark.parametrize(
    ("name", "escaped"),
    [
        ("\tx", r"'\\tx"),
        ("\rx", r"'\\rx"),
        ("x\r=cmd|calc", r"'\x\r=cmd|calc"),
        ("\u00a0=1", r"'\\xa0=1"),
        ("\ufeff=1", r"'\\ufeff=1"),
        ("a\\\n", r"'\a\\\n"),
        ("", "'\\"),
        ("'=x", "''=x"),
    ],
)
def test_characters_that_are_not_plain_are_escaped(name: Any, escaped: Any) -> None:
    assert escape_name(name) == escaped
    assert unescape_name(escaped) == name


@pytest.mark.parametrize("field", ["'tis", "'\\foo", "'", "'\\ud800", "a'=1", "'\\x8"])
def test_fields_of_other_programs_stay(field: Any) -> None:
    assert unescape_name(field) == field


@given(st.one_of(TEXT, HOSTILE))
def test_every_name_is_read_back_unchanged(name: Any) -> None:
    assert unescape_name(escape_name(name)) == name


@given(st.one_of(TEXT, HOSTILE))
def test_no_line_or_cell_begins_like_a_formula(name: Any) -> None:
    field = quote_field(escape_name(name))
    if re.fullmatch(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", name, re.ASCII):
        return
    assert len(field.splitlines()) <= 1
    for separator in ",;\t":
        for cell in next(csv.reader([f"1{separator}{field}"], delimiter=separator)):
            assert not cell.strip().startswith(tuple("=+-@＝＋－＠"))


@given(st.lists(st.one_of(TEXT, HOSTILE), min_size=1, unique=True))
def test_our_reader_returns_every_name(tmp_path_factory: Any, names: Any) -> None:
    path = tmp_path_factory.mktemp("names") / "v.csv"
    lines = [f"{quote_field(escape_name(name))},{i}\n" for i, name in enumerate(names)]
    path.write_text("node,value\n" + "".join(lines), "utf-8", newline="")
    expected = {name: float(i) for i, name in enumerate(names)}
    assert read_values(path, ids="text") == expected

"""Fields of classes, described in their docstrings from their annotations."""

from typing import Annotated

from gradraker._fields import describe_fields
from gradraker.graph import EdgeList


def test_describe_fields_lists_annotated_fields_before_the_examples() -> None:
    @describe_fields
    class Station:
        """A weather station.

        Examples
        --------
        >>> Station()
        """

        altitude: Annotated[float, "Metres above the sea."]
        name: Annotated[str | None, "What people call it."]
        note: str

    lines = (Station.__doc__ or "").splitlines()
    assert lines[:3] == ["A weather station.", "", "Attributes"]
    assert lines[4:8] == [
        "altitude : float",
        "    Metres above the sea.",
        "name : str or None",
        "    What people call it.",
    ]
    assert lines[9:] == ["Examples", "--------", ">>> Station()"]
    assert "note" not in (Station.__doc__ or "")


def test_docstrings_of_public_classes_describe_their_fields() -> None:
    assert "Attributes\n----------" in (EdgeList.__doc__ or "")

"""JSON in which a name occurs twice is refused."""

import pytest

from gradraker.live.api.strict_json import RepeatedNameError, load_json


def test_load_json_names_repeated_members() -> None:
    with pytest.raises(RepeatedNameError, match=r"^'Davos' is given twice$"):
        load_json(b'{"values": {"Davos": 1, "Davos": 2}}')

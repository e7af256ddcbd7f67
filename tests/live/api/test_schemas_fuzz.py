"""Requests made from the API's own description are never answered by 5xx."""

from typing import Any

import pytest

from live_service import LiveService


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_fuzzing_finds_no_error_of_the_service(tmp_path: Any) -> None:
    pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from live_fuzz import fuzz  # here, since the import takes a second

    with LiveService("--demo", "--rate", 100_000, journal=tmp_path / "live.db") as service:
        statuses, failed = fuzz(service.url, 600)
        with service.connect() as client:  # it is as well as before
            client.wait(client.partial_fit([("Davos", "somewhere")], {"Davos": 1.0}))
    assert failed == []
    assert sum(statuses.values()) > 300
    assert statuses[200] > 20
    assert statuses[422] > 20

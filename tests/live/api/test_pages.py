"""Pages of the service."""

from typing import Any


def test_pages_describe_every_path_and_load_their_files(send: Any) -> None:
    page = send("GET", "/")
    assert page.status_code == 200
    assert "<h1>gradraker live" in page.text
    docs = send("GET", "/docs").text
    described = send("GET", "/openapi.json").json()
    for path in described["paths"]:
        assert f"<code>{path}</code>" in docs
    assert "Changes" in described["components"]["schemas"]
    for file in ("/live.js", "/live.css", "/favicon.ico"):
        assert send("GET", file).status_code == 200

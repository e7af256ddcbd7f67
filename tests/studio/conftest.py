"""A studio of the demo that tests of pages share."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")
pytest.importorskip("igraph", reason="the extra 'studio' is not installed")

from studio_service import StudioService, Watched


@pytest.fixture(scope="session")
def demo(tmp_path_factory: Any) -> Any:
    """The studio of the embedded data, which tests must leave as it is."""
    with StudioService("--demo") as service:
        yield service


@pytest.fixture(scope="session")
def files(tmp_path_factory: Any) -> Any:
    """Edges and values of a ring of 40 nodes, 25 of them known, for studios that tests change."""
    folder = tmp_path_factory.mktemp("ring")
    edges, values = folder / "edges.csv", folder / "known.csv"
    n = 40
    names = [f"node {i:02d}" for i in range(n)]
    pairs = [(i, (i + k) % n) for i in range(n) for k in (1, 2)]
    lines = [f"{names[i]},{names[j]}" for i, j in pairs]
    edges.write_text("source,target\n" + "\n".join(lines) + "\n", encoding="utf-8")
    known = [f"{names[i]},{10.0 * np.sin(6.283 * i / n):.3f}" for i in range(0, 25)]
    values.write_text("node,value\n" + "\n".join(known) + "\n", encoding="utf-8")
    return edges, values


@pytest.fixture(scope="session")
def ring(files: Any) -> Any:
    """A studio that tests may change, if they undo it."""
    edges, values = files
    words = ("--edges", edges, "--values", values, "--undirected", "--unit", "m")
    with StudioService(*words) as service:
        yield service


@pytest.fixture
def look(chromium: Any) -> Any:
    """Open addresses; at the end no page has said or asked for anything that it should not."""
    opened: list[Watched] = []

    def open_page(service: Any, view: str = "", **options: Any) -> Any:
        size = {"viewport": {"width": 1300, "height": 900}, "accept_downloads": True}
        watched = Watched(chromium.new_context(**(size | options)), service.url)
        opened.append(watched)
        start = f"token={service.token}&{view}" if service.token else view
        return watched.open(f"{service.url}/studio#{start}")

    yield open_page
    for watched in opened:
        watched.close()

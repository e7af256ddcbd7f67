"""Layouts: cached atomically, the same for the same graph, and within the unit square."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("igraph", reason="the extra 'studio' is not installed")

from gradraker.studio.answers import graph_layout
from gradraker.studio.answers.graph_layout import (
    compute_layout,
    find_communities,
    find_layout,
    fit_square,
    list_edges,
)


def make_ring(n: int) -> Any:
    rows = np.arange(n)
    return csr_array((np.ones(n), (rows, (rows + 1) % n)), shape=(n, n))


def make_cliques(n_cliques: int, size: int) -> Any:
    """Edges of cliques that hang together by one edge each."""
    pairs = [(i, j) for i in range(size) for j in range(i)]
    found = [(c * size + i, c * size + j) for c in range(n_cliques) for i, j in pairs]
    found += [(c * size, (c + 1) * size) for c in range(n_cliques - 1)]
    return np.sort(np.array(found), axis=1)


def test_layout_is_computed_once_and_cached(tmp_path: Path, monkeypatch: Any) -> None:
    first = find_layout(make_ring(30), cache=tmp_path)
    (file,) = tmp_path.iterdir()
    monkeypatch.setattr(graph_layout, "compute_layout", lambda *_: pytest.fail("not kept"))
    np.testing.assert_array_equal(find_layout(make_ring(30), cache=tmp_path), first)
    assert file.suffix == ".npy"


def test_damaged_layout_is_computed_again(tmp_path: Path) -> None:
    first = find_layout(make_ring(30), cache=tmp_path)
    (file,) = tmp_path.iterdir()
    for content in (b"", b"not an array", file.read_bytes()[:-9]):
        file.write_bytes(content)
        np.testing.assert_array_equal(find_layout(make_ring(30), cache=tmp_path), first)
    np.save(file, np.zeros((2, 2)))
    np.testing.assert_array_equal(find_layout(make_ring(30), cache=tmp_path), first)


def test_layout_works_without_a_writable_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file is no folder")
    found = find_layout(make_ring(12), cache=tmp_path / "file" / "layouts")
    assert found.shape == (12, 2)


def test_neighbours_are_near_each_other() -> None:
    edges = make_cliques(6, 12)
    positions = compute_layout(72, edges)
    lengths = np.linalg.norm(positions[edges[:, 0]] - positions[edges[:, 1]], axis=1)
    gaps = np.linalg.norm(positions[:, np.newaxis] - positions, axis=2)
    assert np.median(lengths) < 0.5 * np.median(gaps)


def test_communities_of_large_graphs_are_apart() -> None:
    edges = make_cliques(60, 40)
    positions = compute_layout(2400, edges).reshape(60, 40, 2)
    spread = positions.std(axis=1).mean()
    centres = positions.mean(axis=1)
    gaps = np.linalg.norm(centres[:, np.newaxis] - centres, axis=2) + np.eye(60)
    assert gaps.min() > 1.5 * spread


@pytest.mark.parametrize(("n", "edges"), [(1, []), (2, []), (3000, []), (2, [[0, 1]])])
def test_small_and_loose_graphs_have_layouts(n: int, edges: Any) -> None:
    positions = compute_layout(n, np.array(edges, dtype=np.int64).reshape(-1, 2))
    assert positions.shape == (n, 2)
    assert np.isfinite(positions).all()
    assert np.abs(positions - 0.5).max() <= 0.75


def test_edges_are_listed_once_without_directions_and_self_loops() -> None:
    A = csr_array(np.array([[5, 1, 0], [1, 0, 2], [0, 0, 0]]))
    assert list_edges(A).tolist() == [[0, 1], [1, 2]]
    loop = csr_array(np.array([[1, 1, 0], [1, 0, 0], [2, 0, 0]]))
    assert list_edges(loop).tolist() == [[0, 1], [0, 2]]


def test_an_outlier_does_not_shrink_the_other_nodes() -> None:
    positions = np.random.default_rng(0).random((1000, 2))
    positions[0] = 1e6
    assert np.ptp(fit_square(positions)[1:, 0]) > 0.9


def test_communities_are_numbered_by_size() -> None:
    big, small = make_cliques(1, 9), make_cliques(1, 5) + 9
    members = find_communities(14, np.concatenate([big, small]))
    assert members.tolist() == [0] * 9 + [1] * 5

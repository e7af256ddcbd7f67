"""Fetched data sets against facts of the real files, where GRADRAKER_DATA has them."""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from gradraker.datasets import (
    describe_dataset,
    fetch_cora_con,
    fetch_email_eu_core,
    fetch_wikipedia_math,
    fetch_wikipedia_math_graph,
    list_datasets,
    split_nodes,
)
from gradraker.exceptions import DatasetFileError, DatasetUnavailableError

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def real() -> Path:
    folder = os.environ.get("GRADRAKER_DATA")
    if not folder:
        pytest.skip("GRADRAKER_DATA is not set to the folder of the downloaded data sets")
    return Path(folder)


def needs(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path.name} is not in {path.parent}")
    return path


def largest_distances(adjacency: Any, seeds: Any = range(31)) -> NDArray[np.float64]:
    """Largest squared distance of adjacency vectors on 40 % samples, by all pairs."""
    found = []
    for seed in seeds:
        known, _ = split_nodes(adjacency.shape[0], 0.4, np.random.default_rng(seed))
        X = sp.csr_array(adjacency[known][:, known])
        norms = X.power(2).sum(axis=1)
        found.append((norms[:, np.newaxis] + norms - 2.0 * (X @ X.T).toarray()).max())
    return np.array(found)


def test_cora_con_is_the_papers_graph(real: Path) -> None:
    needs(real / "cora")
    data = fetch_cora_con(data_home=real, download=False)
    assert repr(data) == "GraphDataset('Cora-Con', 2222 nodes, 3749 edges)"
    assert int((np.diff(data.adjacency.indptr) == 0).sum()) == 319
    assert set(data.adjacency.data) == {1.0}
    assert data.adjacency.diagonal().sum() == 0
    # The first line of cora.cites, "35 1033", says that 1033 cites 35.
    citing, cited = data.node_names.index("1033"), data.node_names.index("35")
    assert data.adjacency[citing, cited] == 1.0
    assert data.adjacency[cited, citing] == 0.0
    # Order and classes of the file, read here in another way.
    lines = (real / "cora" / "cora.content").read_text().splitlines()
    class_of = {line.split()[0]: line.split()[-1] for line in lines}
    assert list(data.node_names) == [name for name in class_of if name in set(data.node_names)]
    numbered = sorted(set(class_of.values()))  # the README's order is alphabetical
    assert data.values.tolist() == [numbered.index(class_of[n]) + 1 for n in data.node_names]


def test_largest_distances_of_cora_con_are_those_of_the_paper(real: Path) -> None:
    needs(real / "cora")
    adjacency = fetch_cora_con(data_home=real, download=False).adjacency
    out = largest_distances(adjacency)
    assert np.median(out) == 8.0
    assert out.min() >= 6.0
    assert out.max() <= 9.0
    # Papers that cite n instead: 17 to 108 over 300 seeds, median 53.
    assert largest_distances(adjacency.T.tocsr()).min() > 15.0


def test_email_eu_core_is_the_papers_graph(real: Path) -> None:
    needs(real / "email_eu_core")
    data = fetch_email_eu_core(data_home=real, download=False)
    assert repr(data) == "GraphDataset('Email-Eu-core', 1005 nodes, 25571 edges)"
    assert sorted(set(data.values)) == list(range(1, 43))
    assert data.values[0] == 2.0  # the file's first line: node 0, department 1
    assert data.adjacency.diagonal().sum() == 642
    assert int((np.diff(data.adjacency.indptr) == 0).sum()) == 137
    assert int((data.adjacency.sum(axis=0) == 0).sum()) == 14
    assert data.adjacency.multiply(data.adjacency.T).nnz == 2 * 8865 + 642
    distances = largest_distances(data.adjacency, range(60))
    assert distances.mean() == pytest.approx(125, abs=4 * 18 / np.sqrt(60))
    distances = largest_distances(data.adjacency.T.tocsr(), range(60))
    assert distances.mean() == pytest.approx(94, abs=4 * 8 / np.sqrt(60))


def test_wikipedia_math_graph_is_the_papers_graph(real: Path) -> None:
    needs(real / "wikipedia_math")
    adjacency = fetch_wikipedia_math_graph(data_home=real, download=False)
    assert isinstance(adjacency, sp.csr_array)
    assert adjacency.shape == (1068, 1068)
    assert adjacency.nnz == 27079
    assert adjacency.sum() == 37893
    assert adjacency.data.max() == 16
    assert sp.tril(adjacency).nnz == 0
    # Degrees that others printed from the original file.
    assert np.diff(adjacency.indptr)[[0, 62, 70]].tolist() == [533, 290, 270]
    assert adjacency.sum(axis=0)[510] == 143
    distances = largest_distances(adjacency, range(101))
    assert np.median(distances) == pytest.approx(690, abs=40)


def test_visits_of_wikipedia_math_are_read_or_named_as_missing(real: Path) -> None:
    folder = needs(real / "wikipedia_math")
    if not (folder / "wikivital_mathematics.json").exists():
        with pytest.raises(DatasetUnavailableError, match=r"mathematics\.json") as caught:
            fetch_wikipedia_math(data_home=real, download=False)
        assert "has the links but no visits" in str(caught.value)
        assert "fetch_wikipedia_math_graph" in str(caught.value)
        return
    data = fetch_wikipedia_math("2019-03-18", data_home=real, download=False)
    assert (data.n_nodes, data.n_edges) == (1068, 27079)
    assert data.values[data.node_names.index("Algebra")] == 2059


@pytest.mark.parametrize(
    ("fetch", "folder", "file"),
    [
        (fetch_cora_con, "cora", "cora.cites"),
        (fetch_cora_con, "cora", "cora.content"),
        (fetch_email_eu_core, "email_eu_core", "email-Eu-core.txt"),
        (fetch_email_eu_core, "email_eu_core", "email-Eu-core-department-labels.txt"),
        (fetch_wikipedia_math_graph, "wikipedia_math", "wikivital_mathematics_edges.csv"),
    ],
)
def test_real_files_that_lack_a_line_are_refused(
    real: Path, tmp_path: Path, fetch: Callable[..., Any], folder: str, file: str
) -> None:
    needs(real / folder)
    shutil.copytree(real / folder, tmp_path / folder, copy_function=shutil.copyfile)
    (tmp_path / folder).chmod(0o755)
    path = tmp_path / folder / file
    # CRLF line ends change nothing: some mirrors have them.
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    fetch(data_home=tmp_path, download=False)
    path.write_bytes(b"\r\n".join(path.read_bytes().splitlines()[:-1]))
    with pytest.raises(DatasetFileError, match=r"instead of|must be two papers") as caught:
        fetch(data_home=tmp_path, download=False)
    assert file in str(caught.value) or "cora.cites" in str(caught.value)


def test_registry_agrees_with_the_real_files(real: Path) -> None:
    for name in list_datasets():
        for file in describe_dataset(name).files:
            path = real / name / file.name
            if path.exists():
                assert path.stat().st_size == file.size
                assert hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256

"""The table of data sets: complete, and read by name."""

from pathlib import Path

import pytest

from gradraker.datasets import describe_dataset, list_datasets, load_dataset, load_temperature
from gradraker.datasets.registry import DATASETS
from small_datasets import CORA_FILES, put, register


def test_registry_is_complete() -> None:
    assert list_datasets() == tuple(sorted(DATASETS))
    for name in list_datasets():
        info = describe_dataset(name)
        assert info.licence
        assert info.citation
        assert info.facts
        for file in info.files:
            assert len(bytes.fromhex(file.sha256)) == 32
            assert file.url.startswith("https://")
            assert file.size > 0
    with pytest.raises(TypeError):
        describe_dataset("cora").facts["papers"] = 1  # type: ignore[index]
    with pytest.raises(ValueError, match=r"name must be one of 'cora', .*, got 'Cora'"):
        describe_dataset("Cora")


def test_load_dataset_is_the_loader_of_that_name(tmp_path: Path) -> None:
    assert repr(load_dataset("temperature", data_home=tmp_path)) == repr(load_temperature())
    with pytest.raises(ValueError, match=r"name must be one of 'cora', .*, got 'mars'"):
        load_dataset("mars")


def test_load_dataset_looks_for_files_in_data_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    register(monkeypatch)
    put(tmp_path / "cora", **CORA_FILES)
    assert load_dataset("cora", data_home=tmp_path).node_names == ("31", "7")

"""Small data sets in the form of the real ones, and facts that describe them."""

import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradraker.datasets.dataset import RemoteFile
from gradraker.datasets.fetch import cora, email, wikipedia

EDGES = b"0 1\n1 0\n1 1\n2 0\n"
LABELS = b"0 1\n2 0\n1 1\n"
CONTENT = b"31\t0\t1\tTheory\n7\t1\t1\tCase_Based\n5\t0\t0\tTheory\n"
CITES = b"31\t7\n5\t7\n7\t31\n"


def wikipedia_content(**changes: Any) -> dict[str, Any]:
    content = {
        "edges": [[0, 1], [0, 2], [1, 2]],
        "weights": [1, 4, 2],
        "node_ids": {"Algebra": 2, "Mathematics": 0, "Number theory": 1},
        "time_periods": 2,
        "0": {"index": 0, "year": 2019, "month": 3, "day": 16, "y": [3962, 774, 1734]},
        "1": {"index": 1, "year": 2019, "month": 3, "day": 17, "y": [3923, 772, 1884]},
    }
    return content | changes


def remote(file: RemoteFile, content: bytes, **changes: Any) -> RemoteFile:
    return dataclasses.replace(
        file, sha256=hashlib.sha256(content).hexdigest(), size=len(content), **changes
    )


def register(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Make the fetchers expect the small files; returns a function that changes their facts."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("GRADRAKER_DATA", raising=False)

    def expect(module: Any, **changes: Any) -> None:
        monkeypatch.setattr(module, "INFO", dataclasses.replace(module.INFO, **changes))

    edges, labels = email.INFO.files
    expect(
        email,
        facts={"members": 3, "departments": 2, "edges": 4},
        files=(remote(edges, EDGES), remote(labels, LABELS)),
    )
    cites, content = cora.INFO.files
    expect(
        cora,
        facts={"papers": 3, "citations": 3, "papers that cite nobody": 1, "classes": 2},
        files=(remote(cites, CITES), remote(content, CONTENT)),
    )
    expect(wikipedia, facts={"pages": 3, "edges": 3, "days": 2})

    def change_files(module: Any, **changes: Any) -> None:
        files = tuple(dataclasses.replace(file, **changes) for file in module.INFO.files)
        expect(module, files=files)

    return change_files


def put(folder: Path, **files: Any) -> None:
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


EMAIL_FILES = {"email-Eu-core.txt": EDGES, "email-Eu-core-department-labels.txt": LABELS}
CORA_FILES = {"cora.cites": CITES, "cora.content": CONTENT}

"""Tasks of workers: pure functions of memory-mapped files, so that a lost task can be repeated."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from tempfile import mkstemp
from typing import Any
from uuid import uuid4

import joblib
import numpy as np

from gradraker.explain.linear_explanation import LinearExplanation, Units
from gradraker.features.engine import Task, use_mapper
from gradraker.graph.node_graph import make_node_graph
from gradraker.models.node_model import NodeModel

# Nodes explained per task: as many as one machine solves together, so that results are equal to
# the last bit.
NODES_PER_TASK = 32


def write_shared(folder: Path, name: str, content: Any) -> Path:
    """Write an object atomically for all workers, which memory-map its arrays."""
    descriptor, temporary = mkstemp(prefix=f".{name}-", dir=folder)
    os.close(descriptor)
    joblib.dump(content, temporary)
    path = folder / name
    os.replace(temporary, path)
    return path


@lru_cache(maxsize=4)
def read_shared(path: Path) -> Any:
    """Read an object that :func:`write_shared` wrote; its arrays are memory-mapped."""
    try:
        return joblib.load(path, mmap_mode="r")
    except FileNotFoundError:
        raise FileNotFoundError(
            f"a worker does not see {str(path)!r}: give a directory that all machines share"
        ) from None


def fit_task(model: NodeModel, job: Path, name: str) -> Path:
    """Fit a model on a worker, with pieces on all workers; return the file of the fitted model."""
    graph, values, options = read_shared(job)
    with use_mapper(partial(map_on_workers, job.parent)):
        fitted = model.fit(graph, values, **options)
    return write_shared(job.parent, name, fitted)


def map_on_workers(folder: Path, task: Task, shared: Any, pieces: Sequence[Any]) -> list[Any]:
    """Run pieces of a fit, which itself runs on a worker, on all workers."""
    from distributed import worker_client

    path = write_shared(folder, f"pieces-{uuid4().hex}", shared)
    with worker_client() as client:
        futures = [client.submit(run_piece, task, path, piece, pure=False) for piece in pieces]
        results: list[Any] = client.gather(futures)
    path.unlink()
    return results


def run_piece(task: Task, shared: Path, piece: Any) -> Any:
    """Run a piece on a worker, with the memory-mapped data that all pieces share."""
    return task(read_shared(shared), piece)


def explain_task(model: Path, nodes: Any, options: dict[str, Any]) -> Any:
    """Explain some nodes on a worker."""
    return read_shared(model).explain(nodes, **options)


def join_explanations(pieces: Sequence[LinearExplanation]) -> LinearExplanation:
    """Concatenate explanations of one model."""
    first = pieces[0]
    return replace(
        first,
        weights=np.vstack([piece.weights for piece in pieces]),
        prediction=np.concatenate([piece.prediction for piece in pieces]),
        node_names=[name for piece in pieces for name in piece.node_names],
        parts=None
        if first.parts is None
        else np.concatenate([piece.parts for piece in pieces if piece.parts is not None]),
        units=_join_units(pieces),
    )


def _join_units(pieces: Sequence[LinearExplanation]) -> Units | None:
    """Join predictions in the user's units; a piece without units is in them already."""
    scaled = next((piece.units for piece in pieces if piece.units is not None), None)
    if scaled is None:
        return None
    predictions = [
        piece.prediction if piece.units is None else piece.units.predictions for piece in pieces
    ]
    return replace(scaled, predictions=np.concatenate(predictions))


def share_graph(graph: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return a graph in a form that workers can memory-map, and the options of that form."""
    node_graph = make_node_graph(graph, options)
    if node_graph.folder is not None:
        return graph, options
    options = {"kind": "matrix", "names": node_graph.nodes, "directed": node_graph.is_directed}
    return node_graph.adjacency, options

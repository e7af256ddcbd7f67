"""Load a model of any class from its file."""

import os
from typing import Any

from gradraker.exceptions import ModelFileError
from gradraker.models.bank.gradraker_regressor import GradrakerRegressor
from gradraker.models.node_model import NodeModel
from gradraker.models.persistence.archive import read_archive
from gradraker.models.persistence.saving import restore_model
from gradraker.models.skg.skg_node_regressor import SKGNodeRegressor
from gradraker.models.skg.skg_regressor import SKGRegressor
from gradraker.models.walks.node_classifier import NodeClassifier
from gradraker.models.walks.node_regressor import NodeRegressor

MODELS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (GradrakerRegressor, NodeClassifier, NodeRegressor, SKGNodeRegressor, SKGRegressor)
}


def load_node_model(path: str | os.PathLike[str]) -> NodeModel:
    """Load a model of graphs; a file that holds a model of rows is refused by its name."""
    model = load(path)
    if not isinstance(model, NodeModel):
        raise ModelFileError(
            f"{os.fspath(path)!r} holds a model of rows ({type(model).__name__}): only models of "
            "graphs, which 'gradraker predict --model' writes, can be used here"
        )
    return model


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that ``model.save(path)`` wrote; it continues training bit for bit.

    No code in the file is run: a file from an untrusted source can at worst be refused.

    Parameters
    ----------
    path : path-like
        A model file.

    Returns
    -------
    estimator
        Of the class that was saved.

    Raises
    ------
    gradraker.exceptions.ModelFileError
        If the file is truncated, damaged, of another program, or of a newer format.

    Examples
    --------
    >>> import tempfile, pathlib, gradraker
    >>> model = gradraker.SKGRegressor(sigma2=1.0, random_state=0)
    >>> _ = model.learn_one(["Alice", "Bob"], 3.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = model.save(pathlib.Path(folder) / "people.skg")
    ...     again = gradraker.load(path)
    >>> again.predict_one(["Alice"]) == model.predict_one(["Alice"])
    True
    """
    content = read_archive(path)
    kind = content.header.get("class")
    if not isinstance(kind, str) or kind not in MODELS:
        raise ModelFileError(
            f"{os.fspath(path)!r} holds a model of class {str(kind)[:100]!r}; "
            f"known are {', '.join(map(repr, MODELS))}"
        )
    return restore_model(MODELS[kind], path, content)

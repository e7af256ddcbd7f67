"""Models that ``predict`` saved, with what is needed to go on with them."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradraker.models.skg.skg_regressor import SKGRegressor
    from gradraker.models.walks.node_regressor import NodeRegressor

_SETTINGS = {
    "SKGRegressor": {"direction", "weight", "self_loops", "hops", "hop_weights"},
    "NodeRegressor": {"weight", "self_loops"},
}


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model, what its values are relative to, and how its rows or its graph were made."""

    model: "NodeRegressor | SKGRegressor"
    offset: float
    vectors: dict[str, Any]

    @property
    def knows_its_graph(self) -> bool:
        """Whether the model holds the edges itself, as a node model does."""
        return type(self.model).__name__ == "NodeRegressor"

    def save(self, path: str) -> None:
        """Write the model and its notes: whole, or not at all."""
        self.model.save(path, notes={"offset": self.offset, "vectors": self.vectors})


def load_model(path: str) -> SavedModel:
    """Load a model of ``gradraker predict``, or refuse the file by name."""
    from gradraker.exceptions import ModelFileError
    from gradraker.models.persistence.archive import read_notes
    from gradraker.models.persistence.loading import load
    from gradraker.models.skg.skg_regressor import SKGRegressor

    model, notes = load(path), read_notes(path)
    offset, vectors = notes.get("offset"), notes.get("vectors")
    if isinstance(model, SKGRegressor) and isinstance(vectors, dict):
        # Older files know one way to count walks.
        vectors = {"hop_weights": "count"} | vectors
    sound = (
        isinstance(offset, float)
        and math.isfinite(offset)
        and isinstance(vectors, dict)
        and set(vectors) == _SETTINGS.get(type(model).__name__)
        and (not isinstance(model, SKGRegressor) or (model.coef_.ndim == 1 and model.keep_observed))
    )
    if not sound:
        raise ModelFileError(
            f"{path!r} is a model, but does not say how its edges were read: only models that "
            "'gradraker predict --model' wrote can be used here"
        )
    assert isinstance(offset, float)
    assert isinstance(vectors, dict)
    return SavedModel(model, offset, vectors)

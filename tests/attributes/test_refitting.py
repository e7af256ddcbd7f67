"""A model that forgets nodes equals one fitted without them, for attributes of every form."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from gradraker import NodeClassifier, NodeRegressor, load

pytest.importorskip("skrub")

N = 60
GONE = ["n0", "n7", "n33"]
NAMES = [f"n{i}" for i in range(N)]
LEFT = [name for name in NAMES if name not in GONE]
EDGES = [(NAMES[i], NAMES[(i * k + 1) % N]) for i in range(N) for k in (1, 7)]
EDGES_LEFT = [edge for edge in EDGES if not set(edge) & set(GONE)]
TOPICS = ["old harbour", "new town", "river bank", "hill fort", "market square"]


def _make_frame() -> pd.DataFrame:
    """Columns of every kind, in which forgotten nodes have entries that no other node has."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.lognormal(size=N),
            "is_new": rng.random(N) < 0.5,
            "kind": rng.choice(["a", "b", "c"], N),
            "colour": pd.Categorical(rng.choice(["red", "blue"], N)),
            "since": [
                datetime(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(900, size=N)
            ],
            "text": [f"{rng.choice(TOPICS)} {rng.choice(TOPICS)} number {i}" for i in range(N)],
            "digits": [str(i * 7 % 13) for i in range(N)],
            "day": [f"2021-0{1 + i % 9}-1{i % 10}" for i in range(N)],
        },
        index=NAMES,
    )
    frame.loc["n5", "size"] = frame.loc["n6", "kind"] = frame.loc["n8", "text"] = None
    frame.loc["n9", "since"] = None
    frame["colour"] = frame["colour"].cat.add_categories("green")
    frame.loc["n0", ["kind", "colour", "text", "digits", "day"]] = [
        "only here",
        "green",
        "zebra quartz",
        "none of them",
        "some day",
    ]
    frame.loc["n7", "since"] = datetime(1999, 12, 31, 23, 59, 59)
    return frame


FRAME = _make_frame()
VALUES = {
    name: float(np.log(size) + 2.0 * (kind == "a") + len(text or "") / 10.0)
    for name, size, kind, text in zip(
        NAMES, FRAME["size"].fillna(1.0), FRAME["kind"], FRAME["text"].fillna(""), strict=True
    )
    if int(name[1:]) % 4
}
LABELS = {name: f"class {int(value > 4.0)}" for name, value in VALUES.items()}
VALUES_LEFT = {name: value for name, value in VALUES.items() if name not in GONE}
LABELS_LEFT = {name: label for name, label in LABELS.items() if name not in GONE}
NEW = {"size": [1.5], "is_new": [True], "kind": ["b"], "colour": ["red"], "text": ["old hill"]}
NEW |= {"since": [datetime(2021, 5, 5)], "digits": ["3"], "day": ["2021-03-12"], "node": ["new"]}


def _compare(model: Any, fresh: Any, new: Any, rtol: float = 1e-7) -> None:
    assert model.choice_.kernel == fresh.choice_.kernel or np.allclose(
        [term.share for term in model.kernel_], [term.share for term in fresh.kernel_], rtol=1e-5
    )
    np.testing.assert_allclose(model.alpha_, fresh.alpha_, rtol=rtol)
    assert sorted(model.attributes_.names) == sorted(fresh.attributes_.names)
    one, other = (m.predict(LEFT) for m in (model, fresh))
    if isinstance(model, NodeRegressor):
        assert model.transform_ == fresh.transform_
        np.testing.assert_allclose(one, other, rtol=rtol, atol=0.01 * rtol)
        pair = [m.predict(LEFT, return_interval=True)[1] for m in (model, fresh)]
        np.testing.assert_allclose(pair[0], pair[1], rtol=10.0 * rtol, atol=0.1 * rtol)
    else:
        np.testing.assert_array_equal(one, other)
        pair = [m.predict_proba(LEFT) for m in (model, fresh)]
        np.testing.assert_allclose(pair[0], pair[1], atol=1e-7)
    if new is not None:
        found = [m.predict_new({"new": ["n3", "n4"]}, attributes=new) for m in (model, fresh)]
        assert found[0] == pytest.approx(found[1]) or found[0] == found[1]


def _to_polars(frame: pd.DataFrame) -> pl.DataFrame:
    return pl.from_pandas(frame.reset_index(names="node"))


@pytest.mark.parametrize(
    ("estimator", "is_saved", "library"),
    [
        pytest.param(NodeRegressor, False, "pandas", marks=pytest.mark.slow),
        (NodeRegressor, True, "polars"),
        pytest.param(NodeClassifier, True, "pandas", marks=pytest.mark.slow),
        (NodeClassifier, False, "polars"),
    ],
)
def test_forgetting_nodes_of_a_frame_equals_fitting_without_them(
    estimator: Any, is_saved: bool, library: str, tmp_path: Path
) -> None:
    known, left = (VALUES, VALUES_LEFT) if estimator is NodeRegressor else (LABELS, LABELS_LEFT)
    convert = _to_polars if library == "polars" else lambda frame: frame
    model = estimator().fit(EDGES, known, attributes=convert(FRAME))
    if is_saved:
        model.save(tmp_path / "model")
        model = load(tmp_path / "model")
    model.forget(nodes=GONE)
    fresh = estimator().fit(EDGES_LEFT, left, attributes=convert(FRAME.loc[LEFT]), nodes=LEFT)
    _compare(model, fresh, pl.DataFrame(NEW))
    kinds = {column.name: column.kind for column in model.attributes_.columns}
    assert (kinds["digits"], kinds["day"]) == ("number", "date")  # texts, with the others
    assert "kind_only here" not in model.attributes_.names
    if is_saved:
        model.save(tmp_path / "model")
        assert b"zebra" not in (tmp_path / "model").read_bytes()
        _compare(load(tmp_path / "model"), fresh, pl.DataFrame(NEW))


def _make_records() -> dict[str, Any]:
    records: dict[str, Any] = {
        name: {"size": float(size), "n": i}
        for i, (name, size) in enumerate(zip(NAMES, FRAME["size"].fillna(1.0), strict=True))
    }
    records["n0"] = {"size": 1.0, "n": True, "only here": 3.5}
    records["n7"] = {"size": "large", "n": 2.5}
    return records


def _make_bags() -> dict[str, Any]:
    bags = {name: dict.fromkeys(str(text).split(), 1) for name, text in FRAME["text"].items()}
    return {str(name): bag for name, bag in bags.items()}


def _make_half_full_records() -> dict[str, Any]:
    """Named numbers that most nodes have only because of the forgotten nodes."""
    rare = [f"w{j}" for j in range(10)]
    few = {
        f"n{i}": {word: 1.0 + (i * (j + 1)) % 5 for j, word in enumerate(rare[:width])}
        for i, width in enumerate([4, 5, 5, 6, 7, 10], start=1)
    }
    return few | {gone: {word: float(j) for j, word in enumerate(rare)} for gone in GONE}


@pytest.mark.parametrize(
    "make", [_make_records, _make_bags, _make_half_full_records], ids=["records", "bags", "half"]
)
@pytest.mark.parametrize("is_saved", [pytest.param(False, marks=pytest.mark.slow), True])
def test_forgetting_nodes_of_a_mapping_equals_fitting_without_them(
    make: Any, is_saved: bool, tmp_path: Path
) -> None:
    attributes = make()
    left = {name: own for name, own in attributes.items() if name not in GONE}
    model = NodeRegressor().fit(EDGES, VALUES, attributes=attributes)
    if is_saved:
        model.save(tmp_path / "model")
        model = load(tmp_path / "model")
    model.forget(nodes=GONE)
    fresh = NodeRegressor().fit(EDGES_LEFT, VALUES_LEFT, attributes=left, nodes=LEFT)
    assert model.attributes_ is not None
    assert fresh.attributes_ is not None
    assert model.attributes_.form == fresh.attributes_.form
    assert (fresh.attributes_.form == "columns") == (make is _make_records)
    # Sums of words are in single precision, and in another order.
    _compare(model, fresh, {"new": left["n3"]}, 1e-7 if make is _make_records else 1e-5)


def test_forgetting_the_full_rows_of_a_sparse_matrix_leaves_words() -> None:
    X = np.zeros((N, 3))
    X[[NAMES.index(name) for name in LEFT[:20]], 0] = 1.0
    X[N // 2 :] = 1.0
    gone, left = NAMES[N // 2 :], NAMES[: N // 2]
    edges = [edge for edge in EDGES if not set(edge) & set(gone)]
    model = NodeRegressor().fit(EDGES, VALUES, attributes=csr_array(X + 0.0), nodes=NAMES)
    model.forget(nodes=gone)
    known = {name: value for name, value in VALUES.items() if name in left}
    fresh = NodeRegressor().fit(edges, known, attributes=csr_array(X[: N // 2]), nodes=left)
    assert model.attributes_ is not None
    assert model.attributes_.is_sparse
    np.testing.assert_allclose(model.predict(left), fresh.predict(left), atol=1e-9)


def test_encoders_are_fitted_again_on_the_nodes_that_they_were_fitted_on() -> None:
    first, later = FRAME.iloc[:40], FRAME.iloc[40:]
    model = NodeRegressor().fit(EDGES, VALUES, attributes=first).partial_fit(attributes=later)
    model.forget(nodes=[*GONE, "n50"])
    left = [name for name in LEFT if name != "n50"]
    edges = [edge for edge in EDGES_LEFT if "n50" not in edge]
    known = {name: value for name, value in VALUES_LEFT.items() if name != "n50"}
    fresh = NodeRegressor().fit(
        edges, known, attributes=first.loc[[n for n in left if n in first.index]], nodes=left
    )
    fresh.partial_fit(attributes=later.drop(index="n50"))
    np.testing.assert_allclose(model.predict(left), fresh.predict(left), atol=1e-8)


def test_forgetting_all_nodes_with_attributes_leaves_none() -> None:
    model = NodeRegressor().fit(EDGES, VALUES, attributes=FRAME.loc[GONE, ["kind"]])
    model.forget(nodes=GONE)
    fresh = NodeRegressor().fit(EDGES_LEFT, VALUES_LEFT, nodes=LEFT)
    assert model.attributes_ is None
    np.testing.assert_allclose(model.predict(LEFT), fresh.predict(LEFT), atol=1e-9)


def test_forgetting_the_first_nodes_fits_encoders_on_later_ones() -> None:
    first, later = FRAME.loc[GONE], FRAME.loc[LEFT]
    model = NodeRegressor().fit(EDGES, VALUES, attributes=first[["text"]])
    model.partial_fit(attributes=later[["text"]]).forget(nodes=GONE)
    fresh = NodeRegressor().fit(EDGES_LEFT, VALUES_LEFT, attributes=later[["text"]], nodes=LEFT)
    np.testing.assert_allclose(model.predict(LEFT), fresh.predict(LEFT), atol=1e-8)


def test_encoders_are_fitted_on_all_nodes_if_later_entries_do_not_fit() -> None:
    frame = pd.DataFrame({"code": [str(i) for i in range(N)]}, index=NAMES)
    frame.loc["n0"], frame.loc["n50"] = "text", "letters"
    model = NodeRegressor().fit(EDGES, VALUES, attributes=frame.iloc[:40])
    model.partial_fit(attributes=frame.iloc[40:]).forget(nodes=GONE)
    fresh = NodeRegressor().fit(EDGES_LEFT, VALUES_LEFT, attributes=frame.loc[LEFT], nodes=LEFT)
    np.testing.assert_allclose(model.predict(LEFT), fresh.predict(LEFT), atol=1e-8)

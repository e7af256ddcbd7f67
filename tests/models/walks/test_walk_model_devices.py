"""Node models on another device: the same choice and predictions as on the CPU.

The GPU's engine is replaced by one on the CPU, whose arrays do not mix with NumPy's.
"""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import gradraker
from gradraker import NodeClassifier, NodeRegressor
from gradraker.exceptions import ArgumentError, DeviceMemoryError, NoDeviceError
from gradraker.features.engine import ENGINES
from gradraker.linear import factors
from gradraker.models.walks.exact import blocks, kernel_choice
from oracles.strict_engine import NoRoomError, StrictEngine, refuse_device

N = 300


def _make_graph(n: int = N) -> tuple[csr_array, Any]:
    rng = np.random.default_rng(0)
    start = np.repeat(np.arange(n), 5)
    ends = (start + rng.geometric(0.2, start.size)) % n
    A = csr_array((np.ones(start.size), (start, ends)), shape=(n, n))
    values = np.sin(np.arange(n) / 20) + 0.1 * rng.normal(size=n)
    return A, np.where(np.arange(n) % 4 == 0, values, np.nan)


@pytest.fixture
def other_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "cuda", StrictEngine)


def _fit(device: str, **parameters: Any) -> NodeRegressor:
    A, values = _make_graph()
    model = NodeRegressor(solver="operators", device=device, **parameters)
    model.fit(A, values, kind="matrix")
    assert model.device_ == device
    return model


def _fit_both(**parameters: Any) -> tuple[NodeRegressor, NodeRegressor]:
    return _fit("cpu", **parameters), _fit("cuda", **parameters)


@pytest.mark.usefixtures("other_engine")
@pytest.mark.parametrize(
    ("parameters", "allowed"),
    [
        ({}, 1e-3),
        ({"tol": 1e-8}, 1e-7),
        ({"dtype": "float64"}, 1e-6),
        ({"direction": "out"}, 1e-3),
        ({"neighbours": "known"}, 1e-3),
        ({"blocks": ("hop1", "same_targets", "alternating", "degree"), "alpha": 0.5}, 1e-3),
    ],
)
def test_other_device_chooses_and_predicts_the_same(
    parameters: dict[str, Any], allowed: float
) -> None:
    cpu, other = _fit_both(**parameters)
    assert other.alpha_ == cpu.alpha_
    assert other.kernel_ == cpu.kernel_
    np.testing.assert_allclose(other.predict(), cpu.predict(), atol=allowed)
    for one, two in zip(
        cpu.predict(return_interval=True), other.predict(return_interval=True), strict=True
    ):
        np.testing.assert_allclose(two, one, atol=10 * allowed)
    np.testing.assert_allclose(
        other.explain([1, 2]).weights, cpu.explain([1, 2]).weights, atol=allowed
    )
    new = {N + 5: [3, 4]}
    assert other.predict_new(new)[N + 5] == pytest.approx(cpu.predict_new(new)[N + 5], abs=allowed)


@pytest.mark.usefixtures("other_engine")
def test_other_device_learns_what_comes_later() -> None:
    cpu, other = _fit_both(tol=1e-6)
    for model in (cpu, other):
        model.partial_fit([(N, 1), (N, 2)], {N: 1.0, 3: -1.0})
    assert other.device_ == "cuda"
    np.testing.assert_allclose(other.predict(), cpu.predict(), atol=1e-5)


@pytest.mark.usefixtures("other_engine")
def test_classes_on_the_other_device_are_the_same() -> None:
    A, values = _make_graph()
    labels = np.where(values > 0, "high", "low").astype(object)
    labels[np.isnan(values)] = None
    cpu, other = (
        NodeClassifier(solver="operators", device=device).fit(A, labels, kind="matrix")
        for device in ("cpu", "cuda")
    )
    assert other.kernel_ == cpu.kernel_
    np.testing.assert_allclose(other.predict_proba(), cpu.predict_proba(), atol=1e-2)
    assert np.mean(other.predict() == cpu.predict()) > 0.99


@pytest.mark.usefixtures("other_engine")
def test_model_of_the_other_device_is_saved_and_pickled(tmp_path: Any) -> None:
    other = _fit("cuda")
    expected = other.predict()
    other.save(tmp_path / "model.gr")
    loaded = gradraker.load(tmp_path / "model.gr")
    assert loaded.get_params()["device"] == "cuda"
    np.testing.assert_allclose(loaded.predict(), expected, atol=1e-6)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(other)).predict(), expected)


@pytest.mark.usefixtures("other_engine")
def test_describe_names_the_device() -> None:
    other = _fit("cuda")
    described = other.describe()
    assert described["choice"]["device"] == "cuda"
    assert described["settings"]["dtype"] == "auto"


@pytest.mark.usefixtures("other_engine")
def test_lack_of_memory_is_refused_with_sizes_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = _fit("cuda")
    expected = other.predict()
    monkeypatch.setattr(StrictEngine, "room", 100)
    A, values = _make_graph()
    with pytest.raises(DeviceMemoryError, match=rf"{N} nodes and \d+ entries.*1.0 GB of 2.0 GB"):
        other.fit(A, values, kind="matrix")
    np.testing.assert_array_equal(other.predict(), expected)


@pytest.mark.usefixtures("other_engine")
@pytest.mark.parametrize("solver", ["operators", "exact"])
def test_lack_of_memory_after_the_fit_is_refused_and_changes_nothing(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any) -> Any:
        raise NoRoomError

    A, values = _make_graph(240)
    model = NodeRegressor(
        solver=solver, device="cuda", blocks=("hop1",), width=1.0, alpha=0.5, transform="none"
    ).fit(A, values, kind="matrix")
    expected = model.explain([1, 2]).weights
    with monkeypatch.context() as patch:
        patch.setattr(StrictEngine, "load", refuse)
        patch.setattr(StrictEngine, "load_rows", refuse)
        with pytest.raises(DeviceMemoryError, match=r"240 nodes and \d+ entries"):
            model.explain([1, 2])
        with pytest.raises(DeviceMemoryError, match="were free"):
            model.predict_new({500: [3, 4]})
    np.testing.assert_array_equal(model.explain([1, 2]).weights, expected)


@pytest.mark.usefixtures("other_engine")
def test_auto_takes_the_cpu_where_memory_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu = _fit("cpu")
    monkeypatch.setattr(StrictEngine, "room", 100)
    A, values = _make_graph()
    model = NodeRegressor(solver="operators", device="auto")
    with pytest.warns(UserWarning, match="device='auto' takes the CPU: .* too little memory"):
        model.fit(A, values, kind="matrix")
    assert model.device_ == "cpu"
    np.testing.assert_array_equal(model.predict(), cpu.predict())


@pytest.mark.usefixtures("other_engine")
def test_norms_do_not_depend_on_the_columns_that_memory_has_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = []
    for columns in (8, 64):
        monkeypatch.setattr(StrictEngine, "columns", columns)
        found.append(_fit("cuda", tol=1e-8).predict())
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


def test_cuda_is_refused_in_one_sentence_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "cuda", refuse_device)
    A, values = _make_graph()
    for solver in ("operators", "exact", "auto"):
        model = NodeRegressor(solver=solver, device="cuda")
        with pytest.raises(NoDeviceError, match=r"^device='cuda' needs .* finds no GPU; [^.]*$"):
            model.fit(A, values, kind="matrix")


def test_auto_takes_the_cpu_without_a_gpu_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "cuda", refuse_device)
    A, values = _make_graph()
    model = NodeRegressor(solver="operators", device="auto")
    with pytest.warns(UserWarning, match="device='auto' takes the CPU: CuPy finds no GPU"):
        model.fit(A, values, kind="matrix")
    assert model.device_ == "cpu"


@pytest.mark.parametrize("parameters", [{"device": "gpu"}, {"dtype": "float16"}, {"device": None}])
def test_unknown_device_and_precision_are_refused(parameters: dict[str, Any]) -> None:
    A, values = _make_graph()
    (name,) = parameters
    with pytest.raises(ArgumentError, match=f"{name} must be"):
        NodeRegressor(**parameters).fit(A, values, kind="matrix")


@pytest.mark.usefixtures("other_engine")
def test_attributes_and_several_targets_on_the_other_device() -> None:
    A, values = _make_graph()
    rng = np.random.default_rng(1)
    attributes = np.column_stack([np.sin(np.arange(N) / 20), rng.normal(size=N)])
    both = np.column_stack([values, -2.0 * values])
    cpu, other = (
        NodeRegressor(solver="operators", device=device, tol=1e-6).fit(
            A, both, kind="matrix", attributes=attributes
        )
        for device in ("cpu", "cuda")
    )
    assert other.kernel_ == cpu.kernel_
    np.testing.assert_allclose(other.predict(), cpu.predict(), atol=1e-4)


# -- exact kernels ------------------------------------------------------------------------

FEWER = 240


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the ways of many known nodes with few: parts, blocks of rows, nothing kept."""
    monkeypatch.setattr(kernel_choice, "FEW", 25)
    monkeypatch.setattr(kernel_choice, "MANY", 40)
    monkeypatch.setattr(kernel_choice, "_MOST_DECOMPOSED", 50)
    monkeypatch.setattr(factors, "_ROWS_PER_BLOCK", 24)
    monkeypatch.setattr(blocks, "_MOST_KEPT", 1000)


def _fit_exactly(**options: Any) -> tuple[NodeRegressor, NodeRegressor]:
    A, values = _make_graph(FEWER)
    parameters = options.pop("parameters", {})
    cpu, other = (
        NodeRegressor(solver="exact", device=device, **parameters).fit(
            A, values, kind="matrix", **options
        )
        for device in ("cpu", "cuda")
    )
    assert (cpu.device_, other.device_) == ("cpu", "cuda")
    assert (cpu.solver_, other.solver_) == ("exact", "exact")
    return cpu, other


@pytest.mark.usefixtures("other_engine", "small_steps")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"parameters": {"direction": "out"}},
        {"parameters": {"neighbours": "known"}},
        {"parameters": {"blocks": ("community", "same_targets", "alternating"), "width": 1.0}},
        {"parameters": {"blocks": ("hop2", "far"), "width": 2.0, "alpha": 1e-13}},
        {"sample_weight": np.where(np.arange(FEWER) % 8 == 0, 1.0, 3.0)},
        {"attributes": np.column_stack([np.sin(np.arange(FEWER) / 20), np.arange(FEWER) % 7])},
    ],
)
def test_exact_kernels_on_the_other_device_are_the_same(options: dict[str, Any]) -> None:
    cpu, other = _fit_exactly(**options)
    assert other.alpha_ == pytest.approx(cpu.alpha_, rel=1e-6)
    for one, two in zip(cpu.kernel_, other.kernel_, strict=True):
        assert (one.block, one.width) == (two.block, two.width)
        assert two.share == pytest.approx(one.share, abs=1e-9)
    is_certain = options.get("parameters", {}).get("alpha") != 1e-13
    allowed = 1e-8 if is_certain else 1e-3
    np.testing.assert_allclose(other.predict(), cpu.predict(), atol=allowed)
    if not is_certain:
        return
    for one, two in zip(
        cpu.predict(return_interval=True), other.predict(return_interval=True), strict=True
    ):
        np.testing.assert_allclose(two, one, atol=allowed)
    nodes = [1, 2, 3]
    mine, theirs = cpu.explain(nodes), other.explain(nodes)
    np.testing.assert_allclose(theirs.weights, mine.weights, atol=allowed)
    assert mine.parts is not None
    assert theirs.parts is not None
    np.testing.assert_allclose(theirs.parts, mine.parts, atol=allowed)
    np.testing.assert_allclose(
        other.explain([0, 4], left_out=True).weights,
        cpu.explain([0, 4], left_out=True).weights,
        atol=1e-6,  # over 1 − own weight, which is small
    )
    if "attributes" not in options:
        new = {FEWER + 5: [3, 4]}
        assert other.predict_new(new)[FEWER + 5] == pytest.approx(cpu.predict_new(new)[FEWER + 5])


@pytest.mark.usefixtures("other_engine", "small_steps")
def test_exact_kernels_on_the_other_device_grow() -> None:
    cpu, other = _fit_exactly(parameters={"reselect": "doubled"})
    for model in (cpu, other):
        model.partial_fit(values={1: 0.5, 2: -0.5, 8: 0.1})
    np.testing.assert_allclose(other.predict(), cpu.predict(), atol=1e-8)
    for model in (cpu, other):
        model.partial_fit(values={1: 0.0})
    np.testing.assert_allclose(other.predict(), cpu.predict(), atol=1e-8)
    assert pickle.loads(pickle.dumps(other)).predict([5]) == pytest.approx(cpu.predict([5]))


@pytest.mark.usefixtures("other_engine")
def test_exact_classes_on_the_other_device_are_the_same() -> None:
    A, values = _make_graph(FEWER)
    labels = np.where(values > 0, "high", "low").astype(object)
    labels[np.isnan(values)] = None
    cpu, other = (
        NodeClassifier(solver="exact", device=device).fit(A, labels, kind="matrix")
        for device in ("cpu", "cuda")
    )
    np.testing.assert_allclose(other.predict_proba(), cpu.predict_proba(), atol=1e-8)


@pytest.mark.usefixtures("other_engine", "small_steps")
def test_exact_kernels_that_memory_does_not_hold_are_refused_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cpu, other = _fit_exactly(parameters={"blocks": ("hop1",), "width": 1.0})
    expected = other.predict()
    monkeypatch.setattr(StrictEngine, "measure_memory", lambda self: (80_000, 2 * 10**9))
    A, values = _make_graph(FEWER)
    with pytest.raises(DeviceMemoryError, match=r"exact kernels of 60 known nodes \(0.0 GB\)") as e:
        other.fit(A, values, kind="matrix")
    assert (e.value.n_known, e.value.needed) == (60, 3 * 8 * 60**2)
    np.testing.assert_array_equal(other.predict(), expected)
    model = NodeRegressor(solver="exact", device="auto", blocks=("hop1",), width=1.0)
    with pytest.warns(UserWarning, match="device='auto' takes the CPU: .* too little memory"):
        model.fit(A, values, kind="matrix")
    assert model.device_ == "cpu"
    np.testing.assert_array_equal(model.predict(), cpu.predict())

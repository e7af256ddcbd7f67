"""Predict and learn one node at a time: ours compared with a NumPy loop and scikit-learn.

20 000 references, 20 neighbours per node, D = 500. Frequencies are drawn before the clock starts.
The NumPy loop gathers only the rows of the neighbours, with preallocated arrays; scikit-learn
transforms and learns a one-row matrix per node. Neither stores known nodes, so ratios are for ours
with ``keep_known=False``; one line has the default.

Run ``python benchmarks/bench_online.py``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDRegressor

from gradraker import SKGRegressor
from report import (
    SEED,
    Agreement,
    Finding,
    Report,
    Timing,
    finish,
    interleaved,
    microseconds,
    options,
    run_alone,
    table,
)

SIGMA2, LEARNING_RATE = 4.0, 0.1
NUMPY, SKLEARN = "NumPy loop", "scikit-learn"
PREDICT_LEARN, LEARN_ONE = "predict_one, then learn_one", "learn_one (predicts as well)"
LEARN_AND_KEEP = "learn_one, keep_known=True"


@dataclass(frozen=True)
class Stream:
    """Nodes that arrive one after another, in the best format for each side."""

    neighbours: NDArray[np.int32]  # [n, degree]
    names: list[list[int]]
    values: list[float]
    rows: csr_array  # [n, M]
    n_frequencies: int

    @property
    def n_references(self) -> int:
        """M."""
        return int(self.rows.shape[1])

    def split_into_chunks(self, size: int) -> list[tuple[csr_array, NDArray[np.float64]]]:
        """Rows and values, ``size`` nodes at a time."""
        values = np.array(self.values)
        starts = range(0, values.size, size)
        return [(self.rows[s : s + size], values[s : s + size]) for s in starts]


def make_stream(n_nodes: int, n_references: int, degree: int, n_frequencies: int) -> Stream:
    rng = np.random.default_rng(SEED)
    neighbours = rng.integers(n_references, size=(n_nodes, degree), dtype=np.int32)
    indptr = np.arange(0, n_nodes * degree + 1, degree)
    shape = (n_nodes, n_references)
    rows = csr_array((np.ones(neighbours.size), neighbours.ravel(), indptr), shape=shape)
    values = rng.random(n_references)[neighbours].mean(axis=1)
    return Stream(neighbours, neighbours.tolist(), values.tolist(), rows, n_frequencies)


def make_model(stream: Stream, *, keep_known: bool = False) -> SKGRegressor:
    """A model that has drawn the frequencies of all references and learned nothing."""
    model = SKGRegressor(
        sigma2=SIGMA2,
        n_frequencies=stream.n_frequencies,
        learning_rate=LEARNING_RATE,
        random_state=SEED,
        keep_known=keep_known,
    )
    model.partial_fit(stream.rows, np.zeros(len(stream.values)))  # θ stays 0
    model.predict_one(range(stream.n_references))
    return model


def learn_one_by_one(model: SKGRegressor, stream: Stream) -> list[float]:
    learn_one = model.learn_one
    return [
        float(learn_one(names, value))
        for names, value in zip(stream.names, stream.values, strict=True)
    ]


def predict_then_learn(model: SKGRegressor, stream: Stream) -> list[float]:
    predictions = []
    for names, value in zip(stream.names, stream.values, strict=True):
        predictions.append(model.predict_one(names))
        model.learn_one(names, value)
    return predictions  # type: ignore[return-value]


def run_numpy_loop(stream: Stream, frequencies: NDArray[np.float64]) -> list[float]:
    n_frequencies = stream.n_frequencies
    theta, z = np.zeros(2 * n_frequencies), np.empty(2 * n_frequencies)
    amplitude, step = 1.0 / np.sqrt(n_frequencies), 2.0 * LEARNING_RATE
    predictions = []
    for neighbours, value in zip(stream.neighbours, stream.values, strict=True):
        projection = frequencies[neighbours].sum(axis=0)  # [D]
        np.sin(projection, out=z[:n_frequencies])
        np.cos(projection, out=z[n_frequencies:])
        z *= amplitude
        prediction = theta @ z
        theta += step * (value - prediction) * z
        predictions.append(float(prediction))
    return predictions


def run_sklearn_loop(stream: Stream, sampler: RBFSampler, n_nodes: int) -> None:
    regressor = SGDRegressor(
        learning_rate="constant", eta0=2.0 * LEARNING_RATE, penalty=None, fit_intercept=False
    )
    for n in range(n_nodes):
        Z = sampler.transform(stream.rows[n : n + 1])
        if n > 0:
            regressor.predict(Z)
        regressor.partial_fit(Z, [stream.values[n]])


def check_agreements(stream: Stream, frequencies: NDArray[np.float64]) -> list[Agreement]:
    looped = np.array(run_numpy_loop(stream, frequencies))
    one_by_one, in_turns, chunked = make_model(stream), make_model(stream), make_model(stream)
    learned = np.array(learn_one_by_one(one_by_one, stream))
    predicted = np.array(predict_then_learn(in_turns, stream))
    for X, y in stream.split_into_chunks(100):
        chunked.partial_fit(X, y)
    size = abs(looped).max()
    return [
        Agreement("predictions of learn_one", float(abs(learned - looped).max() / size), 1e-10),
        Agreement("predictions of predict_one", float(abs(predicted - looped).max() / size), 1e-10),
        Agreement(
            "coef_ of chunks and of learn_one",
            float(abs(chunked.coef_ - one_by_one.coef_).max() / abs(one_by_one.coef_).max()),
            1e-10,
        ),
    ]


def main(argv: Sequence[str] | None = None) -> Report:
    arguments = options(argv, __doc__)
    n_nodes, n_references, n_frequencies = (60, 80, 50) if arguments.tiny else (10_000, 20_000, 500)
    stream = make_stream(n_nodes, n_references, 20, n_frequencies)
    n_sklearn = 20 if arguments.tiny else 200
    sizes = (10, 30) if arguments.tiny else (100, 1000, 10_000)
    model, keeping = make_model(stream), make_model(stream, keep_known=True)
    frequencies = model.frequencies_
    sampler = RBFSampler(
        n_components=2 * n_frequencies, gamma=1.0 / (2.0 * SIGMA2), random_state=SEED
    ).fit(stream.rows)
    chunks = {f"partial_fit, {size} nodes a call": stream.split_into_chunks(size) for size in sizes}

    def learn_chunks(name: str) -> None:
        for X, y in chunks[name]:
            model.partial_fit(X, y)

    times = interleaved(
        {
            SKLEARN: lambda: run_sklearn_loop(stream, sampler, n_sklearn),
            NUMPY: lambda: run_numpy_loop(stream, frequencies),
            PREDICT_LEARN: lambda: predict_then_learn(model, stream),
            LEARN_AND_KEEP: lambda: learn_one_by_one(keeping, stream),
            LEARN_ONE: lambda: learn_one_by_one(model, stream),
            **{name: lambda name=name: learn_chunks(name) for name in chunks},  # type: ignore[misc]
        },
        tiny=arguments.tiny,
    )
    steps = {name: n_sklearn if name == SKLEARN else n_nodes for name in times}
    seconds_per_step = {name: timing.median / steps[name] for name, timing in times.items()}
    against = {
        name: seconds_per_step[NUMPY] / seconds for name, seconds in seconds_per_step.items()
    }
    in_chunks = list(chunks)[-1]
    report = Report(
        f"Online: {n_references} references, 20 neighbours, D = {n_frequencies}",
        findings=(
            Finding("learn_one against the NumPy loop", against[LEARN_ONE], 3),
            Finding(f"{in_chunks}, against it", against[in_chunks], 15),
            Finding(
                "learn_one against scikit-learn",
                seconds_per_step[SKLEARN] / seconds_per_step[LEARN_ONE],
            ),
        ),
        agreements=tuple(check_agreements(stream, frequencies)),
        tables=(format_steps(times, steps, against),),
        judged=not arguments.tiny,
    )
    return finish(report)


def format_steps(times: dict[str, Timing], steps: dict[str, int], against: dict[str, float]) -> str:
    rows = [
        [
            name,
            microseconds(timing.median / steps[name]),
            microseconds(timing.best / steps[name]),
            f"{against[name]:.2f}×",
        ]
        for name, timing in times.items()
    ]
    return table(["", "per node (median)", "(best)", "against NumPy"], rows)


if __name__ == "__main__":
    run_alone(main)

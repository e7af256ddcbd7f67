"""The paper's simulations against loops written from the equations, on small graphs."""

import itertools
import json

import numpy as np
import pytest

from gradraker import SKGRegressor, gnmse, load_temperature, sigma2_sweep
from gradraker.datasets import GraphDataset
from gradraker.exceptions import DatasetUnavailableError
from gradraker.paper import simulations
from gradraker.paper.data import DATA, Loaded, checksum, how_to_get, load_data
from gradraker.paper.findings import findings
from gradraker.paper.plan import PARTS, SIMULATIONS, chosen_parts
from gradraker.paper.results import read_results
from gradraker.paper.run import run_paper
from gradraker.sweep.repeat import draw_repeat

SPLIT = {"fraction": 0.4, "n_repeats": 2}


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("GRADRAKER_DATA", str(tmp_path / "nothing"))


@pytest.fixture(scope="module")
def small():
    """A graph of 40 nodes and three classes."""
    rng = np.random.default_rng(5)
    adjacency = (rng.random((40, 40)) < 0.15).astype(float)
    values = rng.integers(1, 4, 40).astype(float)
    values[:3] = [1.0, 2.0, 3.0]
    data = GraphDataset(adjacency, values, list(map(str, range(40))), name="small")
    return Loaded(data.adjacency, data.scaled_values(), data, {})


@pytest.fixture(scope="module")
def temperature():
    return load_data("temperature", download=False)


def split(loaded, repeat, seed=3):
    draw = draw_repeat(loaded.adjacency.shape[0], 0.4, seed, repeat)
    return draw, loaded.adjacency.toarray()[:, draw.known]


def test_figures_2_to_5_show_the_first_repeat_of_figure_6a(temperature):
    settings = SIMULATIONS["weights"].settings
    found = simulations.weights(temperature, settings, 7)
    sweep = sigma2_sweep(
        temperature.dataset, sigma2=settings["sigma2"], n_repeats=1, random_state=7
    )
    y = np.array(found["values"])
    errors = [gnmse(y, run["predictions"]) for run in found["runs"]]
    np.testing.assert_allclose(errors, sweep.gnmse[0], rtol=1e-10)
    np.testing.assert_allclose(found["boundaries"], sweep.boundaries[0], rtol=1e-12)
    assert [run["range"] for run in found["runs"]] == [
        "chaos",
        "extending",
        "disturbing",
        "averaging",
    ]


def test_weights_of_the_tested_node_give_its_prediction(temperature):
    found = simulations.weights(temperature, SIMULATIONS["weights"].settings, 0)
    draw = draw_repeat(89, 0.4, 0, 0)
    learned = temperature.values[draw.known]
    for run in found["runs"]:
        by_time = np.array(run["weights"]) @ learned[found["order"]]
        by_node = np.array(run["weights_by_node"]) @ learned
        np.testing.assert_allclose([by_time, by_node], run["predictions"][0], atol=1e-12)
    assert found["node"] == temperature.dataset.node_names[draw.unknown[0]]


def test_similarities_and_late_weights_of_all_tested_nodes(temperature):
    settings = SIMULATIONS["weights"].settings | {"sigma2": [10.0]}
    found = simulations.weights(temperature, settings, 0)
    (run,) = found["runs"]
    draw, X = split(temperature, 0, seed=0)
    model = SKGRegressor(sigma2=10.0, n_frequencies=200, n_epochs=3, random_state=draw.seed)
    model.fit(X[draw.known], temperature.values[draw.known])
    Z, order = model.features(X[draw.known]), found["order"]
    similarities, ranks = [], []
    for a in model.features(X[draw.unknown]):
        B = [0.2 * float(a @ Z[i]) for i in order]
        similarities.append(np.mean(B))
        F, v = [], a.copy()
        for i in reversed(order):  # the adjoint pass
            F.insert(0, 0.2 * float(Z[i] @ v))
            v = v - F[0] * Z[i]
        smallest = sorted(B)[: len(B) // 4]
        ranks += [
            sum(other < F[t] for other in F) / len(F)
            for t in range(len(F) - 5, len(F))
            if B[t] <= smallest[-1] + 1e-12
        ]
    assert run["mean_similarity"] == pytest.approx(np.mean(similarities), rel=1e-10)
    assert len(ranks) > 10
    # 27 of 108 are the lowest quarter; a quantile lies between the 27th and the 28th.
    np.testing.assert_allclose(run["late_ranks"], ranks, atol=1e-12)


def test_similarity_measures_at_one_distance(small):
    settings = SPLIT | {
        "squared_distance": 5.0,
        "sigma2": 2.0,
        "n_frequencies": 30,
        "learning_rate": 0.2,
    }
    found = simulations.similarity(small, settings, 3)["similarities"]
    for repeat, B in enumerate(found):
        draw, X = split(small, repeat)
        rows = X[draw.known]
        model = SKGRegressor(sigma2=2.0, n_frequencies=30, random_state=draw.seed)
        Z = model.fit(rows, rows[:, 0]).features(rows)
        expected = [
            2.0 * 0.2 * float(Z[i] @ Z[j])
            for i, j in itertools.combinations(range(len(rows)), 2)
            if np.sum((rows[i] - rows[j]) ** 2) == 5.0
        ]
        assert len(expected) > 3
        np.testing.assert_allclose(B, expected, atol=1e-14)


def test_pairs_are_counted(small):
    settings = SPLIT | {"squared_distances": [4.0, 1000.0], "limits": [0.4, 0.1]}
    found = simulations.pairs(small, settings, 3)
    assert found["differences"]["1000"] == []  # no pair is so far apart
    for repeat in range(2):
        draw, X = split(small, repeat)
        rows, y = X[draw.known], small.values[draw.known]
        pairs = [
            (float(np.sum((rows[i] - rows[j]) ** 2)), round(abs(y[i] - y[j]), 12))
            for i, j in itertools.combinations(range(len(rows)), 2)
        ]
        here = [gap for distance, gap in pairs if distance == 4.0]
        above = np.mean([gap > 0.4 for gap in here])
        assert found["differences"]["4"][repeat] == pytest.approx([len(here), max(here), above])
        if repeat == 0:
            counted = {(distance, gap): n for distance, gap, n in found["table"]}
            assert counted == {pair: pairs.count(pair) for pair in pairs}


def test_largest_factor_over_triples():
    rng = np.random.default_rng(0)
    data = GraphDataset(rng.random((15, 15)), rng.random(15), list("abcdefghijklmno"), name="w")
    loaded = Loaded(data.adjacency, data.scaled_values(), data, {})
    found = simulations.triples(loaded, SPLIT | {"sigma2": 0.7}, 3)
    for repeat in range(2):
        draw, X = split(loaded, repeat)
        D = [[np.sum((a - b) ** 2) for b in X[draw.known]] for a in X[draw.known]]
        exponents = [
            -(D[i][k] + D[k][j] - D[i][j]) / (2.0 * 0.7)
            for i, k, j in itertools.permutations(range(len(D)), 3)
        ]
        assert found["largest_ratio"][repeat] == pytest.approx(np.exp(max(exponents)))
        assert found["part_above"][repeat] == pytest.approx(np.mean(np.array(exponents) > 0.0))


def test_every_numbering_of_classes_from_one_training(small):
    settings = SPLIT | {
        "sigma2": [0.5, 5.0],
        "n_frequencies": 20,
        "learning_rate": 0.1,
        "n_epochs": 2,
        "limit": 0.35,
    }
    found = simulations.numberings(small, settings, 3)
    smallest = []
    for numbering in itertools.permutations([0.0, 0.5, 1.0]):
        y = np.array([numbering[int(value) - 1] for value in small.dataset.values])
        mean = []
        for sigma2 in settings["sigma2"]:
            errors = []
            for repeat in range(2):
                draw, X = split(small, repeat)
                model = SKGRegressor(
                    sigma2=sigma2, n_frequencies=20, n_epochs=2, random_state=draw.seed
                )
                model.fit(X[draw.known], y[draw.known])
                errors.append(gnmse(y[draw.unknown], model.predict(X[draw.unknown])))
            mean.append(np.mean(errors))
        smallest.append(min(mean))
    assert found["n_numberings"] == 6
    assert found["ours"] == pytest.approx(smallest[0], rel=1e-10)
    assert found["smallest"] == pytest.approx(min(smallest), rel=1e-10)
    assert found["median"] == pytest.approx(np.median(smallest), rel=1e-10)
    assert found["largest"] == pytest.approx(max(smallest), rel=1e-10)
    assert found["part_above"] == np.mean(np.array(smallest) > 0.35)


def test_distances_are_those_of_the_sweep(temperature):
    found = simulations.distances(temperature, {"fraction": 0.4, "n_repeats": 3}, 2)
    sweep = sigma2_sweep(temperature.dataset, sigma2=[1.0], n_repeats=3, random_state=2)
    np.testing.assert_array_equal(found["squared_distances"], sweep.squared_distances)


def test_settings_are_those_of_the_paper():
    expected = {
        "temperature": (200, 0.1, 50),
        "temperature-weighted": (200, 0.1, 50),
        "cora": (888, 0.05, 30),
        "email": (403, 0.05, 50),
        "wikipedia": (500, 0.03, 50),
    }
    for key, (n_frequencies, learning_rate, n_repeats) in expected.items():
        settings = SIMULATIONS[f"sweep-{key}"].chosen(fast=False)
        assert settings["n_frequencies"] == n_frequencies
        assert settings["learning_rate"] == learning_rate
        assert settings["n_repeats"] == n_repeats
        assert settings["n_epochs"] == 3
        assert settings["fraction"] == 0.4
        assert len(settings["sigma2"]) >= 40
        steps = np.diff(np.log(settings["sigma2"]))
        np.testing.assert_allclose(steps, steps.mean(), rtol=1e-2)
    assert SIMULATIONS["weights"].settings["sigma2"] == [0.1, 2.0, 10.0, 300.0]


def test_parts_name_simulations_that_are_there():
    assert {name for names in PARTS.values() for name in names} == set(SIMULATIONS)
    assert chosen_parts(None) == list(PARTS)
    assert chosen_parts(["fig6"]) == [f"fig6{letter}" for letter in "abcde"]
    with pytest.raises(ValueError, match=r"only: there is no 'fig'; .* fig1, fig2, fig3, fig3a"):
        chosen_parts(["fig1", "fig"])


def test_a_stopped_run_goes_on_and_gives_the_same_results(tmp_path, no_data):
    def stop(name, done, total):
        lines = sum(file.read_text().count("\n") for file in tmp_path.glob("*/*.jsonl"))
        if lines >= 3:  # the header and two repeats
            raise KeyboardInterrupt

    def run(folder, progress=None):
        return run_paper(
            ["fig6b", "epochs"], fast=True, checkpoints=tmp_path / folder, progress=progress
        )

    with pytest.raises(KeyboardInterrupt):
        run("stopped", stop)
    kept = list((tmp_path / "stopped").iterdir())
    assert len(kept) == 1
    run("stopped").save(tmp_path / "a.jsonl")
    run("whole").save(tmp_path / "b.jsonl")
    run_paper(["fig6b", "epochs"], fast=True).save(tmp_path / "c.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "c.jsonl").read_bytes()


def test_runs_of_other_settings_share_a_folder(tmp_path, no_data):
    for seed in (0, 1):
        shared = run_paper(["fig6b"], fast=True, random_state=seed, checkpoints=tmp_path)
        alone = run_paper(["fig6b"], fast=True, random_state=seed)
        assert shared.simulations == alone.simulations
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_results_are_read_back(tmp_path, no_data):
    results = run_paper(["fig7", "fig8"], fast=True)
    path = results.save(tmp_path / "results.jsonl")
    again = read_results(path)
    assert again.header == results.header
    assert again.simulations == results.simulations
    assert "email" not in again.header["datasets"]  # not asked for
    assert "fetch cora" in again.header["datasets"]["cora"]["missing"]
    assert not again.has("pairs-cora")
    assert set(again.header["versions"]) >= {"gradraker", "numpy", "numba", "python"}


@pytest.mark.parametrize(
    "content", [b"", b"{}\n", b"[1]\n", b'{"format": "other"}\n', b"no JSON\n", b"\xff\xfe"]
)
def test_other_files_are_no_results(tmp_path, content):
    file = tmp_path / "results.jsonl"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"results\.jsonl' is no results file"):
        read_results(file)


def test_checksums_tell_data_apart(small):
    whole = checksum(small.adjacency, small.values)
    assert whole == checksum(small.adjacency.astype(np.float32), small.values)
    assert whole != checksum(small.adjacency, None)
    assert whole != checksum(small.adjacency.T.tocsr(), small.values)
    assert whole != checksum(small.adjacency, small.values + 1.0)


def test_what_is_missing_is_named_with_how_to_get_it(no_data):
    for key in ("cora", "email", "wikipedia"):
        assert load_data(key, download=False) is None
        text = how_to_get(key)
        assert f"gradraker data fetch {DATA[key].registered}" in text
        assert "https://" in text
        assert "GRADRAKER_DATA" in text


def test_a_damaged_file_is_named_and_the_rest_runs(monkeypatch, tmp_path):
    folder = tmp_path / "email_eu_core"
    folder.mkdir()
    for name in ("email-Eu-core.txt", "email-Eu-core-department-labels.txt"):
        (folder / name).write_text("0 1\n1 0\n")
    monkeypatch.setenv("GRADRAKER_DATA", str(tmp_path))
    results = run_paper(["fig6d", "fig7"], fast=True)
    assert list(results.simulations) == ["pairs-temperature"]
    assert "damaged or another file" in results.header["datasets"]["email"]["missing"]


def test_a_download_that_fails_is_told(monkeypatch, no_data):
    def fetch(*arguments, download):
        assert download
        raise DatasetUnavailableError("no network")

    for name in ("fetch_wikipedia_math", "fetch_wikipedia_math_graph"):
        monkeypatch.setattr(f"gradraker.paper.data.{name}", fetch)
    results = run_paper(["fig6e"], download=True)
    assert results.header["datasets"]["wikipedia"]["problem"] == "could not be downloaded"
    (best,) = [one for one in findings(results) if one.key == "best-wikipedia"]
    assert best.verdict == "cannot be checked"
    assert "could not be downloaded" in best.reason


def test_progress_goes_from_0_to_all(no_data):
    seen = []
    run_paper(["fig2", "fig6a"], fast=True, progress=lambda *now: seen.append(now))
    totals = {total for _, _, total in seen}
    assert len(totals) == 1
    done = [part for _, part, _ in seen]
    assert done[0] == 0.0
    assert done == sorted(done)
    assert done[-1] == pytest.approx(totals.pop())
    assert {name for name, _, _ in seen} == {"weights", "sweep-temperature"}


def test_records_hold_settings_seed_and_what_json_can_hold(no_data):
    results = run_paper(["fig1", "frequencies"], fast=True, random_state=9)
    for simulation in results.simulations.values():
        assert simulation["settings"]["random_state"] == 9
        json.dumps(simulation, allow_nan=False)
    data = load_temperature()
    settings = SIMULATIONS["sweep-temperature"].chosen(fast=True)
    sweep = sigma2_sweep(data, **settings, random_state=9)
    assert results.of("sweep-temperature")["gnmse"] == sweep.gnmse.tolist()
    expected = checksum(data.adjacency, data.scaled_values())
    assert results.header["datasets"]["temperature"]["sha256"] == expected

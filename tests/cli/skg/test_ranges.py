"""``gradraker ranges``: boundaries of the four ranges, as the library finds them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradraker
from command_line import invoke, read_facts
from gradraker import adjacency_vectors, load_temperature
from gradraker.models.sigma2 import sigma2_ranges


def test_ranges_are_those_of_the_library(run_in_copy: Callable[..., Any]) -> None:
    found = read_facts(
        run_in_copy("ranges", "--edges", "edges.csv", "--frequencies", "100", "--json")
    )
    data = gradraker.load_temperature()
    expected = gradraker.sigma2_ranges(data.adjacency, n_frequencies=100)
    assert found["nodes"] == 89
    assert found["extending_disturbing"] == expected.extending_disturbing
    assert found["chaos_extending"] == expected.chaos_extending
    assert found["disturbing_averaging"] == expected.disturbing_averaging


def test_ranges_of_known_nodes_are_those_of_predict(run_in_copy: Callable[..., Any]) -> None:
    files = ["--edges", "edges.csv", "--values", "known.csv"]
    found = read_facts(run_in_copy("ranges", *files, "--json"))
    by_skg = read_facts(run_in_copy("predict", *files, "--method", "skg", "--json"))
    predicted = by_skg["sigma2"]["boundaries"]
    assert found["nodes"] == 60
    assert {name: found[name] for name in predicted} == predicted


@pytest.mark.parametrize("noise", ["refined", "0.1"])
def test_ranges_take_a_noise_ratio_or_measure_it(
    run_in_copy: Callable[..., Any], noise: str
) -> None:
    found = read_facts(run_in_copy("ranges", "--edges", "edges.csv", "--noise", noise, "--json"))
    assert found["noise"] == {"refined": "refined", "0.1": "given"}[noise]


def test_ranges_prints_the_four_ranges(run_in_copy: Callable[..., Any]) -> None:
    shown = run_in_copy("ranges", "--edges", "edges.csv").stdout
    for word in ("chaos", "extending", "disturbing", "averaging", "Noise ratio"):
        assert word in shown


@pytest.mark.parametrize("noise", ["0", "0.95", "loud", "nan"])
def test_ranges_refuses_a_wrong_noise_ratio(run_in_copy: Callable[..., Any], noise: str) -> None:
    assert run_in_copy("ranges", "--edges", "edges.csv", "--noise", noise).exit_code == 2


def test_ranges_of_one_node_are_refused(run_in_copy: Callable[..., Any]) -> None:
    Path("one.csv").write_text("Basel / Binningen,1\n")
    result = run_in_copy("ranges", "--edges", "edges.csv", "--values", "one.csv")
    assert result.exit_code == 1
    assert "at least two" in result.stderr


def test_ranges_take_closeness_and_measure_on_unknown_nodes(layer_files: Path) -> None:
    common = ["ranges", "--edges", "altitude.csv", "--values", "known.csv", "--json"]
    plain = json.loads(invoke(*common).output)
    near = json.loads(invoke(*common, "--closeness", "0.3").output)
    assert near["disturbing_averaging"] == pytest.approx(
        plain["disturbing_averaging"] * np.log(0.9) / np.log(0.7)
    )
    data = load_temperature()
    vectors = adjacency_vectors(data)
    known = np.isin(vectors.nodes, data.node_names[:60])
    for noise in ("refined", "minimum"):
        found = json.loads(invoke(*common, "--noise", noise).output)
        assert found["noise"] == noise
        expected = sigma2_ranges(
            vectors.rows[known], noise=noise, tested=vectors.rows[~known], random_state=0
        )
        assert found["noise_ratio"] == pytest.approx(expected.noise_ratio, rel=0.6)
        held_out = sigma2_ranges(vectors.rows[known], noise=noise, random_state=0)
        assert found["noise_ratio"] != held_out.noise_ratio
    for wrong in ("0.5", "0", "nan"):
        done = invoke(*common, "--closeness", wrong)
        assert done.exit_code == 2
        assert "is not between 0 and 0.5" in done.output

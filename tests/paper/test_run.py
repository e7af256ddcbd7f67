"""The tables of parts, simulations and claims; running: checkpoints, missing data, progress."""

from pathlib import Path
from typing import Any

import pytest

from gradraker.exceptions import DatasetUnavailableError, UnknownFigureError
from gradraker.paper import PARTS, SIMULATIONS, choose_parts, compare_with_paper, run_paper
from gradraker.paper.run import CLAIMS


def test_parts_need_all_simulations() -> None:
    assert {name for names in PARTS.values() for name in names} == set(SIMULATIONS)


def test_choose_parts_takes_names_of_figures_and_panels() -> None:
    assert choose_parts(None) == list(PARTS)
    assert choose_parts(["fig6"]) == [f"fig6{letter}" for letter in "abcde"]
    with pytest.raises(ValueError, match=r"only: there is no 'fig'; .* fig1, fig2, fig3, fig3a"):
        choose_parts(["fig1", "fig"])


def test_unknown_figure_error_has_the_name_and_the_known_names() -> None:
    with pytest.raises(UnknownFigureError) as caught:
        choose_parts(["fig10"])
    assert caught.value.name == "fig10"
    assert caught.value.known[:4] == ("fig1", "fig2", "fig3", "fig3a")
    assert set(PARTS) <= set(caught.value.known)


def test_keys_of_claims_are_unique() -> None:
    keys = [claim.key for claim in CLAIMS]
    assert len(set(keys)) == len(keys) == 93


def test_claims_are_in_the_order_of_the_paper() -> None:
    places = list(dict.fromkeys(claim.place for claim in CLAIMS))
    assert places == [
        *("II.C", "III.B.1", "III.B.2", "IV.A.2", "IV.A.3", "IV.A.4", "IV.B"),
        *("V.A, VI.C", "V.B.1", "V.B.2", "V.B.3", "V.B.4", "V.C", "V.D", "V.D, V.E", "V.E"),
        *("VI.B.1", "VI.B.2", "VI.C", "VI.D"),
    ]
    # A number that two sections print is at its first place.
    keys = [claim.key for claim in CLAIMS if claim.place.startswith("V.D")]
    assert keys[:3] == ["d2min-temperature", "d2max-temperature", "sigma2-ce"]


def test_every_claim_has_a_check() -> None:
    assert all(callable(claim.check) for claim in CLAIMS)


def test_simulations_are_written_in_a_fixed_order() -> None:
    assert list(SIMULATIONS) == [
        *("weights", "similarity", "pairs-temperature", "pairs-cora"),
        *("triples-temperature", "triples-temperature-weighted", "approximation", "claim-4"),
        *("numberings-cora", "distances-wikipedia"),
        *("circles", "noise-ranges", "chaos-variances", "algorithm-2"),
        *("self-loops", "directions-cora", "directions-email", "scalings"),
        *("regulariser", "sorted-errors-cora"),
        *("sweep-temperature", "sweep-temperature-weighted"),
        *("sweep-cora", "sweep-email", "sweep-wikipedia"),
        *("frequencies", "learning-rate", "epochs", "sweep-laplacian"),
    ]


def test_a_stopped_run_continues_and_gives_the_same_results(tmp_path: Path, no_data: None) -> None:
    def stop(name: Any, done: Any, total: Any) -> None:
        lines = sum(file.read_text().count("\n") for file in tmp_path.glob("*/*.jsonl"))
        if lines >= 3:  # the header and two repeats
            raise KeyboardInterrupt

    def run(folder: Any, progress: Any = None) -> Any:
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


def test_runs_with_other_seeds_share_a_folder(tmp_path: Path, no_data: None) -> None:
    for seed in (0, 1):
        shared = run_paper(["fig6b"], fast=True, random_state=seed, checkpoints=tmp_path)
        alone = run_paper(["fig6b"], fast=True, random_state=seed)
        assert shared.simulations == alone.simulations
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_a_damaged_file_is_named_and_the_rest_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "email_eu_core"
    folder.mkdir()
    for name in ("email-Eu-core.txt", "email-Eu-core-department-labels.txt"):
        (folder / name).write_text("0 1\n1 0\n")
    monkeypatch.setenv("GRADRAKER_DATA", str(tmp_path))
    results = run_paper(["fig6d", "fig7"], fast=True)
    assert list(results.simulations) == ["pairs-temperature"]
    assert "damaged or another file" in results.header["datasets"]["email"]["missing"]


def test_a_download_that_fails_is_reported(monkeypatch: pytest.MonkeyPatch, no_data: None) -> None:
    def fetch(*arguments: Any, download: Any) -> None:
        assert download
        raise DatasetUnavailableError("no network")

    for name in ("fetch_wikipedia_math", "fetch_wikipedia_math_graph"):
        monkeypatch.setattr(f"gradraker.datasets.fetch.wikipedia.{name}", fetch)
    results = run_paper(["fig6e"], download=True)
    assert results.header["datasets"]["wikipedia"]["problem"] == "could not be downloaded"
    (best,) = [one for one in compare_with_paper(results) if one.key == "best-wikipedia"]
    assert best.verdict == "cannot be checked"
    assert "could not be downloaded" in best.reason


def test_progress_goes_from_0_to_all(no_data: None) -> None:
    seen = []
    run_paper(["fig2", "fig6a"], fast=True, progress=lambda *now: seen.append(now))
    totals = {total for _, _, total in seen}
    assert len(totals) == 1
    done = [part for _, part, _ in seen]
    assert done[0] == 0.0
    assert done == sorted(done)
    assert done[-1] == pytest.approx(totals.pop())
    assert {name for name, _, _ in seen} == {"weights", "sweep-temperature"}

"""Running simulations, and the folder of a reproduction: figures, numbers, the page."""

import base64
import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from browser import MISSING, browser, measured, probed
from gradraker.exceptions import DatasetUnavailableError, UnknownFigureError
from gradraker.paper import PARTS, SIMULATIONS, choose_parts, compare_with_paper, run_paper
from gradraker.paper.reproduction import CLAIMS

# Figures that the embedded data allow.
DRAWN = ["fig1", "fig2", "fig3a", "fig3b", "fig3c", "fig3d", "fig4", "fig5", "fig6a", "fig6b"]
DRAWN += ["fig7", "frequencies", "learning-rate", "epochs", "laplacian"]


@pytest.fixture
def folder(reproduced: tuple[Any, ...]) -> Any:
    """Everything that the embedded data allow, with few repeats."""
    return reproduced[0]


def test_all_figures_of_the_embedded_data_are_drawn_in_three_formats(folder: Path) -> None:
    signatures = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    names = {path.name for path in (folder / "figures").iterdir()}
    assert names == {f"{name}.{kind}" for name in DRAWN for kind in (*signatures, "csv")}
    for name in DRAWN:
        for kind, signature in signatures.items():
            content = (folder / "figures" / f"{name}.{kind}").read_bytes()
            assert content.startswith(signature)
            assert len(content) > 5000


def test_files_have_no_date(folder: Path) -> None:
    for path in (folder / "figures").iterdir():
        content = path.read_bytes()
        assert b"CreationDate" not in content
        assert b"<dc:date>" not in content


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[Any]) -> None:
        self.tags.append(tag)
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        if tag == "a":
            self.links.append((found["download"], found["href"]))
        if tag != "a":
            assert not found.get("href", "#").startswith(("http", "//")), (tag, found)
            assert "src" not in found


def test_the_page_is_self_contained_and_holds_the_numbers(folder: Path) -> None:
    page = (folder / "report.html").read_text("utf-8")
    tags = Tags(page)
    assert "script" not in tags.tags
    assert "img" not in tags.tags
    assert tags.tags.count("svg") == len(DRAWN)
    assert len(set(tags.ids)) == len(tags.ids)
    assert [name for name, _ in tags.links] == [f"{name}.csv" for name in DRAWN]
    for name, href in tags.links:
        kind, _, content = href.partition(",")
        assert kind == "data:text/csv;base64"
        assert base64.b64decode(content) == (folder / "figures" / name).read_bytes()


def test_the_numbers_behind_a_curve_are_its_repeats_and_their_mean(folder: Path) -> None:
    with (folder / "figures" / "fig6a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    lines = (folder / "results.jsonl").read_text("utf-8").splitlines()
    (sweep,) = [
        one for one in map(json.loads, lines) if one.get("simulation") == "sweep-temperature"
    ]
    gnmse = sweep["results"]["gnmse"]
    for s, row in enumerate(rows):
        assert float(row["sigma2"]) == sweep["results"]["sigma2"][s]
        repeats = [one[s] for one in gnmse]
        assert [float(row[f"repeat_{r}"]) for r in range(len(gnmse))] == repeats
        assert float(row["mean"]) == pytest.approx(sum(repeats) / len(repeats))


def test_markdown_json_and_page_have_the_same_numbers(folder: Path) -> None:
    summary = json.loads((folder / "report.json").read_text("utf-8"))
    markdown = (folder / "report.md").read_text("utf-8")
    page = (folder / "report.html").read_text("utf-8")
    assert "&lt;" not in markdown
    assert page.count('class="verdict ') == len(summary["findings"])
    for verdict, n in summary["verdicts"].items():
        assert f"| {verdict} | {n} |" in markdown
        assert page.count(f'">{verdict}</span>') == n
        rows = [line for line in markdown.splitlines() if f" | {verdict} | " in line]
        assert len(rows) == n
    for row in markdown.splitlines():
        if re.match(r"\| (III|IV|V|VI)\.", row):
            assert len(re.findall(r"(?<!\\)\|", row)) == 8


@pytest.mark.browser
@pytest.mark.skipif(browser() is None, reason=MISSING)
@pytest.mark.parametrize("size", [pytest.param("1200,900", marks=pytest.mark.slow), "500,900"])
def test_the_page_in_a_browser(tab: Any, folder: Path, tmp_path: Path, size: str) -> None:
    page = (folder / "report.html").read_text("utf-8")
    dom, console = tab.load(probed(page), tmp_path, size=size)
    assert console == []
    found = measured(dom)
    assert found["title"] == "The paper, reproduced"
    assert len(found["figures"]) == len(DRAWN)
    assert all(width > 300 and height > 150 for width, height in found["figures"])
    assert all(parts > 10 for parts in found["parts"])
    assert found["overflow"] <= 0


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

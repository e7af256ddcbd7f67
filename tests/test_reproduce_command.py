"""``gradraker reproduce``: what it writes, that it is stable, and how it fails."""

import base64
import csv
import json
import re
import shutil
import sys
from html.parser import HTMLParser
from importlib.metadata import version

import pytest
from click.testing import CliRunner

import gradraker.paper
from browser import MISSING, browser, load, measured, probed
from gradraker.cli import main
from gradraker.paper.plan import PARTS

# With the embedded data alone.
DRAWN = [
    "fig1",
    "fig2",
    "fig3a",
    "fig3b",
    "fig3c",
    "fig3d",
    "fig4",
    "fig5",
    "fig6a",
    "fig6b",
    "fig7",
]
DRAWN += ["frequencies", "learning-rate", "epochs"]
LEFT_OUT = ["fig6c", "fig6d", "fig6e", "fig8"]


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    monkeypatch.setenv("GRADRAKER_DATA", str(tmp_path / "nothing"))


def invoke(*arguments):
    return CliRunner().invoke(main, ["reproduce", *map(str, arguments)], prog_name="gradraker")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Everything that the embedded data allow, with few repeats."""
    folder = tmp_path_factory.mktemp("made") / "a" / "paper"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADRAKER_DATA", str(folder / "nothing"))
        result = invoke("--fast", "--out", folder)
    assert result.exit_code == 0, result.output
    return folder, result.output


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_all_figures_of_the_embedded_data_are_drawn_in_three_formats(made):
    folder, _ = made
    signatures = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
    names = {path.name for path in (folder / "figures").iterdir()}
    assert names == {f"{name}.{kind}" for name in DRAWN for kind in (*signatures, "csv")}
    for name in DRAWN:
        for kind, signature in signatures.items():
            content = (folder / "figures" / f"{name}.{kind}").read_bytes()
            assert content.startswith(signature)
            assert len(content) > 5000


def test_files_have_no_date(made):
    folder, _ = made
    for path in (folder / "figures").iterdir():
        content = path.read_bytes()
        assert b"CreationDate" not in content
        assert b"<dc:date>" not in content


def test_the_end_says_how_many_agree_and_what_is_missing(made):
    folder, output = made
    summary = json.loads((folder / "report.json").read_text("utf-8"))
    verdicts = summary["verdicts"]
    assert set(verdicts) == {"agrees", "differs", "cannot be checked"}
    for verdict, n in verdicts.items():
        assert re.search(rf"{verdict.capitalize()}\s+{n}\b", output)
    assert summary["again"] == "gradraker reproduce --seed 0 --fast"
    assert summary["versions"]["matplotlib"] == version("matplotlib")  # the same one, same files
    assert "Source: MeteoSwiss" in (folder / "report.html").read_text("utf-8")  # its licence
    assert [one["name"] for one in summary["left_out"]] == LEFT_OUT
    assert all("https://" in one["reason"] for one in summary["left_out"])
    assert [one["name"] for one in summary["figures"]] == DRAWN
    words = " ".join(output.split())  # the table breaks lines
    assert "fig6c, fig8: data of Cora-Con are not at hand" in words
    assert "'gradraker data fetch cora'" in words
    assert str(folder / "report.html") in output.replace("\n", "")


def test_everything_is_drawn_again_from_the_results_file_byte_for_byte(made, tmp_path):
    folder, _ = made
    result = invoke("--redraw", folder / "results.jsonl", "--out", tmp_path / "again")
    assert result.exit_code == 0, result.output
    expected = {name: text for name, text in files(folder).items() if "checkpoints" not in name}
    again = files(tmp_path / "again")
    assert again.keys() == expected.keys()
    for name, content in again.items():
        assert content == expected[name], name


def test_two_runs_and_a_run_with_workers_are_equal_byte_for_byte(tmp_path):
    arguments = ("--fast", "--only", "fig2,fig6b,numbers", "--seed", "4")
    for folder, more in (("a", ()), ("b", ()), ("c", ("--jobs", "2"))):
        result = invoke(*arguments, *more, "--out", tmp_path / folder)
        assert result.exit_code == 0, result.output
    first = files(tmp_path / "a")
    summary = json.loads(first["report.json"])
    assert summary["again"] == "gradraker reproduce --seed 4 --fast --only fig2,fig6b,numbers"
    assert len(first) == 1 + 4 + 2 * 4
    assert first == files(tmp_path / "b")
    assert first == files(tmp_path / "c")
    # And another seed is another run.
    invoke("--fast", "--only", "fig2,fig6b,numbers", "--seed", "5", "--out", tmp_path / "d")
    assert first["results.jsonl"] != files(tmp_path / "d")["results.jsonl"]


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path, monkeypatch):
    real = gradraker.paper.run_paper

    def stopped(*args, progress, **options):
        def report(name, done, total):
            progress(name, done, total)
            if name == "sweep-temperature-weighted" and 0.0 < done < total:
                raise KeyboardInterrupt

        return real(*args, progress=report, **options)

    arguments = ("--fast", "--only", "fig6b", "--json")
    with monkeypatch.context() as patch:
        patch.setattr(gradraker.paper, "run_paper", stopped)
        result = invoke(*arguments, "--out", tmp_path / "a")
    assert result.exit_code == 130
    assert "the same command goes on" in result.stderr
    (kept,) = (tmp_path / "a" / "checkpoints").iterdir()
    assert 1 < kept.read_text().count("\n") < 4
    assert not (tmp_path / "a" / "report.html").exists()
    assert invoke(*arguments, "--out", tmp_path / "a").exit_code == 0
    whole = invoke(*arguments, "--out", tmp_path / "b")
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert json.loads(whole.stdout) == json.loads(
        (tmp_path / "b" / "report.json").read_text("utf-8")
    )


def test_unknown_names_list_those_that_there_are(tmp_path):
    result = invoke("--only", "fig6a,fig10", "--out", tmp_path / "a")
    assert result.exit_code == 2
    assert "there is no 'fig10'" in result.output
    assert all(name in result.output for name in PARTS)
    assert not (tmp_path / "a").exists()
    assert invoke("--only", "", "--out", tmp_path / "a").exit_code == 2


def test_redraw_refuses_other_files_and_options(tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text("{}\n")
    result = invoke("--redraw", other, "--out", tmp_path / "a")
    assert result.exit_code == 1
    assert "is no results file" in result.output
    assert not (tmp_path / "a").exists()
    for option in (["--fast"], ["--seed", "0"], ["--jobs", "2"], ["--only", "fig2"]):
        assert invoke("--redraw", other, *option).exit_code == 2
    assert invoke("--redraw", tmp_path / "missing.jsonl").exit_code == 2


def test_redraw_refuses_a_file_that_is_cut_off_or_lacks_facts(made, tmp_path):
    lines = (made[0] / "results.jsonl").read_text("utf-8").splitlines(keepends=True)
    cut, header = tmp_path / "cut.jsonl", json.loads(lines[0])
    for content, message in (
        (lines[:3], "is not whole"),
        (lines[:1], "is not whole"),
        ([*lines[:3], lines[3][:100]], "is no results file"),
        ([json.dumps(header | {"format": "gradraker reproduction 0"}), "\n", *lines[1:]], "format"),
        ([json.dumps({"format": header["format"]}), "\n", *lines[1:]], "is no results file"),
        ([lines[0], '{"simulation": "weights"}\n', *lines[2:]], "is no results file"),
    ):
        cut.write_text("".join(content), "utf-8")
        result = invoke("--redraw", cut, "--out", tmp_path / "a")
        assert result.exit_code == 1
        assert message in result.output
        assert "KeyError" not in result.output
    assert not (tmp_path / "a").exists()


def test_figures_that_cannot_be_drawn_are_on_a_page_without_any(tmp_path):
    result = invoke("--fast", "--only", "fig6c", "--out", tmp_path / "a")
    assert result.exit_code == 0
    for name in ("report.html", "report.md"):
        text = (tmp_path / "a" / name).read_text("utf-8")
        assert "was not drawn, since its data are not at hand" in text


def test_data_that_cannot_be_read_are_told_apart_from_missing_ones(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "cora"
    folder.mkdir(parents=True)
    for name in ("cora.cites", "cora.content"):
        (folder / name).write_text("x y\n")
    monkeypatch.setenv("GRADRAKER_DATA", str(tmp_path / "data"))
    result = invoke("--fast", "--only", "fig4,fig8", "--out", tmp_path / "a")
    assert result.exit_code == 0
    assert "fig8: data of Cora-Con cannot be read:" in " ".join(result.output.split())
    page = (tmp_path / "a" / "report.html").read_text("utf-8")
    assert "was not drawn, since its data cannot be read: " in page
    summary = json.loads((tmp_path / "a" / "report.json").read_text("utf-8"))
    (papers,) = [one for one in summary["findings"] if one["key"] == "papers"]
    assert papers["verdict"] == "cannot be checked"
    assert "cannot be read" in papers["reason"]


def test_a_missing_package_is_said_before_the_work(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "jinja2"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = invoke("--fast", "--only", "fig2", "--out", tmp_path / "a")
    assert result.exit_code == 1
    assert "pip install 'gradraker[report]'" in result.output
    assert not (tmp_path / "a").exists()


# -- the page ------------------------------------------------------------------


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.ids, self.links = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        if tag == "a":
            self.links.append((found["download"], found["href"]))
        if tag != "a":
            assert not found.get("href", "#").startswith(("http", "//")), (tag, found)
            assert "src" not in found


def test_the_page_is_self_contained_and_holds_the_numbers(made):
    folder, _ = made
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


def test_the_numbers_behind_a_curve_are_its_repeats_and_their_mean(made):
    folder, _ = made
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


def test_markdown_json_and_page_say_the_same(made):
    folder, _ = made
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


@pytest.mark.skipif(browser() is None, reason=MISSING)
@pytest.mark.parametrize("size", ["1200,900", "500,900"])
def test_the_page_in_a_browser(made, tmp_path, size):
    page = (made[0] / "report.html").read_text("utf-8")
    dom, console = load(probed(page), tmp_path, size=size)
    assert console == []
    found = measured(dom)
    assert found["title"] == "The paper, reproduced"
    assert len(found["figures"]) == len(DRAWN)
    assert all(width > 300 and height > 150 for width, height in found["figures"])
    assert all(parts > 10 for parts in found["parts"])
    assert found["overflow"] <= 0
    shutil.rmtree(tmp_path / "profile", ignore_errors=True)

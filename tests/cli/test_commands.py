"""All commands: their help, their documentation, and the behaviour of all but ``predict``."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import gradraker
from gradraker.cli import main
from gradraker.datasets import load_temperature_normals

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"


def commands(group: Any = main, prefix: Any = ()) -> Iterator[Any]:
    """All commands and groups below a group, by the words that call them."""
    for name, command in group.commands.items():
        yield (*prefix, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*prefix, name))


COMMANDS = dict(commands())


def invoke(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="gradraker", **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with edges, values, known (60), new (10 others) and series as CSV, and models."""
    folder = tmp_path_factory.mktemp("made")
    files = {name: str(folder / f"{name}.csv") for name in ("edges", "values", "known", "new")}
    done = invoke(
        "data", "fetch", "temperature", "--edges", files["edges"], "--values", files["values"]
    )
    assert done.exit_code == 0, done.output
    head, *rows = Path(files["values"]).read_text("utf-8").splitlines(keepends=True)
    Path(files["known"]).write_text("".join([head, *rows[:60]]), "utf-8")
    Path(files["new"]).write_text("".join([head, *rows[60:70]]), "utf-8")
    data, series = load_temperature_normals()
    table = pd.DataFrame(series, columns=data.node_names)
    table.to_csv(folder / "series.csv", index=False)
    known = ["--edges", files["edges"], "--values", files["known"]]
    for name, method in (("model.gr", "nodes"), ("model.skg", "skg")):
        model = ["--method", method, "--model", str(folder / name)]
        done = invoke("predict", *known, *model)
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return invoke


def facts(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    are_notes = [": read as: " in line or "directed" in line for line in result.stderr.splitlines()]
    assert all(are_notes)
    return json.loads(result.stdout)


# -- help and documentation ----------------------------------------------------


def example(command: Any) -> list[str]:
    found = re.fullmatch(r"Example: gradraker (.+)", command.epilog or "")
    assert found, f"{command.name} has no example in its help"
    return shlex.split(found.group(1))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_has_texts_and_an_example_that_runs(
    run: Callable[..., Any], words: tuple[Any, ...]
) -> None:
    command = COMMANDS[words]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
    shown = run(*words, "--help")
    assert shown.exit_code == 0
    arguments = example(command)
    assert arguments[: len(words)] == list(words) or isinstance(command, click.Group)
    assert " ".join(arguments) in " ".join(shown.stdout.split())
    if words in (("serve",), ("studio",)):
        return  # they serve until they are stopped; tests run them in processes of their own
    result = run(*arguments)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("name", main.commands)
def test_every_command_has_a_section_in_the_documentation(name: str) -> None:
    page = PAGE.read_text("utf-8")
    assert f"\n## gradraker {name}\n" in page
    section = page.split(f"\n## gradraker {name}\n")[1].split("\n## ")[0]
    assert f"gradraker {name} " in section


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_is_mentioned_in_the_documentation(words: tuple[Any, ...]) -> None:
    assert words[-1] in PAGE.read_text("utf-8")


def test_every_section_of_the_documentation_is_a_command() -> None:
    sections = re.findall(r"^## gradraker (\w+)$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert set(sections) == set(main.commands)


def documented() -> Iterator[Any]:
    """Commands of the page, with the outputs that it shows."""
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


@pytest.mark.process
def test_the_page_shows_what_the_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    shown = list(documented())
    assert len(shown) > 10
    for command, output in shown:
        if command.startswith("gradraker "):
            result = invoke(*shlex.split(command)[1:])
            assert result.exit_code == 0, result.output
            printed = result.stdout
        else:
            printed = subprocess.run(
                command, shell=True, check=True, capture_output=True, text=True, encoding="utf-8"
            ).stdout
        assert tidy(printed) == tidy(output), command


def tidy(text: str) -> list[Any]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


# -- ranges --------------------------------------------------------------------


def test_ranges_are_those_of_the_library(run: Callable[..., Any]) -> None:
    found = facts(run("ranges", "--edges", "edges.csv", "--frequencies", "100", "--json"))
    data = gradraker.load_temperature()
    expected = gradraker.sigma2_ranges(data.adjacency, n_frequencies=100)
    assert found["nodes"] == 89
    assert found["extending_disturbing"] == expected.extending_disturbing
    assert found["chaos_extending"] == expected.chaos_extending
    assert found["disturbing_averaging"] == expected.disturbing_averaging


def test_ranges_of_known_nodes_are_those_of_predict(run: Callable[..., Any]) -> None:
    files = ["--edges", "edges.csv", "--values", "known.csv"]
    found = facts(run("ranges", *files, "--json"))
    by_skg = facts(run("predict", *files, "--method", "skg", "--json"))
    predicted = by_skg["sigma2"]["boundaries"]
    assert found["nodes"] == 60
    assert {name: found[name] for name in predicted} == predicted


@pytest.mark.parametrize("noise", ["refined", "0.1"])
def test_ranges_with_other_noise(run: Callable[..., Any], noise: str) -> None:
    found = facts(run("ranges", "--edges", "edges.csv", "--noise", noise, "--json"))
    assert found["noise"] == {"refined": "refined", "0.1": "given"}[noise]


def test_ranges_prints_the_four_ranges(run: Callable[..., Any]) -> None:
    shown = run("ranges", "--edges", "edges.csv").stdout
    for word in ("chaos", "extending", "disturbing", "averaging", "Noise ratio"):
        assert word in shown


@pytest.mark.parametrize("noise", ["0", "0.95", "loud", "nan"])
def test_ranges_refuses_a_wrong_noise_ratio(run: Callable[..., Any], noise: str) -> None:
    assert run("ranges", "--edges", "edges.csv", "--noise", noise).exit_code == 2


def test_ranges_of_one_node_are_refused(run: Callable[..., Any]) -> None:
    Path("one.csv").write_text("Basel / Binningen,1\n")
    result = run("ranges", "--edges", "edges.csv", "--values", "one.csv")
    assert result.exit_code == 1
    assert "at least two" in result.stderr


# -- explain -------------------------------------------------------------------


def test_explanation_adds_up(run: Callable[..., Any]) -> None:
    name = "Pilatus"
    found = facts(run("explain", "--model", "model.skg", "--node", name, "--top", "1000", "--json"))
    known = ["--edges", "edges.csv", "--values", "known.csv"]
    predicted = facts(run("predict", *known, "--method", "skg", "--json"))
    (expected,) = [one["prediction"] for one in predicted["predictions"] if one["node"] == name]
    assert found["prediction"] == pytest.approx(expected, rel=1e-12)
    assert len(found["contributors"]) == found["observed"] == 60
    total = sum(one["contribution"] for one in found["contributors"])
    assert found["mean"] + total == pytest.approx(expected, rel=1e-10)
    values = gradraker.read_values("known.csv")
    assert all(one["value"] == values[one["node"]] for one in found["contributors"])
    assert found["listed_part"] == pytest.approx(1.0)


def test_explain_takes_no_edges_since_the_model_holds_its_graph(run: Callable[..., Any]) -> None:
    result = run("explain", "--model", "model.skg", "--edges", "edges.csv", "--node", "Pilatus")
    assert result.exit_code == 2
    assert "--edges" in result.stderr


def test_explain_refuses_wrong_nodes_and_models(run: Callable[..., Any]) -> None:
    files = ["--node", "Pilatus"]
    result = run("explain", "--model", "model.skg", "--node", "Atlantis")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: --node: 'Atlantis' is not in the graph that the model has learned\n",
    )
    assert run("explain", "--model", "-", *files).exit_code == 2
    assert run("explain", "--model", "edges.csv", *files).exit_code == 1
    assert run("explain", "--model", "none.skg", *files).exit_code == 1
    gradraker.SKGRegressor(sigma2=1.0).fit([[1.0]], [1.0]).save("bare.skg")
    result = run("explain", "--model", "bare.skg", *files)
    assert result.exit_code == 1
    assert "'gradraker predict --model'" in result.stderr


# -- update --------------------------------------------------------------------

UPDATE = ("update", "--model", "model.skg", "--edges", "edges.csv")


def test_update_learns_as_the_library_does(run: Callable[..., Any]) -> None:
    loaded = gradraker.load("model.skg")
    model, mean = loaded.skg_, loaded.offset_
    found = facts(run(*UPDATE, "--values", "new.csv", "--json"))
    assert found["learned"] == 10
    assert found["steps"] == 3 * 60 + 10
    data = gradraker.load_temperature()
    vectors = gradraker.adjacency_vectors(gradraker.read_edges("edges.csv"))
    values = gradraker.read_values("new.csv")
    rows = [i for i, name in enumerate(vectors.nodes) if name in values]
    known = np.array([values[vectors.nodes[i]] for i in rows])
    references = vectors.references.tolist()
    before = model.predict(vectors.rows[rows], references=references) + mean
    assert found["rmse_before"] == pytest.approx(np.sqrt(np.mean((before - known) ** 2)))
    model.partial_fit(vectors.rows[rows], known - mean, references=references)
    again = gradraker.load("model.skg")
    np.testing.assert_array_equal(again.skg_.coef_, model.coef_)
    assert again.offset_ == mean
    assert len(found["predictions"]) == data.n_nodes - 70


def test_update_twice_changes_nothing_unless_again(run: Callable[..., Any]) -> None:
    facts(run(*UPDATE, "--values", "new.csv", "--json"))
    once = Path("model.skg").read_bytes()
    found = facts(run(*UPDATE, "--values", "new.csv", "--json"))
    assert (found["learned"], found["passed_over"]) == (0, 10)
    assert found["rmse_before"] is None
    assert Path("model.skg").read_bytes() == once
    found = facts(run(*UPDATE, "--values", "new.csv", "--again", "--json"))
    assert (found["learned"], found["passed_over"]) == (10, 0)
    assert Path("model.skg").read_bytes() != once


def test_a_changed_value_is_learned(run: Callable[..., Any]) -> None:
    head, first, *_ = Path("known.csv").read_text("utf-8").splitlines()
    Path("changed.csv").write_text(f"{head}\n{first.rpartition(',')[0]},5.5\n", "utf-8")
    assert facts(run(*UPDATE, "--values", "changed.csv", "--json"))["learned"] == 1


def test_update_saves_elsewhere_and_predicts(run: Callable[..., Any]) -> None:
    old = Path("model.skg").read_bytes()
    arguments = ["--values", "new.csv", "--save-as", "other.skg", "--out", "p.csv", "--top", "1"]
    result = run(*UPDATE, *arguments)
    assert result.exit_code == 0, result.output
    assert "Model: other.skg" in result.stdout
    assert Path("model.skg").read_bytes() == old
    assert Path("other.skg").read_bytes() != old
    rows = Path("p.csv").read_text("utf-8").splitlines()
    assert rows[0] == "node,known,value,prediction,contributor_1,weight_1"
    assert sum(",true," in row for row in rows) == 70
    values = gradraker.read_values("values.csv")
    for row in rows[1:]:
        name, known, value, *_ = row.rsplit(",", 5)
        if known == "true":
            assert float(value) == values[name.strip('"')]


def test_update_without_values_only_predicts(run: Callable[..., Any]) -> None:
    old = Path("model.skg").read_bytes()
    result = run(*UPDATE, "--out", "-")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 90
    assert "Model unchanged" in result.stderr
    assert Path("model.skg").read_bytes() == old


def test_update_with_new_nodes_and_a_name_of_another_kind(run: Callable[..., Any]) -> None:
    Path("e.csv").write_text("7,Basel / Binningen\n7,Pilatus\n8x,Pilatus\n8x,7\n")
    Path("v.csv").write_text("7,1.5\n")
    found = facts(
        run("update", "--model", "model.skg", "--edges", "e.csv", "--values", "v.csv", "--json")
    )
    assert found["learned"] == 1
    # The model holds its graph: all of its nodes are predicted, and 8x as well.
    assert found["nodes"] == 91
    assert {"8x", "Pilatus"} <= {one["node"] for one in found["predictions"]}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--values", "none.csv"], 1),
        (["--out", "model.skg"], 2),
        (["--save-as", "edges.csv"], 2),
        (["--save-as", "-"], 2),
        (["--out", "-", "--json"], 2),
        (["--out", "none/p.csv"], 1),
    ],
)
def test_update_refuses_and_changes_nothing(
    run: Callable[..., Any], arguments: list[str], code: int
) -> None:
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    result = run(*UPDATE, *arguments)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.stderr
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_update_refuses_or_ignores_values_of_missing_nodes(run: Callable[..., Any]) -> None:
    Path("v.csv").write_text("Atlantis,1\n")
    result = run(*UPDATE, "--values", "v.csv")
    assert result.exit_code == 1
    assert "--unknown-nodes ignore" in result.stderr
    assert run(*UPDATE, "--values", "v.csv", "--unknown-nodes", "ignore").exit_code == 0


def test_a_damaged_model_is_refused(run: Callable[..., Any]) -> None:
    content = Path("model.skg").read_bytes()
    Path("model.skg").write_bytes(content[: len(content) // 2])
    result = run(*UPDATE, "--values", "new.csv")
    assert result.exit_code == 1
    assert "model.skg" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.process
def test_help_of_every_command_is_quick() -> None:
    program = (
        "import sys\n"
        "from gradraker.cli import main\n"
        f"for words in {[list(words) for words in COMMANDS]!r}:\n"
        "    main([*words, '--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'rich', 'jinja2'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, timeout=60)

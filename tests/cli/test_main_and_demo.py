"""The command line, mostly with a learner whose predictions are known beforehand."""

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import gradraker
from gradraker import __main__ as gradraker_main
from gradraker.cli import main
from gradraker.cli.nodes.demo import FIGURE_NAME
from gradraker.explain.linear_explanation import LinearExplanation
from gradraker.workflow import demo
from gradraker.workflow.demo import run_demo

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
GRADRAKER = [sys.executable, "-c", "from gradraker.cli import main; main(prog_name='gradraker')"]


class ConstantLearner:
    """Predicts 0.6 everywhere: in January -14.0 + 0.6 (2.7 + 14.0) = -3.98 °C."""

    made = None

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters
        ConstantLearner.made = self

    def fit(self, X: Any, y: NDArray[np.float64]) -> "ConstantLearner":
        self.X, self.y = X, y
        self.sigma2_ = 4.25
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        return np.full(X.shape[0], 0.6)

    def explain(self, X: Any, known_names: Any) -> Any:
        weights = np.full((1, len(self.y)), 0.6 / self.y.sum())
        return LinearExplanation(weights, self.y, np.array([0.6]), [0], known_names)


@pytest.fixture
def constant(monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    # In the module's dict, since setattr would first load and compile the real learner.
    monkeypatch.setattr(demo, "SKGRegressor", ConstantLearner)
    monkeypatch.setattr(ConstantLearner, "made", None)
    return ConstantLearner


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(main, arguments, prog_name="gradraker")


def fail_with(monkeypatch: pytest.MonkeyPatch, error: Any) -> None:
    def load_temperature(month: Any) -> None:
        raise error

    monkeypatch.setattr(demo, "load_temperature", load_temperature)


def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


@pytest.fixture
def split() -> tuple[Any, ...]:
    order = np.random.default_rng(0).permutation(89)
    return order[:36], order[36:]


def test_run_demo_trains_on_the_known_part_of_the_graph(
    constant: type[Any], split: tuple[Any, ...]
) -> None:
    known, _ = split
    data = gradraker.load_temperature("jan")
    run_demo(seed=0)
    assert constant.made.parameters == {
        "sigma2": "theory",
        "n_frequencies": 200,
        "learning_rate": 0.1,
        "n_epochs": 3,
        "random_state": 0,
    }
    expected = data.adjacency.toarray()[np.ix_(known, known)]
    np.testing.assert_array_equal(constant.made.X.toarray(), expected)
    np.testing.assert_allclose(constant.made.y, (data.values[known] + 14.0) / 16.7)


def test_run_demo_reports_errors_and_ranked_stations(
    constant: type[Any], split: tuple[Any, ...]
) -> None:
    known, unknown = split
    celsius = gradraker.load_temperature("jan").values
    y = (celsius + 14.0) / 16.7
    result = run_demo(seed=0)
    summary = result.summary
    assert (summary["n_nodes"], summary["n_edges"]) == (89, 2515)
    assert (summary["n_sampled"], summary["n_tested"]) == (36, 53)
    assert summary["sigma2"] == 4.25
    energy = sum(y[unknown] ** 2)
    assert summary["gnmse"] == pytest.approx(sum((y[unknown] - 0.6) ** 2) / energy)
    mean = sum(y[known]) / 36
    assert summary["gnmse_of_mean"] == pytest.approx(sum((y[unknown] - mean) ** 2) / energy)

    assert np.flatnonzero(result.is_known).tolist() == sorted(known)
    np.testing.assert_allclose(result.predicted_c[unknown], -3.98)
    assert np.isnan(result.predicted_c[known]).all()

    errors = sorted(abs(celsius[unknown] + 3.98))
    assert [abs(one["error_c"]) for one in summary["best"]] == pytest.approx(errors[:3])
    assert [abs(one["error_c"]) for one in summary["worst"]] == pytest.approx(errors[:-4:-1])
    worst = summary["worst"][0]
    assert (worst["station"], worst["altitude_m"], worst["true_c"]) == (
        "Jungfraujoch",
        3571.0,
        -14.0,
    )
    assert worst["predicted_c"] == pytest.approx(-3.98)
    assert worst["error_c"] == pytest.approx(10.02)


def test_demo_prints_a_table_and_writes_the_figure(
    constant: type[Any], run: Callable[..., Any]
) -> None:
    result = run("demo", "--out", "a/b")
    assert result.exit_code == 0, result.output
    figure = Path("a/b", FIGURE_NAME)
    assert figure.read_bytes().startswith(PNG_SIGNATURE)
    files = ["edges.csv", "known.csv", FIGURE_NAME, "values.csv"]
    assert sorted(path.name for path in figure.parent.iterdir()) == files
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "Graph 89 nodes, 2515 edges" in lines
    assert "Split 36 known, 53 unknown (seed 0)" in lines
    assert "σ² of the kernel 4.25, from the known nodes alone (rule 'theory')" in lines
    assert "worst Jungfraujoch 3571 -14.0 -4.0 +10.0" in lines
    assert f"Figure: {figure}" in lines
    assert "Source: MeteoSwiss" in lines
    assert [line.split()[:2] for line in lines[-3:]] == [
        ["gradraker", command] for command in ("predict", "explain", "update")
    ]
    assert max(map(len, result.stdout.splitlines()[:-3])) <= 80
    assert "\x1b" not in result.stdout


def test_demo_writes_to_its_default_folder(constant: type[Any], run: Callable[..., Any]) -> None:
    figure = Path("gradraker-demo", FIGURE_NAME)
    assert run("demo").exit_code == 0
    first = figure.read_bytes()
    assert run("demo").exit_code == 0  # the folder is there already
    assert figure.read_bytes() == first


def test_demo_json_is_one_object_with_the_numbers_of_run_demo(
    constant: type[Any], run: Callable[..., Any]
) -> None:
    result = run("demo", "--json", "--seed", "3", "--out", "out")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    facts = json.loads(result.stdout)
    summary = run_demo(seed=3).summary
    assert facts["seed"] == 3
    assert facts["gnmse"] == summary["gnmse"]
    assert facts["gnmse_of_mean"] == summary["gnmse_of_mean"]
    assert facts["worst"][0]["station"] == summary["worst"][0]["station"]
    assert len(facts["best"]) == len(facts["worst"]) == 3
    assert facts["source"] == "Source: MeteoSwiss"
    assert Path(facts["figure"]).read_bytes().startswith(PNG_SIGNATURE)


def test_demo_without_matplotlib_prints_the_table_and_how_to_get_the_figure(
    constant: type[Any], run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_matplotlib(monkeypatch)
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert "89 nodes, 2515 edges" in result.stdout
    assert "No figure: " in result.stdout
    assert "pip install 'gradraker[plot]'" in result.stdout
    assert not Path("gradraker-demo", FIGURE_NAME).exists()


def test_demo_json_without_matplotlib_keeps_stdout_clean(
    constant: type[Any], run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_matplotlib(monkeypatch)
    result = run("demo", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["figure"] is None
    assert "pip install 'gradraker[plot]'" in result.stderr


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("month must be\n  one of jan"), "month must be one of jan"),
        (PermissionError(13, "Permission denied", "x.csv"), "x.csv: Permission denied"),
        (KeyError("jan"), "KeyError: 'jan' (run 'gradraker --debug ...' to see where)"),
        (ValueError(), "ValueError: (run 'gradraker --debug ...' to see where)"),
    ],
)
def test_an_error_is_one_sentence(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, error: Any, message: str
) -> None:
    fail_with(monkeypatch, error)
    result = run("demo")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert " ".join(result.stderr.split()) == f"Error: {message}"
    assert result.stderr.count("\n") == 1


def test_debug_lets_the_error_through(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_with(monkeypatch, ValueError("no"))
    result = run("--debug", "demo")
    assert result.exit_code == 1
    assert isinstance(result.exception, ValueError)


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "--seed", "-1"],
        ["demo", "--seed", "x"],
        ["demo", "--out", "a-file"],
        ["demo", "--no-such-option"],
        ["no-such-command"],
        [],
    ],
)
def test_wrong_usage_is_exit_code_2(
    constant: type[Any], run: Callable[..., Any], arguments: list[Any]
) -> None:
    Path("a-file").touch()
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage: gradraker" in result.stderr
    assert result.stdout == ""
    assert constant.made is None  # refused before any work


def test_a_folder_that_cannot_be_created_is_exit_code_1(
    constant: type[Any], run: Callable[..., Any]
) -> None:
    Path("a-file").touch()
    result = run("demo", "--out", "a-file/sub")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: a-file/sub: ")


def test_the_installed_command_is_that_of_python_m() -> None:
    (script,) = entry_points(group="console_scripts", name="gradraker")
    assert script.value == "gradraker.__main__:run"
    assert script.load() is gradraker_main.run


def test_version_is_printed(run: Callable[..., Any]) -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"gradraker, version {gradraker.__version__}\n")


def test_every_command_and_option_has_help(run: Callable[..., Any]) -> None:
    assert "demo" in main.commands
    for name, command in main.commands.items():
        assert command.help, name
        assert "Example: gradraker " in run(name, "--help").stdout
        for option in command.params:
            assert isinstance(option, click.Option)
            assert option.help, option.name


def run_process(*arguments: str, **options: Any) -> Any:
    return subprocess.run(
        [*GRADRAKER, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        **options,
    )


def test_demo_learns_more_than_the_mean(
    run: Callable[..., Any], tmp_path: Path, split: tuple[Any, ...]
) -> None:
    done = run("demo", "--json")
    assert done.exit_code == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["gnmse"] < facts["gnmse_of_mean"]
    # The paper's boundary σ²_ed: largest squared distance / ln(2D), with D = 200.
    vectors = gradraker.load_temperature("jan").adjacency.toarray()[np.ix_(split[0], split[0])]
    farthest = max(np.sum((vectors - one) ** 2, axis=1).max() for one in vectors)
    assert facts["sigma2"] == pytest.approx(farthest / np.log(400))
    figure = tmp_path / facts["figure"]
    assert figure.read_bytes().startswith(PNG_SIGNATURE)
    # matplotlib is imported by other tests of this process, so it can read the figure back.
    from matplotlib.image import imread

    height, width = imread(figure).shape[:2]
    assert width > height > 500


@pytest.mark.process
def test_process_error_has_no_traceback_unless_debug(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    fetch = ("data", "fetch", "temperature", "--edges", "a-file/sub")
    plain = run_process(*fetch, cwd=tmp_path)
    assert plain.returncode == 1
    assert plain.stderr.startswith("Error: a-file/sub")
    assert "Traceback" not in plain.stderr
    debug = run_process("--debug", *fetch, cwd=tmp_path)
    assert debug.returncode == 1
    assert "Traceback" in debug.stderr


@pytest.mark.process
def test_process_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from gradraker.cli import main\n"
        "main(['demo', '--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'matplotlib', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, timeout=60)

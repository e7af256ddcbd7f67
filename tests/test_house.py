"""Rules that linters do not check: doors, names, sizes, and the places of tests."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import gradraker
from gradraker.models import NodeModel

ROOT = Path(gradraker.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
TESTS = Path(__file__).parent
TEST_FILES = sorted(TESTS.rglob("*.py"))
FOLDERS = sorted({file.parent for file in FILES if file.parent != ROOT})

Node = TypeVar("Node", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef

# Private rooms that the whole package shares.
SHARED = {"_columns", "_compiled", "_fields", "_files", "_html", "_locks", "_validation"}

# -- exceptions, each with its reason ------------------------------------------------------------

LONG_FILES = {
    "cli/output.py": "tables, files and the page of predictions, on the path of each command",
    "features/walks.py": "walks on a graph, from their matrices to the vectors of nodes",
    "graph/adapters/columns.py": "rules that find columns of edges and values share their words",
    "io/text_table.py": "one parser, from the text to the columns",
    "models/node_model.py": "the protocol of models of graphs, half of it documentation",
    "models/row_model.py": "the base of models of rows, with the checks of rows",
    "models/walks/node_regressor.py": "one estimator, a third of it documentation",
    "models/walks/walk_model.py": "one estimator, a third of it documentation",
    "paper/numbers/section_v.py": "one section of the paper",
    "paper/reproduction.py": "one page, from the simulations to the files",
    "paper/simulations.py": "data, settings and results that all simulations share",
}

# Folders of tests without a counterpart in the package.
OTHER_TEST_FOLDERS = {
    "docs": "pages of the site, and the commands on them",
    "oracles": "slow versions written from the equations, for comparison",
    "torture": "programs of `make torture`, and their tests",
}
# Test files that are not named after a module.
TESTS_OF_NO_MODULE = {
    "test_benchmarks.py": "tests benchmarks/",
    "test_forked_process.py": "tests tests/forked_process.py",
    "test_history.py": "tests benchmarks/history.py",
    "test_house.py": "tests how the package is built",
    "test_package.py": "tests the import of the package and its public names",
    "test_peers.py": "tests benchmarks/peers.py",
    "test_repository.py": "tests files around the package",
    "paper/test_theory.py": "tests claims of the paper on what the library computes",
    "paper/test_theory_on_temperature.py": "tests claims of the paper about Temperature-Jan",
}
# Modules without their own test file, and the tests that cover them.
COVERED_ELSEWHERE = {
    "_columns.py": "graph/adapters/test_columns.py",
    "_compiled/adjoint.py": "linear/test_lms.py",
    "_compiled/breadth_first.py": "models/walks/iterative/test_sampling.py",
    "_compiled/member_weights.py": "linear/test_hedge.py",
    "_compiled/pair_search.py": "kernels/distances/test_sparse_search.py",
    "_compiled/prefetch.py": "_compiled/test_sparse_product.py",
    "_compiled/row_hashes.py": "kernels/distances/test_canonical_rows.py",
    "dask/tasks.py": "dask/test_models.py",
    "datasets/generators/assembly.py": "datasets/test_generators.py",
    "features/row_blocks.py": "models/walks/operators/test_chains.py",
    "graph/adapters/lists.py": "graph/adapters/test_registry.py",
    "graph/adapters/matrices.py": "graph/adapters/test_registry.py",
    "io/disk/numbering.py": "io/disk/test_build.py",
    "io/disk/parts.py": "io/disk/test_build.py",
    "io/disk/sorting.py": "io/disk/test_build.py",
    "io/series.py": "cli/skg/test_series.py",
    "live/journal/tables.py": "live/journal/test_journal.py",
    "live/service/counters.py": "live/api/test_app.py",
    "live/settings.py": "live/learning/test_learner.py",
    "models/left_out.py": "workflow/test_node_predictions.py",
    "models/row_state.py": "models/persistence/test_archive_handmade.py",
    "models/skg/node_rows.py": "models/skg/test_skg_node_regressor.py",
    "plotting/demo.py": "cli/nodes/test_demo.py",
    "report/answers.py": "cli/nodes/test_explain.py cli/nodes/test_update_nodes.py",
    "studio/session.py": "studio/test_routes.py",
    "studio/studio_options.py": "studio/test_routes.py",
    "sweep/versions.py": "sweep/test_sweep_result_checkpoint.py",
    "workflow/bank.py": "cli/skg/test_bank.py",
    "workflow/ranges.py": "cli/skg/test_ranges.py",
}

# First words of names of functions; a new verb is added here.
VERBS = """
acquire add advance align allow answer append apply approximate ask assert assess assign average
bound build call can catch change check choose clean clear climb clip close collect combine compare
compile compute concatenate connect convert correlate count create cross cut decode decorate descend
describe discard dispose divide download draw drop dump echo encode end enter escape estimate
evaluate exit expand explain extend extract fail fetch fill find finish fit flatten flush follow
forget format free freeze from gather generate get group grow handle has hash hide hold identify
ignore imagine infer interpolate interrupt invert invoke is iterate join judge keep label learn
leave limit list listen load lock log look loop make map mark measure merge mix move multiply name
normalise note number obtain open orient pack pad parse partial place plot post precondition predict
prefetch prepare print project propagate propose push put quote raise rank read receive record
redraw reduce refine refuse release remember remove rename render renew renumber replace replay
report reproduce request require reserve reset resize restore retry reword rollback round run sample
save scale score search select send serve set settle shade share shift shorten show simulate sketch
solve sort split stack standardise start step stop store stringify submit subtract sum summarize
switch take tell to train transform try undo unescape unlock unpack update use validate wait wake
walk warn watch weigh work wrap write
"""
# Names of maths, of the paper and of the field, one word of pandas users, callbacks of uvicorn, a
# method of starlette, and addresses of the service that its client names.
NOUNS = """
adjacency_vectors calibration_error conformity_factor connection_lost connection_made
contribution_weights data_received distances efficient_distance errors events
extreme_squared_distances features filtered_signals gnmse history hop_views json
kernel_contribution_weights kernel_similarity_measure known_values layer_views main median
median_sigma2 noise_range on_header on_headers_complete on_message_begin parallel_for
settings_sweep shutdown sigma2_ranges sigma2_sweep similarity_measure similarity_transfer
spectral_norm startup state top
"""
# A function with one of these is a value to its readers, a command, or a form of a function.
NAMED_OTHERWISE = ("property", "cached_property", "overload", "command", "group", "setter")


# -- the tree ------------------------------------------------------------------------------------


@cache
def group_by_kind(file: Path) -> dict[type[ast.AST], list[Any]]:
    """All nodes of a file, which is parsed and walked through once for all rules."""
    found: dict[type[ast.AST], list[Any]] = defaultdict(list)
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        found[type(node)].append(node)
    return found


def find_all(file: Path, kind: type[Node]) -> list[Node]:
    return group_by_kind(file)[kind]


def find_functions(file: Path) -> Iterator[Function]:
    yield from find_all(file, ast.FunctionDef)
    yield from find_all(file, ast.AsyncFunctionDef)


def get_path(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in SHARED


def get_room(parts: list[str]) -> list[str]:
    """Folder of a module of the package, given by the parts of its name."""
    path = ROOT.joinpath(*parts)
    return parts if path.is_dir() else parts[:-1]


# -- doors ---------------------------------------------------------------------------------------


def test_private_names_are_read_in_their_own_folder_only() -> None:
    found = []
    for file in FILES:
        room = list(file.parent.relative_to(ROOT).parts)
        for node in find_all(file, ast.ImportFrom):
            assert node.level == 0, f"{get_path(file)}, line {node.lineno}: relative import"
            package, *parts = (node.module or "").split(".")
            names = [*parts, *(alias.name for alias in node.names)]
            if package == "gradraker" and get_room(parts) != room:
                found += [(get_path(file), name) for name in names if is_private(name)]
    assert found == []


def test_private_attributes_are_read_in_their_own_folder_only() -> None:
    """A private attribute of another object is set or declared in the folder that reads it."""
    found = []
    for folder in [ROOT, *FOLDERS]:
        files = sorted(folder.glob("*.py"))
        known = {"_replace", "_asdict", "_fields", "_make", "_exit", "_run_exitfuncs"}  # of Python
        for file in files:
            known |= {function.name for function in find_functions(file)}
            known |= {ast.unparse(node.target) for node in find_all(file, ast.AnnAssign)}
            known |= {node.attr for node in find_all(file, ast.Attribute) if is_own(node)}
        found += [
            (get_path(file), ast.unparse(node))
            for file in files
            for node in find_all(file, ast.Attribute)
            if is_private(node.attr) and not is_own(node) and node.attr not in known
        ]
    assert found == []


def is_own(node: ast.Attribute) -> bool:
    if isinstance(node.value, ast.Name):
        return node.value.id in ("self", "cls")
    return isinstance(node.value, ast.Call) and ast.unparse(node.value) == "super()"


def test_modules_are_not_imported_by_strings() -> None:
    by_string = {"__import__", "import_module", "importlib.import_module"}
    found = [
        (get_path(file), node.lineno)
        for file in FILES
        for node in find_all(file, ast.Call)
        if file.name != "__init__.py" and ast.unparse(node.func) in by_string
    ]
    assert found == []


def test_models_have_a_type() -> None:
    found = [
        (get_path(file), function.name)
        for file in FILES
        for function in find_functions(file)
        for one in find_arguments(function)
        if one.arg in ("model", "estimator", "learner")
        and one.annotation is not None
        and ast.unparse(one.annotation) == "Any"
    ]
    assert found == []


def list_model_classes(base: type[NodeModel] = NodeModel) -> list[type[NodeModel]]:
    """Classes of models of graphs below the protocol."""
    below = [kind for kind in base.__subclasses__() if kind.__module__.startswith("gradraker.")]
    return below + [inner for kind in below for inner in list_model_classes(kind)]


def list_words(nodes: Iterable[ast.AST]) -> set[str]:
    """Names, and texts in quotes, among nodes and in tuples, lists, sets and unions of them."""
    words: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            words |= list_words(node.elts)
        elif isinstance(node, ast.BinOp):
            words |= list_words([node.left, node.right])
        else:
            words.add(ast.unparse(node).rpartition(".")[2])
    return words


def test_the_kind_of_model_is_asked_in_models_only() -> None:
    """Elsewhere a model says itself what it is: by ``describe()``, ``can_take`` and its flags."""
    classes = {kind.__name__ for kind in list_model_classes()}
    methods = {repr(kind.method) for kind in list_model_classes()}
    assert {"NodeRegressor", "SKGNodeRegressor"} <= classes
    assert methods == {"'nodes'", "'skg'"}
    found = []
    for file in (file for file in FILES if not file.is_relative_to(ROOT / "models")):
        for call in find_all(file, ast.Call):
            if ast.unparse(call.func) in ("isinstance", "issubclass"):
                found += [(get_path(file), word) for word in list_words(call.args) & classes]
        for compared in find_all(file, ast.Compare):
            # A text before "in" is looked up in what comes after, and not compared.
            is_member = isinstance(compared.ops[0], ast.In | ast.NotIn)
            sides = [*compared.comparators, *([] if is_member else [compared.left])]
            found += [(get_path(file), word) for word in list_words(sides) & methods]
    assert found == []


def find_arguments(function: Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


# -- sizes ---------------------------------------------------------------------------------------


def test_folders_have_three_to_ten_files() -> None:
    found = {}
    for folder in FOLDERS:
        n_files = len([file for file in folder.glob("*.py") if file.name != "__init__.py"])
        n_folders = len([inner for inner in folder.iterdir() if inner in FOLDERS])
        if n_files > 10 or n_files + n_folders < 3:
            found[get_path(folder)] = n_files
    assert found == {}


def test_files_are_read_in_one_sitting() -> None:
    n_lines = {get_path(file): len(file.read_text("utf-8").splitlines()) for file in FILES}
    long = {name: n for name, n in n_lines.items() if n > 400}
    assert {name: n for name, n in long.items() if name not in LONG_FILES} == {}
    assert LONG_FILES.keys() - long.keys() == set()


def test_test_files_are_read_in_one_sitting() -> None:
    n_lines = {file.name: len(file.read_text("utf-8").splitlines()) for file in TEST_FILES}
    assert {name: n for name, n in n_lines.items() if n > 400} == {}


def test_functions_fit_a_screen() -> None:
    found = {}
    for file in FILES:
        for function in find_functions(file):
            body = function.body[1:] if ast.get_docstring(function) else function.body
            if body and (n_lines := (function.end_lineno or 0) - body[0].lineno + 1) > 65:
                found[f"{get_path(file)}: {function.name}"] = n_lines
    assert found == {}


# -- names ---------------------------------------------------------------------------------------


def has_verb(function: Function) -> bool:
    """Whether a function is called by a verb, or is excepted."""
    name = function.name
    if (
        (name.startswith("__") and name.endswith("__"))
        or name in NOUNS.split()
        or name == "_repr_html_"
    ):
        return True
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(called).rpartition(".")[2] in NAMED_OTHERWISE:
            return True
    return name.lstrip("_").split("_")[0] in VERBS.split()


def test_functions_are_verbs() -> None:
    without = [
        f"{get_path(file)}: {function.name}"
        for file in FILES
        for function in find_functions(file)
        if not has_verb(function)
    ]
    assert without == []


def test_listed_verbs_and_nouns_are_names_of_functions() -> None:
    names = {function.name for file in FILES for function in find_functions(file)}
    verbs = {name.lstrip("_").split("_")[0] for name in names}
    assert set(VERBS.split()) - verbs == set()
    assert set(NOUNS.split()) - names == set()


# -- tests as a map ------------------------------------------------------------------------------


def list_tested_names(folder: Path) -> dict[str, str]:
    """Names that test files may begin with in the mirror of a folder, and the modules they test.

    They are names of modules and of folders; a folder whose door defines functions has its own.
    """
    inner = {path.name: get_path(path) for path in folder.iterdir() if path in FOLDERS}
    modules = {path.stem.strip("_"): get_path(path) for path in folder.glob("*.py")}
    door = modules.pop("init")
    own = {folder.name: door} if list(find_functions(folder / "__init__.py")) else {}
    return own | inner | modules


def find_tested(test_file: Path) -> str | None:
    """The module or folder that a test file is named after: the longest name it begins with."""
    names = list_tested_names(ROOT / test_file.parent.relative_to(TESTS))
    stem = test_file.stem.removeprefix("test_")
    fitting = [name for name in names if stem == name or stem.startswith(f"{name}_")]
    return names[max(fitting, key=len)] if fitting else None


def list_mirroring_tests() -> list[Path]:
    inside = [file for file in TEST_FILES if file.name.startswith("test_")]
    return [file for file in inside if get_test_path(file).split("/")[0] not in OTHER_TEST_FOLDERS]


def get_test_path(file: Path) -> str:
    return file.relative_to(TESTS).as_posix()


def test_folders_of_tests_are_those_of_the_package() -> None:
    folders = {get_test_path(file.parent) for file in TEST_FILES if file.parent != TESTS}
    other = {folder for folder in folders if ROOT / folder not in FOLDERS}
    assert other == OTHER_TEST_FOLDERS.keys()


def test_files_of_tests_are_named_after_what_they_test() -> None:
    other = {get_test_path(file) for file in list_mirroring_tests() if find_tested(file) is None}
    assert other == TESTS_OF_NO_MODULE.keys()


def test_every_module_has_a_test_that_is_found_by_its_path() -> None:
    tested = {find_tested(file) for file in list_mirroring_tests()}
    others = ("__init__.py", "_version.py")  # doors, and a file that the build writes
    modules = {get_path(file) for file in FILES if file.name not in others}
    assert modules - tested == COVERED_ELSEWHERE.keys()
    for covering in COVERED_ELSEWHERE.values():
        assert all((TESTS / path).is_file() for path in covering.split()), covering

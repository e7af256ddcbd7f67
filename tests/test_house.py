"""Rules of the house that no linter knows: doors, names, sizes of files and folders."""

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
TEST_FILES = sorted(Path(__file__).parent.rglob("*.py"))
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
FOLDER_SIZES = {
    "graph": "forms of graphs, nodes and values, each with its checks",
    "plotting": "one file per display, and what displays share",
    "models/walks/operators": "one file per step from walks to predictions",
}

# First words of names of functions; a new verb is added here.
VERBS = """
accept acquire add advance align allow answer append apply approximate ask assert assess assign
average bind bound build call can cancel capture catch change check choose clean clear climb clip
close collect combine compare compile compute concatenate connect continue convert copy correlate
count create cross cut decode decorate delete descend describe detect discard dispose divide
download draw drop dump echo encode end enter escape estimate evaluate exchange exit expand explain
extend extract fail fetch fill filter find finish fit flatten flush fold follow forget format free
freeze from gather generate get give group grow guess handle has hash hide hold identify ignore
imagine infer interpolate interrupt invert invoke is iterate join judge keep label learn leave limit
list listen load locate lock log look loop make map mark match measure merge mix move multiply name
normalise note notify number observe obtain open orient pack pad parse partial pick place plot poll
post precondition predict prefetch prepare print project propagate publish push put quote raise rank
read receive record redraw reduce refine refuse release remember remove rename render renew renumber
reorder repeat replace replay report reproduce request require reserve reset resize respond restore
resume retry return reword rollback round run sample save say scale score search select send serve
set settle shade share shift shorten show simulate sketch skip solve sort split stack standardise
start step stop store stream stringify submit subtract sum summarise summarize switch take tell to
train transform trim trust try undo unescape unlock unpack update use validate verify wait wake walk
warn watch weigh work wrap write
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
    assert {name: n for name, n in found.items() if name not in FOLDER_SIZES} == {}


def test_files_are_read_in_one_sitting() -> None:
    n_lines = {get_path(file): len(file.read_text("utf-8").splitlines()) for file in FILES}
    long = {name: n for name, n in n_lines.items() if n > 400 and name not in LONG_FILES}
    assert long == {}


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

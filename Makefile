# gradraker: every command sets up what it needs (a .venv in this folder).
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# Versions that development is reproducible with; CONSTRAINTS= takes the newest.
CONSTRAINTS ?= -c constraints.txt
# Order of the tests in test-all; ORDER=$$RANDOM for another one.
ORDER ?= 20261115

# Python keeps compiled modules, also where the environment says otherwise: workers and the processes
# that tests start then need not compile them again. mypy takes all cores when it has no cache.
export PYTHONDONTWRITEBYTECODE :=
export MYPY_NUM_WORKERS := auto

# One process per core; a worker that has nothing left takes tests from the other. `make test` gives
# compiled loops one thread in each, as conftest.py does for linear algebra: tests of threads ask for
# theirs, and `make test-all` has as many as a user.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

.PHONY: help demo docs dist hooks constraints test test-all quick-tests all-tests check coverage mutants paths format bench torture clean

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 18

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "gradraker needs Python 3.11 or newer, and $(PYTHON) is %d.%d: run make with PYTHON=python3.x" % v[:2])'
	@echo "Setting up .venv (first time or changed dependencies; a minute or two) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' $(CONSTRAINTS)
	@touch $(READY)

demo: $(READY)  ## train on the embedded Swiss temperatures, print a table, draw a figure
	@$(BIN)/gradraker demo

# Checks run beside the tests, in the time in which tests wait for processes and browsers.
test: $(READY)  ## format check, lint, types, layers, and all tests and examples but the slow ones
	@$(MAKE) --no-print-directory --jobs=2 check quick-tests

test-all: $(READY)  ## the same with the slow tests, in random order: what continuous integration runs
	@$(MAKE) --no-print-directory --jobs=2 check all-tests

quick-tests: $(READY)
	@NUMBA_NUM_THREADS=1 $(PYTEST) -m "not slow" --hypothesis-profile=quick $(TEST_ARGS)

all-tests: $(READY)
	@$(PYTEST) --random-order --random-order-seed=$(ORDER) $(TEST_ARGS)

docs: $(READY)  ## the site, without network, into docs/_build/html (a few minutes; every warning is an error)
	@$(BIN)/python -m sphinx -W --keep-going -j auto -q -b html docs docs/_build/html
	@echo "The site: docs/_build/html/index.html"

check: $(READY)  ## format check, lint, types and layers only
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

coverage: $(READY)  ## lines and branches that no test runs (compiled loops have oracles instead)
	@$(PYTEST) --cov --cov-report=term:skip-covered --cov-report=html $(TEST_ARGS)

mutants: $(READY)  ## change the core maths in a thousand ways, and name the changes that no test notices
	@$(BIN)/python tools/run_mutants.py run --max-children $$(nproc) $(MUTANTS)
	@$(BIN)/python tools/run_mutants.py results

paths: $(READY)  ## files in which functions run on three paths through the package
	@$(BIN)/python tools/trace_paths.py

format: $(READY)  ## put the code in the project's format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(READY)  ## all benchmarks, short (BENCH_ARGS=--full for the full sizes), their page and pictures
	@$(BIN)/python benchmarks/run_all.py $(BENCH_ARGS)
	@$(BIN)/python benchmarks/history.py

dist: $(READY)  ## wheel and sdist into dist, checked and installed in empty environments
	@rm -rf dist && $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[release]'
	@$(BIN)/python -m build --outdir dist . >/dev/null
	@$(BIN)/twine check --strict dist/*
	@$(BIN)/check-wheel-contents dist/*.whl
	@$(BIN)/python tools/check_dist.py

hooks: $(READY)  ## the project's own checks before each commit and push
	@$(BIN)/pre-commit install

constraints: $(READY)  ## write constraints.txt from the newest versions
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager -e '.[dev]'
	@$(BIN)/python tools/write_constraints.py

torture: $(READY)  ## kills, damaged and forged files, full disks: a minute (TORTURE_ARGS="--seconds 3600")
	@$(BIN)/python tools/torture.py $(TORTURE_ARGS)

clean:  ## remove the environment and what the commands wrote
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis dist gradraker-demo coverage-report .coverage* mutants docs/_build docs/gallery docs/reference/api

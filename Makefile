# gradraker: every command sets up what it needs (a .venv in this folder).
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help demo test check format bench torture clean

help:  ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "gradraker needs Python 3.11 or newer, and $(PYTHON) is %d.%d: run make with PYTHON=python3.x" % v[:2])'
	@echo "Setting up .venv (first time or changed dependencies; a minute or two) ..."
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(READY)

demo: $(READY)  ## train on the embedded Swiss temperatures, print a table, draw a figure
	@$(BIN)/gradraker demo

test: check  ## format check, lint, types, layers, then all tests and examples
	@$(BIN)/python -m pytest

check: $(READY)  ## format check, lint, types and layers only
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(READY)  ## put the code in the project's format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(READY)  ## all benchmarks, short (BENCH_ARGS=--full for the full sizes)
	@$(BIN)/python benchmarks/run_all.py $(BENCH_ARGS)

torture: $(READY)  ## kills, damaged and forged files, full disks: a minute (TORTURE_ARGS="--seconds 3600")
	@$(BIN)/python tools/torture.py $(TORTURE_ARGS)

clean:  ## remove the environment and what the commands wrote
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis dist gradraker-demo

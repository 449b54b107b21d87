# Everything starts from a machine with python3 (3.11 or newer) and make:
#   make demo    make test    make help

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Modules are compiled once, also where the surroundings say otherwise: tests start many processes.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help install demo docs test tests cover smoke lint style types format bench clean

help: ## show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(READY) ## create .venv with the locked dependencies, pgt and its benchmarks

# Once, and again whenever the lock or the project file changes. Modules are compiled when they are
# first imported: to compile all of every package takes as long as to install them.
$(READY): requirements.lock pyproject.toml benchmarks/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "pgt needs Python 3.11 or newer, but $(PYTHON) is: $$($(PYTHON) --version 2>&1)" >&2; \
	  echo "Name a newer one, for example: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo "Installing into $(VENV) (once; a minute or two) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --no-deps --no-build-isolation --editable . --editable benchmarks
	@touch $@

demo: $(READY) ## the heat equation from 100 readings, into runs/heat (examples/heat_from_sensors.py)
	$(BIN)/python examples/heat_from_sensors.py runs/heat

docs: $(READY) ## the documentation, to be opened at docs/_build/index.html
	$(BIN)/sphinx-build --quiet --fail-on-warning --doctree-dir docs/_build/.doctrees docs docs/_build
	@echo "open docs/_build/index.html"

lint: style types ## format, lint and types

style: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: style
	$(BIN)/basedpyright --pythonpath $(BIN)/python

# The types are checked by one process on one core, so the tests begin beside it.
test: $(READY) ## lint, and docstring examples and all tests but those marked slow
	@$(MAKE) --no-print-directory --jobs 2 types tests

tests: style
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow" --doctest-modules pgt benchmarks/pgt_bench tests

cover: $(READY) ## the same tests with the share of lines they run, 93 % at least
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow" --doctest-modules pgt benchmarks/pgt_bench tests \
	  --cov=pgt --cov=pgt_bench --cov-report=term:skip-covered --cov-fail-under=93

smoke: $(READY) ## the tests marked slow: four tables, variants of models and settings, longer fits and guides, all examples
	$(BIN)/pytest -n 2 --dist worksteal -m slow tests

format: $(READY) ## rewrite the source in the house style
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: $(READY) ## measure heat and the small wake of the README (the rest: benchmarks/README.md)
	$(BIN)/python benchmarks/core.py default-heat default-heat-free default-three-modes \
	  default-three-modes-noise heat three-modes-noise wake-cpu
	$(BIN)/python benchmarks/tables.py

clean: ## remove the environment, caches and build leftovers (runs/ stays)
	rm -rf $(VENV) docs/_build build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .jax_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Every target works from a fresh clone: what it needs is installed first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-slow lint notebooks figures bench data readme check clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(READY)  ## make .venv and install driftlab with everything the laboratory needs

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch $(READY)

demo: $(READY)  ## the whole story on the data that ships: incident, table, figures, report, policy, replay
	$(BIN)/driftlab demo

test: $(READY)  ## tests and doctests, but for the slow ones
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow"

test-slow: $(READY)  ## the tests that drive notebooks and browsers
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m slow

lint: $(READY)  ## style, types, the order of modules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

notebooks: $(READY)  ## execute every notebook with small parameters
	$(BIN)/python -m pytest -q --nbmake --nbmake-kernel=python3 --nbmake-timeout=300 -p no:randomly notebooks

figures: $(READY)  ## draw the reference figures again
	$(BIN)/python figures/draw.py

bench: $(READY)  ## speed, memory and accuracy, each as a ratio within one run
	$(BIN)/python -m benchmarks

data: $(READY)  ## record the demo corpus again and compare it byte for byte
	$(BIN)/python data/demo/record.py --check

readme: $(READY)  ## write the README's console blocks again from what the commands print
	$(BIN)/python tests/stories/test_readme.py

check: lint test test-slow notebooks  ## what CI runs

clean:  ## remove what the other targets made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# perfcc: targets for people. `make setup` is all a newcomer needs; every other target calls it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.perfcc-ready
TESTS ?= tests
# pytest's status 5: the part chosen holds no test of that kind.
OR_NONE := || test $$? -eq 5

NATIVE := $(shell find native -type f 2>/dev/null)
# C++ sources under the formatter's rule.
FORMATTED := $(filter %.cpp %.h %.hpp,$(NATIVE))

.DEFAULT_GOAL := help
.PHONY: help setup packages demo test test-real lint bench stress mutants docs clean

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

setup: packages $(STAMP) ## system packages and .venv, so that .venv/bin/perfcc works

packages:
	@PYTHON="$(PYTHON)" tools/setup.sh run

$(STAMP): pyproject.toml $(wildcard CMakeLists.txt) $(NATIVE) | packages
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -qq --editable '.[dev]'
	@touch $@
	@echo "ready: $(CURDIR)/$(BIN)/perfcc"

demo: setup ## a real program, before and after
	$(BIN)/python bench/demo.py

test: setup ## all tests (TESTS=tests/unit for a part): on all cores at once, then, one by one, those that measure time
	@tools/setup.sh real test
	$(BIN)/python -m pytest $(TESTS) -m "not quiet" --numprocesses auto --dist loadfile $(OR_NONE)
	$(BIN)/python -m pytest $(TESTS) -m quiet $(OR_NONE)

test-real: setup ## real projects, built by the bare compiler and by perfcc: their own tests must say the same
	@tools/setup.sh real
	PERFCC_REAL=all $(BIN)/python -m pytest tests/real

lint: setup ## style, types, layers
	@tools/setup.sh lint
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(if $(FORMATTED),clang-format-19 --dry-run -Werror $(FORMATTED))

bench: setup ## what perfcc costs a build
	@tools/setup.sh bench
	$(BIN)/python -m pytest bench

stress: setup ## 10,000 compiles at once, among kills, on a small store
	$(BIN)/python -m bench.stress

mutants: setup ## planted wrong rewrites: the verifier must catch every one
	PERFCC_MUTANTS=all $(BIN)/python -m pytest tests/mutants

docs: setup ## the pages made from the tables and the rules' rooms
	$(BIN)/python tools/gendocs.py

clean: ## what was built; .venv stays
	rm -rf build dist bench/legacy/build* .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find perfcc tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

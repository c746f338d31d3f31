# Headrace: one word for each thing a person does here. `make` alone prints them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
MINUTES ?= 16
export HEADRACE_SHARED ?= ../shared

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test check lint fix simulate tck rules aws fuzz bench costs compose-check docs lock clean

help: ## print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

setup: $(STAMP) ## make .venv with the pinned dependencies and the command .venv/bin/headrace

$(STAMP): requirements-dev.txt requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Headrace needs Python 3.11 or newer, found $$($(PYTHON) --version)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(STAMP)

demo: setup ## run the main job: a BPMN process on emulated AWS, from deployment to its end
	$(BIN)/headrace demo

serve: setup ## keep a server running at http://127.0.0.1:8080
	$(BIN)/headrace serve

test: setup ## pass the tests; one of them: make test k=name
	$(BIN)/python -m pytest -q -n $(JOBS) $(if $(k),-k '$(k)')

lint: setup ## check format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: lint ## the gate: format, lint, types, and the tests that start no emulated AWS
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not slow and not aws"

fix: setup ## mend format and what lint can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

simulate: setup ## run the whole simulation and print the count; with more time for pairs: MINUTES=60, others first: TURN=2
	$(BIN)/python -m tests.simulation --all --jobs $(JOBS) --minutes $(MINUTES) $(if $(TURN),--turn $(TURN))

tck: setup ## run the compatibility kit of DMN; another one: make tck TCK=DIR
	$(BIN)/python -m tests.conformance.tck $(or $(TCK),$(HEADRACE_SHARED)/tck)

rules: setup ## print which rules of the contracts have a test
	$(BIN)/python -m tests.rules.report

aws: setup ## run only the tests on the emulated AWS
	$(BIN)/python -m pytest -q -m "aws and not slow"

fuzz: setup ## send a running server what its OpenAPI document allows, and what it does not
	$(BIN)/python -m pytest -q -s -m slow tests/local/test_fuzz.py

bench: setup ## run the benchmarks (see bench/README.md)
	$(BIN)/python bench/run.py

costs: setup ## print a simulated year of costs, from counted requests, beside what others cost
	$(BIN)/python -m bench.costs

compose-check: setup ## check localstack-compose.yml without docker
	$(BIN)/python -m tests.infra.compose

docs: setup ## draw the pages that are made of tables
	$(BIN)/python -m tests.house.state_machines

lock: ## pin the newest dependencies that pyproject.toml allows
	$(PYTHON) -m venv --clear .cache/lock
	.cache/lock/bin/python -m pip install --quiet '.[local,dev]'
	.cache/lock/bin/python -m pip freeze --exclude headrace > requirements-dev.txt

clean: ## remove what was made, but not .headrace/
	rm -rf $(VENV) .cache build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache

# Needs make and Python 3.11 or newer, nothing else. PYTHON=… chooses the interpreter that .venv is made from.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Without bytecode every start of khrap compiles all that it imports, which takes seconds.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help setup demo serve test check bench clean lock

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
PYTHON ?=
PYTEST_ARGS ?=
# So many at a time, each with servers of its own; 0: one after the other.
TEST_WORKERS ?= 2
DEMO_ARGS ?=
SERVE_ARGS ?=
BENCH ?= append actions live load rebuild replay rules verify

help:  ## This list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP)  ## Make .venv with khrap in it (does nothing when it is up to date)

# The project itself is installed editable, so that only the lock file and pyproject.toml make .venv stale.
$(STAMP): requirements.lock pyproject.toml
	@set -e; umask 022; \
	good='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; \
	if [ -n "$(PYTHON)" ]; then wanted="$(PYTHON)"; else wanted="python3.11 python3.12 python3.13 python3.14 python3"; fi; \
	python=; for each in $$wanted; do \
		if "$$each" -c "$$good" >/dev/null 2>&1; then python=$$each; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
		echo "make setup: needs Python 3.11 or newer with its venv module; tried: $$wanted." >&2; \
		echo "Install one (on Debian: python3 and python3-venv) or name one: make setup PYTHON=/path/to/python3.12" >&2; \
		exit 1; \
	fi; \
	if ! $(BIN)/python -c "$$good" >/dev/null 2>&1; then "$$python" -m venv --clear $(VENV); fi; \
	echo "Installing into $(VENV) ($$($(BIN)/python -V)) …"; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r requirements.lock; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input --no-deps --no-build-isolation --editable .; \
	touch $@

demo: setup  ## A newcomer's first minute: servers, API, bots, books (DEMO_ARGS="--hands 50")
	@$(BIN)/khrap demo $(DEMO_ARGS)

serve: setup  ## Run the service, all in one process (SERVE_ARGS=…)
	@$(BIN)/khrap serve $(SERVE_ARGS)

test: setup  ## All tests, on embedded Postgres and Valkey (PYTEST_ARGS="-k name")
	@{ command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null 2>&1 || [ -n "$$KHRAP_TEST_CHROMIUM" ] || \
		echo "No Chromium here: the tests of the pages in a browser are left out (KHRAP_TEST_CHROMIUM names one)."
	$(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile $(PYTEST_ARGS)

check: setup  ## Lint, format, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: setup  ## The benchmarks (BENCH="append replay")
	@for name in $(BENCH); do $(BIN)/khrap bench $$name || exit 1; done

clean:  ## Remove .venv, caches and build output; the data in .khrap stays
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find domain infra projections services tests -name __pycache__ -type d -prune -exec rm -rf {} +

# For maintainers, with uv at hand: newest versions of everything, with hashes of every wheel, and no host in the file.
lock:
	uv pip compile pyproject.toml --group dev --upgrade --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-header --quiet --output-file requirements.lock

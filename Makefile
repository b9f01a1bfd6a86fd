# `make demo` and `make test` need only Python 3.11 and a way to install packages, once.
# The stamps in .venv remember what is installed, so a second run installs nothing.

PYTHON ?= python3
QUIET ?= -qq
PIP_INSTALL := .venv/bin/python -m pip install $(QUIET) -c constraints.txt
FAILED := { echo "The install failed; make QUIET= $(MAKECMDGOALS) shows what pip says." >&2; exit 1; }
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The tests of the modules that pyproject.toml wants covered. Watching costs time, so the other
# tests run unwatched.
COVERED := tests/test_files.py tests/data/test_plan.py tests/models/test_weights.py \
	tests/tasks/test_transducer.py tests/text tests/train/test_checkpoints.py \
	tests/train/test_checkpoints_whole.py tests/train/test_state.py

.DEFAULT_GOAL := help
.PHONY: help demo test soak mutants format clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

demo: .venv/demo.stamp ## Train a small model, score it and look inside it
	@.venv/bin/regard demo

test: .venv/test.stamp ## Lint, check types and run every test
	.venv/bin/ruff check --quiet .
	.venv/bin/ruff format --quiet --check .
	@echo "Types, the tests that are watched for branches without a test, then all others ..."
	@.venv/bin/mypy regard & types=$$!; \
		.venv/bin/coverage run -m pytest $(COVERED) && .venv/bin/coverage report; watched=$$?; \
		wait $$types && exit $$watched
	.venv/bin/pytest -n 2 --dist worksteal $(COVERED:%=--ignore=%)

soak: .venv/test.stamp ## Make every fault of docs/promises.md happen, many times (an hour)
	.venv/bin/python -m soak

mutants: .venv/test.stamp ## Make small mistakes on purpose: do the tests notice? (10 minutes)
	PYTHONPATH=. .venv/bin/python scripts/mutants.py

format: .venv/test.stamp ## Format the code and mend what can be mended
	.venv/bin/ruff format .
	.venv/bin/ruff check --fix .

clean: ## Remove the environment, caches and build leftovers (never your runs)
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage build dist regard.egg-info
	find regard scripts soak tests -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/demo.stamp: pyproject.toml constraints.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "$(PYTHON) is missing or older than Python 3.11. Name another one: make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) has no venv module. Install it first (Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@echo "Installing Regard into .venv: about two minutes the first time ..." >&2
	@.venv/bin/python -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear .venv
	@$(PIP_INSTALL) -e ".[demo]" || $(FAILED)
	@touch $@

# The `test` extra by itself: naming it as `.[test]` would install Regard a second time. Of g2p-en
# only the weights are read, by one test, so it comes without what it needs to run.
.venv/test.stamp: .venv/demo.stamp
	@echo "Installing the test tools into .venv ..." >&2
	@.venv/bin/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["test"], sep="\n")' > .venv/test.txt
	@$(PIP_INSTALL) -r .venv/test.txt || $(FAILED)
	@$(PIP_INSTALL) --no-deps g2p-en || $(FAILED)
	@touch $@

# Two commands for newcomers: `make demo` and `make test`. Both make what they need inside this checkout.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CLIENTS := .cache/clients
VERSIONS := 2.1.197 2.1.260 2.1.325

# Nothing is left outside of this checkout, not even in a package manager's cache.
export PIP_CACHE_DIR := $(CURDIR)/.cache/pip
export npm_config_cache := $(CURDIR)/.cache/npm
# Hooks are started thousands of times: they should not be compiled each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check unit pythons e2e packages soak mutants bench docs picture clients clean

demo: $(VENV)/ready
	@$(BIN)/engine demo

test: check unit pythons e2e

check: $(VENV)/ready
	$(BIN)/ruff check src tests bench
	$(BIN)/ruff format --check src tests bench
	$(BIN)/mypy

unit: $(VENV)/ready
	$(BIN)/pytest -n 2 -m "not client"

pythons: $(VENV)/ready
	sh tests/each_python.sh .cache/pythons -n 2 -m "not client and not once"

e2e: $(VENV)/ready clients packages
	sh tests/e2e/in_namespace.sh $(BIN)/pytest -n 6 -m client -rs  # they mostly wait for the client

packages:
	@sh tests/e2e/install_packages.sh tmux

# Random sessions on the real clients, judged by recorded requests: make soak SESSIONS=150 SEED=1
SESSIONS ?= 30
SEED ?= 1
soak: $(VENV)/ready clients
	sh tests/e2e/in_namespace.sh $(BIN)/python tests/soak/run.py --sessions $(SESSIONS) --seed $(SEED)

# Small faults in the ledger, host and evidence modules, one at a time: make mutants SAMPLE=200 ONLY=ledger/claim
SAMPLE ?= 0
ONLY ?=
mutants: $(VENV)/ready
	$(BIN)/python tests/mutants/run.py --sample $(SAMPLE) --only "$(ONLY)"

bench: $(VENV)/ready clients
	$(BIN)/python bench/run.py

docs: $(VENV)/ready
	$(BIN)/python -m handbill.cli.reference > docs/cli.md
	PYTHONPATH=tests $(BIN)/python tests/e2e/why_table.py docs/why.md

picture: $(VENV)/ready
	$(BIN)/python bench/demo_picture.py

clients:
	@sh tests/e2e/install_clients.sh $(CLIENTS) $(VERSIONS)

$(VENV)/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis

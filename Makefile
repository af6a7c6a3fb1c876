# Two commands: `make demo` shows what Rulebook does, `make test` runs everything that CI runs.
# Both make their own environment in .venv and need nothing beyond the package index.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo

.PHONY: demo test check bench schemas fuzz docs clean

demo: $(VENV)/.ready
	@rm -rf $(DEMO) && mkdir -p $(DEMO)/parser
	@git init -q $(DEMO)/parser && git -C $(DEMO)/parser fast-import --quiet < rules/demo/parser.git.txt
	@git -C $(DEMO)/parser checkout -q main
	@echo '$$ rulebook lint rules'
	@$(BIN)/rulebook lint rules
	@echo; echo '$$ rulebook eval check rules/parser-eval.yaml --session rules/demo/session.jsonl --project $(DEMO)/parser'
	@$(BIN)/rulebook eval check rules/parser-eval.yaml --session rules/demo/session.jsonl --project $(DEMO)/parser
	@echo; echo '$$ rulebook eval check rules/tidy-session.yaml --session rules/demo/session-careless.jsonl'
	@$(BIN)/rulebook eval check rules/tidy-session.yaml --session rules/demo/session-careless.jsonl; \
	  status=$$?; echo; echo "(exit status $$status: refused, as it should be)"; [ $$status = 3 ]
	@echo; echo '$$ rulebook task probe rules/report-version.yaml'
	@$(BIN)/rulebook task probe rules/report-version.yaml
	@echo; echo '$$ rulebook evaluation run rules/support-triage.yaml'
	@$(BIN)/rulebook evaluation run rules/support-triage.yaml

test: check
	$(BIN)/python -m pytest -q -n 2

check: $(VENV)/.ready
	$(BIN)/ruff check rulebook tests
	$(BIN)/mypy

bench: $(VENV)/.ready
	$(BIN)/python -m tests.benchmarks

schemas: $(VENV)/.ready
	@for name in $$($(BIN)/rulebook schema); do $(BIN)/rulebook schema $$name > schemas/$$name.json; done

fuzz: $(VENV)/.ready
	$(BIN)/python -m pytest -q tests/evidence/test_formats_fuzz.py --mutations 10000
	$(BIN)/python -m pytest -q tests/evidence/test_scoring_script.py --judges 200
	$(BIN)/python -m pytest -q tests/test_laws.py --hypothesis-profile=long

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis

# A bare Debian or Ubuntu has a Python without `venv`; root can have it installed, others are told what to type.
$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Rulebook needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get install -y -qq python3-venv >/dev/null; } || \
	  { echo "Python's venv module is missing. Type: sudo apt-get install python3-venv"; exit 1; }
	@echo "Making the environment in $(VENV) (once)."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

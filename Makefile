# Start with `make demo`. Every target first installs the packages that it misses (scripts/bootstrap.sh).

PYTHON_SOURCES := microgen examples tests scripts
C_SOURCES := crt microgen
VENV := .venv/bin
BOARD ?= mps2_an386
CLANG_FORMAT ?= $(VENV)/clang-format
# For two cores: while a test waits for an emulator, a server or a time limit, another computes.
PYTEST_WORKERS ?= 3
# A file's tests run together, so what they share is built once. Files keep their order, so long ones are not last.
BY_FILE := --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help bootstrap demo test usual-tests test-full check lint golden bench bench-check docs clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

bootstrap: ## install missing tools (apt-get) and Python packages (.venv)
	@scripts/bootstrap.sh

demo: bootstrap ## train-to-device example in QEMU, one table (BOARD=mps2_an386)
	@$(VENV)/python examples/digits/demo.py --board $(BOARD)

# At the same time, because mypy has one thread.
test: bootstrap ## lint, and every test that is not slow
	@$(MAKE) --no-print-directory -j2 lint usual-tests

usual-tests:
	$(VENV)/python -m pytest -n $(PYTEST_WORKERS) $(BY_FILE) -m "not slow"

test-full: lint ## lint, then every test
	$(VENV)/python -m pytest -n $(PYTEST_WORKERS)

check: lint ## lint, then the tests of the architecture: seconds
	$(VENV)/python -m pytest -q tests/test_architecture.py

lint: bootstrap ## ruff, mypy --strict, clang-format
	$(VENV)/ruff check $(PYTHON_SOURCES)
	$(VENV)/ruff format --check $(PYTHON_SOURCES)
	$(VENV)/mypy --strict
	find $(wildcard $(C_SOURCES)) -name '*.[ch]' -print0 | \
		xargs -0 -r $(CLANG_FORMAT) --dry-run -Werror

golden: bootstrap ## rewrite the expected generated files; read the diff before committing
	$(VENV)/python -m pytest -q tests/golden --update-golden

bench: bootstrap ## measure networks on cores, write docs/benchmarks.md (BENCH="--network kws")
	@$(VENV)/python -m scripts.bench measure $(BENCH)

bench-check: bootstrap ## fail if a figure is 0.5 % worse than in docs/benchmarks.json
	@$(VENV)/python -m scripts.bench check $(BENCH)

docs: bootstrap ## a site of the documents in build/site; a broken link ends it
	@$(VENV)/python -c "import material" 2>/dev/null || $(VENV)/python -m pip install -q -e ".[docs]"
	@$(VENV)/python -m scripts.docs_site
	@echo "build/site/index.html"

clean: ## remove builds and caches, but not .venv
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(PYTHON_SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

# Everything is installed into .venv, once; ARGS="…" is handed on to the command behind a target.
PYTHON ?= python3
HELP := gradaccum needs Python 3.11 or newer. Name one: make PYTHON=/path/to/python3.11

lab: .venv/.installed
	.venv/bin/gradaccum lab course $(ARGS)

# Tests start Python hundreds of times: what it has compiled has to be kept.
test: export PYTHONDONTWRITEBYTECODE =
test: .venv/.installed
	.venv/bin/python -m pytest -n auto $(ARGS)

# Format, lint, import rules, types.
lint: .venv/.installed
	.venv/bin/ruff format --check . && .venv/bin/ruff check . && .venv/bin/lint-imports && .venv/bin/mypy

release: .venv/.installed
	.venv/bin/python -m autograder.publishing.release $(ARGS)

# What PyPI gets, in dist/: the wheel, built from a source distribution, so that nothing stale is in it.
wheel: .venv/bin/uv
	rm -rf dist && .venv/bin/uv build --quiet --out-dir dist

# A class of two, marked: one hands in the solutions, the other what was handed out. make demo ARGS=DIR puts it elsewhere.
demo: DIR = $(or $(ARGS),demo-class)
demo: .venv/.installed
	.venv/bin/gradaccum classroom init $(DIR) --units 03 && .venv/bin/gradaccum classroom release $(DIR) --units 03
	mkdir -p $(DIR)/submitted/ada $(DIR)/submitted/bob
	cp -R $(DIR)/source/03_accumulate $(DIR)/submitted/ada && cp -R $(DIR)/release/03_accumulate $(DIR)/submitted/bob
	.venv/bin/gradaccum classroom grade $(DIR) && .venv/bin/gradaccum classroom report $(DIR) --overwrite

# Watches the trainers of released libraries, those not recorded yet, and writes docs/trainers.md. ARGS: some names, --again
trainers: .venv/.installed
	.venv/bin/python trainers/run.py $(ARGS)

# Draws docs/poster.pdf and docs/poster.png: right and wrong loops, each with what its updates hold.
poster: .venv/.installed
	.venv/bin/python poster/make.py

# The web site, in site/: pages for a browser, no server needed. What is built once is kept in build/site.
site: .venv/.installed
	.venv/bin/python -m website.build $(ARGS)

# Pins all that is installed, for every Python and platform. Versions stay unless ARGS=--upgrade, or --upgrade-package=NAME.
pins: .venv/bin/uv
	.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --extra dev --no-annotate \
		--custom-compile-command 'make pins' --output-file constraints.txt pyproject.toml $(ARGS)

# Installed by itself if need be: while pins and requirements contradict each other, the rest cannot be.
.venv/bin/uv:
	$(PYTHON) -m venv .venv && .venv/bin/python -m pip install --disable-pip-version-check -c constraints.txt uv

.venv/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(HELP)" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

.PHONY: lab test lint release wheel demo trainers poster site pins

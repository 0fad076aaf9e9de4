# Every target sets up what it needs in a private environment (.venv). `make demo` and `make test` are the two to know.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BLENDER := .venv-blender
# Packages are installed anew when pyproject.toml changes.
INSTALLED = $(VENV)/.installed-
PYTEST = $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: demo test test-slow test-numba test-rest test-all bench validate figures pictures reel lint docs dist clean blender blender-extension

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		(echo "spume needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1)
	@echo "Setting up a private environment in $(VENV) (once) ..."
	@$(PYTHON) -m venv $(VENV)

$(INSTALLED)demo: $(BIN)/python pyproject.toml
	@$(BIN)/python tools/install.py look view geometry
	@touch $@

$(INSTALLED)test: $(BIN)/python pyproject.toml
	@$(BIN)/python tools/install.py test geometry look view export alembic tables cluster
	@touch $@

$(INSTALLED)bench: $(BIN)/python pyproject.toml
	@$(BIN)/python tools/install.py peers
	@touch $@

$(INSTALLED)lint: $(BIN)/python pyproject.toml
	@$(BIN)/python tools/install.py lint
	@touch $@

demo: $(INSTALLED)demo
	@$(BIN)/spume run shaving-cream --preset draft --out out/demo --overwrite --render
	@echo "The film is out/demo/pictures.mp4. To go on: source $(BIN)/activate; spume info out/demo"

# What to run while working: about six minutes on two free cores, compilation included.
test: $(INSTALLED)test
	@$(PYTEST) -m "not slow_suite"

# The tests marked `slow_suite`: browsers, killed runs, a cluster, every built-in scene, long simulations.
test-slow: $(INSTALLED)test
	@$(PYTEST) -m slow_suite

# Everything that `make test` leaves out, one target each.
test-rest: test-slow test-numba dist

test-all: test test-rest

# A short list of tests with the oldest and the newest Numba, in environments of their own (build/numba).
test-numba: $(BIN)/python
	@$(BIN)/python tools/numba_versions.py

bench: $(INSTALLED)bench
	@$(BIN)/python -m benchmarks

# Blender has an environment of its own: it wants NumPy below 2, and wheels exist for one version of Python only.
$(BLENDER)/bin/python:
	@echo "Setting up Blender in $(BLENDER) (once; 370 MB) ..."
	@($(PYTHON) -m venv $(BLENDER) && $(BLENDER)/bin/python -m pip install --quiet --disable-pip-version-check bpy) || \
		(rm -rf $(BLENDER); echo "bpy cannot be installed for $$($(PYTHON) --version) (it has wheels for 3.11): exports are not opened in Blender")

blender: $(BLENDER)/bin/python

# The extension for Blender as dist/spume_blender-VERSION.zip; Blender's own tool checks it where `make blender` was run.
blender-extension: $(BIN)/python
	@$(BIN)/python tools/blender_extension.py

validate: $(INSTALLED)test blender
	@SPUME_BLENDER=$$(ls $(BLENDER)/bin/python 2>/dev/null) $(BIN)/python -m validation

# The figures of the papers that have been made, and those that have not; `$(BIN)/python -m figures NAME` makes one.
figures: $(INSTALLED)test
	@$(BIN)/python -m figures

# The pictures of README and docs; `$(BIN)/python -m pictures NAME` makes one.
pictures: $(INSTALLED)test
	@$(BIN)/python -m pictures

# docs/reel.mp4; runs and pictures that are there are used again, so a second call goes on where the first stopped.
reel: $(INSTALLED)test blender
	@SPUME_BLENDER=$$(ls $(BLENDER)/bin/python 2>/dev/null) $(BIN)/python -m pictures --reel

lint: $(INSTALLED)lint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python tools/changelog.py check

$(INSTALLED)docs: $(BIN)/python pyproject.toml
	@$(BIN)/python tools/install.py docs
	@touch $@

docs: $(INSTALLED)docs
	@$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

$(INSTALLED)dist: $(BIN)/python pyproject.toml
	@$(BIN)/python tools/install.py dist
	@touch $@

# A wheel and a source distribution in dist/, installed and run from another folder before they count as made.
dist: $(INSTALLED)dist
	@$(BIN)/python tools/dist.py

clean:
	rm -rf $(VENV) $(BLENDER) out build dist

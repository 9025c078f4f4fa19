# make quickstart   the main job on simulated recordings, from installation to table
# make check        the linters and the fast tests (some two minutes)
# make test         all tests, with Snakemake, DVC and Slurm for real (some minutes more)
# make lint         the linters
# make bench        speed against a plain training loop
# make methods      docs/methods.md, from the methods' classes and their measured costs
# make clean        delete what quickstart made (make distclean: the installation too)
PYTHON ?= python3
CORES ?= 2

export PATH := $(CURDIR)/.venv/bin:$(PATH)
INSTALLED := .venv/.installed
QUICK := snakemake --directory quickstart --configfile params.yaml --cores $(CORES) \
	--config protocol=quick runs_per_job=8 'datasets={bearings: {source: simulated, simulate: {seconds: 1.5}}}'

TEST := python -m pytest -n $(CORES) --dist loadfile --no-loadscope-reorder

.PHONY: help install quickstart check test lint bench methods clean distclean

help:
	@sed -n 's/^# //p' Makefile

install: $(INSTALLED)

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
		{ echo "Python 3.11, 3.12 or 3.13 is needed: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "== Installing the versions of requirements.lock into .venv (some minutes, once)"
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --requirement requirements.lock
	.venv/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

quickstart: $(INSTALLED)
	@mkdir -p quickstart
	@echo "== Bearings, simulated recordings, reduced protocol: every method on every domain (minutes, once)"
	@$(QUICK) --quiet reason host -- results/tables/bearings.tex results/figures/bearings.png
	@if [ ! quickstart/report.html -nt quickstart/results/tables/bearings.tex ]; then \
		echo "== The report"; \
		$(QUICK) --report report.html -- results/tables/bearings.tex results/figures/bearings.png; fi
	@echo
	@tsdg show quickstart/results/tables/bearings.csv
	@echo
	@echo "Simulated recordings, one seed, 120 small batches: these numbers show that all works, and are no results."
	@echo
	@echo "Table   quickstart/results/tables/bearings.tex (all numbers: bearings.csv)"
	@echo "Figure  quickstart/results/figures/bearings.png"
	@echo "Report  quickstart/report.html"

check: lint
	@echo "== The fast tests"
	@$(TEST) -m "not slow"

test: $(INSTALLED)
	@echo "== All tests (minutes)"
	@$(TEST)

lint: $(INSTALLED)
	@echo "== Linters"
	ruff check .
	ruff format --check .
	mypy
	lint-imports
	snakefmt --line-length 110 --check Snakefile workflow
	snakemake --lint

bench: $(INSTALLED)
	@echo "== Ratios to a plain training loop (minutes)"
	@python benchmarks/run.py

methods: $(INSTALLED)
	@tsdg methods docs/data/method_costs.csv > docs/methods.md.new && mv docs/methods.md.new docs/methods.md

clean:
	rm -rf quickstart .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

distclean: clean
	rm -rf .venv src/tsdg.egg-info

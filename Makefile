# make install      the versions of requirements.lock into .venv
# make quickstart   two questions to five rows on simulated recordings, from installation to tables
# make check        the linters and the fast tests (some two minutes)
# make test         all tests, with Snakemake, DVC and Slurm for real (some minutes more)
# make lint         the linters
# make bench        speed against plain training loops; time of the commands that read a study
# make methods      docs/methods.md, from the methods' classes and their measured costs
# make clean        delete what quickstart made (make distclean: the installation too)
#
# CORES=2           processes at once
# PYTHON=python3    the interpreter that the installation is made with, 3.11 to 3.13
PYTHON ?= python3
CORES ?= 2

export PATH := $(CURDIR)/.venv/bin:$(PATH)
INSTALLED := .venv/.installed
QUICK := snakemake --directory quickstart --configfile params.yaml examples/quickstart.yaml --cores $(CORES)
QUICK_MADE := results/tables/known_sensor.tex results/tables/new_sensor.tex results/figures/known_sensor.png \
	results/figures/new_sensor.png

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
	@echo "== Simulated bearings, reduced protocol: one domain held out, then one sensor (minutes, once)"
	@$(QUICK) --quiet rules -- $(QUICK_MADE)
	@if [ ! quickstart/report.html -nt quickstart/results/tables/new_sensor.tex ]; then \
		echo "== The report"; $(QUICK) --report report.html -- $(QUICK_MADE); fi
	@for table in known_sensor new_sensor; do echo; tsdg show quickstart/results/tables/$$table.csv; done
	@echo
	@echo "First one domain is held out (A and E: the motor without load, at one sensor and the other), so that its"
	@echo "sensor is known from other loads; then a whole sensor, of the same recordings. Which row is best depends"
	@echo "on what is held out, and linear models go first."
	@echo "Simulated recordings, one seed, networks of 400 small batches: how it works, and no results."
	@echo
	@echo "Tables  quickstart/results/tables/known_sensor.tex, new_sensor.tex (all numbers: .csv)"
	@echo "Figures quickstart/results/figures/known_sensor.png, new_sensor.png"
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
	@echo "== Commands that read a study, on 6,384 synthetic records"
	@python benchmarks/commands.py

methods: $(INSTALLED)
	@tsdg methods src/tsdg/methods/costs.csv > docs/methods.md.new && mv docs/methods.md.new docs/methods.md

clean:
	rm -rf quickstart .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

distclean: clean
	rm -rf .venv src/tsdg.egg-info

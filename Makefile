# Everything is built under .build and nowhere else; `make clean` removes it.
.DEFAULT_GOAL := help
# A warning fails the build, here though not in an embedder's.
export TALLY_STRICT := 1
# A person's own settings do not change the checks.
export XDG_CONFIG_HOME := $(CURDIR)/.build/no-settings
# For `swift test`: without a bound all tests begin at once, and nothing is reported before their tasks get a thread.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH := $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN))
# The hub and the screens are in the package where this is set; then everything is compiled once.
ifneq ($(filter check hub demo-hub test-hub test-hub-api test-hub-faults bench-hub web test-web test-web-long quick-web bench-web test-faults,$(MAKECMDGOALS)),)
export TALLY_SERVERS := 1
endif
# The same for the benchmarks.
ifneq ($(filter check smoke,$(MAKECMDGOALS)),)
export TALLY_BENCHMARKS := 1
endif
# What builds a package beside this one.
ALONE = env -u TALLY_SERVERS -u TALLY_BENCHMARKS
.PHONY: help demo test check check-release format layers bench bench-readme docs api clean set-up tools lint build program schemas formats page smoke smoke-optimised outside faults
.PHONY: hub demo-hub test-hub test-hub-api test-hub-faults bench-hub test-long test-devices test-old-devices test-faults test-mutants test-sanitizers
.PHONY: web test-web test-web-long quick-web bench-web
.PHONY: install install-web uninstall completions installation
.PHONY: bench-floor bench-slowed bench-work bench-counts bench-record bench-record-counts bench-peers bench-growth bench-cli bench-observation bench-before bench-search bench-serve bench-sync bench-engine

help: ## Lists the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# One of several steps finds the program built.
demo: $(if $(filter check,$(MAKECMDGOALS)),build,program) ## Shows Tally with this repository's own history, in a scratch store.
	@Scripts/demo.sh

test: build ## Runs the tests, a line for each suite; the last ones say which took long and what failed.
	@Scripts/run-tests.py

# Those that take long come first. They depend on nothing but the build and the tools, and share no directory, so that
# `make --jobs=2 --output-sync=target check` runs two at a time.
CHECKS = layers test test-web test-hub docs smoke outside faults schemas completions formats page demo
check: lint $(CHECKS) ## Runs everything that a change must pass: format, warnings, tests, schemas, documentation and more.
ifneq ($(filter check,$(MAKECMDGOALS)),)
$(CHECKS) installation: | tools
endif

check-release: ## Runs what a release must pass, beside `make check`: every long form; hours.
	@for each in test-long smoke-optimised installation test-faults test-sanitizers test-devices test-old-devices \
	test-hub-api test-hub-faults test-web-long; do $(MAKE) $$each || exit; done

format: ## Formats every Swift file in place.
	swift format --in-place --recursive --parallel $(SWIFT_FILES)

BENCH_SUITES = floor peers search engine growth sync cli
bench: ## Runs every suite of benchmarks; fails if a row of any misses its goal or costs more than recorded.
	@Scripts/set-up.sh counts
	@failed=; Benchmarks/Scripts/work.py times || failed=work; Benchmarks/Scripts/work.py counts || failed="$$failed counts"; \
	for suite in $(BENCH_SUITES); do Benchmarks/Scripts/bench.py $$suite || failed="$$failed $$suite"; done; \
	if [ -n "$$failed" ]; then echo "bench: failed: $$failed" >&2; exit 1; fi

bench-floor: ## Measures the operations that have a limit in time; exceeding it fails.
	@Benchmarks/Scripts/bench.py floor

bench-work: ## Times pieces of everyday work beside a yardstick; a row fails that costs more than it did when recorded.
	@Benchmarks/Scripts/work.py times

bench-counts: ## Counts instructions, system calls, flushes and bytes of everyday work; 5 % more than recorded fail.
	@Scripts/set-up.sh counts
	@Benchmarks/Scripts/work.py counts

bench-record: ## Records what the rows of every suite cost, on a quiet machine.
	@Scripts/set-up.sh counts
	@Benchmarks/Scripts/work.py record counts
	@Benchmarks/Scripts/work.py record times
	@for suite in $(BENCH_SUITES) serve; do Benchmarks/Scripts/bench.py $$suite --record || exit; done

bench-record-counts: ## Records the counts of everyday work, after a change of the library that is meant to change them.
	@Scripts/set-up.sh counts
	@Benchmarks/Scripts/work.py record counts

bench-peers: ## Measures Tally beside SQLite (GRDB) and liblmdb, in turn, and prints ratios.
	@Benchmarks/Scripts/bench.py peers

bench-search: ## Measures search among a million tasks beside SQLite (FTS5), and what search adds to a create.
	@Benchmarks/Scripts/bench.py search

bench-engine: ## Measures collections of any records beside SQLite (GRDB): writes, reads, sums by local periods.
	@Benchmarks/Scripts/bench.py engine

bench-growth: ## Measures how cost grows from 1,000 to 1,000,000 tasks.
	@Benchmarks/Scripts/bench.py growth

bench-sync: ## Measures synchronisation: its share of a write, snapshots, joining, the way to another device.
	@Benchmarks/Scripts/bench.py sync

bench-serve: ## Measures the screens' server over 100,000 tasks: its pages and its memory.
	@Benchmarks/Scripts/bench.py serve

bench-observation: ## Measures what observation costs: idle observers, write to update, large differences, a screen's model.
	@TALLY_BENCHMARKS=1 swift build --scratch-path .build/benchmarks -c release --product ObservationFigures
	@.build/benchmarks/release/ObservationFigures

bench-cli: ## Times the command line beside Taskwarrior, as whole processes.
	@Benchmarks/Scripts/bench.py cli

bench-before: ## Says whether this checkout is within 3 % of another: make bench-before COMMIT=main
	@Scripts/set-up.sh counts
	@Benchmarks/Scripts/before.py $(or $(COMMIT),$(error give a commit: make bench-before COMMIT=main))

bench-slowed: ## Slows paths of the library down on purpose, and ensures that the rows that name them fail; builds a copy.
	@Scripts/set-up.sh cli
	@Benchmarks/Scripts/slowed.py

bench-readme: ## Puts the results of the last runs into Benchmarks/README.md.
	@Benchmarks/Scripts/bench.py readme

docs: build ## Builds the documentation into .build/documentation; a warning or an undocumented public symbol fails.
	@Scripts/check-docs.py

api: build ## Records the public surface in docs/api.txt, with which `make docs` compares it.
	@Scripts/check-docs.py --record

clean: ## Removes everything that was built.
	rm -rf .build

set-up: ## Installs the libraries that the build needs, if they are missing.
	@Scripts/set-up.sh $(if $(TALLY_SERVERS),hub)
	@$(if $(TALLY_BENCHMARKS),Scripts/set-up.sh bench)

# One after the other, as two installers at a time would fail.
tools: set-up
	@for each in formats shells database bench cli $(BROWSER); do Scripts/set-up.sh $$each || exit; done

lint: ## Lists deviations from .swift-format.
	swift format lint --strict --recursive --parallel $(SWIFT_FILES)
	@Scripts/mutants.py --list >/dev/null

build: set-up ## Builds the libraries, the command line and the tests; a warning fails.
	swift build --build-tests

layers: build ## Ensures that folders use only layers below them, and that functions are short, by the compiler's index.
	@Scripts/check-layers.py

# What a person sees of the build is a line, or the failure.
program: set-up
	@mkdir -p .build
	@echo 'Building the command line: a minute the first time; the output of the build is in .build/program.log'
	@swift build --product tally >.build/program.log 2>&1 || { cat .build/program.log >&2; exit 1; }

schemas: build ## Validates the schemas, and exports and the output of commands against them.
	@Scripts/check-schemas.py
	@Scripts/compare-statistics.py
	@Scripts/check-recurrence.py
	@Scripts/check-series.py
	@Scripts/check-measures.py

completions: build ## Presses Tab and types filters in real shells: bash, zsh and fish complete, and change no spelling.
	@Scripts/set-up.sh shells
	@Scripts/check-completions.py
	@Scripts/check-spellings.py

installation: build ## Installs into an empty directory, and uses the program, its completions and its manual from there.
	@Scripts/set-up.sh shells
	@Scripts/check-install.sh

PREFIX = /usr/local
install: set-up ## Builds the program and installs it with its completions and manual page: PREFIX=/usr/local, DESTDIR.
	@Scripts/install.sh install "$(PREFIX)" "$(DESTDIR)"

install-web: set-up ## Builds tally-web and installs it beside tally, for `tally web`: PREFIX=/usr/local, DESTDIR.
	@Scripts/install.sh install-web "$(PREFIX)" "$(DESTDIR)"

uninstall: ## Removes what `make install` and `make install-web` have installed: PREFIX=/usr/local, DESTDIR.
	@Scripts/install.sh uninstall "$(PREFIX)" "$(DESTDIR)"

formats: build ## Moves tasks to Taskwarrior, calendars, todo.txt, tables and checklists, and back.
	@Scripts/check-formats.py
	@Scripts/check-calendars.py

page: build ## Checks the page of statistics in a headless Chromium, if there is one.
	@Scripts/check-page.py

outside: build ## Builds and runs the README's examples, the articles and the examples in packages outside this one.
	@$(ALONE) Scripts/check-outside.sh

faults: build ## Causes faults of every kind, a few of each: crashes, kills, failing calls, damaged files.
	@Scripts/test-faults.sh --short

test-faults: set-up ## Causes thousands of faults of every kind and prints their number; it prints the expected duration.
	@Scripts/test-faults.sh
	swift build --product tally
	swift build --product tally-web
	@Web/Scripts/soak.py

test-mutants: set-up ## Leaves out or changes some hundreds of steps of the sources, one at a time: a test must notice each.
	@$(ALONE) Scripts/mutants.py

test-devices: build ## Changes tasks at random on two and five devices that share folders, kills some, and compares them all.
	@Scripts/check-sync.py
	@Scripts/check-sync.py --syncthing --if-available

test-old-devices: set-up ## Plays 2,000 random histories on devices of which one has the program of 0e4248f; builds that; an hour.
	@TALLY_HISTORIES=2000 Scripts/check-old-devices.py

hub: set-up ## Builds tally-hub and tally-hub-client in .build/debug; the first build takes minutes.
	swift build --product tally-hub
	swift build --product tally-hub-client

demo-hub: build ## Starts a hub and lets two devices synchronise through it.
	@Hub/Scripts/check-hub.py --show

test-hub: build ## Runs the tests of the hub and of its programs; starts a PostgreSQL server.
	@Scripts/set-up.sh database
	@Hub/Scripts/postgresql.py Scripts/run-tests.py '^HubTests[.]'
	@Hub/Scripts/check-hub.py
	@Hub/Scripts/check-memory.py

test-hub-api: hub ## Sends thousands of requests to a hub, as its OpenAPI description has them; minutes, and a download.
	@Hub/Scripts/check-api.py
	@Scripts/set-up.sh database
	@Hub/Scripts/check-api.py --database

test-hub-faults: build ## Kills, cuts off, restores and wipes everything around a hub while devices write; minutes.
	@Scripts/set-up.sh faults
	@Hub/Scripts/check-faults.py
	@Scripts/set-up.sh database
	@Hub/Scripts/check-memory.py --full
	@Hub/Scripts/check-memory.py --full --database

bench-hub: set-up ## Measures a hub on LMDB and PostgreSQL, beside pgbench, and puts the figures into Hub/README.md.
	@Scripts/set-up.sh database
	swift build -c release --product tally-hub
	swift build -c release --product HubLoad
	@Hub/Scripts/load.py

web: program ## Shows the demo's data in a browser; the first build takes minutes.
	swift build --product tally-web
	@Web/Scripts/demo.sh

test-web: build ## Runs the tests of the screens, then uses the screens in Chromium if there is one; minutes.
	@Scripts/run-tests.py '^WebTests[.]'
	@Web/Scripts/check-web.py

test-web-long: build ## Uses the screens at both widths in light and in dark, every scenario.
	@Web/Scripts/check-web.py --all

quick-web: program ## Uses the screens in Chromium, if there is one: what must not be lost or doubled, each at one width.
	swift build --product tally-web
	@Web/Scripts/check-web.py --quick

bench-web: program ## Measures the screens in Chromium over 100,000 tasks: first paint, tap, scrolling, arrivals.
	swift build -c release --product tally-web
	@Web/Scripts/figures.py

OPTIMISED = -c release -Xswiftc -enable-testing --scratch-path .build/optimised
test-long: set-up ## Runs every test in its long form, then views, filters, searches and merges on long random histories; an hour.
	swift build --build-tests $(OPTIMISED)
	TALLY_LONG=1 Scripts/run-tests.py --build .build/optimised/release
	TALLY_CHANGES=100000 swift test --skip-build --disable-xctest $(OPTIMISED) --filter everyViewBuiltFromDifferences
	TALLY_TRANSACTIONS=10000 TALLY_SEEDS=3 swift test --skip-build --disable-xctest $(OPTIMISED) --filter RandomTransactionTests
	TALLY_SYNC_STEPS=6 swift test --skip-build --disable-xctest $(OPTIMISED) --filter ExhaustiveMergeTests
	TALLY_SYNC_HISTORIES=10000 swift test --skip-build --disable-xctest $(OPTIMISED) --filter RandomMergeTests
	TALLY_SYNC_WRITTEN=2000 swift test --skip-build --disable-xctest $(OPTIMISED) --filter WrittenValueTests
	TALLY_SYNC_STORES=500 swift test --skip-build --disable-xctest $(OPTIMISED) --filter ReplicaTests
	TALLY_SYNC_CHANGES=60000 swift test --skip-build --disable-xctest $(OPTIMISED) --filter thousandsOfChangesInOneInstant
	Scripts/check-measures.py --full .build/optimised/release/TallyEngineTestHelper

test-sanitizers: set-up ## Runs every test under AddressSanitizer and ThreadSanitizer; half an hour.
	@Scripts/test-sanitizers.sh

smoke: build ## Runs the benchmarks on small stores, to check their answers, and tests how results are judged.
	@python3 -m unittest discover -s Benchmarks/Scripts/Tests
	@for suite in $(BENCH_SUITES); do Benchmarks/Scripts/bench.py $$suite --smoke || exit; done
	@Benchmarks/Scripts/bench.py readme --check

smoke-optimised: ## Runs the benchmarks on small stores as `make bench` builds them, to check their answers.
	@for suite in $(BENCH_SUITES); do $(ALONE) Benchmarks/Scripts/bench.py $$suite --smoke --optimised || exit; done

SWIFT_FILES := $(wildcard Sources Tests Examples Benchmarks/Sources Benchmarks/Benchmarks Hub/Sources Hub/Tests Web/Sources Web/Tests Package.swift)

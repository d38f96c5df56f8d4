# Everything is built under .build and nowhere else; `make clean` takes it away.
.DEFAULT_GOAL := help
# A warning fails the build, here though not in an embedder's.
export TALLY_STRICT := 1
.NOTPARALLEL:
.PHONY: help demo test check format bench bench-readme docs api clean set-up lint build schemas page smoke outside faults
.PHONY: test-long test-faults test-sanitizers
.PHONY: bench-peers bench-growth bench-cli

help: ## Lists what can be made.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: set-up ## Shows Tally at work on this repository's own history, in a scratch store.
	@Scripts/demo.sh

test: set-up ## Runs every test.
	swift test --disable-xctest

check: set-up lint build test faults demo schemas page smoke docs outside ## Does all that a change must pass: format, warnings, tests, schemas, documentation and more.

format: ## Formats every Swift file in place.
	swift format --in-place --recursive --parallel $(SWIFT_FILES)

bench: ## Measures the operations that have a limit; one that exceeds it fails.
	@Scripts/bench.py floor

bench-peers: ## Measures Tally beside SQLite (GRDB) and liblmdb, in turn, and prints ratios.
	@Scripts/bench.py peers

bench-growth: ## Measures how cost grows from 1,000 to 1,000,000 tasks.
	@Scripts/bench.py growth

bench-cli: ## Times the command line beside Taskwarrior, as whole processes.
	@Scripts/bench.py cli

bench-readme: ## Puts the results of the last runs into Benchmarks/README.md.
	@Scripts/bench.py readme

docs: set-up ## Builds the documentation into .build/documentation; a warning, or a public symbol without a word, fails.
	@Scripts/build-docs.sh
	@Scripts/check-api.py

api: set-up ## Records the public surface in docs/api.txt, with which `make docs` compares it.
	@Scripts/build-docs.sh
	@Scripts/check-api.py --record

clean: ## Removes everything that was built.
	rm -rf .build

set-up: ## Installs what the build needs and is missing.
	@Scripts/set-up.sh

lint: ## Says where the format differs from .swift-format.
	swift format lint --strict --recursive --parallel $(SWIFT_FILES)

build: set-up ## Builds the libraries, the command line and the tests; a warning fails.
	swift build --build-tests

schemas: build ## Validates the schemas, and what exports hold and commands print against them.
	@Scripts/check-schemas.sh

page: build ## Looks at the page of statistics in a headless Chromium, if there is one.
	@Scripts/check-page.sh

outside: build ## Builds, in packages outside this one, the README's example, the articles and the example, and runs them.
	@Scripts/check-outside.sh

faults: build ## Causes faults of every kind, a few of each: crashes, kills, failing calls, damaged files.
	@Scripts/test-faults.sh --short

test-faults: set-up ## Causes faults of every kind by the thousand and prints how many; it says how long it takes.
	@Scripts/test-faults.sh

test-long: build ## Follows views through 100,000 random changes, each compared with the view read anew; minutes.
	TALLY_CHANGES=100000 swift test --skip-build --disable-xctest --filter everyViewBuiltFromDifferences

test-sanitizers: set-up ## Runs every test under AddressSanitizer and ThreadSanitizer; half an hour.
	@Scripts/test-sanitizers.sh

smoke: ## Runs the benchmarks on small stores, to check their answers, not their times.
	@for suite in floor peers growth cli; do Scripts/bench.py $$suite --smoke || exit; done
	@Scripts/bench.py readme --check

SWIFT_FILES := $(wildcard Sources Tests Examples Benchmarks/Sources Benchmarks/Benchmarks Benchmarks/Package.swift Package.swift)

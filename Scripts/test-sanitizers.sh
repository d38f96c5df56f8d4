#!/usr/bin/env bash
# Runs every test under AddressSanitizer, then under ThreadSanitizer; arguments name one of them (`address`, `thread`).
# TALLY_TEST_FILTER selects tests. Slow: each builds everything again, in .build/asan or .build/tsan.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ "$#" -gt 0 ] || set -- address thread

# Sizes for a program that runs ten times slower; the plain tests use the full sizes.
export TALLY_TRANSACTIONS=${TALLY_TRANSACTIONS:-300} TALLY_QUERIES=${TALLY_QUERIES:-3}
# Swift never frees types, which looks like leaks; a report ends the process, and so the run.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1
export TSAN_OPTIONS=halt_on_error=1:suppressions=$PWD/Scripts/thread-sanitizer.supp

for sanitizer in "$@"; do
  # A test that cannot run under a sanitizer checks this and is skipped with its reason.
  export TALLY_SANITIZER=$sanitizer
  case $sanitizer in
    address) scratch=.build/asan ;;
    thread) scratch=.build/tsan ;;
    *) echo "test-sanitizers: unknown sanitizer $sanitizer: give address or thread" >&2; exit 64 ;;
  esac
  nice swift test --disable-xctest --scratch-path "$scratch" --sanitize="$sanitizer" \
    ${TALLY_TEST_FILTER:+--filter "$TALLY_TEST_FILTER"}
  echo "$sanitizer sanitizer: clean"
done

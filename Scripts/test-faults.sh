#!/usr/bin/env bash
# Causes faults in stores and prints their number; `--short` uses the small sizes of `make check` and the debug build.
# Arguments name suites; without one all of them run, and in the long form random merges and fuzzing after them.
# Progress goes to the standard error, figures to the standard output, with the totals at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(uname)" != Linux ]; then
  echo 'test-faults: skipped: it needs LD_PRELOAD, strace and mount namespaces of Linux' >&2
  exit 0
fi

configuration=release
for argument in "$@"; do
  [ "$argument" != --short ] || configuration=debug
done

# Without it one suite of the long form is skipped, with a message; the short form installs nothing.
if [ "$configuration" = release ] && ! command -v strace >/dev/null && [ "$(id -u)" -eq 0 ]; then
  (apt-get -q update && apt-get -q -y install --no-install-recommends strace) </dev/null >&2 || true
fi

preloads=.build/faults
mkdir -p "$preloads"
for source in Tests/TallyFaults/Preloads/*.c; do
  library=$preloads/$(basename "$source" .c).so
  [ "$library" -nt "$source" ] || cc -O1 -Wall -Wextra -Werror -fPIC -shared -o "$library" "$source" -ldl -lpthread
done

# The short form uses what `make build` has built.
if [ "$configuration" = release ]; then
  echo 'test-faults: building; the first build takes minutes' >&2
  for product in TallyFaults tally; do swift build -c release --product "$product" >&2; done
fi
program=.build/$configuration/TallyFaults

export TALLY_PRELOADS=$PWD/$preloads
# In the short form, tests replay the inputs found by fuzzing.
if [ "$#" -gt 0 ]; then exec "$program" "$@"; fi

figures=$preloads/figures.txt
status=0
"$program" | tee "$figures" || status=1
# Flips every bit that liblmdb trusts in a small file; `make test` flips one of each byte.
TALLY_EVERY_BIT=1 swift test --disable-xctest --filter FlippedBitTests >&2 || status=1
# Histories of replicas in one process; 12,000 have over a million operations.
optimised=(-c release -Xswiftc -enable-testing --scratch-path .build/optimised)
swift build --build-tests "${optimised[@]}" >&2
TALLY_SYNC_HISTORIES=12000 swift test --skip-build --disable-xctest "${optimised[@]}" \
  --filter replicasAgreeWithTheNaiveHistory | tee "$preloads"/merges.txt >&2 || status=1
grep '^merges in all: ' "$preloads"/merges.txt | tee -a "$figures" || status=1
Scripts/fuzz.sh | tee -a "$figures" || status=1
echo
grep ' in all: ' "$figures" || status=1
exit "$status"

#!/usr/bin/env bash
# Looks for inputs that crash the readers of untrusted bytes with libFuzzer, each target for TALLY_FUZZ_SECONDS (20).
# Arguments name targets (Tests/FuzzTests/FuzzTarget.swift); without one all of them run. Starts from
# Tests/FuzzTests/Corpora, one file of inputs per target (Scripts/fuzz-corpora.py); new inputs collect in
# .build/fuzz-corpora, and with TALLY_FUZZ_KEEP=1 the smallest set with the same coverage replaces the corpus.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${TALLY_FUZZ_SECONDS:-20}
[ "$#" -gt 0 ] || set -- records json ndjson formats instants sentences links filters arguments pages history zones journal \
  segments snapshots merges cards names invitations

export TALLY_FUZZ=1
build=(swift build -c release --scratch-path .build/fuzz --product TallyFuzz -Xswiftc -enable-testing
  -Xswiftc -sanitize=fuzzer,address)
"${build[@]}" >&2
program=$("${build[@]}" --show-bin-path)/TallyFuzz

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Swift never frees types, which looks like leaks; and what it prints after a trap looks like a second fault. In memory,
# where writes are cheap. Little freed memory is kept, and no stacks of allocations, which takes half of the memory.
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=8:malloc_context_size=1 SWIFT_BACKTRACE=enable=no TMPDIR=$scratch
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm

echo "fuzz: $# targets, $seconds seconds each" >&2
status=0
executed=0
for target in "$@"; do
  corpus=.build/fuzz-corpora/$target
  seeds=$scratch/seeds/$target
  Scripts/fuzz-corpora.py unpack "$target" "$seeds"
  # People type short texts, and searching for near names of long words is slow.
  case $target in instants | sentences | links | filters | arguments | pages | history | journal | invitations) length=200 ;; *) length=4096 ;; esac
  mkdir -p "$corpus" .build/fuzz-findings
  if TALLY_FUZZ_TARGET=$target "$program" -max_total_time="$seconds" -timeout=10 -max_len=$length -print_final_stats=1 \
    -dict=Tests/FuzzTests/Corpora/words.dict -artifact_prefix=.build/fuzz-findings/"$target"- \
    "$corpus" "$seeds" >"$scratch/$target.log" 2>&1; then
    awk -v target="$target" '/number_of_executed_units/ { executed = $2 } /cov:/ { covered = $4 }
      END { printf "fuzz %s: %d executions, %d places reached, no finding\n", target, executed, covered }' "$scratch/$target.log"
    executed=$((executed + $(awk '/number_of_executed_units/ { print $2 }' "$scratch/$target.log")))
  else
    status=1
    echo "fuzz $target: FOUND, see .build/fuzz-findings:"
    tail -40 "$scratch/$target.log"
  fi
  if [ -n "${TALLY_FUZZ_KEEP-}" ]; then
    mkdir "$scratch/$target"
    TALLY_FUZZ_TARGET=$target "$program" -merge=1 -max_len=400 "$scratch/$target" "$seeds" "$corpus" >/dev/null 2>&1
    Scripts/fuzz-corpora.py pack "$target" "$scratch/$target"
  fi
done
findings=$([ "$status" -eq 0 ] && echo 'no finding' || echo 'FINDINGS')
echo "fuzz in all: $executed executions of $# targets, $findings"
exit "$status"

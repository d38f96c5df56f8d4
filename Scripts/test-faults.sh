#!/usr/bin/env bash
# Causes faults in stores and prints how many; `--short` takes the small sizes of `make check` and the debug build.
# Arguments name suites; without one all of them run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$(uname)" != Linux ]; then
  echo 'test-faults: skipped: it needs LD_PRELOAD, strace and mount namespaces, as Linux has them' >&2
  exit 0
fi

configuration=release
for argument in "$@"; do
  [ "$argument" != --short ] || configuration=debug
done

preloads=.build/faults
mkdir -p "$preloads"
for source in Tests/TallyFaults/Preloads/*.c; do
  library=$preloads/$(basename "$source" .c).so
  [ "$library" -nt "$source" ] || cc -O1 -Wall -Wextra -Werror -fPIC -shared -o "$library" "$source" -ldl -lpthread
done

swift build -c "$configuration" --product TallyFaults >&2
TALLY_PRELOADS=$PWD/$preloads exec "$(swift build -c "$configuration" --show-bin-path)/TallyFaults" "$@"

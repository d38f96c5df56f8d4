#!/usr/bin/env bash
# Shows the demo's data in a browser: creates it if it is missing, then serves until Control-C.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if [ ! -e .build/demo/store ]; then
  echo 'Creating the data of the demo ...'
  Scripts/demo.sh >/dev/null
fi
exec .build/debug/tally-web --store .build/demo/store --open "$@"

#!/usr/bin/env bash
# Builds the reference documentation of both libraries. A link to a symbol that is gone is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for target in LMDB Tally; do
  archive=.build/documentation/$target.doccarchive
  mkdir -p .build/documentation
  TALLY_DOCUMENTATION=1 swift package --allow-writing-to-directory .build/documentation generate-documentation \
    --target "$target" --warnings-as-errors --output-path "$archive"
done

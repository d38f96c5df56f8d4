#!/usr/bin/env bash
# Validates the schemas, and what generated stores export and print against them, with a validator that is not ours.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

environment=.build/python
# The copy tells which requirements the environment holds; it is written last, so that half an environment is made anew.
if ! cmp -s Scripts/requirements.txt "$environment/requirements.txt"; then
  rm -rf "$environment"
  python3 -m venv "$environment" || {
    echo 'check-schemas: Python cannot make a virtual environment; on Debian: apt-get install python3-venv' >&2
    exit 1
  }
  "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement Scripts/requirements.txt
  cp Scripts/requirements.txt "$environment/requirements.txt"
fi

program=$(swift build --show-bin-path)/tally
"$environment/bin/python" Scripts/check-schemas.py "$program"
"$environment/bin/python" Scripts/compare-statistics.py "$program"

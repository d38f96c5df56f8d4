#!/usr/bin/env bash
# Installs what a suite of benchmarks needs and is missing: for the peers SQLite's library, for whole processes
# hyperfine, which times them, and Taskwarrior.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
Scripts/set-up.sh

missing=()
pkg-config --exists sqlite3 || missing+=(libsqlite3-dev)
if [ "${1-}" = cli ]; then
  command -v hyperfine >/dev/null || missing+=(hyperfine)
  command -v task >/dev/null || missing+=(taskwarrior)
fi
[ "${#missing[@]}" -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  printf 'set-up-bench: %s\n' "missing: ${missing[*]}" 'install them, then run this again:' \
    "  Debian, Ubuntu:  sudo apt-get install ${missing[*]}" \
    '  macOS:           brew install sqlite hyperfine task' >&2
  exit 1
fi
printf 'set-up-bench: installing %s\n' "${missing[*]}" >&2
apt-get -q -y update </dev/null >&2 || printf 'set-up-bench: the package list could not be refreshed\n' >&2
DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "${missing[@]}" </dev/null >&2

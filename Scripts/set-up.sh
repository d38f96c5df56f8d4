#!/usr/bin/env bash
# Installs what is missing: LMDB's library and header, pkg-config, by which SwiftPM finds them, and the tz database.
# Quiet, and without a network, where all is there.
set -euo pipefail

fail() {
  printf 'set-up: %s\n' "$@" >&2
  exit 1
}

missing=()
command -v pkg-config >/dev/null || missing+=(pkg-config)
pkg-config --exists lmdb 2>/dev/null || missing+=(liblmdb-dev)
[ -e "${TZDIR:-/usr/share/zoneinfo}/Europe/Amsterdam" ] || missing+=(tzdata)

command -v swift >/dev/null || fail 'Swift is missing: install 6.2 or newer from https://www.swift.org/install'
[ "${#missing[@]}" -gt 0 ] || exit 0

# sudo only where somebody can type a password or none is asked for: a build without a terminal must not hang.
can_install=no
elevate=''
if [ "$(id -u)" -eq 0 ]; then
  can_install=yes
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
  can_install=yes
  elevate=sudo
fi

if [ "$can_install" = no ] || ! command -v apt-get >/dev/null; then
  fail "missing: ${missing[*]}" 'install them, then run this again:' \
    '  Debian, Ubuntu:  sudo apt-get install liblmdb-dev pkg-config tzdata' \
    '  Fedora:          sudo dnf install lmdb-devel pkgconf-pkg-config tzdata' \
    '  Arch:            sudo pacman -S lmdb pkgconf tzdata' \
    '  macOS:           brew install lmdb pkgconf'
fi

apt_get() {
  ${elevate:+"$elevate"} env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" </dev/null >&2
}

printf 'set-up: installing %s\n' "${missing[*]}" >&2
# An old package list names files that are gone, so refresh it; a good one may still do where that fails.
apt_get update || printf 'set-up: the package list could not be refreshed; trying with the old one\n' >&2
apt_get install --no-install-recommends "${missing[@]}" || fail "apt-get could not install: ${missing[*]}"
pkg-config --exists lmdb || fail 'lmdb is installed but pkg-config does not find it: look at PKG_CONFIG_PATH'

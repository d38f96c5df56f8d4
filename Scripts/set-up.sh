#!/usr/bin/env bash
# Installs missing programs and libraries: Scripts/set-up.sh [bench|counts|cli|formats|shells|hub|database|faults|browser]
#   without an argument: LMDB's library and header, pkg-config, by which SwiftPM finds them, and the tz database
#   bench    also SQLite's library, for the benchmarks
#   counts   also SQLite's library, valgrind and strace, which count what work costs
#   cli      also hyperfine, which times whole processes, and Taskwarrior
#   formats  also Taskwarrior, for Scripts/check-formats.py
#   shells   also zsh, fish and man, for Scripts/check-completions.py and Scripts/check-install.sh
#   hub      also libpq, PostgreSQL's library
#   database also a PostgreSQL server, which the tests of the hub start by themselves
#   faults   also strace, faketime and ip, for Hub/Scripts/check-faults.py
#   browser  only Chromium, for Scripts/check-page.py and Web/Scripts/check-web.py. That takes a minute and 400 MB, so
#            only .ci/run asks for it. It never fails, as those checks can be skipped; TALLY_NO_BROWSER=1 skips the installation.
# Quiet, and without a network, if nothing is missing.
set -euo pipefail

fail() {
  printf 'set-up: %s\n' "$@" >&2
  exit 1
}

# sudo only where a password can be typed or none is needed: a build without a terminal must not hang.
can_install=no
elevate=''
find_installer() {
  command -v apt-get >/dev/null || return 0
  if [ "$(id -u)" -eq 0 ]; then
    can_install=yes
  elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    can_install=yes
    elevate=sudo
  fi
}

apt_get() {
  ${elevate:+"$elevate"} env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" </dev/null >&2
}

install() {
  printf 'set-up: installing %s\n' "$*" >&2
  # An old package list names files that are gone, so refresh it; if that fails, the old one may still do.
  apt_get update || printf 'set-up: the package list could not be refreshed; trying with the old one\n' >&2
  apt_get install --no-install-recommends "$@"
}

# The packages that are missing, by the names of each system.
debian=() fedora=() arch=() macos=()
need() {
  debian+=("$1") fedora+=("$2") arch+=("$3") macos+=("$4")
}

case ${1-} in
  '' | bench | counts | cli | formats | shells | hub | database | faults) ;;
  browser)
    if ! command -v chromium >/dev/null && [ -z "${TALLY_NO_BROWSER-}" ]; then
      find_installer
      if [ "$can_install" = yes ]; then
        install chromium || echo 'set-up: Chromium could not be installed; the page will not be checked' >&2
      fi
    fi
    exit 0
    ;;
  *) fail "unknown argument $1: give bench, counts, cli, formats, shells, hub, database, faults, browser or none" ;;
esac

command -v swift >/dev/null || fail 'Swift is missing: install 6.2 or newer from https://www.swift.org/install'
command -v pkg-config >/dev/null || need pkg-config pkgconf-pkg-config pkgconf pkgconf
pkg-config --exists lmdb 2>/dev/null || need liblmdb-dev lmdb-devel lmdb lmdb
[ -e "${TZDIR:-/usr/share/zoneinfo}/Europe/Amsterdam" ] || need tzdata tzdata tzdata ''
case ${1-} in bench | counts | cli)
  pkg-config --exists sqlite3 2>/dev/null || need libsqlite3-dev sqlite-devel sqlite sqlite
  ;;
esac
if [ "${1-}" = counts ]; then
  command -v valgrind >/dev/null || need valgrind valgrind valgrind ''
  command -v strace >/dev/null || need strace strace strace ''
fi
if [ "${1-}" = cli ]; then
  command -v hyperfine >/dev/null || need hyperfine hyperfine hyperfine hyperfine
fi
case ${1-} in cli | formats)
  command -v task >/dev/null || need taskwarrior task task task
  ;;
esac
case ${1-} in hub | database | faults)
  pkg-config --exists libpq 2>/dev/null || need libpq-dev libpq-devel postgresql-libs libpq
  ;;
esac
if [ "${1-}" = faults ]; then
  command -v strace >/dev/null || need strace strace strace ''
  command -v faketime >/dev/null || need faketime libfaketime libfaketime libfaketime
  command -v ip >/dev/null || need iproute2 iproute iproute2 ''
fi
case ${1-} in database | faults)
  [ -n "$(compgen -G '/usr/lib/postgresql/*/bin/initdb')" ] || command -v initdb >/dev/null ||
    need postgresql postgresql-server postgresql postgresql@17
  ;;
esac
if [ "${1-}" = shells ]; then
  command -v zsh >/dev/null || need zsh zsh zsh zsh
  command -v fish >/dev/null || need fish fish fish fish
  command -v man >/dev/null || need man-db man-db man-db man-db
  command -v mandoc >/dev/null || need mandoc mandoc mandoc mandoc
fi
[ "${#debian[@]}" -gt 0 ] || exit 0

find_installer
if [ "$can_install" = no ]; then
  fail "missing: ${debian[*]}" 'install them, then run this again:' \
    "  Debian, Ubuntu:  sudo apt-get install ${debian[*]}" \
    "  Fedora:          sudo dnf install ${fedora[*]}" \
    "  Arch:            sudo pacman -S ${arch[*]}" \
    "  macOS:           brew install ${macos[*]}"
fi
install "${debian[@]}" || fail "apt-get could not install: ${debian[*]}"
pkg-config --exists lmdb || fail 'lmdb is installed but pkg-config does not find it: check PKG_CONFIG_PATH'

#!/usr/bin/env bash
# Installs tally into an empty directory and uses it from there, as a person without the checkout would.
#
# The program is a debug build, which takes less time; the checks are the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
checkout=$PWD

directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
fail() {
  printf 'check-install: %s\n' "$@" >&2
  exit 1
}

TALLY_CONFIGURATION=debug make --no-print-directory install DESTDIR="$directory/root" PREFIX=/usr
# The folder is moved, so that a path from the time of the installation no longer works.
mv "$directory/root/usr" "$directory/usr"
program=$directory/usr/bin/tally
export HOME=$directory/home PATH=$directory/usr/bin:/usr/bin:/bin LC_ALL=C.UTF-8
unset TALLY_STORE XDG_DATA_HOME XDG_CONFIG_HOME LD_LIBRARY_PATH
mkdir "$HOME"
cd "$HOME"

if [ "$(uname)" = Linux ]; then
  # Swift's libraries are inside, and nothing leads back to the checkout or the tool chain.
  if ldd "$program" | grep -iE 'swift|foundation|icu|dispatch|not found'; then
    fail 'the program needs libraries that are not the system'"'"'s'
  fi
fi
tally add 'Buy milk' 2>/dev/null
[ "$(tally count is:open)" = 1 ] || fail 'the installed program does not work'
tally --time-zone Asia/Tokyo --now 2026-11-21T20:00:00Z quick --dry-run --json Pack tomorrow 2>/dev/null |
  grep -q '"scheduledDate":"2026-11-23"' || fail 'time zones do not work'

for file in share/bash-completion/completions/tally share/zsh/site-functions/_tally \
  share/fish/vendor_completions.d/tally.fish share/man/man1/tally.1; do
  [ -s "$directory/usr/$file" ] || fail "$file is missing"
done
handle=$(tally inbox --plain | cut -f 1)
# bash loads the file when it completes the program for the first time; here as that loading does it.
offered=$(bash --norc -c '
  source "$1/usr/share/bash-completion/completions/tally"
  COMP_WORDS=(tally "done" "") COMP_CWORD=2 COMP_TYPE=9 COMP_LINE="tally done " COMP_POINT=11
  _tally tally "" "done"
  printf "%s\n" "${COMPREPLY[@]}"' bash "$directory")
[ "$offered" = "$handle" ] || fail "bash is offered '$offered' instead of '$handle'"

page=$(MANPATH=$directory/usr/share/man MANWIDTH=80 man tally 2>"$directory/warnings" | col -b)
[ ! -s "$directory/warnings" ] || fail "man warns: $(cat "$directory/warnings")"
for text in NAME SYNOPSIS COMMANDS ENVIRONMENT FILES 'EXIT STATUS' EXAMPLES --store 'tally lists add' 76; do
  case $page in
  *"$text"*) ;;
  *) fail "the manual page lacks $text" ;;
  esac
done
# Every command of the help is in the manual.
tally --help --all | sed -n 's/^  \([a-z]*\)  .*/\1/p' | while read -r command; do
  grep -q "tally $command" <<<"$page" || fail "the manual page lacks tally $command"
done
groff -man -ww -z "$directory/usr/share/man/man1/tally.1" 2>"$directory/warnings" || true
[ ! -s "$directory/warnings" ] || fail "groff warns: $(head -5 "$directory/warnings")"

# The installed program has a copy of ICU of its own, which the linker thins out. In each zone and locale, whose calendar may
# be any, it must answer as the build with the shared libraries does.
answers() {
  local zone locale calendar
  for locale in en_US tr_TR ar_EG th_TH; do
    for zone in UTC Europe/Istanbul Asia/Tokyo America/New_York America/St_Johns Asia/Kathmandu Pacific/Chatham \
      Pacific/Apia Africa/Casablanca Europe/Lisbon; do
      answer "$1" "$zone" "$locale.UTF-8"
    done
    for calendar in gregorian buddhist hebrew islamic-civil japanese; do
      answer "$1" Asia/Tokyo "$locale.UTF-8@calendar=$calendar"
    done
  done
}
answer() {
  local words
  echo "$2 $3"
  for words in 'quick --dry-run --json Pack tomorrow at 9:00' 'stats --by week' 'config' 'all --json'; do
    # shellcheck disable=SC2086
    env "TZ=$2" "LC_ALL=$3" "$1" --now 2026-11-21T20:00:00Z $words 2>&1
  done
}
tally --time-zone Asia/Tokyo add 'Send the report' --due 'friday 17:00' 2>/dev/null
tally log 'Call Ayşe' 2>/dev/null
answers "$program" >"$directory/installed"
answers "$checkout/.build/debug/tally" >"$directory/built"
cmp "$directory/installed" "$directory/built" || fail 'zones, locales or calendars give other answers than in the build'
for difference in scheduledDate 'week-start .*'; do
  # The answers must differ between zones and locales, or nothing would be compared.
  [ "$(grep -o "$difference[^,]*" "$directory/built" | sort -u | wc -l)" -gt 1 ] || fail "$difference never differs"
done

(cd "$OLDPWD" && Scripts/install.sh uninstall "$directory/usr")
[ -z "$(find "$directory/usr" -type f)" ] || fail "uninstalling leaves $(find "$directory/usr" -type f)"
echo 'The installed program, its completions and its manual page work'

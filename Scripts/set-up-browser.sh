#!/usr/bin/env bash
# Installs Chromium for Scripts/check-page.sh where that needs no password. About a minute and 400 MB, so that only the
# check of every change does it, and TALLY_NO_BROWSER=1 spares it there; it never fails, as the check can be skipped.
set -uo pipefail

command -v chromium >/dev/null && exit 0
[ -z "${TALLY_NO_BROWSER-}" ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || exit 0
export DEBIAN_FRONTEND=noninteractive
{ apt-get -q update && timeout 300 apt-get -q -y install --no-install-recommends chromium; } </dev/null >&2 ||
  echo 'set-up-browser: Chromium could not be installed; the page will not be looked at' >&2
exit 0

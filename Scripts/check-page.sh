#!/usr/bin/env bash
# Opens the page of `tally stats --html` in a headless Chromium and looks at it as a reader would; installs nothing.
# Pictures go to .build/pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

browser=${CHROMIUM-}
for name in chromium chromium-browser google-chrome; do
  [ -n "$browser" ] || browser=$(command -v "$name" || true)
done
if [ -z "$browser" ]; then
  echo 'check-page: skipped, as there is no Chromium; on Debian: apt-get install chromium, elsewhere set CHROMIUM' >&2
  exit 0
fi

python3 Scripts/check-page.py "$(swift build --show-bin-path)/tally" "$browser" .build/pages

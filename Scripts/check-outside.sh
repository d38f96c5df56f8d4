#!/usr/bin/env bash
# Builds and runs the code of the documentation in packages outside this one: the article "Getting started" word for
# word, the README's examples, the code of every article, and the example applications.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

outside=$PWD/.build/outside
mkdir -p "$outside"
# The article has a checkout named `tally` beside the package.
ln -sfn "$PWD" "$outside/tally"
Scripts/extract-articles.py "$outside"

# One scratch path for all packages: Tally is built once. Without a product everything in the package is built.
build() {
  swift build --quiet --package-path "$1" --scratch-path "$outside/build" --disable-build-manifest-caching \
    ${2:+--product "$2"}
}

build "$outside/app" App
rm -rf "$outside/tasks"
"$outside/build/debug/App" "$outside/tasks" | diff "$outside/expected-output.txt" - || {
  echo 'check-outside: the program of "Getting started" does not print the output in the article' >&2
  exit 1
}

# Dependencies of synchronisation and the command line alone are not even resolved.
! grep -E 'swift-crypto|swift-argument-parser' "$outside/app/Package.resolved" || {
  echo 'check-outside: an application that uses Tally alone resolves packages that it does not need' >&2
  exit 1
}

build "$outside/readme"
for product in AsMain InFunction InType Tasks; do
  expected='1 90'
  [[ $product != Tasks ]] || expected=$'Water the plants: notStarted\nRepair the fence: completed'
  rm -rf "$outside/readme-run"
  mkdir "$outside/readme-run"
  (cd "$outside/readme-run" && "$outside/build/debug/$product") | diff <(echo "$expected") - || {
    echo "check-outside: the README's example ($product) does not print what it should" >&2
    exit 1
  }
done

build "$outside/articles" Articles
"$outside/build/debug/Articles" >"$outside/articles.log" || {
  cat "$outside/articles.log" >&2
  echo 'check-outside: the code of an article failed' >&2
  exit 1
}
Scripts/extract-articles.py "$outside" --verify
echo 'check-outside: the README, the articles and the comments compile, and the articles print the promised output'

build "$PWD/Examples/Records"
for example in Workouts Money PageViews Contacts; do
  rm -rf "$outside/records"
  "$outside/build/debug/$example" "$outside/records" | diff "Examples/Records/Expected/$example.txt" - || {
    echo "check-outside: the example $example does not print Examples/Records/Expected/$example.txt" >&2
    exit 1
  }
done
echo 'check-outside: the examples of records print the expected text'

build "$PWD/Examples/OwnIndex" OwnIndex
rm -rf "$outside/own-index"
"$outside/build/debug/OwnIndex" "$outside/own-index" |
  diff <(printf '%s\n' 'built: version 1' 'built: version 2' 'repaired: version 2' 'changed: version 2') - || {
  echo "check-outside: an application's own index does not survive a change of version, a crash or a repair" >&2
  exit 1
}

build "$PWD/Examples/Today" Today
Scripts/check-example.py "$outside/build/debug/Today" .build/debug/tally

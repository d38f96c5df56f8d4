#!/usr/bin/env bash
# Installs tally or tally-web, or removes both: Scripts/install.sh install|install-web|uninstall PREFIX [DESTDIR]
#
# One program, its completions for bash, zsh and fish, and its manual page, all below DESTDIR/PREFIX; tally-web, the
# screens in a browser, goes beside it, where `tally web` finds it. Nothing of the checkout is needed afterwards: on Linux
# the programs contain Swift's libraries; liblmdb is the system's.
# TALLY_CONFIGURATION=debug installs a debug build, which the check of this script uses, as it builds sooner.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

action=${1-} prefix=${2-} destination=${3-}
configuration=${TALLY_CONFIGURATION:-release}
case $action:$prefix in
install:/* | install-web:/* | uninstall:/*) ;;
*)
  echo 'install: give install, install-web or uninstall, then PREFIX as an absolute path' >&2
  exit 64
  ;;
esac

root=$destination$prefix
completion() {
  case $1 in
  bash) echo "$root/share/bash-completion/completions/tally" ;;
  zsh) echo "$root/share/zsh/site-functions/_tally" ;;
  fish) echo "$root/share/fish/vendor_completions.d/tally.fish" ;;
  esac
}
shells='bash zsh fish'
manual=$root/share/man/man1/tally.1

if [ "$action" = uninstall ]; then
  rm -f "$root/bin/tally" "$root/bin/tally-web" "$manual"
  for shell in $shells; do rm -f "$(completion "$shell")"; done
  exit 0
fi

# The dynamic linker takes most of the time in which a program of this size starts. At a fixed address nothing has to be
# relocated, which saves a third of the pages that it touches. The C++ library, which only Swift's runtime uses, is
# linked in, so there is one library less to find, map and bind.
static_linking() {
  local scratch=$1 compiler library flag
  local linking=(-use-ld=lld -Xclang-linker -no-pie -Xclang-linker -static-libgcc)
  for compiler in cc gcc clang; do
    library=$("$compiler" -print-file-name=libstdc++.a 2>/dev/null) || continue
    [ -f "$library" ] || continue
    # A directory of its own: beside it lies the shared library, which the linker would prefer.
    mkdir -p "$scratch/libraries"
    ln -sf "$library" "$scratch/libraries/libstdc++.a"
    linking+=("-L$PWD/$scratch/libraries")
    break
  done
  for flag in "${linking[@]}"; do flags+=(-Xswiftc "$flag"); done
}

staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT

# Builds a product and puts it into the staging directory: product, scratch directory, further flags.
build() {
  local product=$1 scratch=$2
  local flags=("${@:3}" -c "$configuration" --product "$product")
  # Apple's systems have Swift's libraries. Elsewhere the build has a directory of its own: the compiler does not compile
  # again what it has compiled for shared libraries, and the linker then lacks half of Foundation.
  if [ "$(uname)" = Linux ]; then
    flags+=(--static-swift-stdlib --scratch-path "$scratch")
    static_linking "$scratch"
  fi
  swift build "${flags[@]}" >&2
  cp "$(swift build "${flags[@]}" --show-bin-path)/$product" "$staging/$product"
  strip "$staging/$product"
}

mkdir -p "$root/bin"
if [ "$action" = install-web ]; then
  TALLY_SERVERS=1 build tally-web .build/static
  install -m 755 "$staging/tally-web" "$root/bin/tally-web"
  echo "Installed $root/bin/tally-web, which 'tally web' beside it starts" >&2
  exit 0
fi

build tally .build/static
Scripts/make-manual.py "$staging/tally" >"$staging/tally.1"
for shell in $shells; do
  "$staging/tally" --generate-completion-script "$shell" >"$staging/$shell"
done

mkdir -p "${manual%/*}"
install -m 755 "$staging/tally" "$root/bin/tally"
install -m 644 "$staging/tally.1" "$manual"
for shell in $shells; do
  file=$(completion "$shell")
  mkdir -p "${file%/*}"
  install -m 644 "$staging/$shell" "$file"
done
echo "Installed $root/bin/tally, its completions and its manual page" >&2

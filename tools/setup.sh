#!/usr/bin/env bash
# Installs the Debian packages that perfcc needs and this machine lacks, and says which.
# Usage: tools/setup.sh [run] [lint] [bench] [real] [test]
set -euo pipefail

LLVM=19
PYTHON="${PYTHON:-python3}"

have() { command -v "$1" >/dev/null 2>&1; }

# A file of clang's own library folders: clang prints the whole path of one it finds, else the bare name.
clang_finds() { have "clang++-$LLVM" && [ -e "$("clang++-$LLVM" -print-file-name="$1")" ]; }

clang_has_tsan() {
  have "clang++-$LLVM" || return 1
  local builtins
  builtins="$("clang++-$LLVM" --rtlib=compiler-rt -print-libgcc-file-name)"
  compgen -G "$(dirname "$builtins")/libclang_rt.tsan*" >/dev/null
}

have_symbolizer() { have "llvm-symbolizer-$LLVM" || have llvm-symbolizer; }

python_is_new() { "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; }
python_has_venv() { "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; }
python_has_headers() {
  "$PYTHON" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))'
}

missing=()
want() { # package, then the test that tells it is there
  local package="$1"
  shift
  "$@" || missing+=("$package")
}

wanted() {
  missing=()
  for group in "$@"; do
    case "$group" in
      run)
        want python3 have "$PYTHON"
        want python3-venv python_has_venv
        want python3-dev python_has_headers
        want g++ have g++
        want make have make
        want cmake have cmake
        want ninja-build have ninja
        want binutils have objcopy
        want "clang-$LLVM" have "clang++-$LLVM"
        want "libclang-rt-$LLVM-dev" clang_has_tsan
        want "libomp-$LLVM-dev" clang_finds libarcher.so
        want "llvm-$LLVM" have_symbolizer
        ;;
      lint) want "clang-format-$LLVM" have "clang-format-$LLVM" ;;
      bench) want ccache have ccache ;;
      real) # what the projects of tests/real are fetched, built and tested with
        want dpkg-dev have dpkg-source
        want automake have automake
        want libtool have libtoolize
        want meson have meson
        want file have file
        want unicode-data test -e /usr/share/unicode/CaseFolding.txt
        want python3-six python3 -c 'import six'
        want libgtest-dev test -e /usr/include/gtest/gtest.h
        want libgmock-dev test -e /usr/include/gmock/gmock.h
        want googletest test -e /usr/src/googletest/CMakeLists.txt
        ;;
      test) # what the other suites build with
        want libtbb-dev test -e /usr/include/tbb/parallel_for.h
        want autoconf have autoconf
        want automake have automake
        want libtool have libtoolize
        want meson have meson
        ;;
      *) echo "setup: unknown group '$group' (run, lint, bench, real, test)" >&2 && exit 2 ;;
    esac
  done
}

groups=("${@:-run}")
wanted "${groups[@]}"

if [ "${#missing[@]}" -gt 0 ]; then
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  if have apt-get && { [ "${#as_root[@]}" -eq 0 ] || have sudo; }; then
    echo "setup: installing with apt-get: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    "${as_root[@]}" apt-get update -qq || echo "setup: apt-get update failed; trying with the lists at hand" >&2
    for package in "${missing[@]}"; do
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" </dev/null \
        || echo "setup: apt-get could not install $package" >&2
    done
  else
    echo "setup: no apt-get to be used here; please install: ${missing[*]}" >&2
  fi
  wanted "${groups[@]}"
fi

for package in "${missing[@]}"; do
  echo "setup: still missing: $package (perfcc --doctor says what that disables)" >&2
done
have "$PYTHON" && python_is_new || { echo "setup: perfcc needs Python 3.10 or newer; set PYTHON to one" >&2 && exit 1; }
for package in "${missing[@]}"; do
  case "$package" in
    python3-venv | python3-dev | g++ | "clang-format-$LLVM")
      echo "setup: can't go on without $package" >&2
      exit 1
      ;;
  esac
done

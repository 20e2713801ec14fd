# Sourced by the scripts: where the repository is, packages, parts with their times, CTest.
# Before the packages are there it needs bash, coreutils, dpkg and apt only.
# shellcheck shell=bash

export LC_ALL=C.UTF-8
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$ROOT"

readonly BUILD_PACKAGES=(
  g++ cmake ninja-build ccache pkg-config python3 git
  libsqlite3-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libgtest-dev libgmock-dev)
readonly CLANG_PACKAGES=(clang)
readonly LINT_PACKAGES=(clang clang-tidy clang-format)
readonly PRESETS=(dev release asan tsan clang)
# Tests with these labels run for long: only `scripts/test --full` and `scripts/repeat` run them.
readonly LONG_LABELS='^(soak|fuzz)$'

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

usage() {
  printf 'usage: %s\n' "$*" >&2
  exit 2
}

is_installed() {
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Installs those of the named Debian packages that are missing.
install_packages() {
  local missing=() package as_root=()
  command -v dpkg-query >/dev/null || die "this system has no dpkg; install by hand: $*"
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      die "packages are missing: ${missing[*]}
Install them as root:
  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    fi
  fi
  echo "Installing: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
}

# --- Parts: named steps of a script, each with its time -------------------------------------------

current_part=
part_start=0
part_report=()

# part NAME COMMAND...: runs the command and prints how long it took.
part() {
  current_part=$1
  part_start=$SECONDS
  shift
  printf '\n== %s\n' "$current_part"
  "$@"
  local line
  line="$current_part: $((SECONDS - part_start)) s"
  part_report+=("$line")
  printf '== %s\n' "$line"
  current_part=
}

report_failed_part() {
  local status=$?
  if ((status != 0)) && [[ -n $current_part ]]; then
    printf '== %s: FAILED after %d s\n' "$current_part" $((SECONDS - part_start)) >&2
  fi
  exit "$status"
}
trap report_failed_part EXIT

# --- Build and test -------------------------------------------------------------------------------

check_preset() {
  local preset
  for preset in "${PRESETS[@]}"; do
    [[ $preset == "$1" ]] && return 0
  done
  die "no preset '$1'; there are: ${PRESETS[*]}"
}

install_for_preset() {
  local packages=("${BUILD_PACKAGES[@]}")
  [[ $1 == clang ]] && packages+=("${CLANG_PACKAGES[@]}")
  install_packages "${packages[@]}"
}

# build_preset PRESET [TARGET...]: configures and builds into build/PRESET.
build_preset() {
  local preset=$1 log=build/configure_$1.log targets=()
  shift
  (($# == 0)) || targets=(--target "$@")
  mkdir -p build
  cmake --preset "$preset" >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
  cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}"
}

# run_ctest PRESET ARGUMENT...: runs tests of a preset in parallel. Sets tests_selected, tests_ran
# (selected without the skipped and disabled ones) and tests_summary.
run_ctest() {
  local preset=$1 log=build/$1/ctest.log skipped
  shift
  tests_selected=0 tests_ran=0 tests_summary=
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$(nproc)" \
    "$@" 2>&1 | tee "$log" || return 1
  tests_summary=$(grep -E '^100% tests passed' "$log") || return 1
  tests_selected=${tests_summary##* }
  skipped=$(grep -cE '^[[:space:]]+[0-9]+ - .* \((Skipped|Disabled|Not Run.*)\)$' "$log" || true)
  # CTest leaves disabled tests out of "out of N" but lists them with the skipped ones.
  local disabled
  disabled=$(grep -cE '^[[:space:]]+[0-9]+ - .* \(Disabled\)$' "$log" || true)
  tests_ran=$((tests_selected - skipped + disabled))
}

# count_tests PRESET ARGUMENT...: how many tests a run with these arguments would select.
count_tests() {
  local preset=$1
  shift
  ctest --test-dir "build/$preset" -N "$@" | sed -n 's/^Total Tests: //p'
}

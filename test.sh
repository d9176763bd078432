#!/usr/bin/env bash
# Builds and runs every test: lint, unit, crash, end to end, fuzzing. The last line is `N passed, N failed`.
#   ./test.sh             all of it
#   ./test.sh unit        what needs no cluster (lint, unit, simulation, crash)
#   ./test.sh e2e [ARG…]  the end-to-end stories; arguments go to pytest
#   ./test.sh fuzz [ARG…] the fuzz targets; arguments are their names
# KRATER_FUZZ_SECONDS: how long each fuzz target runs (60).
set -uo pipefail
cd "$(dirname "$0")"
. scripts/setup.sh

what=${1:-all}
shift || true
BUILD_DIR=${KRATER_BUILD_DIR:-build}
passed=0
failed=0

need_packages "${BUILD_PACKAGES[@]}" "${RUN_PACKAGES[@]}"
if [ "$what" != fuzz ]; then
  say "building with tests ($BUILD_DIR)"
  build_krater "$BUILD_DIR" -Dtests=true
fi

if [ "$what" = all ] || [ "$what" = unit ]; then
  say "lint, unit and crash tests"
  log=$BUILD_DIR/meson-logs/test.out
  meson test -C "$BUILD_DIR" --no-rebuild --print-errorlogs --num-processes 2 --timeout-multiplier 4 | tee "$log"
  ok=$(awk '/^Ok:/ {print $2}' "$log")
  bad=$(awk '/^(Fail|Unexpected Pass|Timeout):/ {n += $NF} END {print n + 0}' "$log")
  [ -n "$ok" ] || { echo "no test ran"; bad=$((bad + 1)); }
  passed=$((passed + ${ok:-0}))
  failed=$((failed + bad))
fi

if [ "$what" = all ] || [ "$what" = e2e ]; then
  need_kubectl
  ray_venv "${KRATER_RAY_VENV:-$PWD/.venv-ray}"
  export KRATER_RAY_VENV=${KRATER_RAY_VENV:-$PWD/.venv-ray}
  if [ ! -x .venv-e2e/bin/pytest ] || ! cmp -s e2e/requirements.txt .venv-e2e/installed.txt; then
    say "installing e2e/requirements.txt"
    python3 -m venv .venv-e2e && .venv-e2e/bin/pip install --quiet --disable-pip-version-check -r e2e/requirements.txt &&
      cp e2e/requirements.txt .venv-e2e/installed.txt || die "could not install e2e/requirements.txt from PyPI"
  fi
  say "end-to-end stories"
  report=$(mktemp)
  KRATER_BINARY=$PWD/$BUILD_DIR/krater .venv-e2e/bin/pytest e2e --junitxml="$report" "$@"
  counts=$(python3 - "$report" <<'EOF'
import sys, xml.etree.ElementTree as tree
suites = tree.parse(sys.argv[1]).getroot().iter("testsuite")
total = bad = skipped = 0
for suite in suites:
    total += int(suite.get("tests"))
    bad += int(suite.get("failures")) + int(suite.get("errors"))
    skipped += int(suite.get("skipped"))
print(total - bad - skipped, bad, skipped)
EOF
  ) || counts="0 1 0"
  rm -f "$report"
  read -r ok bad skipped <<<"$counts"
  [ $((ok + bad + skipped)) -gt 0 ] || { echo "no end-to-end test ran"; bad=1; }
  [ "$skipped" -eq 0 ] || echo "$skipped end-to-end tests were skipped"
  passed=$((passed + ok))
  failed=$((failed + bad))
fi

if [ "$what" = all ] || [ "$what" = fuzz ]; then
  [ "$what" = fuzz ] || set --
  report=$(mktemp)
  scripts/fuzz.sh "${KRATER_FUZZ_SECONDS:-60}" "$@" | tee "$report"
  read -r ok bad <<<"$(sed -n '$s/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$report")"
  rm -f "$report"
  passed=$((passed + ${ok:-0}))
  failed=$((failed + ${bad:-1}))
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]

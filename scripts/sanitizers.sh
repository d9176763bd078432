#!/usr/bin/env bash
# The unit, simulation and crash tests under address+undefined and under thread sanitizers. Long: run nightly.
#   scripts/sanitizers.sh [address,undefined|thread]
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh
need_packages "${BUILD_PACKAGES[@]}"
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:suppressions=$PWD/scripts/tsan.supp
bad=0
for kind in ${1:-address,undefined thread}; do
  dir=build-${kind%%,*}
  say "$kind ($dir)"
  # Lines only (-g1): to track variables through instrumented code costs the compiler minutes a file.
  [ -f "$dir/build.ninja" ] || meson setup "$dir" --buildtype=debugoptimized -Doptimization=1 -Ddebug=false \
    -Dcpp_args=-g1 -Db_sanitize="$kind" >/dev/null || die "meson setup failed"
  ninja -C "$dir" >/dev/null || die "the build failed"
  meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier 10 --num-processes 2 || bad=1
done
exit $bad

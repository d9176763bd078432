#!/usr/bin/env bash
# The fuzz targets under address and undefined sanitizers, each for some seconds, two at a time.
#   scripts/fuzz.sh [seconds] [target…]   60 seconds, all targets unless told
# Builds build-fuzz with clang: the targets and the libraries they need, nothing else. Inputs that find something are kept
# in build-fuzz/findings/; run the target with one to see it again. The last line is `N passed, N failed`.
# KRATER_FUZZ_DIR: another build directory. KRATER_FUZZ_SEED: where chance begins (1), so that two runs over the same code
# mostly try the same; give another for a search of its own.
set -uo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

seconds=${1:-60}
shift || true
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "usage: scripts/fuzz.sh [seconds] [target…]"
dir=${KRATER_FUZZ_DIR:-build-fuzz}
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for file in src/testing/fuzz/corpus/*/; do targets+=("$(basename "$file")"); done
fi

need_packages "${BUILD_PACKAGES[@]}" "${FUZZ_PACKAGES[@]}"
say "building ${#targets[@]} fuzz targets ($dir)"
if [ ! -f "$dir/build.ninja" ]; then
  # Lines only (-g1): to track variables through instrumented code costs the compiler minutes a file.
  CC=clang CXX=clang++ meson setup "$dir" --buildtype=debugoptimized -Doptimization=1 -Ddebug=false -Dcpp_args=-g1 \
    -Db_sanitize=address,undefined -Db_lundef=false -Dfuzzers=true -Dtests=true >"$dir.log" 2>&1 ||
    { tail -n 20 "$dir.log"; die "meson setup failed"; }
  rm -f "$dir.log"
fi
ninja -C "$dir" "${targets[@]/#/src/testing/fuzz/fuzz_}" >"$dir/build.log" 2>&1 || { tail -n 40 "$dir/build.log"; die "the build failed"; }

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

# fuzz TARGET: new inputs go to the build directory, the corpus of the repository is only read.
fuzz() {
  local target=$1 log=$dir/fuzz-$1.log code=0
  mkdir -p "$dir/corpus/$target" "$dir/findings"
  "$dir/src/testing/fuzz/fuzz_$target" "$dir/corpus/$target" "src/testing/fuzz/corpus/$target" \
    -max_total_time="$seconds" -seed="${KRATER_FUZZ_SEED:-1}" -timeout=20 -rss_limit_mb=3072 -max_len=8192 -print_final_stats=1 -verbosity=1 \
    -artifact_prefix="$dir/findings/$target-" >"$log" 2>&1 || code=$?
  local runs
  runs=$(awk '/^stat::number_of_executed_units:/ {print $2}' "$log")
  if [ "$code" -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
    echo "passed" >"$log.result"
    printf '%-16s %10d executions\n' "$target" "$runs"
  else
    echo "failed" >"$log.result"
    printf '%-16s FAILED after %d executions (exit code %d):\n' "$target" "${runs:-0}" "$code"
    grep -v '^#' "$log" | tail -n 60
  fi
}

say "fuzzing, $seconds seconds each"
rm -f "$dir"/fuzz-*.log.result
for target in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
  fuzz "$target" &
done
wait
passed=$(cat "$dir"/fuzz-*.log.result | grep -c passed)
failed=$((${#targets[@]} - passed))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# Installs what is missing, builds Spool and runs all its tests: bash Tests/run.sh
# What follows selects tests as for `swift test`: bash Tests/run.sh --filter DSPTests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

.ci/check-swift
.ci/install-packages tests

echo "Building Spool and its tests"
# SwiftPM lets a target import what it does not depend on, unless it is told not to.
swift build --build-tests --explicit-target-dependency-import-check error

tests="$(swift build --show-bin-path)/spoolPackageTests.xctest"
log=$(mktemp)
other=$(mktemp)
trap 'rm -f "$log" "$other"; kill "${units:-}" 2>/dev/null || true' EXIT
status=0
# $1 is the log; the rest selects tests.
test_into() {
  local log=$1
  shift
  "$tests" --testing-library swift-testing "$@" 2>&1 | sed -u 's/\x1b\[[0-9;]*m//g' | tee "$log"
}
if (($# > 0)); then
  echo "Testing"
  test_into "$log" "$@" || status=$?
else
  # End-to-end tests mostly wait for the programs that they start: the others use that time.
  echo "Testing: modules in the background, their output follows; end to end here"
  test_into "$other" --skip '^EndToEndTests\.' >/dev/null &
  units=$!
  test_into "$log" --filter '^EndToEndTests\.' || status=$?
  wait "$units" || status=$?
  unset units
  cat "$other"
  cat "$other" >>"$log"
fi
skipped=$(grep -ac '^➜ .* skipped' "$log" || true)
if ((skipped > 0)); then
  echo "Skipped: $skipped, for these reasons:"
  grep -a '^➜ .* skipped' "$log" | sed 's/.* skipped: *//' | sort | uniq -c | sort -rn
fi
if ((status != 0)); then
  # Thousands of lines may have followed what went wrong: say it again where it is looked for.
  echo "What failed:"
  grep -aE '✘|error:' -A 2 "$log" | grep -avE ' (passed|started)' | head -n 100 || true
fi
exit "$status"

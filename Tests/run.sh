#!/usr/bin/env bash
# Installs what is missing, builds Spool and runs all its tests: bash Tests/run.sh
# What follows is handed to `swift test`: bash Tests/run.sh --filter DSPTests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

.ci/check-swift
.ci/install-packages tests

echo "Building Spool and its tests"
# SwiftPM lets a target import what it does not depend on, unless it is told not to.
swift build --build-tests --explicit-target-dependency-import-check error

echo "Testing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
# There is no XCTest here, and its empty summary would only confuse.
swift test --skip-build --disable-xctest "$@" 2>&1 | tee "$log" || status=$?
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

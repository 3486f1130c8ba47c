#!/usr/bin/env bash
# Installs what is missing, builds Spool and its native plugins, and runs a pipeline on a sample: bash samples/try.sh
# What follows is handed to `spool run`: bash samples/try.sh --json
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly pipeline=Pipelines/voice-note.yaml sample=samples/note-1.m4a
readonly scratch=.build/try

.ci/check-swift
.ci/install-packages

echo "Building Spool"
swift build -c release --product spool
for script in Plugins/*/build.sh; do sh "$script"; done

# Without what an earlier try has left, which Spool would use again and be done at once.
rm -rf "$scratch"
mkdir -p "$scratch/out"
run=(.build/release/spool run "$pipeline" "$sample" --store "$scratch/store" --out "$scratch/out")

echo "Running: ${run[*]} $*"
status=0
"${run[@]}" "$@" || status=$?
if ((status == 0)); then
  echo
  echo "The exports are in $PWD/$scratch/out. The same command again uses the checkpoints:"
  echo "  ${run[*]}"
fi
exit "$status"

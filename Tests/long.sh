#!/usr/bin/env bash
# Runs one of the long test series: bash Tests/long.sh NAME. Without a name it lists them. The
# ordinary tests run a short form of each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

list() {
  cat <<'TEXT'
kills     200 kills of a run at random moments; every output is compared byte for byte
writes    one run killed before each operation that changes its store
faults    every fault of a disk, of the store's bits, of the database's upgrade and of a process, at every point
corpora   malformed recordings and transcripts, 20,000 mutations a format
effects   every LV2 and LADSPA plugin that is installed
soak      a watch, batches and every-day commands on one store at once, for 60 minutes or as many as follow
TEXT
}

build() {
  .ci/check-swift
  .ci/install-packages tests
  swift build -c release --product spool
}

crashtest() {
  build
  .build/release/spool pipeline crashtest Pipelines/voice-note.yaml samples/note-1.m4a "$@"
}

# Tests that take longer where SPOOL_LONG_TESTS is set.
tests() { SPOOL_LONG_TESTS=1 bash Tests/run.sh --filter "$1"; }

case ${1:-} in
  kills) crashtest --kills 200 ;;
  writes) crashtest --at-every-write ;;
  faults)
    tests 'FaultTests|HeaderDamageTests|KillTests|InterruptionTests|PowerCut|FlippedBitTests|PageChecksumTests|ChecksumUpgradeTests'
    ;;
  corpora) tests 'MalformedCorpusTests|HostileFileTests|HostileTextTests' ;;
  soak)
    build
    python3 Tests/soak.py .build/release/spool "${2:-60}"
    ;;
  effects) SPOOL_EVERY_EFFECT=1 bash Tests/run.sh --filter InstalledEffectTests ;;
  '') list ;;
  *)
    echo "long.sh: there is no series '$1'; these are:" >&2
    list >&2
    exit 2
    ;;
esac

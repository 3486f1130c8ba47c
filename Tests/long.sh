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
network   1,000 uploads a protocol through a network that cuts, delays, spoils and refuses
effects   every LV2 and LADSPA plugin that is installed
fuzz      each of our parsers under libFuzzer for 30 minutes or as many as follow, or the one that follows
          them: fuzz 5 srt; lists them: fuzz 0
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

# fuzz MINUTES [PARSER]: what is learned and found stays in .build/fuzzing.
fuzz() {
  .ci/check-swift
  .ci/install-packages
  export SPOOL_FUZZING=1
  local flags=(-c release --sanitize fuzzer --scratch-path .build/fuzzing -Xswiftc -enable-testing)
  swift build "${flags[@]}" --product fuzzing
  local place="$PWD/.build/fuzzing" program parser status=0
  program="$(swift build "${flags[@]}" --show-bin-path)/fuzzing"
  mkdir -p "$place"/{seeds,corpus,findings}
  tar -xJf Tests/Fixtures/fuzzing-seeds.tar.xz -C "$place/seeds"
  local parsers=("${@:2}")
  ((${#parsers[@]})) || mapfile -t parsers < <("$program")
  (($1)) || { printf '%s\n' "${parsers[@]}"; return; }
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  for parser in "${parsers[@]}"; do
    mkdir -p "$place"/{seeds,corpus}/"$parser"
    # Without the backtraces of Swift's runtime libFuzzer keeps the input that ended the program.
    (cd "$folder" && SWIFT_BACKTRACE=enable=no SPOOL_PARSER=$parser "$program" \
      "$place/corpus/$parser" "$place/seeds/$parser" -max_total_time=$(($1 * 60)) -max_len=65536 \
      -len_control=20 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
      -artifact_prefix="$place/findings/$parser-") >"$place/$parser.log" 2>&1 || status=1
    echo "$parser: $(sed -n 's/.*number_of_executed_units: *//p' "$place/$parser.log") runs," \
      "$(grep -ao 'cov: [0-9]* ft: [0-9]*' "$place/$parser.log" | tail -n 1)"
    grep -aE 'ERROR|not true|Fatal' "$place/$parser.log" || true
  done
  ls "$place/findings"
  return "$status"
}

case ${1:-} in
  fuzz) fuzz "${2:-30}" "${@:3}" ;;
  kills) crashtest --kills 200 ;;
  writes) crashtest --at-every-write ;;
  faults)
    tests 'FaultTests|HeaderDamageTests|KillTests|InterruptionTests|PowerCut|FlippedBitTests|PageChecksumTests|ChecksumUpgradeTests'
    ;;
  corpora) tests 'MalformedCorpusTests|HostileFileTests|HostileTextTests' ;;
  network) tests FaultyNetworkTests ;;
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

#!/usr/bin/env bash
# Builds the Debian package and tests it in a bare Debian 12 root: bash Tests/package.sh [PACKAGE]
# Needs root for the chroot. PACKAGE is one that was built before.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ((EUID != 0)); then
  echo "Tests/package.sh needs root: it installs the package into a root folder of its own" >&2
  exit 1
fi
.ci/install-packages packaging
package=${1:-$(bash Packaging/build-deb.sh | tail -n 1)}
readonly mirror=${DEBIAN_MIRROR:-$(sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\(http[^ ]*\) .*/\2/p; s/^URIs: *\([^ ]*\).*/\1/p' \
  /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)}

work=$(mktemp -d)
root=$work/root
clean() {
  umount -R "$root/proc" "$root/dev" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap clean EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 chroot "$root" "$@"; }
expect() {
  local name=$1
  shift
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$name"; }
  echo "ok: $name"
}
# The output of a command holds a text.
shows() {
  local text=$1
  shift
  "$@" >"$work/shown" 2>&1 && grep -qF -- "$text" "$work/shown" || { cat "$work/shown" >&2; return 1; }
}

(($(stat -c %s "$package") <= 25 * 1000 * 1000)) || fail "the package is larger than 25 MB"
expect "lintian finds no error" lintian --fail-on error "$package"

expect "a bare Debian 12 is made" mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' \
  --skip=cleanup/apt/lists bookworm "$root" "$mirror"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
cp "$package" "$root/spool.deb"
apt=(inside env DEBIAN_FRONTEND=noninteractive apt-get -qq -y)
expect "it installs with what it depends on" "${apt[@]}" install --no-install-recommends /spool.deb

expect "it needs no Swift on the machine" shows 'spool ' inside spool --version
for name in archive field-recording interview minutes podcast recorders session-mix voice-note warm-voice words; do
  shows "$name  " inside spool pipeline list || fail "spool pipeline list shows $name"
done
echo "ok: spool pipeline list shows the pipelines"
expect "an unknown name lists the known ones" shows 'voice-note' inside sh -c '! spool pipeline plan voice-nte'

readonly sample=/usr/share/doc/spool/examples/note-1.m4a
inside sh -c 'mkdir -p /srv/spool/out /etc/spool && cp /usr/share/doc/spool/examples/watch.yaml /etc/spool/notes.yaml
  mkdir -p /var/lib/spool' || fail "the folders"
expect "the sample runs by the pipeline's name" inside \
  env SPOOL_STORE=/var/lib/spool/store SPOOL_KEYS=/var/lib/spool/keys \
  spool run voice-note "$sample" --out /srv/spool/out
[[ -n $(find "$root/srv/spool/out" -name '*.m4a' -o -name '*.wav' -o -name '*.flac') ]] ||
  fail "the sample left no export"
for plugin in softclip-c loudness-gate-swift; do
  expect "the plugin $plugin passes its test" inside spool plugin test "$plugin"
done
expect "python3 installs" "${apt[@]}" install --no-install-recommends python3
expect "the pipeline with plugins runs" inside \
  env SPOOL_STORE=/var/lib/spool/store spool run warm-voice "$sample" --out /srv/spool/out
# Whatever lies in the folder of the keys has to stay.
expect "a key is there" inside sh -c 'mkdir -p /var/lib/spool/keys && date >/var/lib/spool/keys/key'

pages=0
for page in "$root"/usr/share/man/man1/spool*.1.gz; do
  # man reports what roff does not understand.
  warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -l "$page" 2>&1 >/dev/null)
  [[ -z $warnings ]] || fail "$(basename "$page"): $warnings"
  lexgrog "$page" >/dev/null || fail "$(basename "$page") has no name that whatis can read"
  pages=$((pages + 1))
done
for group in runs pipeline proof store; do
  [[ -e $root/usr/share/man/man1/spool-$group.1.gz ]] || fail "the group $group has no manual page"
done
[[ -s $root/usr/include/spool_plugin.h ]] || fail "native plugins have no header"
commands=$(inside spool --help | grep -cE '^  [a-z]')
((pages > 20)) || fail "there are only $pages manual pages"
echo "ok: $pages manual pages for $commands commands"
expect "bash reads the completion" inside bash -c '
  source /usr/share/bash-completion/completions/spool
  COMP_WORDS=(spool wat) COMP_CWORD=1 COMPREPLY=()
  _spool
  [[ ${COMPREPLY[*]} == watch ]]'
[[ -s $root/usr/share/zsh/vendor-completions/_spool ]] || fail "there is no completion for zsh"
if command -v zsh >/dev/null; then
  expect "zsh reads the completion" zsh -f -n "$root/usr/share/zsh/vendor-completions/_spool"
fi
expect "systemd installs" "${apt[@]}" install --no-install-recommends systemd procps
expect "systemd accepts the unit" inside systemd-analyze verify --man=no \
  /lib/systemd/system/spool-watch@.service /lib/systemd/system/spool-deliver@.service \
  /lib/systemd/system/spool-deliver@.timer

kept() { (cd "$root" && find srv/spool var/lib/spool etc/spool -type f -exec sha256sum {} + | sort); }
kept >"$work/before"
expect "it is removed" "${apt[@]}" remove spool
[[ ! -e $root/usr/bin/spool && ! -e $root/usr/share/spool && ! -e $root/usr/lib/spool ]] ||
  fail "the removal left files"
expect "it is purged" "${apt[@]}" purge spool
kept >"$work/after"
expect "recordings, stores, keys and settings stay" diff "$work/before" "$work/after"
expect "it installs again" "${apt[@]}" install --no-install-recommends /spool.deb
expect "and knows the runs of before" shows warm-voice inside \
  env SPOOL_STORE=/var/lib/spool/store spool runs

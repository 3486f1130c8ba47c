#!/usr/bin/env bash
# Builds Spool and its Debian package: bash Packaging/build-deb.sh [FOLDER]
# The package goes to FOLDER, or to .build/deb, and its path is the last line of the output.
# SPOOL_BUILD names another scratch folder of SwiftPM.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
umask 022

readonly out=$(realpath -m "${1:-.build/deb}") scratch=${SPOOL_BUILD:-.build/deb-build}
readonly maximum=$((25 * 1000 * 1000))

.ci/check-swift
.ci/install-packages packaging

echo "Building Spool" >&2
build=(swift build -c release --product spool --static-swift-stdlib --scratch-path "$scratch")
"${build[@]}" >&2
swift build -c release --product spool-confine --static-swift-stdlib --scratch-path "$scratch" >&2
program=$("${build[@]}" --show-bin-path)/spool
version=$("$program" --version)
version=${version#spool }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
# The same sources give the same package: all times are those of the last commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Package.swift)
export SOURCE_DATE_EPOCH

mkdir -p "$root"/usr/{bin,include,lib/spool/plugins,share/spool/{pipelines,plugins},share/man/man1} \
  "$root"/usr/share/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d} \
  "$root"/usr/share/doc/spool/examples \
  "$root"/{lib/systemd/system,DEBIAN}

install -s -m 755 "$program" "$root/usr/bin/spool"
install -s -m 755 "$(dirname "$program")/spool-confine" "$root/usr/lib/spool/spool-confine"

page() {
  local name=spool word
  for word; do name+=-$word; done
  "$program" completion man "$@" | gzip -9n >"$root/usr/share/man/man1/$name.1.gz"
}
page
# The page of the program names those of all commands.
commands=$("$program" completion man | sed -n 's/^\.BR spool\\-\(.*\) (1),\{0,1\}$/\1/p')
for command in ${commands//\\/}; do
  # The page of "store check" is spool-store-check.
  IFS=- read -ra words <<<"$command"
  page "${words[@]}"
done

"$program" completion bash >"$root/usr/share/bash-completion/completions/spool"
"$program" completion zsh >"$root/usr/share/zsh/vendor-completions/_spool"
"$program" completion fish >"$root/usr/share/fish/vendor_completions.d/spool.fish"

install -m 644 Plugins/include/spool_plugin.h "$root/usr/include"
install -m 644 Pipelines/*.yaml "$root/usr/share/spool/pipelines"
for folder in Plugins/*/; do
  plugin=$(basename "$folder")
  [[ -f $folder/plugin.yaml ]] || continue
  if [[ -f $folder/build.sh ]]; then
    # Built from a copy, so that the checkout stays as it is.
    cp -R Plugins "$work/plugins-$plugin"
    sh "$work/plugins-$plugin/$plugin/build.sh" >&2
    target=$root/usr/lib/spool/plugins/$plugin
    mkdir "$target"
    install -s -m 644 "$work/plugins-$plugin/$plugin"/*.so "$target"
  else
    target=$root/usr/share/spool/plugins/$plugin
    mkdir "$target"
    install -m 644 "$folder"/*.py "$target"
  fi
  install -m 644 "$folder/plugin.yaml" "$target"
done

install -m 644 Packaging/spool-{watch@.service,deliver@.service,deliver@.timer} "$root/lib/systemd/system"
install -m 644 Packaging/watch.yaml samples/note-1.m4a "$root/usr/share/doc/spool/examples"
install -m 644 Packaging/copyright "$root/usr/share/doc/spool"
maintainer="Spool maintainers <maintainers@spool.invalid>"
{
  printf 'spool (%s) unstable; urgency=medium\n\n' "$version"
  printf '  * Version %s; CHANGELOG.md in the sources lists the changes.\n\n' "$version"
  printf ' -- %s  %s\n' "$maintainer" "$(LC_ALL=C date -uRd "@$SOURCE_DATE_EPOCH")"
} | gzip -9n >"$root/usr/share/doc/spool/changelog.gz"

install -m 755 Packaging/{postinst,prerm,postrm} "$root/DEBIAN"

# What the program and the plugins link; the script reads debian/control, so it gets one.
mkdir "$work/debian"
printf 'Source: spool\n\nPackage: spool\nArchitecture: any\n' >"$work/debian/control"
linked=$(
  cd "$work"
  dpkg-shlibdeps -O --ignore-missing-info root/usr/bin/spool \
    $(find root/usr/lib/spool -name '*.so' -printf '-e%p ') 2>/dev/null |
    sed -n 's/^shlibs:Depends=//p'
)

cat >"$root/DEBIAN/control" <<CONTROL
Package: spool
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: $maintainer
Section: sound
Priority: optional
Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f 1)
$(sed "s/@LINKED@/$linked/" Packaging/dependencies)
Description: media pipeline with durable checkpoints
 Spool takes recordings through a pipeline (decode, clean, level, measure,
 export) and never does the same work twice. Every stage leaves a checkpoint,
 so that a second run uses what is done and an interrupted one is resumed. It
 runs single recordings, folders of them, and inboxes that are watched by a
 systemd service, and signs receipts of what it made.
 .
 The package holds the program, commented pipelines, and plugins.
CONTROL
(cd "$root" && find usr lib -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +

mkdir -p "$out"
package=$out/spool_${version}_$(dpkg --print-architecture).deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >&2
size=$(stat -c %s "$package")
if ((size > maximum)); then
  echo "$package has $size bytes; at most $maximum are allowed" >&2
  exit 1
fi
lintian --fail-on error "$package" >&2
echo "$package"

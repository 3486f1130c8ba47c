#!/usr/bin/env bash
# Builds the documentation and checks the links of the Markdown files beside it: bash Tests/docs.sh
# Any warning of DocC, a link to a missing page or file, and an article that the landing page does
# not list are errors. It writes nothing into the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly catalogue=Sources/spool/Spool.docc
readonly landing=$catalogue/Spool.md
readonly words='nobody|somebody|whoever|(is|are) told|goes? on with|lets go|makes? anew|at fault'
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

fail() {
  echo "error: $*" >&2
  failures=$((failures + 1))
}

# DocC is part of the toolchain, beside the `swift` that a link on the search path leads to.
find_docc() {
  local candidate swift
  if swift=$(command -v swift); then
    candidate=$(dirname "$(readlink -f "$swift")")/docc
    if [[ -x $candidate ]]; then
      echo "$candidate"
      return
    fi
  fi
  command -v docc
}

if ! docc=$(find_docc); then
  echo "error: there is no docc beside swift or on the PATH; it comes with the Swift toolchain" >&2
  exit 1
fi

mapfile -t articles < <(git ls-files --cached --others --exclude-standard "$catalogue/*.md")
mapfile -t pages < <(git ls-files --cached --others --exclude-standard \
  README.md CONTRIBUTING.md CHANGELOG.md 'samples/*.md' 'Plugins/*/README.md')

if ! "$docc" convert "$catalogue" --fallback-display-name Spool \
  --fallback-bundle-identifier spool --warnings-as-errors --output-path "$scratch/archive" \
  >"$scratch/log" 2>&1 || grep -qE '^(warning|error):' "$scratch/log"; then
  cat "$scratch/log" >&2
  fail "$catalogue does not build without warnings"
fi
if [[ ! -f $scratch/archive/data/documentation/spool.json ]]; then
  fail "$catalogue has no landing page"
fi

# An article that the landing page does not list can be found by its name alone.
for article in "${articles[@]}"; do
  name=$(basename "$article" .md)
  if [[ $article != "$landing" ]] && ! grep -q "<doc:$name>" "$landing"; then
    fail "$landing does not list $name"
  fi
done

# Targets of [text](target), ![image](target) and src="target", outside of code.
targets() {
  awk '/^ *```/ { code = !code } !code' "$1" | sed 's/`[^`]*`//g' |
    grep -oE '\]\([^)]+\)|(src|srcset|href)="[^"]+"' |
    sed -E 's/^\]\(//; s/\)$//; s/^[a-z]+="//; s/"$//; s/ .*//' || true
}

links=0
for page in "${pages[@]}"; do
  while read -r target; do
    case $target in
      http://* | https://* | mailto:* | '#'*) continue ;;
    esac
    links=$((links + 1))
    if [[ ! -e $(dirname "$page")/${target%%#*} ]]; then
      fail "$page links to $target, which does not exist"
    fi
  done < <(targets "$page")
done

# DocC takes a path to a file for a web address and does not check it. Articles refer to each other by
# <doc:Name>; only pictures have file names.
for article in "${articles[@]}"; do
  while read -r target; do
    case $target in
      http://* | https://* | doc:*) continue ;;
    esac
    links=$((links + 1))
    if [[ ! -e $catalogue/Resources/$target ]]; then
      fail "$article refers to $target, which is not in $catalogue/Resources"
    fi
  done < <(targets "$article")
done

# Outside of code: what a program prints is quoted as it is.
unplain() {
  awk -v name="$1" '/^ *```/ { code = !code } !code { print name ":" NR ": " $0 }' "$1" |
    sed 's/`[^`]*`//g' | grep -wEi -- "$words"
}

for page in "${articles[@]}" "${pages[@]}"; do
  if found=$(unplain "$page"); then
    echo "$found" >&2
    fail "$page needs plainer words (CONTRIBUTING.md, \"House rules\")"
  fi
done

references=$(cat "${articles[@]}" | grep -oE '<doc:[A-Za-z0-9/-]+>' | wc -l)
echo "documentation: ${#articles[@]} articles, $references references between them," \
  "$links links to files in $((${#articles[@]} + ${#pages[@]})) pages"
if ((failures > 0)); then
  echo "documentation: $failures errors" >&2
  exit 1
fi

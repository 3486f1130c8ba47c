#!/bin/sh
# Builds softclip.so beside this file. It needs a C compiler and nothing else.
set -eu
cd "$(dirname "$0")"
"${CC:-cc}" -std=c11 -O2 -Wall -Wextra -shared -fPIC -fvisibility=hidden -I ../include \
  -o softclip.so softclip.c -lm
echo "built $(pwd)/softclip.so"

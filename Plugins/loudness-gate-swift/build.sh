#!/bin/sh
# Builds libloudness-gate.so beside this file. It needs swiftc and nothing else.
set -eu
cd "$(dirname "$0")"
swiftc -O -swift-version 6 -emit-library -static-stdlib -module-name LoudnessGate \
  -import-objc-header ../include/spool_plugin.h -o libloudness-gate.so LoudnessGate.swift Entry.swift
echo "built $(pwd)/libloudness-gate.so"

import Foundation
@testable import Plugins
import TestSupport
import Testing

@Suite("One bundle that cannot be read keeps no other from being used")
struct LV2BundleTests {
  @Test("pipes and descriptions without an end are told of, and not waited for")
  func flaws() throws {
    let folder = try ScratchFolder()
    for name in ["good", "pipe", "long", "inner", "none", ".hidden"] {
      try FileManager.default.createDirectory(
        atPath: folder.file(name), withIntermediateDirectories: true)
    }
    for name in ["good", "inner", ".hidden"] { try folder.write("", to: "\(name)/manifest.ttl") }
    #expect(unsafe mkfifo(folder.file("pipe/manifest.ttl"), 0o600) == 0)
    try folder.write("", to: "long/manifest.ttl")
    #expect(unsafe truncate(folder.file("long/manifest.ttl"), 100 << 20) == 0)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("inner/presets.ttl"), withDestinationPath: "/dev/zero")
    let found = LilvWorld.bundles(in: folder.path).map { bundle in
      "\(bundle.path.split(separator: "/").last ?? ""): \(bundle.flaw ?? "good")"
    }
    #expect(
      found == [
        "good: good", "inner: its presets.ttl is no plain file",
        "long: its manifest.ttl has more than 32 MB", "pipe: its manifest.ttl is no plain file",
      ])
  }
}

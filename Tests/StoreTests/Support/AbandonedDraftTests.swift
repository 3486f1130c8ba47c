import Foundation
import Glibc
@testable import Store
import TestSupport
import Testing

@Suite("Drafts in a user's folder") struct AbandonedDraftTests {
  @Test("of dead processes go with the next export there, whichever store they were of")
  func swept() async throws {
    let scratch = try ScratchFolder()
    let out = scratch.file("out")
    try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [first = scratch.file("first") as String, out = out as String] in
      let store = try DiskStore(at: first)
      let draft = try Publication(at: out + "/one.wav", in: store)
      kill(getpid(), SIGKILL)
      _ = draft.temporaryPath
    }
    let left = names(in: out)
    try #require(left.count == 1 && left.allSatisfy { $0.hasPrefix(".spool-") })
    // What is no draft of a process that is dead stays.
    let living = out + "/.spool-" + AbandonedFiles.newName(for: .current)
    for path in [living, out + "/.spool-other.part", out + "/mine.part"] {
      try Data("x".utf8).write(to: URL(fileURLWithPath: path))
    }
    let second = try DiskStore(at: scratch.file("second"))
    _ = try second.publish("two", at: out + "/two.wav")
    #expect(!names(in: out).contains(left[0]))
    #expect(names(in: out).count == 4, "\(names(in: out))")
  }
}

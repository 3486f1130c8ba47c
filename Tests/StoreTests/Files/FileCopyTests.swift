import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct FileCopyTests {
  private let scratch: ScratchFolder
  private let bytes = Data((0..<(2 << 20) + 5).map { UInt8(truncatingIfNeeded: $0 &* 13 >> 2) })

  init() throws {
    scratch = try ScratchFolder()
    try bytes.write(to: URL(fileURLWithPath: scratch.file("from")))
  }

  @Test(
    "copies every byte by whatever means there are",
    arguments: [
      [:], ["clone": EOPNOTSUPP], ["clone": ENOTTY, "copyRange": EXDEV],
      ["clone": EXDEV, "copyRange": ENOSYS],
    ])
  func means(unknown: [String: CInt]) throws {
    try scratch.write("what was there before", to: "to")
    try FileOperations.lacking(unknown)
      .copyFile(from: scratch.file("from"), to: scratch.file("to"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file("to"))) == bytes)
  }

  @Test("reports a full disk, and removes the half copy")
  func fullDisk() throws {
    let files = FileOperations.lacking(["clone": ENOTTY, "copyRange": ENOSPC])
    let error = try #require(throws: SpoolError.self) {
      try files.copyFile(from: scratch.file("from"), to: scratch.file("to"))
    }
    #expect(error.message == "the disk of \(scratch.path) is full")
    #expect(error.reason == "cannot write \(scratch.file("to")): No space left on device")
    #expect(names(in: scratch.path) == ["from"])
  }

  @Test("never empties a file by copying it onto itself")
  func itself() throws {
    #expect(unsafe link(scratch.file("from"), scratch.file("alias")) == 0)
    for target in ["from", "alias"] {
      #expect(throws: SpoolError.self) {
        try FileOperations.system.copyFile(from: scratch.file("from"), to: scratch.file(target))
      }
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file("from"))) == bytes)
  }

  @Test("an empty file is copied too")
  func empty() throws {
    try scratch.write("", to: "empty")
    try FileOperations.system.copyFile(from: scratch.file("empty"), to: scratch.file("to"))
    #expect(text(at: scratch.file("to")) == "")
  }
}

import Foundation
import Platform
import TestSupport
import Testing
@testable import spool

@Suite struct FileBytesTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: scratch.file(name)))
    return scratch.file(name)
  }

  @Test(
    "the first difference is found at its byte, also behind the first piece and past an end",
    arguments: [0, 1, 1 << 20, 3_000_000])
  func differences(offset: Int) throws {
    let bytes = [UInt8](repeating: 7, count: 3_000_001)
    let original = try file("a", bytes)
    #expect(try FileBytes.firstDifference(original, try file("b", bytes)) == nil)
    var changed = bytes
    changed[offset] = 8
    #expect(try FileBytes.firstDifference(original, try file("c", changed)) == offset)
    let short = try file("d", Array(bytes[..<offset]))
    #expect(try FileBytes.firstDifference(original, short) == offset)
    #expect(try FileBytes.firstDifference(short, original) == offset)
  }

  @Test("a digest is the one that sha256sum gives")
  func digest() throws {
    let path = try file("a", Array("abc".utf8))
    let found = try FileBytes.digest(of: path)
    let reference = try Reference.output("sha256sum", [path])
    #expect(String(decoding: reference, as: UTF8.self).hasPrefix("\(found.digest)"))
    #expect(found.byteCount == 3)
  }

  @Test("a file that is not there, and a folder, are errors with a reason")
  func unreadable() throws {
    #expect(throws: SpoolError.self) { try FileBytes.digest(of: scratch.file("none")) }
    let error = #expect(throws: SpoolError.self) { try FileBytes.digest(of: scratch.path) }
    #expect(error?.reason == "Is a directory")
  }
}

import Foundation
import Platform
import Testing
@testable import spool

/// The wording of help is kept in `Tests/Fixtures/Help`, a file for each command. With
/// `SPOOL_WRITE_GOLDEN` set, these tests write the files instead of comparing.
@Suite("Help is worded as recorded")
struct HelpGoldenTests {
  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures/Help")

  private static let names = ["spool"] + Spool.program.commands.map(\.name)

  @Test("of the program and of each command, at 80 columns", arguments: names)
  func help(name: String) throws {
    let text = Spool.program.help(for: Spool.program.command(named: name), width: 80)
    let file = Self.folder.appendingPathComponent("\(name).txt")
    guard ProcessInfo.processInfo.environment["SPOOL_WRITE_GOLDEN"] == nil else {
      try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
      return try Data(text.utf8).write(to: file)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == text)
  }

  @Test("and no file is left of a command that is gone")
  func noOthers() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(files) == Set(Self.names.map { "\($0).txt" }))
  }
}

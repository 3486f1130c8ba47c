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

  /// What `spool help` takes, each with the name of its file.
  private static let names =
    [[]]
    + (Spool.program.commands.map(\.name) + Spool.program.families.map(\.name)
    + Spool.program.guides.map(\.name)).map { $0.split(separator: " ").map(String.init) }

  private static func fileName(_ words: [String]) -> String {
    "\(words.isEmpty ? "spool" : words.joined(separator: "-")).txt"
  }

  @Test("of the program, each command, family and guide, at 80 columns", arguments: names)
  func help(words: [String]) throws {
    let subject = try #require(Spool.program.helpSubject(words))
    let text = Spool.program.help(for: subject, width: 80)
    let file = Self.folder.appendingPathComponent(Self.fileName(words))
    guard ProcessInfo.processInfo.environment["SPOOL_WRITE_GOLDEN"] == nil else {
      try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
      return try Data(text.utf8).write(to: file)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == text)
  }

  @Test("and no file is left of a command that is gone")
  func noOthers() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(files) == Set(Self.names.map(Self.fileName)))
  }
}

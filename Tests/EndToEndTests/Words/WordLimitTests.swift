import Foundation
import TestSupport
import Testing

@Suite("Words that are out of bounds fail, or are told of") struct WordLimitTests {
  private static let said = "Please call me back on Monday morning, because the meeting was moved."

  @Test("limits that are kept to say nothing")
  func kept() throws {
    let run = try run(
      "untimed-words: 0, interpolated: 0 %, uncertain: 60 %, longest-word: 2 s, coverage: 60 %")
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.warnings.isEmpty)
  }

  @Test("an uncovered stretch fails, with the figure and the limit")
  func coverage() throws {
    let run = try run("coverage: 90 %", adding: " Scientists have discovered the ocean.")
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("the words are out of bounds"), "\(run.errorOutput)")
    #expect(run.errorOutput.contains(/coverage is [1-8]\d[.\d]* %, at least 90 % is allowed/))
  }

  @Test("a word that is not spoken is told of where the stage only warns")
  func warning() throws {
    let run = try run("untimed-words: 0, out-of-bounds: warn", text: Self.said + " — …")
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.warnings.contains { $0.contains("untimed-words is 2, at most 0 is allowed") })
  }

  private func run(
    _ limits: String, text: String = said, adding more: String = ""
  ) throws -> SpoolRun {
    let place = try Workspace()
    let sound = place.file("call.wav")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", sound, Self.said + more]).exitCode == 0)
    let pipeline = try place.pipeline(
      """
      pipeline: strict
      inputs: { note: sound, text: transcript }
      stages:
        - decode
        - align: { transcript: $text, \(limits) }
        - transcript: [json]
      """)
    return try place.run(pipeline, [sound, try place.folder.write(text, to: "call.txt")])
  }
}

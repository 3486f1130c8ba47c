import Foundation
import TestSupport
import Testing

@Suite("A transcript's words get their times") struct WordsTests {
  private static let text = """
    Please call me back on Monday morning, because the meeting with the client was moved to the \
    2nd floor.

    It costs $3.50 — and the quick brown fox jumps over the lazy dog.
    """

  @Test("words.yaml gives captions whose words are those of the text, in order, each with its time")
  func captions() throws {
    let place = try Workspace()
    let (sound, text) = try speech(in: place)
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [sound, text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let words = try ExportedWords(at: place.out + "/talk.json").words
    #expect(words.map(\.text) == Self.text.split(whereSeparator: \.isWhitespace).map(String.init))
    #expect(words.allSatisfy { $0.startTime <= $0.endTime })
    #expect(zip(words, words.dropFirst()).allSatisfy { $0.startTime <= $1.startTime })
    let captions = try String(contentsOfFile: place.out + "/talk.srt", encoding: .utf8)
    #expect(captions.hasPrefix("1\n00:00:00,"))
    #expect(captions.split(separator: "\n").allSatisfy { $0.count <= 42 })
  }

  @Test("a text of another recording is refused with the share that was heard")
  func refusal() throws {
    let place = try Workspace()
    let (sound, _) = try speech(in: place)
    let other = try place.folder.write(
      "When forty winters shall besiege thy brow, and dig deep trenches in thy beauty's field",
      to: "other.txt")
    let run = try place.spool([
      "run", PackageFiles.pipeline("words.yaml"), sound, other, "--out", place.out,
    ])
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("the transcript does not belong to the recording"))
    #expect(run.errorOutput.contains("% of its words were heard"))
  }

  @Test("a text without words is refused")
  func empty() throws {
    let place = try Workspace()
    let (sound, _) = try speech(in: place)
    let empty = try place.folder.write("— … 😀\n", to: "empty.txt")
    let run = try place.spool([
      "run", PackageFiles.pipeline("words.yaml"), sound, empty, "--out", place.out,
    ])
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("the transcript has no words"))
  }

  /// A talk, and what is said in it.
  private func speech(in place: Workspace) throws -> (sound: String, text: String) {
    let sound = place.file("talk.wav")
    let program = try #require(Program(named: "espeak-ng"))
    let spoken = try program.run(["-v", "en-us+m3", "-w", sound, Self.text])
    #expect(spoken.exitCode == 0)
    return (sound, try place.folder.write(Self.text, to: "talk.txt"))
  }
}

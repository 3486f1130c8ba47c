import Foundation
import TestSupport
import Testing

@Suite("Alignment survives being killed at any moment") struct WordsKillTests {
  private static let sentences = """
    Please call me back on Monday morning, because the meeting with the client was moved to the \
    second floor. The quick brown fox jumps over the lazy dog near the river bank. Printing is the \
    only sense with which we are at present concerned. Scientists have discovered that the water of \
    the ocean is rising. He walked slowly through the forest and listened to the birds.
    """

  @Test(
    "a run that is killed while it aligns goes on behind its last note, to the same bytes",
    arguments: [1, 3, 6])
  func killed(pieces: Int) throws {
    let place = try Workspace()
    let (sound, text) = try speech(in: place)
    let pipeline = PackageFiles.pipeline("words.yaml")
    let whole = try Workspace()
    let run = try whole.run(pipeline, [sound, text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let all = Self.pieces(of: run)
    try #require(all > 6)

    let running = try place.start(pipeline, [sound, text])
    var noted = 0
    while running.isRunning, noted < pieces { noted = try Self.notedPieces(in: place) }
    try #require(noted >= pieces, "it ended before it noted anything")
    running.send(SIGKILL)
    _ = try running.end()
    let resumed = try place.resume()
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(Self.pieces(of: resumed) <= all - noted, "it began anew: \(all), \(noted)")
    #expect(try place.allExports() == whole.allExports())
  }

  /// How many pieces were told of.
  private static func pieces(of run: SpoolRun) -> Int {
    run.events.count { $0.event == "progress" && $0.step == "align" }
  }

  /// How many pieces the store's note of the work knows.
  private static func notedPieces(in place: Workspace) throws -> Int {
    struct Recording: Decodable {
      struct Progress: Decodable { let heard, aligned: [Piece?] }
      struct Piece: Decodable { init(from decoder: any Decoder) {} }
      let whole: Progress
    }
    let program = try #require(Program(named: "sqlite3"))
    let answer = try program.run([
      "-readonly", "-cmd", ".timeout 5000", place.store + "/spool.sqlite",
      "SELECT substr(note, instr(note, '{')) FROM work WHERE note LIKE '% {\"sides\"%';",
    ])
    guard let note = try? JSONDecoder().decode(Recording.self, from: answer.output) else {
      return 0
    }
    return note.whole.heard.count { $0 != nil } + note.whole.aligned.count { $0 != nil }
  }

  private func speech(in place: Workspace) throws -> (sound: String, text: String) {
    let sound = place.file("talk.wav")
    let text = Array(repeating: Self.sentences, count: 6).joined(separator: "\n\n")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", sound, text]).exitCode == 0)
    return (sound, try place.folder.write(text, to: "talk.txt"))
  }
}

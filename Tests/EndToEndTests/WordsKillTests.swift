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
    // It tells of its progress after each piece, and notes it twice a second.
    try #require(try running.waits(for: "\"step\":\"align\"", times: pieces + 1))
    usleep(600_000)
    running.send(SIGKILL)
    _ = try running.end()
    let resumed = try place.resume()
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(Self.pieces(of: resumed) <= all - pieces, "it began anew: \(all)")
    #expect(try place.allExports() == whole.allExports())
  }

  /// How many pieces were told of.
  private static func pieces(of run: SpoolRun) -> Int {
    run.events.count { $0.event == "progress" && $0.step == "align" }
  }

  private func speech(in place: Workspace) throws -> (sound: String, text: String) {
    let sound = place.file("talk.wav")
    let text = Array(repeating: Self.sentences, count: 6).joined(separator: "\n\n")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", sound, text]).exitCode == 0)
    return (sound, try place.folder.write(text, to: "talk.txt"))
  }
}

import Foundation
import TestSupport
import Testing

@Suite("What is said without a transcript is recognised") struct RecognitionRunTests {
  private static let text = """
    He walked slowly through the forest and listened to the birds while the sun was setting behind \
    the mountains. The committee decided yesterday that the new budget for schools and hospitals \
    should be increased before the end of the year.
    """

  @Test("words.yaml recognises where there is no text, aligns where there is one, and says which")
  func choice() throws {
    let place = try Workspace()
    let sound = try speech(in: place, times: 1)
    let pipeline = PackageFiles.pipeline("words.yaml")
    let run = try place.run(pipeline, [sound])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.made == ["decode", "recognize", "transcript"])
    #expect(run.skipped == ["align"])
    let timed = try ExportedWords(at: place.out + "/talk.json")
    #expect(timed.isFinal)
    #expect(timed.words.count > 10)
    #expect(timed.words.allSatisfy { $0.startTime < $0.endTime && ($0.confidence ?? 2) <= 1 })

    let text = try place.folder.write(Self.text, to: "talk.txt")
    let again = try place.run(pipeline, [sound, text], ["--replace"])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(again.skipped == ["recognize"])
    #expect(again.made == ["align", "transcript"] && again.reused == ["decode"])
  }

  @Test("noise gives an empty transcript, and empty captions")
  func noise() throws {
    let place = try Workspace()
    let sound = place.file("noise.wav")
    _ = try Reference.ffmpeg(["-f", "lavfi", "-i", "anoisesrc=d=6:a=0.2:seed=5", sound])
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [sound])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try ExportedWords(at: place.out + "/noise.json").words.isEmpty)
    #expect(try String(contentsOfFile: place.out + "/noise.srt", encoding: .utf8).isEmpty)
  }

  @Test("a run that is killed while it listens goes on behind its last note, to the same bytes")
  func killed() throws {
    let place = try Workspace()
    let sound = try speech(in: place, times: 6)
    let pipeline = PackageFiles.pipeline("words.yaml")
    let running = try place.start(pipeline, [sound])
    // It tells of its progress after each piece, of which there are three, and then notes it.
    try #require(try running.waits(for: "\"step\":\"recognize\"", times: 2))
    running.send(SIGKILL)
    _ = try running.end()
    let resumed = try place.resume()
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    let pieces = resumed.events.filter { $0.event == "progress" && $0.step == "recognize" }
    #expect(pieces.count < 3, "it began anew")
    let whole = try Workspace()
    let run = try whole.run(pipeline, [sound])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try place.allExports() == whole.allExports())
  }

  @Test("it can be killed anywhere")
  func crashtest() throws {
    let place = try Workspace()
    let sound = try speech(in: place, times: 2)
    let run = try place.spool([
      "pipeline", "crashtest", PackageFiles.pipeline("words.yaml"), sound, "--kills", "3", "--seed",
      "11",
    ])
    #expect(run.exitCode == 0, "\(run.errorOutput)\(run.text)")
  }

  /// Somebody who says the same again and again.
  private func speech(in place: Workspace, times: Int) throws -> String {
    let sound = place.file("talk.wav")
    let program = try #require(Program(named: "espeak-ng"))
    let text = Array(repeating: Self.text, count: times).joined(separator: "\n\n")
    let spoken = try program.run(["-v", "en-us+m3", "-w", sound, text])
    #expect(spoken.exitCode == 0)
    return sound
  }
}

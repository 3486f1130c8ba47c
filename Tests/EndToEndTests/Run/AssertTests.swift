import Foundation
import TestSupport
import Testing

@Suite(
  "What a pipeline asserts holds of what it exports",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct AssertTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private func pipeline(_ facts: String, _ more: String = "") throws -> String {
    try place.pipeline(
      """
      pipeline: checked
      inputs: { note: sound }
      stages:
        - decode
        - assert: { \(facts) }
        - export: [wav]
      """ + (more.isEmpty ? "" : "\n  - \(more)"))
  }

  private func record(_ seconds: Double = 2, _ name: String = "note.wav") throws -> String {
    let path = place.file(name)
    try Reference.record(path, seconds: seconds)
    return path
  }

  @Test("a fact that does not hold fails the run, which exports nothing and says what to do")
  func failure() throws {
    let run = try place.run(pipeline("loudness: -60 LUFS ± 0.5, channels: 2"), [record()])
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect("\(complaint)".contains("loudness is out of bounds"), "\(run.errorOutput)")
    #expect(run.errorOutput.contains(/loudness is -\d\d\.\d LUFS, -60\.5 LUFS \.\. -59\.5 LUFS is/))
    #expect(run.errorOutput.contains("spool stages assert"))
    #expect(place.exports.isEmpty)
    // The figures of the failed run are there, those that hold too.
    let found = try #require(run.findings["assert"])
    #expect(found.contains(#""name":"channels""#) && found.contains(#""holds":true"#), "\(found)")
    let page = try place.spool(["runs", "show", "last"]).text
    #expect(page.contains(/loudness +-\d\d\.\d LUFS +out of bounds: -60\.5 LUFS/), "\(page)")
    #expect(page.contains(/channels +2 +holds: 2/), "\(page)")
    let status = try place.spool(["status"]).text
    #expect(status.contains("assert: loudness is out of bounds: loudness is -"), "\(status)")
    #expect(status.contains("spool runs forget --failed"), "\(status)")
  }

  @Test("mono is as loud as normalize makes it, where both count the speakers that play it")
  func dualMono() throws {
    let mono = place.file("mono.wav")
    try Reference.record(mono, seconds: 2, channels: 1)
    let path = try place.pipeline(
      """
      pipeline: mono
      vars: { dual: true }
      stages:
        - decode
        - normalize: { loudness: -16 LUFS, dual-mono: true }
        - assert: { loudness: -16 LUFS ± 0.3, dual-mono: $dual }
        - export: [wav]
      """)
    #expect(try place.run(path, [mono]).exitCode == 0)
    let single = try place.run(path, [mono], ["--set", "dual=false"])
    #expect(single.exitCode == 1)
    #expect(single.errorOutput.contains("loudness is -19 LUFS, "), "\(single.errorOutput)")
  }

  @Test("a fact that only warns is told of, and all is exported")
  func warning() throws {
    let run = try place.run(
      pipeline("duration: 1 min .., out-of-bounds: warn"), [record()])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.warnings == ["out of bounds: duration is 2 s, 60 s .. is allowed"])
    #expect(place.exports == ["note.wav"])
  }

  @Test("one of three recordings of a batch fails, and the others are done")
  func batch() throws {
    let folder = try BatchFolder()
    for (name, seconds) in [("a.wav", 1.0), ("b.wav", 3), ("c.wav", 1.5)] {
      try Reference.record(folder.path + "/" + name, seconds: seconds)
    }
    let pipeline = try folder.place.pipeline(
      """
      pipeline: checked
      inputs: { note: sound }
      stages:
        - decode
        - assert: { duration: < 2 s, out-of-bounds: quarantine }
        - export: [wav]
      """)
    let outcome = try folder.batch(pipeline)
    #expect(outcome.exitCode == 3, "\(outcome.errorOutput)")
    #expect(outcome.outcomes == ["a.wav": "done", "b.wav": "failed", "c.wav": "done"])
    let failure = try #require(outcome.report?.file("b.wav")?.error)
    #expect(failure.message == "duration is out of bounds, which calls for quarantine")
    #expect(failure.reason == "duration is 3 s, < 2 s is allowed")
    let data = try folder.place.export("batch.json")
    let report = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    for file in report?["files"] as? [[String: Any]] ?? [] {
      let levels = file["levels"] as? [String: [String: Any]]
      #expect(levels?["assert"]?["holds"] as? Bool == (file["path"] as? String != "b.wav"))
    }
    #expect(!folder.place.exports.contains("b.wav"))
  }

  @Test("a receipt has what was measured and allowed, and is verified")
  func receipt() throws {
    let facts = "duration: 1 s .. 1 h, channels: 1, out-of-bounds: warn"
    let run = try place.run(pipeline(facts, "proof"), [record()])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let verified = try place.spool(["verify", place.out])
    #expect(verified.exitCode == 0, "\(verified.text)\(verified.errorOutput)")
    struct Envelope: Decodable { let payload: Data }
    let payload = try JSONDecoder().decode(
      Envelope.self, from: place.export("note.receipt.json")
    ).payload
    let statement = String(decoding: payload, as: UTF8.self)
    #expect(
      statement.contains(
        #""facts":[{"allowed":"1 s .. 3600 s","measured":"2 s","name":"duration","result":"holds"},"#
          + #"{"allowed":"1","measured":"2","name":"channels","result":"out-of-bounds"}]"#),
      "\(statement)")
  }

  @Test("words and files have facts of their own, and sound beside them")
  func wordsAndFiles() throws {
    let text = try place.folder.write(
      #"{"language":"en-GB","words":[{"text":"one","startTime":0.1,"endTime":0.4},{"text":"two"}]}"#,
      to: "note.json")
    func run(_ facts: String) throws -> SpoolRun {
      let pipeline = try place.pipeline(
        """
        pipeline: words
        inputs: { note: sound, text: transcript }
        stages:
          - decode
          - export: [wav, flac]
          - assert: { \(facts) }
        """)
      return try place.run(pipeline, [record(), text])
    }
    let good = try run(
      "words: 2, untimed-words: .. 1, language: [de, en], longest-word: .. 1 s, channels: 2, "
        + "files: [export.wav, export.flac], size: 10 kB .. 1 MB")
    #expect(good.exitCode == 0, "\(good.errorOutput)")
    #expect(good.findings["assert"]?.contains("size of file 2") == true)
    let bad = try run("untimed-words: 0, language: de, transcript: $text")
    #expect(bad.exitCode == 1)
    #expect(bad.errorOutput.contains("untimed-words is 1, 0 is allowed"), "\(bad.errorOutput)")
    #expect(bad.errorOutput.contains("language is en-GB, de is allowed"), "\(bad.errorOutput)")
    let large = try run("files: export.wav, size: < 1 kB")
    #expect(large.errorOutput.contains(/size is 0\.5 MB, < 0\.001 MB is allowed/))
    #expect(place.exports == ["note.flac", "note.wav"])
  }

  @Test("a killed run that is resumed finds the same")
  func killed() throws {
    let note = place.file("long.wav")
    try Reference.record(note, seconds: 100, rate: 22050, channels: 1)
    let stated = "loudness: -60 LUFS ± 1, snr: 90 dB .., silence: 0 %, out-of-bounds: warn"
    let file = try pipeline(stated)
    let whole = try place.run(file, [note], ["--store", place.file("other")])
    let running = try place.start(file, [note])
    #expect(try running.waits(for: #""event":"progress""#, times: 4))
    running.send(SIGKILL)
    _ = try running.end()
    let resumed = try place.resume()
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    let facts = try #require(whole.findings["assert"])
    #expect(resumed.findings["assert"] == facts)
    #expect(resumed.warnings.filter { $0.hasPrefix("out of bounds: loudness") }.count == 1)
  }

  @Test("mistakes are shown under the number that they are about, with what is allowed")
  func mistakes() throws {
    let file = try place.pipeline(
      """
      pipeline: checked
      inputs: { note: sound }
      stages:
        - decode
        - assert:
            loudness: -16 dB ± 0.5
            true-peek: .. -1 dBTP
            duration: 1 .. 4 h
      """)
    let result = try place.spool(["pipeline", "check", file])
    #expect(result.exitCode == 2)
    let text = result.text + result.errorOutput
    for words in [
      ":6:17: error: loudness of assert takes LUFS, not \"dB\"",
      ":7:7: error: \"true-peek\" is not a parameter of assert", "did you mean \"true-peak\"?",
      ":8:17: error: duration of assert does not say the unit of 1",
    ] { #expect(text.contains(words), "\(words): \(text)") }
    let folded = try place.pipeline(
      """
      pipeline: checked
      inputs: { note: sound }
      stages:
        - decode
        - assert:
            snr: > 20 dB
      """)
    let other = try place.spool(["pipeline", "check", folded])
    #expect(
      (other.text + other.errorOutput).contains("quotes around a value that begins with >"),
      "\(other.text)\(other.errorOutput)")
  }
}

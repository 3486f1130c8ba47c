import Foundation
import TestSupport
import Testing

@Suite(
  "A run may be stopped at any moment, and goes on as if it had not been",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct InterruptionTests {
  /// A recording that is long enough to be interrupted, and what becomes of it uninterrupted. Held
  /// as bytes, because nothing would delete the files of what all tests share.
  private struct Uninterrupted {
    let recording: Data
    let exports: [String: Data]

    init() throws {
      let place = try Workspace()
      let path = place.file("long.wav")
      try Reference.record(path, seconds: 80, rate: 22050, channels: 1)
      recording = try Data(contentsOf: URL(fileURLWithPath: path))
      let run = try place.run(try InterruptionTests.pipeline(in: place), [path])
      try #require(run.exitCode == 0, "\(run.errorOutput)")
      exports = try place.allExports()
    }
  }

  private static let uninterrupted = Result { try Uninterrupted() }

  private let place: Workspace
  private let pipeline: String
  private let recording: String
  private let expected: [String: Data]

  init() throws {
    let uninterrupted = try Self.uninterrupted.get()
    place = try Workspace()
    pipeline = try Self.pipeline(in: place)
    recording = place.file("long.wav")
    try uninterrupted.recording.write(to: URL(fileURLWithPath: recording))
    expected = uninterrupted.exports
  }

  @Test("a bit that flips in what an interrupted run has left changes no byte of what it gives")
  func flippedWork() throws {
    let work = place.store + "/work"
    func files() -> [(name: String, size: Int)] {
      let names = FileManager.default.enumerator(atPath: work)?.compactMap { $0 as? String } ?? []
      return names.sorted().compactMap { name in
        let facts = try? FileManager.default.attributesOfItem(atPath: "\(work)/\(name)")
        guard facts?[.type] as? FileAttributeType == .typeRegular,
          let size = facts?[.size] as? Int, size > 0
        else { return nil }
        return (name, size)
      }
    }
    let running = try place.start(pipeline, [recording])
    while running.isRunning, files().reduce(0, { $0 + $1.size }) < 1_000_000 { usleep(2000) }
    running.send(SIGKILL)
    #expect(try running.end().run.exitCode == 128 + SIGKILL)
    let left = files()
    #expect(!left.isEmpty)
    let kept = place.file("kept")
    try FileManager.default.copyItem(atPath: place.store, toPath: kept)
    for (name, size) in left {
      for byte in Set([0, size / 3, size - 1]) {
        try? FileManager.default.removeItem(atPath: place.out)
        try FileManager.default.removeItem(atPath: place.store)
        try FileManager.default.copyItem(atPath: kept, toPath: place.store)
        try flipBit(2, ofByte: byte, in: "\(work)/\(name)")
        let resumed = try place.spool(["resume"])
        #expect(resumed.exitCode == 0, "byte \(byte) of \(name): \(resumed.errorOutput)")
        #expect(try place.allExports() == expected, "byte \(byte) of \(name)")
      }
    }
  }

  private static func pipeline(in place: Workspace) throws -> String {
    try place.pipeline(
      """
      pipeline: long
      inputs: { note: sound }
      stages:
        - decode
        - eq: { bands: [{ type: highpass, frequency: 80 Hz }] }
        - compress: { threshold: -24 dB, ratio: 3 }
        - normalize: { peak: -3 dB }
        - export: [wav, m4a]
      """)
  }

  /// Where in a run a signal arrives: when so many events hold a word.
  struct Moment: CustomTestStringConvertible, Sendable {
    let word: String
    let count: Int
    var testDescription: String { "after \(count) × \(word)" }

    static let all = [
      Moment(word: "\"started\"", count: 1), Moment(word: "\"progress\"", count: 4),
      Moment(word: "\"finished\"", count: 2), Moment(word: "\"pass\"", count: 2),
      Moment(word: "\"published\"", count: 1),
    ]
  }

  @Test(
    "SIGINT and SIGTERM end it at a clean point",
    arguments: [SIGINT, SIGTERM], [Moment.all[1], Moment.all[3]])
  func stopped(signal: Int32, restartPoint: Moment) throws {
    let running = try place.start(pipeline, [recording])
    try #require(try running.waits(for: restartPoint.word, times: restartPoint.count))
    running.send(signal)
    let (run, seconds) = try running.end()
    #expect(run.exitCode == 128 + signal, "\(run.errorOutput)")
    #expect(seconds < 2)
    #expect(run.record?.state == "interrupted")
    #expect(run.strayLines == [])
    #expect(!run.errorOutput.contains("error:"), "\(run.errorOutput)")
    // A file that was whole before the signal may be there, and nothing else.
    for name in place.exports { #expect(try place.export(name) == expected[name], "\(name)") }
    try expectCompletion()
  }

  @Test("a killed run leaves nothing under a final name that is not whole", arguments: Moment.all)
  func killed(restartPoint: Moment) throws {
    let running = try place.start(pipeline, [recording])
    try #require(try running.waits(for: restartPoint.word, times: restartPoint.count))
    running.send(SIGKILL)
    #expect(try running.end().run.exitCode == 128 + SIGKILL)
    for name in place.exports where !name.hasPrefix(".") {
      #expect(try place.export(name) == expected[name], "\(name)")
    }
    try expectCompletion()
  }

  @Test("what was killed again and again is done in the end")
  func killedOften() throws {
    for _ in 0..<5 {
      let running = try place.start(pipeline, [recording])
      usleep(UInt32.random(in: 5_000...400_000))
      running.send(SIGKILL)
      _ = try running.end()
    }
    try expectCompletion()
  }

  @Test("two at once on one store and one output folder give the same whole files")
  func twoAtOnce() throws {
    let both = try (0..<2).map { _ in try place.start(pipeline, [recording]) }
    let runs = try both.map { try $0.end().run }
    #expect(runs.contains { $0.exitCode == 0 })
    for run in runs where run.exitCode != 0 {
      #expect(run.exitCode == 1)
      #expect(run.complaint != nil, "\(run.errorOutput)")
    }
    #expect(try place.allExports() == expected)
  }

  private func expectCompletion() throws {
    let run = try place.run(pipeline, [recording])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == expected.keys.sorted(), "temporary files stay")
    #expect(try place.allExports() == expected)
    #expect(Workspace.names(in: place.store + "/drafts") == [])
  }

  @Test("where another recording lies in the place of an interrupted run's, status says what to do")
  func otherRecording() throws {
    let slow = try place.slowPipeline(seconds: 10)
    let note = place.file("note.wav")
    try Reference.record(note, seconds: 1)
    let running = try place.start(slow, [note])
    while running.isRunning, !place.exports.contains("note.wav") { usleep(2000) }
    running.send(SIGKILL)
    #expect(try running.end().run.exitCode == 128 + SIGKILL)
    try Reference.record(note, seconds: 2)
    let status = try place.spool(["status"])
    #expect(status.text.contains("is another one by now"), "\(status.text)")
    #expect(!status.errorOutput.contains("next:  spool resume"), "\(status.errorOutput)")
    let run = try #require(status.text.components(separatedBy: "spool resume ").last?.prefix(20))
    let resumed = try place.spool(["resume", String(run), "--replace"])
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(!(try place.spool(["status"]).text.contains("another one")))
  }
}

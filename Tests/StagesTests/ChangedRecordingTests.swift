import Audio
import Foundation
import PipelineEngine
import PipelineModel
import Platform
import TestSupport
import Testing

/// Recordings that something writes to while a pass reads them. Three steps tell of every eighth
/// block, and the reader is at most seventeen blocks ahead: at the third time it has read a fifth.
@Suite struct ChangedRecordingTests {
  private let workshop: Workshop
  private let original: Data

  init() throws {
    workshop = try Workshop(
      TestSound(AudioFormat(sampleRate: Hertz(48000), channelCount: 1), frames: 60 * 48000) {
        _, frame in Float(frame % 1009) / 1009 - 0.5
      })
    original = try Data(contentsOf: URL(fileURLWithPath: workshop.recording))
    try workshop.letClockTick()
  }

  private static func pipeline(_ damaged: String) -> String {
    """
    pipeline: archived
    inputs: { note: sound }
    stages:
      - decode: { from: $note, damaged: \(damaged) }
        keep: true
      - gain: -1 dB
      - export: { formats: [wav] }
    """
  }

  /// Writes to the recording in place, as `cp` and recorders do.
  private static func overwrite(_ path: String, with bytes: Data, from offset: Int = 0) {
    guard let file = FileHandle(forWritingAtPath: path) else { return }
    try? file.seek(toOffset: UInt64(offset))
    try? file.write(contentsOf: bytes)
    try? file.truncate(atOffset: UInt64(offset + bytes.count))
    try? file.close()
  }

  /// Runs, has something happen to the recording at a third of it, and expects the refusal.
  private func expectRefusal(
    _ damaged: String = "refuse", in store: String,
    _ harm: @escaping @Sendable (_ path: String, _ original: Data) -> Void
  ) throws {
    let (path, original) = (workshop.recording, original)
    let recorder = EventCount { count in if count == 3 { harm(path, original) } }
    let failure = try #require(throws: RunError.self) {
      try workshop.run(Self.pipeline(damaged), in: workshop.store(store), watching: recorder)
    }
    #expect(failure.error.message == "\(path) changed while it was read")
    #expect(failure.step == StepID("decode"))
    #expect(recorder.warnings == [], "what was found is of no recording")
  }

  /// Expects that a run of the original gives what it gives in a store that knows nothing of it.
  private func expectWhole(_ damaged: String = "refuse", in store: String) throws {
    Self.overwrite(workshop.recording, with: original)
    let recorder = EventCount()
    let record = try workshop.run(
      Self.pipeline(damaged), in: workshop.store(store), watching: recorder)
    let expected = try workshop.run(Self.pipeline(damaged), in: workshop.store("expected"))
    #expect(record.steps.map(\.outputs) == expected.steps.map(\.outputs))
    #expect(record.steps.map(\.outcome) == [.made, .made, .made])
    #expect(recorder.resumedAt == nil)
    #expect(recorder.warnings == [])
  }

  @Test func `nothing is left of a run in which the recording became another one`() throws {
    try expectRefusal(in: "store") { path, original in
      Self.overwrite(path, with: Data(count: original.count - 44), from: 44)
    }
    try expectWhole(in: "store")
  }

  @Test(arguments: ["refuse", "keep"])
  func `a recording that is cut off while it is read is not damaged`(damaged: String) throws {
    try expectRefusal(damaged, in: "store") { path, original in
      Self.overwrite(path, with: original.prefix(original.count / 2))
    }
    try expectWhole(damaged, in: "store")
  }

  @Test(arguments: ["refuse", "keep"])
  func `a recording that is copied over itself while it is read may have been read cut off`(
    damaged: String
  ) throws {
    try expectRefusal(damaged, in: "store") { path, original in
      Self.overwrite(path, with: Data())
      Self.overwrite(path, with: original)
    }
    try expectWhole(damaged, in: "store")
  }

  /// The stop comes after the change, and what is noted then is of the original: the process may
  /// as well have been killed.
  @Test func `what a stopped run left is of the recording as it was identified`() throws {
    let (path, original) = (workshop.recording, original)
    let recorder = EventCount(stoppingAt: 6) { count in
      guard count == 3 else { return }
      Self.overwrite(path, with: Data(count: original.count - 44), from: 44)
    }
    #expect(throws: RunError.self) {
      try workshop.run(Self.pipeline("refuse"), in: workshop.store("store"), watching: recorder)
    }
    Self.overwrite(path, with: original)
    let record = try workshop.run(Self.pipeline("refuse"), in: workshop.store("store"))
    let expected = try workshop.run(Self.pipeline("refuse"), in: workshop.store("expected"))
    #expect(record.steps.map(\.outputs) == expected.steps.map(\.outputs))
  }
}

import Foundation
import TestSupport
import Testing

@Suite("While the reader of standard output pauses, work waits, and a stop ends the waiting")
struct PausedReaderTests {
  /// Far more than the second for which the reader is waited for.
  private static let limit = 60

  private func paused(_ arguments: [String], in place: Workspace) throws -> RunningSpool {
    let running = try RunningSpool(
      try SpoolProgram.program, arguments, environment: ["SPOOL_STORE": place.store],
      folder: place.folder.path, isRead: false)
    try #require(running.waitsUntilFull())
    return running
  }

  @Test("a batch stops at its clean point, and goes on later")
  func batch() throws {
    let folder = try BatchFolder()
    for number in 0..<40 { try folder.putTiny(number, "note-\(number).wav") }
    let pipeline = try folder.pipeline()
    let running = try paused(
      ["batch", pipeline, folder.path, "--out", folder.place.out, "--json"], in: folder.place)
    running.send(SIGTERM)
    try #require(running.ends(within: Self.limit))
    let stopped = try running.end().run
    #expect(stopped.exitCode == 128 + SIGTERM, "\(stopped.errorOutput)")
    // The pipe may have had room for the last lines.
    let isWhole = stopped.events.contains { $0.event == "ended" }
    #expect(
      isWhole != stopped.errorOutput.contains("reader took nothing"), "\(stopped.errorOutput)")
    #expect(try folder.batch(pipeline).exitCode == 0)
  }

  @Test("a watch keeps to its --drain, and ends with 0")
  func watch() throws {
    let folder = try BatchFolder()
    for number in 0..<40 { try folder.putTiny(number, "note-\(number).wav") }
    let place = folder.place
    let running = try paused(
      [
        "watch", try folder.pipeline(), folder.path, "--out", place.out, "--outbox",
        place.file("acks"), "--settle", "50ms", "--drain", "5s", "--json",
      ], in: place)
    running.send(SIGTERM)
    try #require(running.ends(within: Self.limit))
    let stopped = try running.end().run
    #expect(stopped.exitCode == 0, "\(stopped.errorOutput)")
  }

  @Test(
    "a run is interrupted, and not cut off",
    .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
  func run() throws {
    let place = try Workspace()
    let note = place.file("note.wav")
    try Reference.record(note, seconds: 600, rate: 48000, channels: 2)
    let pipeline = try place.pipeline(
      """
      pipeline: long
      inputs: { note: sound }
      stages: [decode, { normalize: { peak: -3 dB } }, { export: [m4a] }]
      """)
    let running = try paused(["run", pipeline, note, "--out", place.out, "--json"], in: place)
    running.send(SIGTERM)
    try #require(running.ends(within: Self.limit))
    #expect(try running.end().run.exitCode == 128 + SIGTERM)
    let last = try place.spool(["runs", "list", "--json"])
    #expect(last.text.contains("\"interrupted\""), "\(last.text)")
  }
}

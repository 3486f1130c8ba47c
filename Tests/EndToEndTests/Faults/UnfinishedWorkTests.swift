import Foundation
import TestSupport
import Testing

@Suite(
  "What a stopped run has left is checked before it is used",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct UnfinishedWorkTests {
  private let place: Workspace
  private let note: String
  private let pipeline: String

  init() throws {
    place = try Workspace()
    note = place.file("note.wav")
    try Reference.record(note, seconds: 60, rate: 22_050, channels: 1)
    pipeline = try place.pipeline(
      """
      pipeline: note
      inputs: { note: sound }
      stages:
        - decode
        - compress: { threshold: -20 dB }
        - export: [wav, alac, m4a, mp3]
      """)
  }

  /// Stops a run in the middle, and moves its store away.
  /// - Returns: the unfinished files in it, by their paths in the store.
  private func leaveWork(in kept: String) throws -> [String] {
    let running = try place.start(pipeline, [note])
    try #require(try running.waits(for: "\"progress\"", times: 3))
    running.send(SIGINT)
    try #require(try running.end().run.exitCode == 128 + SIGINT)
    let files = try work()
    try FileManager.default.moveItem(atPath: place.store, toPath: kept)
    return files
  }

  /// Goes on with the work that was left.
  /// - Parameter change: what is done to the store before.
  private func goOn(from kept: String, _ change: () throws -> Void = {}) throws -> SpoolRun {
    try? FileManager.default.removeItem(atPath: place.store)
    try? FileManager.default.removeItem(atPath: place.out)
    try FileManager.default.copyItem(atPath: kept, toPath: place.store)
    try change()
    return try place.run(pipeline, [note])
  }

  private func work() throws -> [String] {
    let folder = place.store + "/work"
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.sorted().map { "work/" + $0 }.filter { name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: place.store + "/" + name)
      return attributes?[.type] as? FileAttributeType == .typeRegular
        && attributes?[.size] as? Int ?? 0 > 0
    }
  }

  @Test("a flipped bit in it changes no byte of what is made")
  func flipped() throws {
    let kept = place.file("kept")
    let files = try leaveWork(in: kept)
    #expect(files.count > 4, "\(files)")
    #expect(try goOn(from: kept).events.contains { $0.event == "resumed" })
    let other = try Workspace()
    try #require(try other.run(pipeline, [note]).exitCode == 0)
    let exports = try other.allExports()
    var random = SeededRandom(seed: 20_261_127)
    let rounds = LongTests.areWanted ? 40 : 1
    for file in (0..<rounds).flatMap({ _ in files }) {
      let path = place.store + "/" + file
      let bit = Int.random(in: 0..<8, using: &random)
      var byte = 0
      let run = try goOn(from: kept) {
        byte = Int.random(in: 0..<(try Data(contentsOf: URL(filePath: path)).count), using: &random)
        try flipBit(bit, ofByte: byte, in: path)
      }
      #expect(run.exitCode == 0, "bit \(bit) of byte \(byte) of \(file): \(run.errorOutput)")
      #expect(try place.allExports() == exports, "bit \(bit) of byte \(byte) of \(file)")
    }
  }
}

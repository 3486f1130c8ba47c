import Foundation
import TestSupport
import Testing

/// What the article on damaged recordings says of the decoder holds for the program.
@Suite(
  "A recording with something behind its sound",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct MangledRecordingTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  /// Files of PCM: the ending, the coding, and whether a second recording behind it is doubted.
  private static let kinds = [
    ("wav", "pcm_s16le"), ("w64", "pcm_s16le"), ("aiff", "pcm_s16be"), ("au", "pcm_s16be"),
    ("caf", "pcm_s16be"), ("voc", "pcm_s16le"),
  ]

  private func convert(_ name: String) throws -> (samples: Data, words: String) {
    let result = try place.spool(["convert", name, "--replace", "-o", "out.flac"])
    try #require(result.exitCode == 0, "\(name): \(result.errorOutput)")
    return (try Reference.samples(of: place.file("out.flac"), as: "s16le"), result.errorOutput)
  }

  private func write(_ bytes: Data, to name: String) throws {
    try bytes.write(to: URL(fileURLWithPath: place.file(name)))
  }

  @Test("is read in full, and without a word about padding", arguments: kinds)
  func padded(kind: (ending: String, coding: String)) throws {
    let name = "a." + kind.ending
    try Reference.record(place.file(name), seconds: 1, coding: ["-c:a", kind.coding])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: place.file(name)))
    let whole = try convert(name)
    let tag = Data("TAG".utf8) + Data(count: 125)
    for tail in [Data([0x5a]), Data(count: 4096), tag] {
      try write(bytes + tail, to: "b." + kind.ending)
      let found = try convert("b." + kind.ending)
      #expect(found.samples == whole.samples, "\(tail.count) bytes behind \(kind.ending)")
      #expect(!found.words.contains("may have been longer"), "\(found.words)")
    }
    // A second recording is not read, and that is told.
    try write(bytes + bytes, to: "b." + kind.ending)
    let found = try convert("b." + kind.ending)
    #expect(found.samples == whole.samples)
    #expect(found.words.contains("\(bytes.count) bytes follow"), "\(found.words)")
  }

  @Test("is doubted if the header counts half of it")
  func halfCounted() throws {
    try Reference.record(place.file("a.wav"), seconds: 2, rate: 44_100, channels: 2)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: place.file("a.wav")))
    let start = try #require(bytes.range(of: Data("data".utf8))).upperBound
    let half = UInt32(44_100 * 2 * 2)
    bytes.replaceSubrange(
      start..<start + 4, with: (0..<4).map { UInt8(truncatingIfNeeded: half >> (8 * $0)) })
    try write(bytes, to: "half.wav")
    let found = try convert("half.wav")
    #expect(found.samples.count == Int(half))
    let words = "it may have been longer: \(half) bytes follow the end that its header declares"
    #expect(found.words.contains(words), "\(found.words)")
  }
}

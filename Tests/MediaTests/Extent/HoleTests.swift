import Foundation
import Media
import Platform
import TestSupport
import Testing

@Suite(
  "A file with a hole",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct HoleTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// Makes a file longer, or shorter, without writing.
  private func setLength(_ byteCount: Int, of path: String) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.truncate(atOffset: UInt64(byteCount))
    try file.close()
  }

  /// The low bytes of a number, little-endian.
  private func digits(_ value: Int, _ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) })
  }

  private func made(_ ending: String, _ arguments: String = "", seconds: Double = 1) throws
    -> String
  {
    let path = scratch.file("tone.\(ending)")
    try FFmpeg.run(
      FFmpeg.sound(channels: 1, seconds: seconds) + arguments.split(separator: " ").map(String.init)
        + ["-bitexact", path])
    return path
  }

  private static let endings = [
    "wav", "w64", "aiff", "au", "caf", "flac", "mp3", "mp2", "aac", "ac3", "m4a", "mov", "mka",
    "ogg", "wma", "wv", "tta", "mpg", "ts",
  ]

  @Test("of 100 GB and no more is refused at once", arguments: endings)
  func empty(ending: String) throws {
    let path = scratch.file("x.\(ending)")
    try Data().write(to: URL(fileURLWithPath: path))
    try setLength(100 << 30, of: path)
    let duration = ContinuousClock().measure {
      #expect(throws: (any Error).self) { try Decoding(of: path) }
    }
    #expect(duration < .seconds(5))
  }

  @Test("of 100 GB behind a recording is refused at once, and not read", arguments: endings)
  func behind(ending: String) throws {
    let path = try made(ending)
    let whole = try Decoding(of: path)
    let byteCount = try Data(contentsOf: URL(fileURLWithPath: path)).count
    try setLength(100 << 30, of: path)
    let duration = ContinuousClock().measure {
      let error = #expect(throws: SpoolError.self) { try Decoding(of: path) }
      #expect(error?.reason?.hasSuffix("were never written") == true, "\(ending): \(error as Any)")
    }
    #expect(duration < .seconds(5))
    guard case .incomplete(let reason) = ContainerExtent(ofFileAt: path) else {
      Issue.record("\(ContainerExtent(ofFileAt: path))")
      return
    }
    #expect(reason.hasSuffix("bytes were never written"), "\(reason)")
    // What is left without the hole is the recording, with the rest of the disk's last block.
    try setLength((byteCount + 4095) & ~4095, of: path)
    #expect(try Decoding(of: path).samples == whole.samples)
  }

  @Test("of 100 GB that a header declares as sound is refused at once")
  func declared() throws {
    for seconds in [0.0, 1] {
      let path = try made("wav", "-rf64 always", seconds: max(seconds, 0.01))
      var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      for place in [20, 28] {
        bytes.replaceSubrange(place..<place + 8, with: digits(99 << 30, 8))
      }
      if seconds == 0 { bytes = bytes.prefix(120) }
      try bytes.write(to: URL(fileURLWithPath: path))
      try setLength(100 << 30, of: path)
      let duration = ContinuousClock().measure {
        #expect(throws: (any Error).self) { try Decoding(of: path) }
      }
      #expect(duration < .seconds(5))
    }
  }

  @Test("that is silence has the samples of one whose zeros were written")
  func silence() throws {
    let path = try made("wav", "-c:a pcm_s16le", seconds: 2)
    let header =
      try #require(
        try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data("data".utf8))
      ).upperBound + 4
    let tone = try Data(contentsOf: URL(fileURLWithPath: path)).dropFirst(header)
    for isAtEnd in [false, true] {
      let silent = 8 << 20
      let count = tone.count + silent + (isAtEnd ? 0 : tone.count)
      var head = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(header)
      head.replaceSubrange(
        4..<8, with: digits(count + header - 8, 4))
      head.replaceSubrange(header - 4..<header, with: digits(count, 4))
      let (written, sparse) = (scratch.file("written.wav"), scratch.file("sparse.wav"))
      try (head + tone + Data(count: silent) + (isAtEnd ? Data() : tone))
        .write(to: URL(fileURLWithPath: written))
      let copy = try #require(Program(named: "cp")).run(["--sparse=always", written, sparse])
      #expect(copy.exitCode == 0)
      #expect(ContainerExtent(ofFileAt: sparse) == .whole)
      let (expected, found) = (try Decoding(of: written), try Decoding(of: sparse))
      #expect(found.samples == expected.samples && found.doubt == nil)
      #expect(found.frameCount == count / 2)
    }
  }

  @Test("of some gigabytes may be silence")
  func longSilence() throws {
    let path = try made("w64", "-c:a pcm_s16le")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let end = 3 << 30
    let sound = try #require(bytes.range(of: Data("data".utf8))).lowerBound
    for (place, value) in [(16, end), (sound + 16, end - sound)] {
      bytes.replaceSubrange(place..<place + 8, with: digits(value, 8))
    }
    try bytes.write(to: URL(fileURLWithPath: path))
    try setLength(end, of: path)
    #expect(ContainerExtent(ofFileAt: path) == .whole)
  }
}

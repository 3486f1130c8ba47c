import Foundation
import Media
import TestSupport
import Testing

@Suite("A container says itself whether something is missing")
struct ContainerExtentTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private func extent(_ bytes: Data) throws -> ContainerExtent {
    let path = scratch.file("x")
    try bytes.write(to: URL(fileURLWithPath: path))
    return ContainerExtent(ofFileAt: path)
  }

  private func isIncomplete(_ extent: ContainerExtent) -> Bool {
    if case .incomplete = extent { true } else { false }
  }

  /// A real file of each container, as ffmpeg writes it.
  private static let formats = [
    "mp4 -c:a aac -movflags +faststart", "m4a -c:a alac", "wav", "aiff", "au", "w64", "caf",
    "caf -c:a alac", "wav -rf64 always", "flac", "ogg -c:a libvorbis", "ogg -c:a flac",
    "opus -c:a libopus", "mka -c:a flac", "webm -c:a libopus", "wma -c:a wmav2",
    "mp3 -c:a libmp3lame -q:a 4", "mp3 -c:a libmp3lame -id3v2_version 3 -metadata title=Walk",
  ]

  private func made(_ format: String) throws -> Data {
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    let words = format.split(separator: " ").map(String.init)
    let path = scratch.file("tone.\(words[0])")
    let result = try ffmpeg.run(
      ["-y", "-v", "error", "-f", "lavfi", "-i", "sine=440:sample_rate=48000:duration=1.1"]
        + words.dropFirst() + [path])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  @Test("every real file is whole, and no beginning of it is", arguments: formats)
  func beginnings(format: String) throws {
    let whole = try made(format)
    #expect(try extent(whole) == .whole)
    for length in stride(from: 1, to: whole.count - 2, by: max(17, whole.count / 97)) {
      let found = try extent(whole.prefix(length))
      // A few bytes are not yet known for what they will be.
      #expect(found != .whole || length < 32, "\(length) of \(whole.count)")
    }
    let half = try extent(whole.prefix(whole.count / 2))
    #expect(isIncomplete(half), "half of it: \(half)")
  }

  @Test(
    "tags behind the sound of a FLAC or MP3 file are no reason to wait",
    arguments: [
      "flac", "mp3 -c:a libmp3lame -q:a 4",
    ])
  func tagBehind(format: String) throws {
    let tag = Data("TAG".utf8) + Data(count: 125)
    #expect(try extent(try made(format) + tag) == .whole)
  }

  @Test("a tag before a FLAC stream is passed over")
  func tagBefore() throws {
    let whole = try made("flac")
    let tag = Data("ID3".utf8) + Data([3, 0, 0, 0, 0, 0, 40]) + Data(count: 40)
    #expect(try extent(tag + whole) == .whole)
    #expect(isIncomplete(try extent(tag + whole.prefix(whole.count / 2))))
    #expect(isIncomplete(try extent(tag.prefix(30))))
  }

  @Test("how much is missing is said where it is declared")
  func amounts() throws {
    for format in ["webm -c:a libopus", "wma -c:a wmav2", "w64", "mp3 -c:a libmp3lame"] {
      let whole = try made(format)
      let found = try extent(whole.prefix(whole.count - 1000))
      guard case .incomplete(let reason) = found else {
        Issue.record("\(format): \(found)")
        continue
      }
      #expect(reason.hasSuffix("and 1000 of them are missing"), "\(format): \(reason)")
    }
    guard case .incomplete(let reason) = try extent(made("flac").prefix(10_000)) else {
      Issue.record("half a FLAC file is whole")
      return
    }
    #expect(reason.hasPrefix("it declares 52800 samples of each channel, and about"))
  }

  @Test("a live WebM stream has no length: its last element is judged")
  func live() throws {
    let whole = try made("webm -c:a libopus -live 1 -f webm")
    #expect(try extent(whole) == .whole)
    #expect(isIncomplete(try extent(whole.prefix(whole.count - 20))))
  }

  @Test("an Ogg stream that ends with a page may go on; only the last page says that it does not")
  func oggPages() throws {
    let whole = try made("opus -c:a libopus -page_duration 100000")
    var ends: [Int] = []
    for start in 1..<whole.count where whole[start...].starts(with: "OggS".utf8) {
      ends.append(start)
    }
    #expect(ends.count > 3)
    for end in ends {
      #expect(try extent(whole.prefix(end)) == .unended("no page says that it is the last"))
    }
  }

  @Test("sound of unknown length in a CAF file goes to the file's end")
  func openCAF() throws {
    var bytes = try made("caf")
    let place = try #require(bytes.range(of: Data("data".utf8))).lowerBound
    bytes.replaceSubrange(place + 4..<place + 12, with: Data(repeating: 0xff, count: 8))
    #expect(try extent(bytes) == .whole)
    #expect(isIncomplete(try extent(bytes.prefix(place))))
  }

  @Test("an index that is still to be written is missed")
  func lateIndex() throws {
    var bytes = Data([0, 0, 0, 16])
    bytes += Data("ftypisom".utf8) + Data(repeating: 1, count: 4)
    bytes += Data([0, 0, 0, 12]) + Data("mdat".utf8) + Data(repeating: 7, count: 4)
    #expect(isIncomplete(try extent(bytes)))
    bytes += Data([0, 0, 0, 8]) + Data("moov".utf8)
    #expect(try extent(bytes) == .whole)
  }

  @Test("what was written to a pipe declares no length, and what is unknown declares nothing")
  func undeclared() throws {
    var bytes = Data("RIFF".utf8) + Data(repeating: 0xff, count: 4)
    bytes += Data("WAVE".utf8) + Data(repeating: 9, count: 40)
    #expect(try extent(bytes) == .whole)
    #expect(try extent(Data("no container at all".utf8)) == .whole)
  }

  @Test("nothing, and zeros, are a beginning at most; what is not there cannot be read")
  func nothing() throws {
    #expect(isIncomplete(try extent(Data())))
    #expect(isIncomplete(try extent(Data(count: 5000))))
    let absent = ContainerExtent(ofFileAt: scratch.file("absent"))
    let isUnreadable = if case .unreadable = absent { true } else { false }
    #expect(isUnreadable)
  }
}

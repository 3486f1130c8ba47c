import Foundation
import Media
import TestSupport
import Testing

@Suite("A container says itself whether something is missing")
struct ContainerExtentTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

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
    #expect(try scratch.extent(whole) == .whole)
    for length in stride(from: 1, to: whole.count - 2, by: max(17, whole.count / 97)) {
      let found = try scratch.extent(whole.prefix(length))
      // A few bytes are not yet known for what they will be.
      #expect(found != .whole || length < 32, "\(length) of \(whole.count)")
    }
    let half = try scratch.extent(whole.prefix(whole.count / 2))
    #expect(isIncomplete(half), "half of it: \(half)")
  }

  @Test("streams of frames and of packets never tell where they end; every container does")
  func ends() throws {
    let streams = [
      "aac -c:a aac -f adts", "mp2 -c:a mp2", "ac3 -c:a ac3", "eac3 -c:a eac3",
      "mp3 -c:a libmp3lame -write_xing 0",
      "mp3 -c:a libmp3lame -write_xing 0 -id3v2_version 3 -metadata title=Walk", "ts -c:a aac",
      "mpg -c:a mp2",
    ]
    for format in Self.formats + streams {
      let path = scratch.file("x")
      try made(format).write(to: URL(fileURLWithPath: path))
      #expect(ContainerExtent.tellsEnd(ofFileAt: path) == !streams.contains(format), "\(format)")
    }
  }

  @Test(
    "tags behind the sound of a FLAC or MP3 file are no reason to wait",
    arguments: [
      "flac", "mp3 -c:a libmp3lame -q:a 4",
    ])
  func tagBehind(format: String) throws {
    let tag = Data("TAG".utf8) + Data(count: 125)
    #expect(try scratch.extent(try made(format) + tag) == .whole)
  }

  @Test("a tag before a FLAC stream is passed over")
  func tagBefore() throws {
    let whole = try made("flac")
    let tag = Data("ID3".utf8) + Data([3, 0, 0, 0, 0, 0, 40]) + Data(count: 40)
    #expect(try scratch.extent(tag + whole) == .whole)
    #expect(isIncomplete(try scratch.extent(tag + whole.prefix(whole.count / 2))))
    #expect(isIncomplete(try scratch.extent(tag.prefix(30))))
  }

  @Test(
    "the last byte of the sound is missed, and one that fills up an odd length is not",
    arguments: ["wav", "wav -rf64 always", "aiff"], [8, 16, 24, 32])
  func lastByte(container: String, bits: Int) throws {
    let isAIFF = container == "aiff"
    let codec = bits == 8 ? (isAIFF ? "pcm_s8" : "pcm_u8") : "pcm_s\(bits)\(isAIFF ? "be" : "le")"
    for (frames, channels) in [(4799, 1), (4799, 2), (4799, 3), (4800, 1)] {
      let whole = try made(
        "\(container) -bitexact -c:a \(codec) -ac \(channels) -af atrim=end_sample=\(frames)")
      #expect(try scratch.extent(whole) == .whole)
      // ffmpeg counts such a byte as sound in RF64.
      let isOdd = frames * channels * bits / 8 % 2 == 1 && !container.contains("rf64")
      let cut = try scratch.extent(whole.dropLast())
      #expect(isOdd ? cut == .whole : isIncomplete(cut), "\(frames)")
      #expect(isIncomplete(try scratch.extent(whole.dropLast(2))), "\(frames)")
    }
  }

  @Test("how much is missing is said where it is declared")
  func amounts() throws {
    for format in ["webm -c:a libopus", "wma -c:a wmav2", "w64", "mp3 -c:a libmp3lame"] {
      let whole = try made(format)
      let found = try scratch.extent(whole.prefix(whole.count - 1000))
      guard case .incomplete(let reason) = found else {
        Issue.record("\(format): \(found)")
        continue
      }
      #expect(reason.hasSuffix("and 1000 of them are missing"), "\(format): \(reason)")
    }
    guard case .incomplete(let reason) = try scratch.extent(made("flac").prefix(10_000)) else {
      Issue.record("half a FLAC file is whole")
      return
    }
    #expect(reason.hasPrefix("it declares 52800 samples of each channel, and about"))
  }

  @Test("a live WebM stream has no length: its last element is judged")
  func live() throws {
    let whole = try made("webm -c:a libopus -live 1 -f webm")
    #expect(try scratch.extent(whole) == .whole)
    #expect(isIncomplete(try scratch.extent(whole.prefix(whole.count - 20))))
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
      #expect(try scratch.extent(whole.prefix(end)) == .unended("no page says that it is the last"))
    }
  }

  @Test("sound of unknown length in a CAF file goes to the file's end")
  func openCAF() throws {
    var bytes = try made("caf")
    let place = try #require(bytes.range(of: Data("data".utf8))).lowerBound
    bytes.replaceSubrange(place + 4..<place + 12, with: Data(repeating: 0xff, count: 8))
    #expect(try scratch.extent(bytes) == unfinished)
    #expect(isIncomplete(try scratch.extent(bytes.prefix(place))))
  }

  private let unfinished = ContainerExtent.unended("its header declares no length")

  @Test("SoX counts a block of 16 bits short in VOC files, which are whole all the same")
  func shortVoiceBlock() throws {
    let sox = try #require(Program(named: "sox"))
    let path = scratch.file("tone.voc")
    let made = try sox.run([
      "-D", "-n", "-r", "48000", "-b", "16", path, "synth", "1", "sine", "440", "vol", "0.5",
    ])
    try #require(made.exitCode == 0, "\(made.errorOutput)")
    let bytes = try Data(contentsOf: URL(filePath: path))
    guard case .unended(let reason) = try scratch.extent(bytes) else {
      Issue.record("\(try scratch.extent(bytes))")
      return
    }
    #expect(reason == "its last block counts 8 bytes less than there are")
    for count in [1, 2, 5, 40000] {
      #expect(isIncomplete(try scratch.extent(bytes.dropLast(count))))
    }
  }

  @Test("a header that was never finished leaves its end open", arguments: counts)
  func unfinishedHeaders(count: Count) throws {
    let whole = try made(count.format)
    let place = try #require(whole.range(of: Data(count.mark.utf8))).lowerBound + count.distance
    for digit: UInt8 in count.format == "caf" ? [0xff] : [0, 0xff] {
      var bytes = whole
      for place in [place, count.total].compactMap({ $0 }) {
        bytes.replaceSubrange(
          place..<place + count.byteCount, with: Data(repeating: digit, count: count.byteCount))
      }
      #expect(try scratch.extent(bytes) == unfinished, "\(digit)")
      #expect(try scratch.extent(bytes.prefix(40_000)) == unfinished, "\(digit)")
    }
  }

  @Test(
    "what SoX writes to a pipe declares no length", .enabled(if: Program(named: "sox") != nil),
    arguments: ["wav", "aiff", "w64", "au"])
  func soxPipe(format: String) throws {
    let sox = try #require(Program(named: "sox"))
    let path = scratch.file("pipe.\(format)")
    let shell = try #require(Program(named: "sh"))
    let tone = "-n -r 48000 -b 16 -t \(format) - synth 1 sine 440"
    let command = "'\(sox.path)' \(tone) 2>&- | cat >'\(path)'"
    #expect(try shell.run(["-c", command]).exitCode == 0)
    #expect(ContainerExtent(ofFileAt: path) == unfinished)
  }

  @Test("a FLAC stream that was written to a pipe declares no length")
  func unfinishedFLAC() throws {
    var bytes = try made("flac")
    // The 36 bits of the count of samples.
    bytes[21] &= 0xf0
    bytes.replaceSubrange(22..<26, with: Data(count: 4))
    #expect(try scratch.extent(bytes) == unfinished)
  }

  @Test(
    "a last frame that is cut off is seen where nothing is declared",
    arguments: [
      "mp3 -c:a libmp3lame -write_xing 0", "mp3 -c:a libmp3lame -q:a 4 -write_xing 0",
      "mp2 -ar 44100", "aac", "ac3", "ac3 -ar 44100", "eac3",
    ])
  func lastFrames(format: String) throws {
    let whole = try made(format)
    #expect(try scratch.extent(whole) == .whole)
    let isRefused = !format.hasPrefix("mp")
    for cut in [1, 50, 101, 333] {
      let found = try scratch.extent(whole.dropLast(cut))
      #expect(
        isRefused ? isIncomplete(found) : found == .unended("its last frame is cut off"), "\(cut)")
    }
    let tag = Data("TAG".utf8) + Data(count: 125)
    #expect(try scratch.extent(whole + tag) == .whole)
  }

  /// Where a header counts its sound.
  struct Count: Sendable, CustomTestStringConvertible {
    let format: String
    /// What stands before the count, and at which distance.
    let mark: String
    let distance: Int
    let byteCount: Int
    var isBigEndian = false
    /// Where the header counts the whole file; nil if it does not.
    let total: Int?
    var testDescription: String { format }

    /// Halves the number at `place`.
    func halve(_ bytes: inout Data, at place: Int) {
      let range = place..<place + byteCount
      let value = bytes[range].mostSignificantFirst(isBigEndian).reduce(0) { $0 << 8 | Int($1) }
      put(value / 2 & ~15, in: &bytes, at: place)
    }

    /// Writes a number at `place`.
    func put(_ value: Int, in bytes: inout Data, at place: Int) {
      let digits = (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      bytes.replaceSubrange(
        place..<place + byteCount, with: isBigEndian ? digits.reversed() : digits)
    }
  }

  private static let counts = [
    Count(format: "wav", mark: "data", distance: 4, byteCount: 4, total: 4),
    Count(format: "wav -rf64 always", mark: "ds64", distance: 16, byteCount: 8, total: 20),
    Count(format: "w64", mark: "data", distance: 16, byteCount: 8, total: 16),
    Count(format: "aiff", mark: "SSND", distance: 4, byteCount: 4, isBigEndian: true, total: 4),
    Count(format: "caf", mark: "data", distance: 4, byteCount: 8, isBigEndian: true, total: nil),
    Count(format: "au", mark: ".snd", distance: 8, byteCount: 4, isBigEndian: true, total: nil),
  ]

  @Test("sound that the header does not count is doubted", arguments: counts)
  func uncounted(count: Count) throws {
    let whole = try made(count.format)
    #expect(try scratch.extent(whole) == .whole)
    let place = try #require(whole.range(of: Data(count.mark.utf8))).lowerBound
    var bytes = whole
    count.halve(&bytes, at: place + count.distance)
    for total in [nil, count.total] {
      if let total { count.halve(&bytes, at: total) }
      guard case .unended(let reason) = try scratch.extent(bytes) else {
        Issue.record("\(try scratch.extent(bytes))")
        continue
      }
      let words = reason.split(separator: " ", maxSplits: 1)
      let uncounted = try #require(words.first.flatMap { Int($0) })
      #expect((50_000...106_000).contains(uncounted), "\(uncounted) of \(whole.count)")
      #expect(words.last == "bytes follow the end that its header declares, and are not read")
    }
  }

  @Test("sound that is cut off is missed, whatever the file's own length says", arguments: counts)
  func cutSound(count: Count) throws {
    let whole = try made(count.format)
    for cut in [whole.prefix(40_001), whole.prefix(whole.count * 6 / 10), whole.dropLast(3)] {
      let totals = count.total == nil ? [0] : [0, -1, 0x14, 0x7fff_f024, 512 << 20, cut.count - 8]
      for total in totals {
        var bytes = Data(cut)
        if let place = count.total { count.put(total, in: &bytes, at: place) }
        #expect(isIncomplete(try scratch.extent(bytes)), "\(cut.count) of \(total)")
      }
    }
  }

  @Test("a length that no program counts is one that was never filled in")
  func placeholders() throws {
    let whole = try made("wav -bitexact")
    let sound = try #require(whole.range(of: Data("data".utf8))).upperBound
    let count = try #require(Self.counts.first { $0.format == "wav" })
    for length in [0, 0x7fff_f000, 0x7fff_ff00, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff] {
      for total in [length, length + 36, 0x14] {
        var bytes = whole
        count.put(length, in: &bytes, at: sound)
        count.put(total, in: &bytes, at: 4)
        #expect(try scratch.extent(bytes) == unfinished, "\(length), \(total)")
      }
      // Where the file's own length was filled in, it says where the sound ends.
      var bytes = whole
      count.put(length, in: &bytes, at: sound)
      #expect(try scratch.extent(bytes) == .whole, "\(length)")
    }
  }

  @Test("a header that counts itself as sound is doubted, and not refused")
  func countedHeader() throws {
    var bytes = try made("wav -bitexact")
    let sound = try #require(bytes.range(of: Data("data".utf8))).upperBound
    let count = try #require(Self.counts.first { $0.format == "wav" })
    for excess in [8, sound - 4, sound + 4] {
      count.put(bytes.count - sound - 4 + excess, in: &bytes, at: sound)
      #expect(
        try scratch.extent(bytes)
          == .unended("its header counts \(excess) bytes of its own as sound"))
    }
  }

  @Test("a second recording in the file is doubted", arguments: counts)
  func another(count: Count) throws {
    let whole = try made(count.format)
    guard case .unended(let reason) = try scratch.extent(whole + whole) else {
      Issue.record("\(try scratch.extent(whole + whole))")
      return
    }
    #expect(reason.hasPrefix("\(whole.count) bytes follow"), "\(reason)")
  }

  @Test("chunks, tags and padding behind the sound are no reason to doubt", arguments: counts)
  func harmless(count: Count) throws {
    let whole = try made(count.format)
    let tag = Data("ID3".utf8) + Data([3, 0, 0, 0, 0, 0, 40]) + Data(count: 40)
    for rest in [Data([7]), Data(count: 4096), tag, Data("TAG".utf8) + Data(count: 125)] {
      #expect(try scratch.extent(whole + rest) == .whole, "\(rest.count) bytes")
    }
    guard ["wav", "aiff"].contains(count.format) else { return }
    let isBig = count.isBigEndian
    for length: UInt8 in [20, 21] {
      let chunk =
        Data("note".utf8) + Data(isBig ? [0, 0, 0, length] : [length, 0, 0, 0])
        + Data(repeating: 0x5a, count: Int(length))
      // Some writers fill up an odd length, and some do not.
      #expect(try scratch.extent(whole + chunk) == .whole)
      #expect(try scratch.extent(whole + chunk + Data([0]) + chunk) == .whole || length == 20)
      #expect(try scratch.extent(whole + chunk + chunk) == .whole)
    }
  }

  @Test("an index that is still to be written is missed")
  func lateIndex() throws {
    var bytes = Data([0, 0, 0, 16])
    bytes += Data("ftypisom".utf8) + Data(repeating: 1, count: 4)
    bytes += Data([0, 0, 0, 12]) + Data("mdat".utf8) + Data(repeating: 7, count: 4)
    #expect(isIncomplete(try scratch.extent(bytes)))
    bytes += Data([0, 0, 0, 8]) + Data("moov".utf8)
    #expect(try scratch.extent(bytes) == .whole)
  }

  @Test("what was written to a pipe declares no length, and what is unknown declares nothing")
  func undeclared() throws {
    var bytes = Data("RIFF".utf8) + Data(repeating: 0xff, count: 4)
    bytes += Data("WAVE".utf8) + Data(repeating: 9, count: 40)
    #expect(try scratch.extent(bytes) == .whole)
    bytes = Data("RIFF".utf8) + Data(repeating: 0xff, count: 4)
    bytes += Data("WAVEdata".utf8) + Data(repeating: 0xff, count: 40)
    #expect(try scratch.extent(bytes) == unfinished)
    #expect(try scratch.extent(Data("no container at all".utf8)) == .whole)
  }

  @Test("nothing, and zeros, are a beginning at most; what is not there cannot be read")
  func nothing() throws {
    #expect(isIncomplete(try scratch.extent(Data())))
    #expect(isIncomplete(try scratch.extent(Data(count: 5000))))
    let absent = ContainerExtent(ofFileAt: scratch.file("absent"))
    let isUnreadable = if case .unreadable = absent { true } else { false }
    #expect(isUnreadable)
  }
}

extension Data {
  /// The bytes with the most significant one first.
  fileprivate func mostSignificantFirst(_ isBigEndian: Bool) -> [UInt8] {
    isBigEndian ? Array(self) : Array(self.reversed())
  }
}

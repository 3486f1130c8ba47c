import Foundation
import Media
import Platform
import TestSupport
import Testing

/// Every kind of file with every kind of damage, against the table in the article on damaged
/// recordings.
@Suite(
  "A mangled file",
  .enabled(
    if: ["ffmpeg", "sox", "flac"].allSatisfy { Program(named: $0) != nil },
    "ffmpeg, sox or flac is not installed"))
struct MangledFileTests {
  let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// A kind of file: the table's name of it, the file's ending, and the program that writes it with
  /// its arguments. `IN` stands for a WAV file, `OUT` for the file; without it the program writes to a
  /// pipe.
  struct Kind: Sendable, CustomTestStringConvertible {
    let name: String
    let ending: String
    let program: String
    let arguments: [String]
    var testDescription: String { name }

    /// Whether the outcome depends on where packets begin: encoders of lossy formats give other bytes
    /// on other processors.
    func variesWith(_ mangling: Mangling) -> Bool {
      let lossy = ["libvorbis", "libopus", "libspeex", "libmp3lame", "mp2", "aac", "ac3", "wmav2"]
      return [.inserted, .repeated].contains(mangling) && arguments.contains { lossy.contains($0) }
    }

    init(_ name: String, _ ending: String, _ arguments: String, by program: String? = nil) {
      self.name = name
      self.ending = ending
      self.program = program ?? "ffmpeg"
      let line = program == nil ? "-loglevel error -y -i IN -bitexact \(arguments) OUT" : arguments
      self.arguments = line.split(separator: " ").map(String.init)
    }
  }

  static let kinds: [Kind] = [
    Kind("WAV", "wav", "-c:a pcm_s16le"),
    Kind("WAV, float", "wav", "-c:a pcm_f32le"),
    Kind("RF64", "wav", "-c:a pcm_s24le -rf64 always"),
    Kind("Wave64", "w64", "-c:a pcm_s16le"),
    Kind("AIFF", "aiff", "-c:a pcm_s16be"),
    Kind("AU", "au", "-c:a pcm_s16be"),
    Kind("VOC", "voc", "-c:a pcm_s16le"),
    Kind("AVI, PCM", "avi", "-c:a pcm_s16le"),
    Kind("CAF, PCM", "caf", "-c:a pcm_s16le"),
    Kind("CAF, ALAC", "caf", "-c:a alac"),
    Kind("FLAC", "flac", "-c:a flac"),
    Kind("WavPack", "wv", "-c:a wavpack -metadata title=Walk"),
    Kind("TTA", "tta", "-c:a tta"),
    Kind("Ogg FLAC", "ogg", "-c:a flac -page_duration 200000"),
    Kind("Ogg Vorbis", "ogg", "-c:a libvorbis -page_duration 200000"),
    Kind("Ogg Opus", "opus", "-c:a libopus -page_duration 200000"),
    Kind("Ogg Speex", "spx", "-c:a libspeex -ar 16000 -page_duration 200000"),
    Kind("MP3", "mp3", "-c:a libmp3lame -metadata title=Walk"),
    Kind("MP3, no length", "mp3", "-c:a libmp3lame -write_xing 0"),
    Kind("MP2", "mp2", "-c:a mp2"),
    Kind("AAC, ADTS", "aac", "-c:a aac"),
    Kind("AC-3", "ac3", "-c:a ac3"),
    Kind("M4A, AAC", "m4a", "-c:a aac"),
    Kind("M4A, ALAC", "m4a", "-c:a alac"),
    Kind(
      "MP4, fragments", "mp4", "-c:a aac -movflags frag_keyframe+empty_moov -frag_duration 500000"),
    Kind("Matroska, AAC", "mka", "-c:a aac"),
    Kind("Matroska, FLAC", "mka", "-c:a flac"),
    Kind("WebM, Opus", "webm", "-c:a libopus"),
    Kind("WebM, live", "webm", "-c:a libopus -live 1"),
    Kind("WebM, Vorbis", "webm", "-c:a libvorbis"),
    Kind("WMA", "wma", "-c:a wmav2"),
    Kind("MPEG-TS, AAC", "ts", "-c:a aac"),
    Kind("MPEG-TS, MP2", "ts", "-c:a mp2 -b:a 160k"),
    Kind("MPEG-PS, MP2", "mpg", "-c:a mp2 -b:a 160k"),
    Kind("WAV, SoX", "wav", "-D IN -b 24 OUT", by: "sox"),
    Kind("WAV, SoX into a pipe", "wav", "IN -t wav -", by: "sox"),
    Kind("Wave64, SoX", "w64", "IN OUT", by: "sox"),
    Kind("AIFF, SoX", "aiff", "IN OUT", by: "sox"),
    Kind("Ogg Vorbis, SoX", "ogg", "IN OUT", by: "sox"),
    Kind("FLAC, flac", "flac", "-s -8 -T TITLE=Walk -o OUT IN", by: "flac"),
    Kind("FLAC, flac into a pipe", "flac", "-s -c IN", by: "flac"),
    Kind("Ogg FLAC, flac", "oga", "-s --ogg --serial-number=7 -o OUT IN", by: "flac"),
  ]

  /// What is done to a file, in the order of the table's columns.
  enum Mangling: String, CaseIterable {
    case whole, cut10 = "cut 10 %", cut60 = "cut 60 %", cut99 = "cut 99 %", cutEnd = "−100 bytes"
    case removed = "3 kB removed", zeroed = "3 kB zeroed", inserted = "3 kB inserted"
    case repeated = "3 kB twice", zeroTail = "tail zeros"
    case id3v1 = "ID3v1", ape = "APEv2", both = "both tags", id3v2 = "ID3v2 before"
    case stray = "stray byte", padding = "4 kB zeros", hole = "8 MB hole", twice = "two in one"
    case otherHead = "other head"

    /// The mangled bytes; `longer` is a longer recording of the same kind.
    func callAsFunction(_ bytes: Data, longer: Data) -> Data {
      let (count, middle) = (bytes.count, bytes.count / 2)
      var chance = SeededRandom(seed: 7)
      return switch self {
      case .whole: bytes
      case .cut10: bytes.prefix(count / 10)
      case .cut60: bytes.prefix(count * 6 / 10)
      case .cut99: bytes.prefix(count * 99 / 100)
      case .cutEnd: bytes.dropLast(100)
      case .removed: Data(bytes[..<middle]) + bytes[(middle + 3000)...]
      case .zeroed: Data(bytes[..<middle]) + Data(count: 3000) + bytes[(middle + 3000)...]
      case .inserted:
        bytes[..<middle] + Data((0..<3000).map { _ in UInt8.random(in: 0...255, using: &chance) })
          + bytes[middle...]
      case .repeated: bytes[..<middle] + bytes[(middle - 3000)...]
      case .zeroTail: bytes.prefix(count * 7 / 10) + Data(count: count - count * 7 / 10)
      case .id3v1: bytes + Self.id3v1Tag
      case .ape: bytes + Self.apeTag
      case .both: bytes + Self.apeTag + Self.id3v1Tag
      case .id3v2: Self.id3v2Tag + bytes
      case .stray: bytes + Data([0x5a])
      case .padding: bytes + Data(count: 4096)
      case .hole: bytes + Data(count: 8 << 20)
      case .twice: bytes + bytes
      case .otherHead: longer.prefix(256) + bytes.dropFirst(256)
      }
    }

    private static let id3v1Tag = Data("TAG".utf8) + Data("Walk".utf8) + Data(count: 121)

    private static let apeTag: Data = {
      let item = Data([4, 0, 0, 0, 0, 0, 0, 0]) + Data("Title\0Walk".utf8)
      func mark(_ flags: UInt8) -> Data {
        Data("APETAGEX".utf8) + Data([0xd0, 7, 0, 0, UInt8(item.count + 32), 0, 0, 0, 1, 0, 0, 0])
          + Data([0, 0, 0, flags]) + Data(count: 8)
      }
      return mark(0xa0) + item + mark(0x80)
    }()

    private static let id3v2Tag =
      Data("ID3".utf8) + Data([4, 0, 0, 0, 0, 0, 115]) + Data("TIT2".utf8)
      + Data([0, 0, 0, 5, 0, 0, 3]) + Data("Walk".utf8) + Data(count: 100)
  }

  /// What becomes of a file.
  enum Outcome: String {
    /// The same samples as those of the whole file.
    case same = "="
    /// An error.
    case refused = "×"
    /// Sound, and a warning that it may be cut off.
    case doubted = "?"
    /// Other sound, without a word: nothing in the file tells.
    case other = "~"
    /// Less than nine tenths of the sound, without a word: never right.
    case half = "½"
  }

  private func outcome(of path: String, whole: [Float]?) -> Outcome {
    guard let decoding = try? Decoding(of: path) else { return .refused }
    if decoding.doubt != nil { return .doubted }
    guard let whole, decoding.samples != whole else { return .same }
    return decoding.samples.count * 10 < whole.count * 9 ? .half : .other
  }

  private func made(_ kind: Kind, seconds: Double) throws -> Data {
    let path = scratch.file("\(seconds).\(kind.ending)")
    let source = scratch.file("\(seconds) source.wav")
    try FFmpeg.run(FFmpeg.sound(channels: 1, seconds: seconds) + ["-bitexact", source])
    let program = try #require(Program(named: kind.program))
    let result = try program.run(kind.arguments.map { ["IN": source, "OUT": path][$0] ?? $0 })
    try #require(result.exitCode == 0, "\(result.errorOutput)")
    if !kind.arguments.contains("OUT") { return result.output }
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  @Test("is refused, doubted or read in full as the table says", arguments: kinds)
  func outcomes(kind: Kind) throws {
    let (bytes, longer) = (try made(kind, seconds: 6.3), try made(kind, seconds: 9))
    let path = scratch.file("x.\(kind.ending)")
    var whole: [Float]?
    var found: [String] = []
    for mangling in Mangling.allCases {
      try mangling(bytes, longer: longer).write(to: URL(fileURLWithPath: path))
      found.append(outcome(of: path, whole: whole).rawValue)
      if mangling == .whole { whole = try Decoding(of: path).samples }
    }
    let row = [kind.name] + found
    let rows = try Self.table().map { $0.split(separator: "|").map { $0.trimmed } }
    let expected = try #require(rows.first { $0.first == kind.name })
    try #require(expected.count == row.count)
    for (index, mangling) in Mangling.allCases.enumerated() where !kind.variesWith(mangling) {
      #expect(row[index + 1] == expected[index + 1], "\(mangling.rawValue) of \(row)")
    }
  }

  @Test(
    "with flipped bits is refused where the format has checksums, and ends well elsewhere",
    arguments: kinds)
  func flips(kind: Kind) throws {
    let bytes = try made(kind, seconds: 3)
    let path = scratch.file("x.\(kind.ending)")
    try bytes.write(to: URL(fileURLWithPath: path))
    let whole = try Decoding(of: path).samples
    var chance = SeededRandom(seed: 7)
    let middle = bytes.count / 2
    let ranges = [0..<200, middle..<(middle + 2000), (bytes.count - 200)..<bytes.count]
    for (range, round) in ranges.flatMap({ range in (0..<5).map { (range, $0) } }) {
      var flipped = bytes
      for _ in 0...round % 3 {
        let place = Int.random(in: range, using: &chance)
        flipped[place] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
      }
      try flipped.write(to: URL(fileURLWithPath: path))
      let outcome = outcome(of: path, whole: whole)
      #expect(outcome != .half, "\(range), round \(round)")
      let hasChecksums = ["FLAC", "WavPack", "TTA", "Ogg"].contains { kind.name.hasPrefix($0) }
      #expect(outcome == .refused || !hasChecksums || range.lowerBound != middle)
    }
  }

  @Test("has a row and a column in the table for each kind and each damage")
  func headings() throws {
    let table = try Self.table()
    let heading = "| file | " + Mangling.allCases.map(\.rawValue).joined(separator: " | ") + " |"
    #expect(table.contains(heading), "\(heading)")
    #expect(table.count == Self.kinds.count + 2)
    #expect(!table.joined().contains(Outcome.half.rawValue))
  }

  private static func table() throws -> [String] {
    let path = PackageFiles.article("Formats/DamagedRecordings")
    return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
      .drop { !$0.hasPrefix("| file") }.prefix { $0.hasPrefix("|") }.map { $0 }
  }
}

extension Substring {
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}

import Foundation

/// WAV files made by hand, byte by byte, as the specifications have them.
struct WaveBytes {
  /// A little-endian number.
  static func number(_ value: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// A chunk, padded to an even length.
  static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + number(body.count) + body + (body.count % 2 == 1 ? [0] : [])
  }

  /// The chunk's identifier in Wave64 and what it holds, padded to a multiple of eight.
  static func wave64Chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    identifier(name) + number(body.count + 24, 8) + body
      + [UInt8](repeating: 0, count: (8 - body.count % 8) % 8)
  }

  private static func identifier(_ name: String) -> [UInt8] {
    Array(name.utf8)
      + [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
  }

  /// Eight thousand frames of 16-bit mono at 8 kHz.
  static let format =
    [1, 0, 1, 0] as [UInt8] + number(8000) + number(16_000) + [2, 0, 16, 0]
  static let samples = [UInt8](repeating: 1, count: 16_000)

  /// A field of text with zeros behind it.
  static func field(_ text: String, _ count: Int) -> [UInt8] {
    Array(text.utf8) + [UInt8](repeating: 0, count: count - text.utf8.count)
  }

  /// A `bext` chunk's content, version 1.
  static func bext(_ description: String, time: Int, history: String) -> [UInt8] {
    field(description, 256) + field("Recorder 7", 32) + field("REF-0042", 32)
      + field("2026-03-14", 10) + field("15:09:26", 8) + number(time, 8) + number(1, 2)
      + [UInt8](repeating: 0x5A, count: 64) + [UInt8](repeating: 0, count: 190)
      + Array(history.utf8)
  }

  /// A `cue ` chunk's content.
  static func cue(_ points: [(number: Int, frame: Int)]) -> [UInt8] {
    points.reduce(number(points.count)) { bytes, point in
      bytes + number(point.number) + number(point.frame) + Array("data".utf8) + number(0)
        + number(0) + number(point.frame)
    }
  }

  /// A `LIST` chunk's content of names, by point.
  static func names(_ names: [(number: Int, name: String)]) -> [UInt8] {
    names.reduce(Array("adtl".utf8)) {
      $0 + chunk("labl", number($1.number) + Array($1.name.utf8) + [0])
    }
  }

  /// A RIFF file of the sound with these chunks before and behind it.
  static func riff(before: [UInt8] = [], behind: [UInt8] = []) -> [UInt8] {
    let body =
      Array("WAVE".utf8) + before + chunk("fmt ", format) + chunk("data", samples) + behind
    return Array("RIFF".utf8) + number(body.count) + body
  }

  /// The same as RF64, whose lengths stand in a chunk of their own.
  static func rf64(before: [UInt8] = [], behind: [UInt8] = []) -> [UInt8] {
    let rest =
      before + chunk("fmt ", format) + Array("data".utf8) + number(0xFFFF_FFFF) + samples + behind
    let lengths =
      number(4 + 36 + rest.count, 8) + number(samples.count, 8) + number(8000, 8) + number(0)
    return Array("RF64".utf8) + number(0xFFFF_FFFF) + Array("WAVE".utf8) + chunk("ds64", lengths)
      + rest
  }

  /// The same as Wave64; the chunks are those of Wave64 too.
  static func wave64(before: [UInt8] = [], behind: [UInt8] = []) -> [UInt8] {
    let rest =
      before + wave64Chunk("fmt ", format) + wave64Chunk("data", samples) + behind
    return Array("riff".utf8)
      + [0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0, 0]
      + number(40 + rest.count, 8) + identifier("wave") + rest
  }
}

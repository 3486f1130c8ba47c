/// The production data of a Broadcast Wave file: the `bext` chunk of EBU Tech 3285, version 2.
///
/// The standard requires ASCII. Other texts are written as UTF-8, as most programs do, and
/// truncated between characters; text that is not UTF-8 is read as Latin-1.
package struct BroadcastExtension: Hashable, Sendable {
  package var description = ""
  package var originator = ""
  package var originatorReference = ""
  /// The date of creation: `2026-03-14`; empty if unknown.
  package var originationDate = ""
  /// The time of creation: `15:09:26`; empty if unknown.
  package var originationTime = ""
  /// Frames from midnight to the first one of the file.
  package var timeReference: UInt64 = 0
  /// The SMPTE ST 330 identifier of the material, 64 bytes; empty if there is none.
  package var materialIdentifier: [UInt8] = []
  /// How loud it is.
  package var loudness = Loudness()
  /// The processing steps, a line each, after EBU R 98.
  package var codingHistory = ""

  package init() {}

  /// Bytes before the coding history.
  static let fixedByteCount = 602
  /// The length of the fields that all versions share.
  private static let leastByteCount = 348

  /// Reads a chunk of any version; nil if it is too short. The identifier exists from version 1,
  /// the loudness from version 2.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.leastByteCount else { return nil }
    var reader = ByteReader(bytes[...])
    description = Self.text(reader.bytes(256))
    originator = Self.text(reader.bytes(32))
    originatorReference = Self.text(reader.bytes(32))
    originationDate = Self.text(reader.bytes(10))
    originationTime = Self.text(reader.bytes(8))
    timeReference = reader.word() ?? 0
    let version = reader.integer(byteCount: 2) ?? 0
    guard bytes.count >= Self.fixedByteCount else { return }
    let identifier = bytes[Self.leastByteCount..<412]
    if version >= 1, identifier.contains(where: { $0 != 0 }) {
      materialIdentifier = Array(identifier)
    }
    if version >= 2 { loudness = Loudness(bytes[412..<422]) }
    codingHistory = Self.text(Array(bytes[Self.fixedByteCount...]))
  }

  /// The chunk's content, version 2.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.fixedByteCount + codingHistory.utf8.count)
    bytes += Self.field(description, 256)
    bytes += Self.field(originator, 32)
    bytes += Self.field(originatorReference, 32)
    bytes += Self.field(originationDate, 10)
    bytes += Self.field(originationTime, 8)
    bytes.append(timeReference)
    bytes.append(2, byteCount: 2)
    bytes += materialIdentifier.prefix(64)
    bytes += [UInt8](repeating: 0, count: 412 - bytes.count)
    bytes += loudness.bytes
    bytes += [UInt8](repeating: 0, count: Self.fixedByteCount - bytes.count)
    return bytes + codingHistory.utf8
  }

  /// The text before its first zero byte.
  private static func text(_ bytes: [UInt8]?) -> String {
    String(ofFile: (bytes ?? []).prefix { $0 != 0 })
  }

  /// Text truncated or zero-padded to a field.
  private static func field(_ text: String, _ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for character in text {
      guard bytes.count + character.utf8.count <= count else { break }
      bytes += character.utf8
    }
    return bytes + [UInt8](repeating: 0, count: count - bytes.count)
  }

  /// The five loudness figures of a Broadcast Wave file, after EBU R 128; nil if unknown.
  package struct Loudness: Hashable, Sendable {
    /// The integrated loudness, in LUFS.
    package var integrated: Double?
    package var range: Double?
    package var truePeak: Double?
    /// The loudest 400 ms, in LUFS.
    package var momentary: Double?
    /// The loudest 3 s, in LUFS.
    package var shortTerm: Double?

    package init() {}

    /// The value of an unknown figure (EBU Tech 3285, section 2.3).
    static let unknown: UInt16 = 0x7FFF

    /// Reads the ten bytes of a chunk.
    init(_ bytes: ArraySlice<UInt8>) {
      var reader = ByteReader(bytes)
      func next() -> Double? {
        let word = UInt16(truncatingIfNeeded: reader.integer(byteCount: 2) ?? Int(Self.unknown))
        let hundredths = Int16(bitPattern: word)
        return abs(Int(hundredths)) <= 9999 ? Double(hundredths) / 100 : nil
      }
      integrated = next()
      range = next()
      truePeak = next()
      momentary = next()
      shortTerm = next()
    }

    /// The figures in hundredths, in the order of the chunk.
    var bytes: [UInt8] {
      [integrated, range, truePeak, momentary, shortTerm].reduce(into: []) {
        $0.append(Self.word($1), byteCount: 2)
      }
    }

    /// Figures beyond ±99.99 do not fit into the chunk.
    private static func word(_ figure: Double?) -> Int {
      guard let figure, figure.isFinite else { return Int(unknown) }
      let hundredths = (figure * 100).rounded()
      return abs(hundredths) <= 9999 ? Int(hundredths) : Int(unknown)
    }
  }
}

/// What a Broadcast Wave file says of its making: the `bext` chunk of EBU Tech 3285, version 2.
///
/// Texts are ASCII in the standard. Others are written in UTF-8, as most programs do, and cut off
/// between two characters where they are too long; a text that is no UTF-8 is read as Latin-1.
public struct BroadcastExtension: Hashable, Sendable {
  /// What the sound is; 256 bytes.
  public var description = ""
  /// Who made the file; 32 bytes.
  public var originator = ""
  /// The originator's own name for the file, which no other has; 32 bytes.
  public var originatorReference = ""
  /// The day it was made: `2026-03-14`; empty where that is not known.
  public var originationDate = ""
  /// The time of that day: `15:09:26`; empty where that is not known.
  public var originationTime = ""
  /// Frames from midnight to the first one of the file.
  public var timeReference: UInt64 = 0
  /// The identifier of the material after SMPTE ST 330, 64 bytes; empty where there is none.
  public var materialIdentifier: [UInt8] = []
  /// How loud it is.
  public var loudness = BroadcastLoudness()
  /// What was done to the sound, a line for each process, after EBU R 98.
  public var codingHistory = ""

  /// Nothing is known.
  public init() {}

  /// Bytes before the coding history.
  static let fixedByteCount = 602
  /// Bytes that every version of the chunk has something in.
  private static let leastByteCount = 348

  /// Reads a chunk of any version; nil where it is too short to be one. The identifier counts
  /// from version 1 on, and the loudness from version 2 on.
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
    if version >= 2 { loudness = BroadcastLoudness(bytes[412..<422]) }
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

  /// A text without what follows its first zero.
  private static func text(_ bytes: [UInt8]?) -> String {
    let bytes = (bytes ?? []).prefix { $0 != 0 }
    let text =
      String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    return text
  }

  /// As much of a text as fits, and zeros behind it.
  private static func field(_ text: String, _ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for character in text {
      guard bytes.count + character.utf8.count <= count else { break }
      bytes += character.utf8
    }
    return bytes + [UInt8](repeating: 0, count: count - bytes.count)
  }
}

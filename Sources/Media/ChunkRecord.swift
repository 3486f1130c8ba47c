internal import Hashing

/// The packets of a chunk as the bytes of a file, which tell by themselves whether they are whole,
/// and whose they are.
///
/// `SPOOLPK2`, the checksum of all that follows, the owner's digest; then as unsigned little-endian
/// integers of eight bytes: the chunk's number, its first frame, the frame behind its last one, 1
/// for the last chunk and else 0, the number of the first packet, the number of packets; then of
/// four bytes the length of each packet; then the packets.
struct ChunkRecord {
  let label: ChunkLabel
  let run: PacketRun

  private static let magic = Array("SPOOLPK2".utf8)
  private static let bodyStart = magic.count + 8

  /// Puts packets and label together.
  init(_ run: PacketRun, as label: ChunkLabel) {
    self.label = label
    self.run = run
  }

  /// Reads a record; nil unless every bit is as it was written for `owner`.
  init?(_ bytes: [UInt8], owner: Digest) {
    guard bytes.starts(with: Self.magic), bytes.count > Self.bodyStart else { return nil }
    var reader = Reader(bytes: bytes[Self.magic.count...])
    guard let checksum = reader.bytes(8), checksum == Self.checksum(ofBodyIn: bytes),
      reader.digest() == owner,
      let chunk = reader.integer(), let start = reader.integer(), let end = reader.integer(),
      let last = reader.integer(), let first = reader.integer(), let count = reader.integer(),
      start <= end, count <= bytes.count
    else { return nil }
    let lengths = (0..<count).compactMap { _ in reader.integer(byteCount: 4) }
    run = PacketRun(first: first, packets: lengths.compactMap { reader.bytes($0) })
    guard run.packets.count == count, reader.isAtEnd else { return nil }
    label = ChunkLabel(chunk, start..<end, isLast: last == 1)
  }

  /// Whether these are the bytes of a record, all of them as they were written, whoever owns it. O(size).
  static func isWhole(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: magic) && bytes.count > bodyStart
      && Array(bytes[magic.count..<bodyStart]) == checksum(ofBodyIn: bytes)
  }

  /// The record's bytes. O(size).
  func bytes(owner: Digest) -> [UInt8] {
    var bytes = Self.magic + [UInt8](repeating: 0, count: 8) + owner.bytes
    bytes.reserveCapacity(
      bytes.count + 48 + run.packets.reduce(0) { $0 + 4 + $1.count })
    func append(_ value: Int, byteCount: Int = 8) {
      for index in 0..<byteCount { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
    append(label.chunk)
    append(label.range.lowerBound)
    append(label.range.upperBound)
    append(label.isLast ? 1 : 0)
    append(run.first)
    append(run.packets.count)
    for packet in run.packets { append(packet.count, byteCount: 4) }
    for packet in run.packets { bytes += packet }
    bytes.replaceSubrange(
      Self.magic.count..<Self.bodyStart, with: Self.checksum(ofBodyIn: bytes))
    return bytes
  }

  private static func checksum(ofBodyIn bytes: [UInt8]) -> [UInt8] {
    let checksum = unsafe Checksum.of(bytes.span.bytes.extracting(bodyStart..<bytes.count))
    return (0..<8).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
  }

  /// Takes one thing after the other off the front of some bytes; nil once there are too few.
  private struct Reader {
    var bytes: ArraySlice<UInt8>

    var isAtEnd: Bool { bytes.isEmpty }

    mutating func bytes(_ count: Int) -> [UInt8]? {
      guard count <= bytes.count else { return nil }
      defer { bytes = bytes.dropFirst(count) }
      return Array(bytes.prefix(count))
    }

    mutating func digest() -> Digest? { bytes(32).flatMap { Digest(bytes: $0) } }

    mutating func integer(byteCount: Int = 8) -> Int? {
      bytes(byteCount).flatMap { bytes in
        Int(exactly: bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
      }
    }
  }
}

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
    guard let found = Self.read(bytes), found.owner == owner else { return nil }
    self = found.record
  }

  /// Reads a record, whoever owns it; nil unless every bit is as it was written. O(size).
  static func read(_ bytes: [UInt8]) -> (owner: Digest, record: ChunkRecord)? {
    guard isWhole(bytes) else { return nil }
    var reader = ByteReader(bytes[bodyStart...])
    guard let owner = reader.digest(),
      let chunk = reader.integer(), let start = reader.integer(), let end = reader.integer(),
      let last = reader.integer(), let first = reader.integer(), let count = reader.integer(),
      start <= end, count <= bytes.count
    else { return nil }
    let lengths = (0..<count).compactMap { _ in reader.integer(byteCount: 4) }
    let run = PacketRun(first: first, packets: lengths.compactMap { reader.bytes($0) })
    guard run.packets.count == count, reader.isAtEnd else { return nil }
    return (owner, ChunkRecord(run, as: ChunkLabel(chunk, start..<end, isLast: last == 1)))
  }

  private static func isWhole(_ bytes: [UInt8]) -> Bool {
    guard bytes.starts(with: magic), bytes.count > bodyStart else { return false }
    var reader = ByteReader(bytes[magic.count...])
    return reader.word() == checksum(ofBodyIn: bytes)
  }

  /// The record's bytes. O(size).
  func bytes(owner: Digest) -> [UInt8] {
    var bytes = Self.magic + [UInt8](repeating: 0, count: 8) + owner.bytes
    bytes.reserveCapacity(
      bytes.count + 48 + run.packets.reduce(0) { $0 + 4 + $1.count })
    bytes.append(label.chunk)
    bytes.append(label.range.lowerBound)
    bytes.append(label.range.upperBound)
    bytes.append(label.isLast ? 1 : 0)
    bytes.append(run.first)
    bytes.append(run.packets.count)
    for packet in run.packets { bytes.append(packet.count, byteCount: 4) }
    for packet in run.packets { bytes += packet }
    var checksum: [UInt8] = []
    checksum.append(Self.checksum(ofBodyIn: bytes))
    bytes.replaceSubrange(Self.magic.count..<Self.bodyStart, with: checksum)
    return bytes
  }

  private static func checksum(ofBodyIn bytes: [UInt8]) -> UInt64 {
    unsafe Checksum.of(bytes.span.bytes.extracting(bodyStart..<bytes.count))
  }
}

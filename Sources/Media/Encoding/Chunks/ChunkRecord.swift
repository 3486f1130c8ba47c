internal import Platform

/// The file format of a chunk's packets.
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

  init(_ run: PacketRun, as label: ChunkLabel) {
    self.label = label
    self.run = run
  }

  /// Reads a record; nil unless it is intact and belongs to `owner`.
  init?(_ bytes: [UInt8], owner: Digest) {
    guard let found = Self.read(bytes), found.owner == owner else { return nil }
    self = found.record
  }

  /// Reads a record of any owner; nil unless it is intact. O(size).
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

/// Identifies a chunk's packets: equal labels of the same sound have equal packets.
struct ChunkLabel: Hashable, Sendable {
  let chunk: Int
  /// The frames encoded for it.
  let range: Range<Int>
  /// Whether it is the stream's last chunk.
  let isLast: Bool

  /// A chunk that is not the last.
  init(_ chunk: Int, of plan: ChunkPlan) {
    self.init(chunk, plan.input(of: chunk), isLast: false)
  }

  /// The last chunk of a stream of `end` frames.
  init(last chunk: Int, of plan: ChunkPlan, end: Int) {
    self.init(chunk, plan.input(of: chunk).lowerBound..<end, isLast: true)
  }

  init(_ chunk: Int, _ range: Range<Int>, isLast: Bool) {
    self.chunk = chunk
    self.range = range
    self.isLast = isLast
  }
}

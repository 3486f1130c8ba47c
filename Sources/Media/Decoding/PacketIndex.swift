import Glibc
internal import Platform
internal import Synchronization

/// The packet lengths of a file, chunk by chunk, in a side file `NAME.index`: they locate the
/// packets of an incomplete file whose container has no packet table yet.
///
/// Format: `SPOOLIX1` and the owner's digest; then a record per chunk in unsigned little-endian
/// integers: the number of packets and each packet's length in four bytes each, the checksum of the
/// packets, and that of the record so far, in eight bytes each.
final class PacketIndex: Sendable {
  /// The packets of one chunk.
  struct Record: Hashable {
    let lengths: [Int]
    /// Of the packets' bytes.
    let checksum: UInt64

    var byteCount: Int { lengths.reduce(0, +) }
  }

  private let file: OpenFile
  // The offset of the next record.
  private let end: Mutex<Int>
  private let flushed = FlushOutcome()
  private static let magic = Array("SPOOLIX1".utf8)
  private static let ownerByteCount = 32
  /// The name suffix of indexes.
  static let suffix = ".index"

  /// The records that existed when the index was opened.
  let recordsAtStart: [Record]

  /// Opens the index of `work`, and empties it if it belongs to other work or a new start.
  init(_ work: ResumableWork) throws(SpoolError) {
    file = try OpenFile(
      path: "\(work.folder)/\(work.name)\(Self.suffix)", O_RDWR | O_CREAT | O_NOFOLLOW)
    let head = Self.magic + work.state.owner.bytes
    let bytes = try file.read(file.byteCount, at: 0)
    if work.isResumed, bytes.starts(with: head) {
      recordsAtStart = Self.records(in: bytes[head.count...])
    } else {
      try file.truncate(to: 0)
      try file.write(head, at: 0)
      recordsAtStart = []
    }
    end = Mutex(head.count)
  }

  /// The owner of an index and its valid leading records; nil for other files.
  static func content(
    ofFile path: String
  ) throws(SpoolError) -> (owner: Digest, records: [Record])? {
    let file = try OpenFile(path: path, O_RDONLY | O_NOFOLLOW)
    let bytes = try file.read(file.byteCount, at: 0)
    let body = magic.count + ownerByteCount
    guard bytes.starts(with: magic), bytes.count >= body,
      let owner = Digest(bytes: Array(bytes[magic.count..<body]))
    else { return nil }
    return (owner, records(in: bytes[body...]))
  }

  /// Appends a record to the valid ones, replacing what an earlier process left there.
  func append(_ record: Record) throws(SpoolError) {
    let bytes = Self.bytes(of: record)
    try file.write(bytes, at: end.withLock { $0 })
    end.withLock { $0 += bytes.count }
  }

  /// Makes the records durable. After one failure, all later calls fail.
  func flush() throws(SpoolError) {
    try flushed.unlessFailed { () throws(SpoolError) in try file.flush() }
  }

  /// The valid leading records.
  private static func records(in bytes: ArraySlice<UInt8>) -> [Record] {
    var records: [Record] = []
    var reader = ByteReader(bytes)
    while let record = record(&reader) { records.append(record) }
    return records
  }

  private static func record(_ reader: inout ByteReader) -> Record? {
    let start = reader.rest
    guard let count = reader.integer(byteCount: 4), let lengths = reader.bytes(4 * count),
      let checksum = reader.word()
    else { return nil }
    let body = Array(start.prefix(start.count - reader.rest.count))
    guard unsafe Checksum.of(body.span.bytes) == reader.word() else { return nil }
    var lengthReader = ByteReader(lengths[...])
    return Record(
      lengths: (0..<count).compactMap { _ in lengthReader.integer(byteCount: 4) },
      checksum: checksum)
  }

  private static func bytes(of record: Record) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20 + 4 * record.lengths.count)
    bytes.append(record.lengths.count, byteCount: 4)
    for length in record.lengths { bytes.append(length, byteCount: 4) }
    bytes.append(record.checksum)
    unsafe bytes.append(Checksum.of(bytes.span.bytes))
    return bytes
  }
}

extension PacketIndex.Record {
  /// The record of a chunk's packets. O(bytes).
  init(_ run: PacketRun) {
    var checksum = Checksum()
    for packet in run.packets { unsafe checksum.update(packet.span.bytes) }
    self.init(lengths: run.packets.map(\.count), checksum: checksum.value)
  }
}

import Glibc
internal import Hashing
internal import Synchronization

/// The lengths of a file's packets, chunk by chunk, in a file of its own, `NAME.index`: with them
/// the next process finds the packets in a file whose container has no table of them yet.
///
/// `SPOOLIX1` and the owner's digest; then of each chunk a record of unsigned little-endian integers:
/// of four bytes the number of packets and the length of each, of eight bytes the checksum of the
/// packets, and that of the record so far.
final class PacketIndex: Sendable {
  /// The packets of one chunk.
  struct Record: Hashable {
    let lengths: [Int]
    /// Of their bytes.
    let checksum: UInt64

    var byteCount: Int { lengths.reduce(0, +) }
  }

  private let file: RawFile
  // Where the next record goes.
  private let end: Mutex<Int>
  private let flushed = FlushOutcome()
  private static let magic = Array("SPOOLIX1".utf8)
  private static let ownerByteCount = 32
  /// What the names of indexes end with.
  static let suffix = ".index"

  /// The records that an earlier process left.
  let recordsAtStart: [Record]

  /// Opens the index of `work`, and empties it where it is another's, or this is a new start.
  init(_ work: ResumableWork) throws(MediaError) {
    file = try RawFile(
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

  /// Whose index a file is, and the records in it from the first on that are whole; nil for a file that
  /// is none.
  static func content(
    ofFile path: String
  ) throws(MediaError) -> (owner: Digest, records: [Record])? {
    let file = try RawFile(path: path, O_RDONLY | O_NOFOLLOW)
    let bytes = try file.read(file.byteCount, at: 0)
    let body = magic.count + ownerByteCount
    guard bytes.starts(with: magic), bytes.count >= body,
      let owner = Digest(bytes: Array(bytes[magic.count..<body]))
    else { return nil }
    return (owner, records(in: bytes[body...]))
  }

  /// Puts a record behind those that count so far. One that an earlier process left there is the
  /// same, or not to be believed.
  func append(_ record: Record) throws(MediaError) {
    let bytes = Self.bytes(of: record)
    try file.write(bytes, at: end.withLock { $0 })
    end.withLock { $0 += bytes.count }
  }

  /// Waits until the records are on the disk. Fails for ever once it failed.
  func flush() throws(MediaError) {
    try flushed.unlessFailed { () throws(MediaError) in try file.flush() }
  }

  /// Deletes the file.
  func remove() { unsafe unlink(file.path) }

  /// The records from the first on that are whole.
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

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

  private struct State {
    /// Where the next record goes.
    var end: Int
    /// Why a flush failed.
    var failure: MediaError?
  }

  private let file: RawFile
  private let state: Mutex<State>
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
    state = Mutex(State(end: head.count))
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
    try file.write(bytes, at: state.withLock { $0.end })
    state.withLock { $0.end += bytes.count }
  }

  /// Waits until the records, and the file's name, are on the disk. Fails for ever once it failed.
  func flush() throws(MediaError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    do throws(MediaError) { try file.flush() } catch {
      state.withLock { $0.failure = error }
      throw error
    }
  }

  /// Deletes the file.
  func remove() { unsafe unlink(file.path) }

  /// The records from the first on that are whole.
  private static func records(in bytes: ArraySlice<UInt8>) -> [Record] {
    var records: [Record] = []
    var rest = bytes
    while let count = integer(rest, at: 0, byteCount: 4) {
      let (lengthsEnd, end) = (4 + 4 * count, 20 + 4 * count)
      guard rest.count >= end, let checksum = integer(rest, at: lengthsEnd, byteCount: 8),
        let ownChecksum = integer(rest, at: lengthsEnd + 8, byteCount: 8)
      else { break }
      let body = Array(rest.prefix(lengthsEnd + 8))
      guard unsafe UInt64(bitPattern: Int64(ownChecksum)) == Checksum.of(body.span.bytes) else {
        break
      }
      records.append(
        Record(
          lengths: (0..<count).compactMap { integer(rest, at: 4 + 4 * $0, byteCount: 4) },
          checksum: UInt64(bitPattern: Int64(checksum))))
      rest = rest.dropFirst(end)
    }
    return records
  }

  private static func integer(_ bytes: ArraySlice<UInt8>, at offset: Int, byteCount: Int) -> Int? {
    guard bytes.count >= offset + byteCount else { return nil }
    let start = bytes.startIndex + offset
    let value = bytes[start..<start + byteCount].reversed().reduce(UInt64(0)) {
      $0 << 8 | UInt64($1)
    }
    return Int(truncatingIfNeeded: value)
  }

  private static func bytes(of record: Record) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20 + 4 * record.lengths.count)
    func append(_ value: UInt64, byteCount: Int) {
      for index in 0..<byteCount { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
    append(UInt64(record.lengths.count), byteCount: 4)
    for length in record.lengths { append(UInt64(length), byteCount: 4) }
    append(record.checksum, byteCount: 8)
    unsafe append(Checksum.of(bytes.span.bytes), byteCount: 8)
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

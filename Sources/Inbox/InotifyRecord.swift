internal import Sidecars
internal import Glibc

/// One event as inotify(7) reports it.
struct InotifyRecord: Hashable {
  /// The number of the watched folder; -1 for events of the queue itself.
  let watch: CInt
  /// What happened, as `IN_` bits.
  let mask: UInt32
  /// The name in the watched folder; nil where the event is about the folder itself.
  let name: FileName?

  /// Whether a bit of the mask is set.
  func has(_ bit: some BinaryInteger) -> Bool { mask & UInt32(truncatingIfNeeded: bit) != 0 }

  /// Reads what read(2) gave, by offset: an event ends in an array without a fixed length, which
  /// Swift does not import. An event that is cut off ends the list. O(n).
  static func records(in bytes: ArraySlice<UInt8>) -> [InotifyRecord] {
    var records: [InotifyRecord] = []
    var rest = bytes
    while rest.count >= headByteCount {
      let nameByteCount = Int(word(of: rest, at: 12))
      guard rest.count - headByteCount >= nameByteCount else { break }
      let name = rest.dropFirst(headByteCount).prefix(nameByteCount).prefix { $0 != 0 }
      records.append(
        InotifyRecord(
          watch: CInt(bitPattern: word(of: rest, at: 0)), mask: word(of: rest, at: 4),
          name: FileName(bytes: Array(name))))
      rest = rest.dropFirst(headByteCount + nameByteCount)
    }
    return records
  }

  /// Four words: watch, mask, cookie, length of the name with its zeros.
  private static let headByteCount = 16

  /// A word in the byte order of this machine.
  private static func word(of bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32 {
    let start = bytes.startIndex + offset
    return unsafe bytes.withUnsafeBytes { buffer in
      unsafe buffer.loadUnaligned(fromByteOffset: start - bytes.startIndex, as: UInt32.self)
    }
  }
}

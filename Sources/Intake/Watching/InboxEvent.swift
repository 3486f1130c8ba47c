internal import CPosix
internal import Glibc
import Platform

/// A change in the inbox.
enum InboxEvent: Hashable {
  /// A new or changed entry.
  case found(InboxPath, FileStamp)
  case gone(InboxPath)
  /// A process has written to a file and not closed it since.
  case written(InboxPath)
  /// The writer of a file has closed it.
  case closed(InboxPath)
  /// Events were lost: all knowledge of writers is void.
  case writersLost
  /// The files that have long been ignored for their names.
  case overlooked(IgnoredFiles)
  /// The inbox is unreachable. Its files may come back with it.
  case inboxLost(SpoolError)
  case inboxBack
  /// A folder cannot be listed.
  case trouble(SpoolError)
}

/// One event as inotify(7) reports it.
struct InotifyRecord: Hashable {
  /// The watched folder's number; -1 for events of the queue itself.
  let watch: CInt
  /// `IN_` bits.
  let mask: UInt32
  /// The name in the watched folder; nil for an event of the folder itself.
  let name: FileName?

  func has(_ bit: some BinaryInteger) -> Bool { mask & UInt32(truncatingIfNeeded: bit) != 0 }

  /// Parses the bytes of read(2) by offset: an event ends in a flexible array, which Swift does not
  /// import. A truncated event ends the list. O(n).
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

  /// A word in native byte order.
  private static func word(of bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32 {
    let start = bytes.startIndex + offset
    return unsafe bytes.withUnsafeBytes { buffer in
      unsafe buffer.loadUnaligned(fromByteOffset: start - bytes.startIndex, as: UInt32.self)
    }
  }
}

/// Interrupts another thread's poll(2), now or at its next call.
final class WakeUp: Sendable {
  /// The descriptor to poll for reading.
  let descriptor: CInt

  init() { descriptor = posix_wake_counter() }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func ring() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor, &one, MemoryLayout<UInt64>.size)
  }

  func settle() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, MemoryLayout<UInt64>.size)
  }
}

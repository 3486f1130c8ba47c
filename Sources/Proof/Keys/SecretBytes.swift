internal import CCrypto

/// A key or a passphrase in memory: stored once, wiped when freed, hidden from printing and
/// reflection.
@safe package final class SecretBytes: @unchecked Sendable {
  // Written only during initialisation, before it is shared; freed with the last reference.
  private let storage: UnsafeMutableRawBufferPointer
  package let count: Int

  /// Copies bytes; the caller wipes the original.
  package convenience init(_ bytes: some Collection<UInt8>) {
    unsafe self.init(capacity: bytes.count) { room in
      unsafe room.copyBytes(from: bytes)
      return bytes.count
    }
  }

  ///
  /// - Parameter fill: writes the bytes and returns how many, at most `capacity`.
  package init<Failure>(
    capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) {
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, capacity), alignment: 16)
    unsafe room.initializeMemory(as: UInt8.self, repeating: 0)
    do throws(Failure) {
      count = min(capacity, max(0, try unsafe fill(room)))
    } catch {
      unsafe OPENSSL_cleanse(room.baseAddress, room.count)
      unsafe room.deallocate()
      throw error
    }
    unsafe storage = room
  }

  deinit {
    unsafe OPENSSL_cleanse(storage.baseAddress, storage.count)
    unsafe storage.deallocate()
  }

  /// `body` must not keep a copy.
  package func withUnsafeBytes<Result, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
  }

  var text: String { unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }

  /// The first index of `text` from a position; nil if there is none. O(n·m).
  func index(of text: String, from start: Int = 0) -> Int? {
    let wanted = Array(text.utf8)
    guard count >= wanted.count + start else { return nil }
    return unsafe withUnsafeBytes { bytes in
      (start...bytes.count - wanted.count).first { place in
        wanted.indices.allSatisfy { unsafe bytes[place + $0] == wanted[$0] }
      }
    }
  }

  /// Constant-time comparison.
  package func isSame(as other: SecretBytes) -> Bool {
    guard count == other.count else { return false }
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { others in
        unsafe CRYPTO_memcmp(mine.baseAddress, others.baseAddress, mine.count) == 0
      }
    }
  }

  /// The bytes with a terminating zero.
  var terminated: SecretBytes {
    unsafe SecretBytes(capacity: count + 1) { room in
      unsafe withUnsafeBytes { unsafe room.copyMemory(from: $0) }
      return count + 1
    }
  }

  func followed(by others: SecretBytes) -> SecretBytes {
    unsafe SecretBytes(capacity: count + others.count) { room in
      unsafe withUnsafeBytes { unsafe room.copyMemory(from: $0) }
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: room[count...])
      unsafe others.withUnsafeBytes { unsafe rest.copyMemory(from: $0) }
      return count + others.count
    }
  }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
  /// The number of bytes only.
  package var description: String { "\(count) secret bytes" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

internal import CCrypto

/// Bytes that nobody else is to learn, a key or a passphrase: they lie in one place, and are
/// overwritten there when nobody needs them any more.
///
/// Neither printing nor reflecting shows them.
@safe public final class SecretBytes: @unchecked Sendable {
  // Written to only while it is made, when nobody else knows it; and freed with its last reference.
  private let storage: UnsafeMutableRawBufferPointer
  /// How many bytes they are.
  public let count: Int

  /// Copies bytes. Whoever has the others wipes them.
  public convenience init(_ bytes: some Collection<UInt8>) {
    unsafe self.init(capacity: bytes.count) { room in
      unsafe room.copyBytes(from: bytes)
      return bytes.count
    }
  }

  /// Has `fill` write the bytes at their place.
  /// - Parameter fill: gives how many it wrote, at most `capacity`.
  public init<Failure>(
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

  /// Shows the bytes to `body`, which must not keep a copy.
  public func withUnsafeBytes<Result, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
  }

  /// The bytes as text, for what turned out to be no secret.
  var text: String { unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) } }

  /// Where `text` begins at or after a place; nil where it does not stand there. O(n·m).
  func index(of text: String, from start: Int = 0) -> Int? {
    let wanted = Array(text.utf8)
    guard count >= wanted.count + start else { return nil }
    return unsafe withUnsafeBytes { bytes in
      (start...bytes.count - wanted.count).first { place in
        wanted.indices.allSatisfy { unsafe bytes[place + $0] == wanted[$0] }
      }
    }
  }

  /// Whether both are the same bytes; takes the same time wherever they differ.
  public func isSame(as other: SecretBytes) -> Bool {
    guard count == other.count else { return false }
    return unsafe withUnsafeBytes { mine in
      unsafe other.withUnsafeBytes { others in
        unsafe CRYPTO_memcmp(mine.baseAddress, others.baseAddress, mine.count) == 0
      }
    }
  }

  /// These bytes and a zero after them, as C takes a string.
  var terminated: SecretBytes {
    unsafe SecretBytes(capacity: count + 1) { room in
      unsafe withUnsafeBytes { unsafe room.copyMemory(from: $0) }
      return count + 1
    }
  }

  /// These bytes, and others after them.
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
  /// How many they are, and not which.
  public var description: String { "\(count) secret bytes" }
  /// Nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

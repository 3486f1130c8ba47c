internal import CCrypto
internal import CXXHash

/// A running SHA-256 over libcrypto's EVP interface, which uses the processor's SHA instructions
/// (about 1.5 GB/s on one core).
@safe package struct SHA256: ~Copyable, @unchecked Sendable {
  // The context has one owner and no thread affinity, so it may move between threads.
  private let context: OpaquePointer

  package init() {
    guard let context = unsafe EVP_MD_CTX_new(),
      unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1
    else { preconditionFailure("libcrypto has no SHA-256") }
    unsafe self.context = context
  }

  /// Copies the state of `other`.
  package init(continuing other: borrowing SHA256) {
    guard let context = unsafe EVP_MD_CTX_new(),
      unsafe EVP_MD_CTX_copy_ex(context, other.context) == 1
    else { preconditionFailure("libcrypto cannot copy a digest") }
    unsafe self.context = context
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  /// The digest of the bytes so far; more may follow.
  package var current: Digest { SHA256(continuing: self).finalize() }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    unsafe EVP_DigestUpdate(context, base, bytes.count)
  }

  package mutating func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe update($0) }
  }

  package mutating func update(_ bytes: [UInt8]) { unsafe update(bytes.span.bytes) }

  package mutating func update(_ string: String) { unsafe update(Array(string.utf8).span.bytes) }

  package consuming func finalize() -> Digest {
    var bytes = [UInt8](repeating: 0, count: 32)
    unsafe EVP_DigestFinal_ex(context, &bytes, nil)
    guard let digest = Digest(bytes: bytes) else { preconditionFailure("32 bytes") }
    return digest
  }

  package static func digest(of bytes: [UInt8]) -> Digest {
    var hasher = SHA256()
    hasher.update(bytes)
    return hasher.finalize()
  }

  package static func digest(of string: String) -> Digest { digest(of: Array(string.utf8)) }

  /// HMAC-SHA256 (RFC 2104): only who has the key can make it.
  package static func authenticationCode(of message: [UInt8], key: [UInt8]) -> Digest {
    let short = key.count > 64 ? digest(of: key).bytes : key
    let padded = short + [UInt8](repeating: 0, count: 64 - short.count)
    let inner = digest(of: padded.map { $0 ^ 0x36 } + message)
    return digest(of: padded.map { $0 ^ 0x5C } + inner.bytes)
  }
}

/// A running checksum of this program's own files: it detects damage, not forgery, at a twentieth
/// of SHA-256's cost (XXH3, 64 bits, over 10 GB/s on one core).
@safe package struct Checksum: ~Copyable, @unchecked Sendable {
  // The state has one owner and no thread affinity, so it may move between threads.
  private let state: OpaquePointer

  package init() {
    guard let state = unsafe XXH3_createState(), unsafe XXH3_64bits_reset(state) == XXH_OK else {
      preconditionFailure("out of memory")
    }
    unsafe self.state = state
  }

  deinit { unsafe _ = XXH3_freeState(state) }

  /// The checksum of the bytes so far; more may follow. O(1).
  package var value: UInt64 { unsafe XXH3_64bits_digest(state) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    unsafe _ = XXH3_64bits_update(state, base, bytes.count)
  }

  package mutating func update(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { unsafe update($0) }
  }

  package static func of(_ bytes: RawSpan) -> UInt64 {
    var checksum = Checksum()
    checksum.update(bytes)
    return checksum.value
  }
}

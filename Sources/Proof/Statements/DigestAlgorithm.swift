internal import CCrypto

/// A digest algorithm, named as in bag manifests: RFC 8493, 2.4.
///
/// Spool writes SHA-256. Others in a bag are checked as well; MD5 and SHA-1 detect damage only, as
/// collisions can be made.
enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
  case md5, sha1, sha224, sha256, sha384, sha512

  /// Hexadecimal digits of a digest.
  var digitCount: Int { 2 * Int(unsafe EVP_MD_get_size(implementation)) }

  /// libcrypto's implementation.
  var implementation: OpaquePointer? { unsafe EVP_get_digestbyname(rawValue) }

  /// A digest in a manifest, in lower case; nil if it is none of this algorithm.
  func digest(_ text: some Collection<UInt8>) -> String? {
    let text = String(decoding: text, as: UTF8.self).lowercased()
    guard text.utf8.count == digitCount, text.utf8.allSatisfy(Self.isDigit) else { return nil }
    return text
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
    default: false
    }
  }
}

/// A running digest of any algorithm, over libcrypto's EVP interface.
@safe struct RunningDigest: ~Copyable {
  private let context: OpaquePointer

  /// Nil if libcrypto does not offer the algorithm, as with MD5 in FIPS 140 mode.
  init?(_ algorithm: DigestAlgorithm) {
    guard let context = unsafe EVP_MD_CTX_new() else {
      preconditionFailure("libcrypto is out of memory")
    }
    unsafe self.context = context
    guard unsafe EVP_DigestInit_ex(context, algorithm.implementation, nil) == 1 else {
      ERR_clear_error()
      return nil
    }
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    unsafe EVP_DigestUpdate(context, base, bytes.count)
  }

  /// In lower-case hexadecimal digits.
  consuming func finalize() -> String {
    var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    unsafe EVP_DigestFinal_ex(context, &bytes, &count)
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.prefix(Int(count)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] },
      as: UTF8.self)
  }
}

internal import CCrypto

/// A digest algorithm, named as in bag manifests: RFC 8493, 2.4.
///
/// Spool writes SHA-256. Others in a bag are checked as well; MD5 and SHA-1 detect damage only, as
/// collisions can be made.
enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
  case md5, sha1, sha224, sha256, sha384, sha512

  /// Hexadecimal digits of a digest.
  var digitCount: Int {
    switch self {
    case .md5: 32
    case .sha1: 40
    case .sha224: 56
    case .sha256: 64
    case .sha384: 96
    case .sha512: 128
    }
  }

  /// libcrypto's implementation.
  var implementation: OpaquePointer? {
    switch self {
    case .md5: unsafe EVP_md5()
    case .sha1: unsafe EVP_sha1()
    case .sha224: unsafe EVP_sha224()
    case .sha256: unsafe EVP_sha256()
    case .sha384: unsafe EVP_sha384()
    case .sha512: unsafe EVP_sha512()
    }
  }

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

internal import CCrypto

/// An algorithm that files are named by, called as the manifests of bags call it: RFC 8493, 2.4.
///
/// Spool writes SHA-256. Whatever else a bag brings is checked as well; MD5 and SHA-1 tell damage
/// only, for files that have the same can be made.
enum DigestAlgorithm: String, Hashable, Sendable, CaseIterable {
  case md5, sha1, sha224, sha256, sha384, sha512

  /// How many hexadecimal digits a digest has.
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

  /// What libcrypto has for it.
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

  /// A digest as manifests have it, in lower case; nil for what is none of this algorithm's.
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

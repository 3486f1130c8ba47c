internal import CCrypto

/// A running digest of any algorithm that files are named by, over libcrypto's EVP interface.
@safe struct RunningDigest: ~Copyable {
  private let context: OpaquePointer

  /// Starts an empty digest; nil where this machine's libcrypto does not give the algorithm, as MD5
  /// is not where only what FIPS 140 approves is.
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

  /// Adds bytes.
  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    unsafe EVP_DigestUpdate(context, base, bytes.count)
  }

  /// Ends the digest, as lower-case hexadecimal digits.
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

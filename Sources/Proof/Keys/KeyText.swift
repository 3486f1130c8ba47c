internal import CCrypto

/// The PEM text of a signing key's file. libcrypto accepts variants of the same key (space, other
/// lines, unused bits). Only the canonical text is accepted here, so that all damage is detected.
extension SecretBytes {
  private static let publicStart = "-----BEGIN PUBLIC KEY-----"

  /// Whether the text has a public part, valid or not.
  var hasPublicPart: Bool { index(of: Self.publicStart) != nil }

  /// Whether it is an encrypted private key: as PKCS#8, or in the older PEM way.
  var isProtected: Bool {
    index(of: "-----BEGIN ENCRYPTED PRIVATE KEY-----") != nil
      || index(of: "Proc-Type: 4,ENCRYPTED") != nil
  }

  /// The public key after the private one; nil if it is missing or invalid.
  var publicPart: VerifyingKey? {
    guard let start = index(of: Self.publicStart) else { return nil }
    return unsafe withUnsafeBytes { bytes in
      VerifyingKey(pem: unsafe String(decoding: bytes[start...], as: UTF8.self))
    }
  }

  /// Whether it is a canonical private key, alone or followed by a canonical public key. An
  /// encrypted one is not decrypted.
  func isWhole(of key: VerifyingKey) -> Bool {
    let (again, blockCount) = rewritten()
    guard again.isSame(as: self) else { return false }
    guard let start = index(of: Self.publicStart) else { return blockCount == 1 }
    return unsafe withUnsafeBytes { unsafe $0[start...].elementsEqual(key.pem.utf8) }
  }

  /// Whether it is the canonical text of this key, as ``isWhole(of:)``; a plain one is compared
  /// byte for byte.
  func isWhole(of key: SigningKey) -> Bool {
    guard isWhole(of: key.verifyingKey) else { return false }
    return isProtected || isSame(as: key.text(protectedBy: nil))
      || isSame(as: SecretBytes(key.pem.utf8))
  }

  /// The PEM parts as libcrypto writes them, and their number.
  private func rewritten() -> (text: SecretBytes, blockCount: Int) {
    let sink = unsafe BIO_new(BIO_s_mem())
    // Its buffer is wiped when it is freed.
    defer { unsafe BIO_free(sink) }
    defer { ERR_clear_error() }
    var count = 0
    unsafe withUnsafeBytes { bytes in
      let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
      defer { unsafe BIO_free(source) }
      var name: UnsafeMutablePointer<CChar>?
      var header: UnsafeMutablePointer<CChar>?
      var content: UnsafeMutablePointer<UInt8>?
      var length = 0
      while unsafe PEM_read_bio(source, &name, &header, &content, &length) == 1 {
        unsafe PEM_write_bio(sink, name, header, content, length)
        unsafe CRYPTO_free(name, nil, 0)
        unsafe CRYPTO_free(header, nil, 0)
        unsafe CRYPTO_clear_free(content, length, nil, 0)
        count += 1
      }
    }
    // One byte more, so that a longer text differs.
    let again = unsafe SecretBytes(capacity: self.count + 1) { room in
      Int(max(0, unsafe BIO_read(sink, room.baseAddress, Int32(clamping: room.count))))
    }
    return (again, count)
  }
}

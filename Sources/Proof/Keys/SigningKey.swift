internal import CCrypto
package import Platform

/// An Ed25519 private key.
package struct SigningKey: Sendable {
  package let verifyingKey: VerifyingKey
  private let seed: SecretBytes

  package init() { self.init(KeyHandle()) }

  /// Reads plain PKCS#8 PEM, as `openssl genpkey -algorithm ed25519` writes it; nil for anything
  /// else.
  package init?(pem: String) { self.init(pem: SecretBytes(pem.utf8)) }

  /// Reads PKCS#8 PEM; nil for anything else, and for a wrong passphrase.
  /// - Parameter passphrase: nil if it is plain.
  package init?(pem: SecretBytes, passphrase: SecretBytes? = nil) {
    guard let handle = KeyHandle(pem: pem, isPrivate: true, passphrase: passphrase) else {
      return nil
    }
    self.init(handle)
  }

  private init(_ handle: consuming KeyHandle) {
    seed = handle.seed
    verifyingKey = VerifyingKey(handle)
  }

  /// Plain PKCS#8 PEM, which `openssl pkey` reads.
  package var pem: String { KeyHandle(seed: seed).pem.text }

  /// PKCS#8 PEM followed by the public key, which is then readable without a passphrase and reveals
  /// a changed private part. `openssl pkey` reads the first of the two.
  /// - Parameter passphrase: nil for plain text.
  package func text(protectedBy passphrase: SecretBytes?) -> SecretBytes {
    let handle = KeyHandle(seed: seed)
    return (passphrase.map { handle.pem(protectedBy: $0) } ?? handle.pem)
      .followed(by: SecretBytes(verifyingKey.pem.utf8))
  }

  /// 64 bytes: RFC 8032, deterministic.
  package func signature(of message: [UInt8]) -> [UInt8] {
    KeyHandle(seed: seed).signature(of: message)
  }
}

/// An Ed25519 public key.
package struct VerifyingKey: Hashable, Sendable {
  package let bytes: [UInt8]

  /// Reads SubjectPublicKeyInfo PEM, as `openssl pkey -pubout` writes it; nil for anything else.
  package init?(pem: String) {
    guard let handle = KeyHandle(pem: SecretBytes(pem.utf8), isPrivate: false) else { return nil }
    self.init(handle)
  }

  fileprivate init(_ handle: borrowing KeyHandle) { bytes = handle.publicKey }

  /// The DER prefix of every Ed25519 SubjectPublicKeyInfo: RFC 8410, section 4.
  private static let derPrefix: [UInt8] = [
    0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
  ]

  /// The key's name: the SHA-256 of its DER form, as printed by `openssl pkey -pubin -in spool.pub
  /// -outform DER | sha256sum`.
  package var id: Digest { SHA256.digest(of: Self.derPrefix + bytes) }

  /// SubjectPublicKeyInfo PEM, which `openssl pkey -pubin` reads.
  package var pem: String { KeyHandle(publicKey: bytes)?.publicPEM ?? "" }

  package func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard signature.count == 64, let handle = KeyHandle(publicKey: bytes) else { return false }
    return handle.isValid(signature, of: message)
  }
}

/// The owner of a libcrypto key for one call. Only the 32 bytes of an Ed25519 key are kept and
/// passed on.
@safe private struct KeyHandle: ~Copyable {
  private let key: OpaquePointer

  init(seed: SecretBytes) {
    let key = unsafe seed.withUnsafeBytes { bytes in
      unsafe EVP_PKEY_new_raw_private_key(
        EVP_PKEY_ED25519, nil, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
    }
    guard let key = unsafe key else {
      preconditionFailure("libcrypto takes any 32 bytes for a seed")
    }
    unsafe self.key = key
  }

  /// Nil if libcrypto rejects the bytes.
  init?(publicKey: [UInt8]) {
    guard
      let key = unsafe EVP_PKEY_new_raw_public_key(
        EVP_PKEY_ED25519, nil, publicKey, publicKey.count)
    else {
      ERR_clear_error()
      return nil
    }
    unsafe self.key = key
  }

  /// A key from the system's random numbers.
  init() {
    let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var made: OpaquePointer?
    guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_keygen(context, &made) == 1,
      let key = unsafe made
    else { preconditionFailure("libcrypto has no Ed25519 or no random numbers") }
    unsafe self.key = key
  }

  /// A key from PEM; nil unless it is Ed25519 and the passphrase, if any, is right.
  init?(pem: SecretBytes, isPrivate: Bool, passphrase: SecretBytes? = nil) {
    // An empty passphrase instead of none: otherwise libcrypto would ask on the terminal.
    let passphrase = passphrase?.terminated ?? SecretBytes([0])
    // The BIO reads from these bytes, which must outlive it.
    let read = unsafe pem.withUnsafeBytes { bytes in
      let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
      defer { unsafe BIO_free(source) }
      return unsafe passphrase.withUnsafeBytes { word in
        // It is only read, despite its type.
        let word = unsafe UnsafeMutableRawPointer(mutating: word.baseAddress)
        return isPrivate
          ? unsafe PEM_read_bio_PrivateKey(source, nil, nil, word)
          : unsafe PEM_read_bio_PUBKEY(source, nil, nil, word)
      }
    }
    ERR_clear_error()
    guard let key = unsafe read else { return nil }
    guard unsafe EVP_PKEY_get_id(key) == EVP_PKEY_ED25519 else {
      unsafe EVP_PKEY_free(key)
      return nil
    }
    unsafe self.key = key
  }

  deinit { unsafe EVP_PKEY_free(key) }

  var seed: SecretBytes {
    unsafe SecretBytes(capacity: 32) { room in
      var count = room.count
      let base = unsafe room.assumingMemoryBound(to: UInt8.self).baseAddress
      let status = unsafe EVP_PKEY_get_raw_private_key(key, base, &count)
      precondition(status == 1 && count == 32, "an Ed25519 key is 32 bytes")
      return count
    }
  }

  var publicKey: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 32)
    var count = bytes.count
    let status = unsafe EVP_PKEY_get_raw_public_key(key, &bytes, &count)
    precondition(status == 1 && count == 32, "an Ed25519 key is 32 bytes")
    return bytes
  }

  /// Plain PKCS#8 (RFC 5958) in PEM.
  var pem: SecretBytes {
    unsafe written { unsafe PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
  }

  /// SubjectPublicKeyInfo (RFC 5280) in PEM.
  var publicPEM: String { unsafe written { unsafe PEM_write_bio_PUBKEY($0, key) }.text }

  /// PKCS#8 in PEM, encrypted by PBES2 (RFC 8018): AES-256-CBC with a scrypt key (RFC 7914).
  ///
  /// N = 2¹⁴, r = 8, p = 5 is the choice of OWASP's Password Storage Cheat Sheet for 16 MiB of
  /// memory; a larger N would pass the default limit of 32 MiB of libcrypto and `openssl`.
  func pem(protectedBy passphrase: SecretBytes) -> SecretBytes {
    let plain = unsafe EVP_PKEY2PKCS8(key)
    defer { unsafe PKCS8_PRIV_KEY_INFO_free(plain) }
    let scheme = unsafe PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), nil, 16, nil, 1 << 14, 8, 5)
    let encrypted = unsafe passphrase.withUnsafeBytes { word in
      unsafe PKCS8_set0_pbe(
        word.assumingMemoryBound(to: CChar.self).baseAddress, Int32(clamping: word.count), plain,
        scheme)
    }
    guard let encrypted = unsafe encrypted else {
      preconditionFailure("libcrypto has no scrypt, no AES or no random numbers")
    }
    // It owns the scheme now.
    defer { unsafe X509_SIG_free(encrypted) }
    return unsafe written { unsafe PEM_write_bio_PKCS8($0, encrypted) }
  }

  /// The signature of a message: RFC 8032, pure Ed25519.
  func signature(of message: [UInt8]) -> [UInt8] {
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: 64)
    var count = signature.count
    guard unsafe EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
      unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1, count == 64
    else { preconditionFailure("libcrypto cannot sign") }
    return signature
  }

  func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    defer { ERR_clear_error() }
    guard unsafe EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
    return unsafe EVP_DigestVerify(
      context, signature, signature.count, message, message.count) == 1
  }

  /// Text written by libcrypto, whose own buffer is wiped when it is freed.
  private func written(_ write: (OpaquePointer?) -> Int32) -> SecretBytes {
    let sink = unsafe BIO_new(BIO_s_mem())
    defer { unsafe BIO_free(sink) }
    precondition(unsafe write(sink) == 1, "libcrypto cannot write a key into memory")
    return unsafe SecretBytes(capacity: 4096) { room in
      Int(unsafe BIO_read(sink, room.baseAddress, Int32(room.count)))
    }
  }
}

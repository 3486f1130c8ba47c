internal import CCrypto

/// The one owner of a libcrypto key. It lives only as long as one call needs it: what is kept and
/// passed on are the 32 bytes that an Ed25519 key is.
@safe struct KeyHandle: ~Copyable {
  private let key: OpaquePointer

  /// A private key from its seed.
  init(seed: [UInt8]) {
    guard
      let key = unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
    else { preconditionFailure("libcrypto takes any 32 bytes for a seed") }
    unsafe self.key = key
  }

  /// A public key; nil where libcrypto does not take the bytes for one.
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

  /// A new key from the system's random numbers.
  init() {
    let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
    defer { unsafe EVP_PKEY_CTX_free(context) }
    var made: OpaquePointer?
    guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_keygen(context, &made) == 1,
      let key = unsafe made
    else { preconditionFailure("libcrypto has no Ed25519 or no random numbers") }
    unsafe self.key = key
  }

  /// A key from PEM; nil for what is none, is encrypted, or is of another kind than Ed25519.
  init?(pem: String, isPrivate: Bool) {
    // An empty passphrase: without any, libcrypto would ask on the terminal.
    var passphrase: [UInt8] = [0]
    // The source reads from these bytes, which have to stay until all is read.
    let read = unsafe Array(pem.utf8).withUnsafeBytes { bytes in
      let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
      defer { unsafe BIO_free(source) }
      return unsafe passphrase.withUnsafeMutableBufferPointer { empty in
        isPrivate
          ? unsafe PEM_read_bio_PrivateKey(source, nil, nil, empty.baseAddress)
          : unsafe PEM_read_bio_PUBKEY(source, nil, nil, empty.baseAddress)
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

  /// The seed of a private key.
  var seed: [UInt8] {
    unsafe raw { unsafe EVP_PKEY_get_raw_private_key($0, $1, &$2) }
  }

  /// The public key.
  var publicKey: [UInt8] {
    unsafe raw { unsafe EVP_PKEY_get_raw_public_key($0, $1, &$2) }
  }

  /// PKCS#8 (RFC 5958), or SubjectPublicKeyInfo (RFC 5280), as PEM.
  func pem(isPrivate: Bool) -> String {
    let sink = unsafe BIO_new(BIO_s_mem())
    defer { unsafe BIO_free(sink) }
    let status =
      isPrivate
      ? unsafe PEM_write_bio_PKCS8PrivateKey(sink, key, nil, nil, 0, nil, nil)
      : unsafe PEM_write_bio_PUBKEY(sink, key)
    precondition(status == 1, "libcrypto cannot write a key into memory")
    var text = [UInt8](repeating: 0, count: 4096)
    let count = unsafe BIO_read(sink, &text, Int32(text.count))
    return String(decoding: text.prefix(max(0, Int(count))), as: UTF8.self)
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

  /// Whether a signature is this key's for a message.
  func isValid(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    defer { ERR_clear_error() }
    guard unsafe EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
    return unsafe EVP_DigestVerify(
      context, signature, signature.count, message, message.count) == 1
  }

  private func raw(
    _ read: (OpaquePointer, UnsafeMutablePointer<UInt8>, inout Int) -> Int32
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 32)
    var count = bytes.count
    let status = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return Int32(0) }
      return unsafe read(key, base, &count)
    }
    precondition(status == 1 && count == 32, "an Ed25519 key is 32 bytes")
    return bytes
  }
}

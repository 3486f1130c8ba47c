internal import CCrypto

/// The certificates that are trusted for a time stamping authority: those of a PEM file.
public struct TrustedCertificates: Hashable, Sendable {
  /// The longest file that is read, in bytes: that of all roots which a Debian system trusts is
  /// shorter.
  public static let maximumByteCount = 256 << 10

  /// The PEM text, as it was read.
  public let text: [UInt8]
  /// How many there are.
  public let count: Int

  /// Reads a file.
  public init(at path: String) throws(ProofError) {
    let text = try SubjectFile.readWhole(path, limit: Self.maximumByteCount)
    try self.init(text, from: path)
  }

  /// Takes PEM text with one or more certificates; other kinds of PEM in it are passed over.
  /// - Parameter path: where it was read, for what is told.
  public init(_ text: [UInt8], from path: String) throws(ProofError) {
    self.text = text
    var count = 0
    let isWhole = unsafe Self.forEach(in: text) { _ in count += 1 }
    guard isWhole, count > 0 else {
      throw ProofError(
        "cannot use the certificates \(path)",
        reason: count == 0
          ? "there is no certificate as PEM in it"
          : "what follows certificate \(count) in it cannot be read as PEM",
        advice: "take the authority's root certificate, as PEM, from the authority")
    }
    self.count = count
  }

  /// libcrypto's store of these certificates, which the caller frees.
  /// - Parameter time: when they have to be valid, in seconds since 1970.
  func makeStore(validAt time: Double) -> OpaquePointer {
    guard let store = unsafe X509_STORE_new() else {
      preconditionFailure("libcrypto is out of memory")
    }
    _ = unsafe Self.forEach(in: text) { certificate in
      // One that comes twice is there once.
      unsafe X509_STORE_add_cert(store, certificate)
    }
    unsafe X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(store), Int(time))
    ERR_clear_error()
    return unsafe store
  }

  /// Calls `body` with every certificate, which lives only as long. - Returns: whether the text
  /// could be read to its end.
  private static func forEach(in text: [UInt8], _ body: (OpaquePointer) -> Void) -> Bool {
    defer { ERR_clear_error() }
    return unsafe text.withUnsafeBytes { bytes in
      let source = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
      defer { unsafe BIO_free(source) }
      ERR_clear_error()
      while let certificate = unsafe PEM_read_bio_X509(source, nil, nil, nil) {
        unsafe body(certificate)
        unsafe X509_free(certificate)
      }
      // Reading ends with an error in any case: at the end, with this one.
      return spool_error_reason(ERR_peek_last_error()) == PEM_R_NO_START_LINE
    }
  }
}

internal import CCrypto
package import Platform

/// The trusted certificates of a time stamping authority, from a PEM file.
package struct TrustedCertificates: Hashable, Sendable {
  /// Bytes of the longest file that is read; Debian's bundle of all roots is shorter.
  package static let maximumByteCount = 256 << 10

  package let text: [UInt8]
  package let count: Int

  package init(at path: String) throws(SpoolError) {
    let text = try SubjectFile.readWhole(path, limit: Self.maximumByteCount)
    try self.init(text, from: path)
  }

  /// Takes PEM text with one or more certificates; ignores other PEM types.
  /// - Parameter path: for messages.
  package init(_ text: [UInt8], from path: String) throws(SpoolError) {
    self.text = text
    var count = 0
    let isWhole = unsafe Self.forEach(in: text) { _ in count += 1 }
    guard isWhole, count > 0 else {
      throw SpoolError(
        "cannot use the certificates \(path)",
        reason: count == 0
          ? "there is no certificate as PEM in it"
          : "what follows certificate \(count) in it cannot be read as PEM",
        advice: "take the authority's root certificate, as PEM, from the authority", cause: .blocked
      )
    }
    self.count = count
  }

  /// libcrypto's store of these certificates, which the caller frees.
  /// - Parameter time: when they must be valid, in seconds since 1970.
  func makeStore(validAt time: Double) -> OpaquePointer {
    guard let store = unsafe X509_STORE_new() else {
      preconditionFailure("libcrypto is out of memory")
    }
    _ = unsafe Self.forEach(in: text) { certificate in
      // Duplicates are added once.
      unsafe X509_STORE_add_cert(store, certificate)
    }
    unsafe X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(store), Int(time))
    ERR_clear_error()
    return unsafe store
  }

  /// Calls `body` with every certificate, which is freed afterwards.
  /// - Returns: whether all of the text was readable.
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
      // Reading always ends with an error: at the end, with this one.
      return spool_error_reason(ERR_peek_last_error()) == PEM_R_NO_START_LINE
    }
  }
}

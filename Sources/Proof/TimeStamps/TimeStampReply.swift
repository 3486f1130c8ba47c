import CCrypto
import Glibc
package import Platform

/// A time stamping authority's reply: a TimeStampResp of RFC 3161, section 2.4.2. Unverified.
package struct TimeStampReply: Hashable, Sendable {
  /// Bytes of the longest reply that is read.
  package static let maximumByteCount = 256 << 10

  package let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package init(at path: String) throws(SpoolError) {
    bytes = try SubjectFile.readWhole(path, limit: Self.maximumByteCount)
  }

  /// Verifies the reply to a request: status, digest, nonce, signature and a certificate chain that
  /// is valid now.
  /// - Parameter now: in seconds since 1970.
  package func accepted(
    for request: TimeStampRequest, by certificates: TrustedCertificates, at now: Double
  ) throws(SpoolError) -> TimeStamp {
    try check(request, certificates) { _ in now }
  }

  /// Verifies a stored token: as `accepted`, without the nonce, and with a chain valid at the
  /// token's time.
  package func verified(
    for digest: Digest, by certificates: TrustedCertificates
  ) throws(SpoolError) -> TimeStamp {
    try check(TimeStampRequest(for: digest, nonce: nil), certificates) { $0 }
  }

  ///
  /// - Parameter moment: when the chain must be valid, from the token's time.
  private func check(
    _ request: TimeStampRequest, _ certificates: TrustedCertificates, moment: (Double) -> Double
  ) throws(SpoolError) -> TimeStamp {
    ERR_clear_error()
    defer { ERR_clear_error() }
    guard let handle = ReplyHandle(bytes) else {
      throw Self.refusal("it is no answer of a time stamping authority (RFC 3161)")
    }
    // A reply without a token has no time; the check reports why.
    let time = handle.time
    let asked = unsafe request.makeRequest()
    defer { unsafe TS_REQ_free(asked) }
    let context = unsafe TS_REQ_to_TS_VERIFY_CTX(asked, nil)
    defer { unsafe TS_VERIFY_CTX_free(context) }
    unsafe TS_VERIFY_CTX_add_flags(context, Int32(TS_VFY_SIGNATURE))
    // It owns the certificates now.
    unsafe TS_VERIFY_CTX_set_store(
      context, certificates.makeStore(validAt: moment(time ?? 0)))
    guard unsafe handle.isValid(context) else { throw Self.refusal(Self.firstLibraryError) }
    guard let time, let authority = handle.signer else {
      throw Self.refusal("it does not say when, or who signed it")
    }
    return TimeStamp(digest: request.digest, time: time, authority: authority)
  }

  private static func refusal(_ reason: String) -> SpoolError {
    SpoolError("cannot take the time stamp", reason: reason, cause: .blocked)
  }

  /// libcrypto's first error of this thread, which caused the others, in words for a user. Clears
  /// the queue.
  private static var firstLibraryError: String {
    var data: UnsafePointer<CChar>?
    var flags: Int32 = 0
    let code = unsafe ERR_get_error_all(nil, nil, nil, &data, &flags)
    var detail = ""
    if let text = unsafe data, flags & ERR_TXT_STRING != 0 {
      detail = unsafe String(cString: text)
    }
    if spool_error_library(code) == ERR_LIB_TS {
      switch spool_error_reason(code) {
      case TS_R_MESSAGE_IMPRINT_MISMATCH: return "it is of something else: its digest is another"
      case TS_R_NONCE_MISMATCH, TS_R_NONCE_NOT_RETURNED:
        return "it answers another request: its nonce is not the one that was sent"
      case TS_R_CERTIFICATE_VERIFY_ERROR:
        let reason = detail.split(separator: ":").last.map(String.init) ?? detail
        return "its certificate is not trusted: \(reason)"
      case TS_R_NO_TIME_STAMP_TOKEN: return "the authority did not grant it: \(detail)"
      default: break
      }
    }
    guard code != 0, let words = unsafe ERR_reason_error_string(code) else {
      return "libcrypto does not take it"
    }
    return unsafe String(cString: words) + (detail.isEmpty ? "" : ": \(detail)")
  }
}

/// The owner of a parsed reply.
@safe private struct ReplyHandle: ~Copyable {
  private let reply: OpaquePointer

  /// Nil unless the bytes are exactly one DER reply.
  init?(_ bytes: [UInt8]) {
    let reply: OpaquePointer? = unsafe bytes.withUnsafeBufferPointer { buffer in
      var place = buffer.baseAddress
      guard let reply = unsafe d2i_TS_RESP(nil, &place, buffer.count) else { return nil }
      guard let start = buffer.baseAddress, let end = unsafe place,
        unsafe end == start + buffer.count
      else {
        unsafe TS_RESP_free(reply)
        return nil
      }
      return unsafe reply
    }
    ERR_clear_error()
    guard let reply = unsafe reply else { return nil }
    unsafe self.reply = reply
  }

  deinit { unsafe TS_RESP_free(reply) }

  /// Whether it verifies in the context; if not, libcrypto has an error.
  func isValid(_ context: OpaquePointer?) -> Bool {
    unsafe TS_RESP_verify_response(context, reply) == 1
  }

  /// In whole seconds since 1970; nil without a token.
  var time: Double? {
    guard let facts = unsafe TS_RESP_get_tst_info(reply) else { return nil }
    var parts = unsafe tm()
    guard unsafe ASN1_TIME_to_tm(TS_TST_INFO_get_time(facts), &parts) == 1 else { return nil }
    return Double(unsafe timegm(&parts))
  }

  /// The signing certificate's subject; nil without a token or that certificate.
  var signer: String? {
    guard let token = unsafe TS_RESP_get_token(reply) else { return nil }
    let signers = unsafe PKCS7_get0_signers(token, nil, 0)
    defer { unsafe OPENSSL_sk_free(signers) }
    // A token has one signer: verification refuses more.
    guard let certificate = unsafe OPENSSL_sk_value(signers, 0) else { return nil }
    let sink = unsafe BIO_new(BIO_s_mem())
    defer { unsafe BIO_free(sink) }
    let name = unsafe X509_get_subject_name(OpaquePointer(certificate))
    guard unsafe X509_NAME_print_ex(sink, name, 0, spool_name_form()) >= 0 else { return nil }
    var text = [UInt8](repeating: 0, count: 1024)
    let count = unsafe BIO_read(sink, &text, Int32(text.count))
    return String(decoding: text.prefix(Int(max(0, count))), as: UTF8.self)
  }
}

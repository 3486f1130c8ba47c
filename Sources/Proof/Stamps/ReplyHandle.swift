internal import CCrypto
internal import Glibc

/// The one owner of a reply that libcrypto has read.
@safe struct ReplyHandle: ~Copyable {
  private let reply: OpaquePointer

  /// Reads DER; nil for anything else, and for what has something behind it.
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

  /// Whether it is what the context asks for; if not, libcrypto has an error that says why.
  func isValid(_ context: OpaquePointer?) -> Bool {
    unsafe TS_RESP_verify_response(context, reply) == 1
  }

  /// When it was signed, in whole seconds since 1970; nil without a token.
  var time: Double? {
    guard let facts = unsafe TS_RESP_get_tst_info(reply) else { return nil }
    var parts = unsafe tm()
    guard unsafe ASN1_TIME_to_tm(TS_TST_INFO_get_time(facts), &parts) == 1 else { return nil }
    return Double(unsafe timegm(&parts))
  }

  /// The name in the certificate that signed; nil without a token, or without that certificate.
  var signer: String? {
    guard let token = unsafe TS_RESP_get_token(reply) else { return nil }
    let signers = unsafe PKCS7_get0_signers(token, nil, 0)
    defer { unsafe OPENSSL_sk_free(signers) }
    // A token has one signer: more are refused when it is checked.
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

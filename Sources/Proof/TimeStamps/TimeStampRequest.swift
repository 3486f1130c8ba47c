internal import CCrypto
package import Platform

/// A request to a time stamping authority: a TimeStampReq of RFC 3161, section 2.4.1.
package struct TimeStampRequest: Hashable, Sendable {
  /// The HTTP content type: RFC 3161, section 3.4.
  package static let contentType = "application/timestamp-query"

  /// The SHA-256 to be stamped.
  package let digest: Digest
  /// Identifies the reply to this request; nil accepts any reply.
  package let nonce: UInt64?

  /// Uses a random 64-bit nonce.
  package init(for digest: Digest) {
    self.init(for: digest, nonce: UInt64.random(in: 1 ... .max))
  }

  init(for digest: Digest, nonce: UInt64?) {
    self.digest = digest
    self.nonce = nonce
  }

  /// The request in DER; asks for the signer's certificate.
  package var bytes: [UInt8] {
    let request = unsafe makeRequest()
    defer { unsafe TS_REQ_free(request) }
    let count = unsafe i2d_TS_REQ(request, nil)
    precondition(count > 0, "libcrypto cannot write a request")
    var bytes = [UInt8](repeating: 0, count: Int(count))
    unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      var end = buffer.baseAddress
      unsafe i2d_TS_REQ(request, &end)
    }
    return bytes
  }

  /// The request as libcrypto's object, which the caller frees.
  func makeRequest() -> OpaquePointer {
    let imprint = unsafe TS_MSG_IMPRINT_new()
    defer { unsafe TS_MSG_IMPRINT_free(imprint) }
    let algorithm = unsafe X509_ALGOR_new()
    defer { unsafe X509_ALGOR_free(algorithm) }
    var digest = digest.bytes
    guard let request = unsafe TS_REQ_new(), unsafe TS_REQ_set_version(request, 1) == 1,
      unsafe X509_ALGOR_set0(algorithm, OBJ_nid2obj(NID_sha256), V_ASN1_NULL, nil) == 1,
      unsafe TS_MSG_IMPRINT_set_algo(imprint, algorithm) == 1,
      unsafe TS_MSG_IMPRINT_set_msg(imprint, &digest, Int32(digest.count)) == 1,
      unsafe TS_REQ_set_msg_imprint(request, imprint) == 1,
      unsafe TS_REQ_set_cert_req(request, 1) == 1
    else { preconditionFailure("libcrypto is out of memory") }
    if let nonce {
      let number = unsafe ASN1_INTEGER_new()
      defer { unsafe ASN1_INTEGER_free(number) }
      guard unsafe ASN1_INTEGER_set_uint64(number, nonce) == 1,
        unsafe TS_REQ_set_nonce(request, number) == 1
      else { preconditionFailure("libcrypto is out of memory") }
    }
    return unsafe request
  }
}

internal import CCrypto
internal import Glibc
public import Hashing

/// What a time stamping authority answered: a TimeStampResp of RFC 3161, section 2.4.2. Until it was
/// checked, it is worth nothing.
public struct TimeStampReply: Hashable, Sendable {
  /// The longest reply that is looked at, in bytes.
  public static let maximumByteCount = 256 << 10

  /// The reply in DER.
  public let bytes: [UInt8]

  /// Takes a reply as it came.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads a file.
  public init(at path: String) throws(ProofError) {
    bytes = try SubjectFile.readWhole(path, limit: Self.maximumByteCount)
  }

  /// Checks it as the answer to a request: that it was granted, is about the same digest, has the
  /// same nonce, and that its signature and its certificate's chain hold now.
  /// - Parameter now: in seconds since 1970.
  public func accepted(
    for request: TimeStampRequest, by certificates: TrustedCertificates, at now: Double
  ) throws(ProofError) -> TimeStamp {
    try check(request, certificates) { _ in now }
  }

  /// Checks it years later, as a token of something: as `accepted` does, but for the nonce; the chain
  /// has to hold at the time that the token tells.
  public func verified(
    for digest: Digest, by certificates: TrustedCertificates
  ) throws(ProofError) -> TimeStamp {
    try check(TimeStampRequest(for: digest, nonce: nil), certificates) { $0 }
  }

  /// - Parameter moment: when the chain has to hold, made of the time that the token tells.
  private func check(
    _ request: TimeStampRequest, _ certificates: TrustedCertificates, moment: (Double) -> Double
  ) throws(ProofError) -> TimeStamp {
    ERR_clear_error()
    defer { ERR_clear_error() }
    guard let handle = ReplyHandle(bytes) else {
      throw Self.refusal("it is no answer of a time stamping authority (RFC 3161)")
    }
    // A reply without a token has no time; why, the check tells.
    let time = handle.time
    let asked = unsafe request.makeRequest()
    defer { unsafe TS_REQ_free(asked) }
    let context = unsafe TS_REQ_to_TS_VERIFY_CTX(asked, nil)
    defer { unsafe TS_VERIFY_CTX_free(context) }
    unsafe TS_VERIFY_CTX_add_flags(context, Int32(TS_VFY_SIGNATURE))
    // It owns the certificates now.
    unsafe TS_VERIFY_CTX_set_store(
      context, certificates.makeStore(validAt: moment(time ?? 0)))
    guard unsafe handle.isValid(context) else { throw Self.refusal(LibraryComplaint.first) }
    guard let time, let authority = handle.signer else {
      throw Self.refusal("it does not say when, or who signed it")
    }
    return TimeStamp(digest: request.digest, time: time, authority: authority)
  }

  private static func refusal(_ reason: String) -> ProofError {
    ProofError("cannot take the time stamp", reason: reason)
  }
}

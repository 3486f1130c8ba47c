internal import CCrypto

/// What libcrypto has against a time stamp, in words for a user.
enum LibraryComplaint {
  /// The first thing that went wrong on this thread: what came after it followed from it. It is
  /// forgotten with that.
  static var first: String {
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

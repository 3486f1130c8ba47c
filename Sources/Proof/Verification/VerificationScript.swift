internal import CTexts
internal import Platform

/// The shell script beside a receipt: it verifies everything with `sh`, `sha256sum` and `openssl`,
/// without Spool, and prints each step.
package enum VerificationScript {
  ///
  /// - Parameters:
  /// - receipt: the name of the receipt.
  /// - checksums: the name of the list of checksums, a subject of the receipt.
  /// - key: the name of the public key beside it.
  /// - isInBag: whether it is in a bag's payload; time stamps lie outside that.
  /// - stampCount: the number of its time stamping authorities.
  package static func text(
    receipt: String, checksums: String, key: String, isInBag: Bool = false, stampCount: Int = 0
  ) -> String {
    let stem = receipt.withoutEnding(ReceiptSearch.ending)
    let stamps = TimeStampNames.token(of: receipt, number: 1).withoutEnding(".tsr")
    let settings = """
      receipt=\(quoted(receipt))
      checksums=\(quoted(checksums))
      checksums_json=\(quoted(JSONString.quoted(checksums)))
      key=\(quoted(key))
      stamps=\(quoted((isInBag ? "../" : "") + stamps))
      type=\(Envelope.payloadType)
      authorities=\(stampCount)
      base=\(receipt.contains("/") ? ".." : ".")
      """
    // Names may look like placeholders: each part is filled in by itself.
    let parts = unsafe String(cString: text_receipt_script).split(separator: "@SETTINGS@")
    return parts[0].replacing("@SCRIPT@", with: quoted("./\(stem).verify.sh")) + settings + parts[1]
  }

  private static func quoted(_ text: String) -> String { ShellWords.singleQuoted(text) }
}

extension String {
  /// The text without an ending, if it has it.
  func withoutEnding(_ ending: String) -> String {
    hasSuffix(ending) ? String(dropLast(ending.count)) : self
  }
}

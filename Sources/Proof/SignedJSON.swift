internal import JSONText

/// What is signed is the text of RFC 8785, and no other text of the same value is believed.
///
/// The numbers of statements are written in that scheme's digits from the start (``JSONValue``'s
/// `integer` and `decimal`), and read in no others: so the compact text is the canonical one.
extension JSONValue {
  /// The text that is signed or hashed, in UTF-8.
  var bytes: [UInt8] { Array(compact.utf8) }
}

extension JSONReader {
  /// How deeply lists and objects may lie in each other.
  static let depthLimit = 64

  /// Reads text that somebody signed. O(n log n).
  static func signedValue(of bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
    try canonicalValue(of: bytes, depthLimit: depthLimit)
  }
}

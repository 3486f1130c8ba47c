/// What the files of time stamps are called, which lie beside a receipt.
public enum TimeStampNames {
  /// No receipt has more tokens, each of another authority.
  public static let maximumCount = 4

  /// The token of the `number`th authority, counted from 1: `note.receipt.tsr`, `note.receipt.2.tsr`.
  /// - Parameter receipt: the receipt's name or path.
  public static func token(of receipt: String, number: Int) -> String {
    let ending = ".json"
    let stem = receipt.hasSuffix(ending) ? String(receipt.dropLast(ending.count)) : receipt
    return number == 1 ? "\(stem).tsr" : "\(stem).\(number).tsr"
  }

  /// All names that tokens of a receipt can have.
  public static func tokens(of receipt: String) -> [String] {
    (1...maximumCount).map { token(of: receipt, number: $0) }
  }

  /// The copy of the certificates that a token is checked against.
  public static func certificates(of token: String) -> String { token + ".pem" }

  /// The list of the digests of both, for `sha256sum -c`.
  public static func checksums(of token: String) -> String { token + ".sha256" }
}

/// What the files of a receipt are called.
struct ReceiptNames {
  /// The script that checks it.
  let script: String
  /// The list for `sha256sum -c`.
  let checksums: String
  /// The receipt.
  let receipt: String

  init(stem: String) {
    script = stem + ".verify.sh"
    checksums = stem + ".sha256"
    receipt = stem + ".receipt.json"
  }

  /// The names out of `all`; nil for any others.
  init?(_ names: [String]) {
    guard names.count == 3 else { return nil }
    (script, checksums, receipt) = (names[0], names[1], names[2])
  }

  /// The names in the order in which the files are written: the receipt is there last, and then all
  /// is.
  var all: [String] { [script, checksums, receipt] }
}

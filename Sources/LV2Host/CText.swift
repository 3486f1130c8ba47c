/// Text that a C function wrote into memory of ours.
enum CText {
  /// The text up to its end.
  static func text(_ bytes: [CChar]) -> String {
    String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

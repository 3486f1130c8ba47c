/// What a ledger's file holds: the lines up to the first that is not whole.
struct LedgerText {
  /// The lines.
  let lines: [LedgerLine]
  /// How many bytes they take.
  let byteCount: Int64
  /// Whether something follows them that is no line.
  let hasMore: Bool

  /// Reads lines. A power cut may leave the last of them torn, and nothing behind it counts.
  init(_ bytes: ArraySlice<UInt8>) {
    var lines: [LedgerLine] = []
    var rest = bytes
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")),
      let text = String(validating: rest[..<end], as: UTF8.self), let line = LedgerLine(text[...])
    {
      lines.append(line)
      rest = rest[(end + 1)...]
    }
    self.lines = lines
    byteCount = Int64(bytes.count - rest.count)
    hasMore = !rest.isEmpty
  }
}

import Glibc
internal import PipelineModel
internal import Platform

/// The transparency log as two files beside the database: a line per receipt, which identifies
/// receipts deleted or changed in the database, and the signed head.
///
/// The files follow the database: after a crash they are at most one receipt behind, never ahead.
/// If they are ahead, the database was restored from a backup and takes in the rest.
struct ReceiptLog {
  let layout: StoreLayout
  let drafts: DraftFolder
  private var files: FileOperations { drafts.files }
  private static let action = "write the list of receipts beside"
  private static let maximumByteCount: Int64 = 256 << 20
  private static let maximumHeadByteCount: Int64 = 64 << 10
  private static let greatestStrayCount = 1000

  /// The database's record of the log files.
  struct State {
    var lines: Int
    var byteCount: Int64
  }

  /// A line: position, leaf, and path as JSON.
  static func line(_ entry: ReceiptEntry) -> String {
    "\(entry.position) \(entry.leaf?.hex ?? "-") \(JSONString.quoted(entry.path))\n"
  }

  /// All lines in order; an unreadable one has no leaf. With too many of those the rest is left
  /// out.
  func read() -> [ReceiptEntry] {
    var entries: [ReceiptEntry] = []
    var strayCount = 0
    var rest =
      ((try? files.bytes(of: layout.receiptLog, limit: Self.maximumByteCount)) ?? [])[...]
    while !rest.isEmpty, strayCount < Self.greatestStrayCount {
      let line = rest.prefix { $0 != UInt8(ascii: "\n") }
      rest = rest[line.endIndex...].dropFirst()
      let entry = Self.entry(of: line, at: entries.count)
      if entry.leaf == nil { strayCount += 1 }
      entries.append(entry)
    }
    return entries
  }

  /// Parses a line; if it is not canonical, the entry at this position has no leaf.
  private static func entry(of text: ArraySlice<UInt8>, at index: Int) -> ReceiptEntry {
    let parts = text.split(separator: UInt8(ascii: " "), maxSplits: 2)
    if parts.count == 3, let position = Int(String(decoding: parts[0], as: UTF8.self)),
      let path = Self.path(parts[2])
    {
      let leaf = Digest(hex: String(decoding: parts[1], as: UTF8.self))
      let entry = ReceiptEntry(position: position, leaf: leaf, path: path)
      if line(entry).utf8.dropLast().elementsEqual(text) { return entry }
    }
    return ReceiptEntry(position: index, leaf: nil, path: "")
  }

  /// The signed head beside the database; nil if there is none.
  func head() -> String? {
    let bytes = try? files.bytes(of: layout.receiptHead, limit: Self.maximumHeadByteCount)
    return bytes.flatMap { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
  }

  /// Whether both files match the database, by their lengths and the head.
  func isUpToDate(in database: inout Database) throws(SpoolError) -> Bool {
    let status = try ReceiptTable.log(in: &database)
    guard let head = try ReceiptTable.head(in: &database), status.lines == head.size,
      (try? FileStamp(at: layout.receiptLog))?.byteCount == status.byteCount
    else { return false }
    return self.head() == head.text
  }

  /// Brings both files up to the database, inside a transaction.
  func follow(_ database: inout Database) throws(SpoolError) {
    guard let head = try ReceiptTable.head(in: &database) else { return }
    var status = try ReceiptTable.log(in: &database)
    let length = (try? FileStamp(at: layout.receiptLog))?.byteCount ?? 0
    if status.lines != head.size || length != status.byteCount {
      let isWhole =
        length == status.byteCount && status.lines > 0 && status.lines < head.size
      let first = isWhole ? status.lines : 0
      let text = try ReceiptTable.entries(from: first, in: &database).map(Self.line).joined()
      if isWhole {
        try append(text)
      } else {
        try drafts.replace(layout.receiptLog, by: text)
      }
      status = State(
        lines: head.size, byteCount: (isWhole ? length : 0) + Int64(text.utf8.count))
      try ReceiptTable.setLog(status, in: &database)
    }
    if self.head() != head.text { try drafts.replace(layout.receiptHead, by: head.text) }
  }

  private static func path(_ quoted: ArraySlice<UInt8>) -> String? {
    (try? JSONReader.strictValue(of: Array(quoted), depthLimit: 1))?.text
  }

  private func append(_ text: String) throws(SpoolError) {
    try doing(Self.action, layout.receiptLog) { () throws(SystemError) in
      let file = try files.open(layout.receiptLog, O_WRONLY | O_APPEND | O_NOFOLLOW)
      try files.write(Array(text.utf8), to: file)
      try files.flush(file)
    }
  }
}

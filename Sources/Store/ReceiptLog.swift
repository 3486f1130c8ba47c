import Glibc
internal import Hashing
internal import JSONText
internal import PipelineModel

/// The list of receipts once more, as two files beside the database: a line for each receipt, by which
/// one that was deleted or changed in the database is named, and the signed head.
///
/// They follow the database: a process that was killed may have left them one receipt behind it, and
/// never before it. Where they are before it, it was restored from a backup, and takes in what they know.
struct ReceiptLog {
  let layout: StoreLayout
  let records: RecordFolder
  private var files: FileOperations { records.files }
  private static let action = "write the list of receipts beside"
  private static let maximumByteCount: Int64 = 256 << 20
  private static let maximumHeadByteCount: Int64 = 64 << 10
  private static let greatestStrayCount = 1000

  /// What the database says of the log.
  struct Standing {
    var lines: Int
    var byteCount: Int64
  }

  /// A line: its place, the leaf, and the path as JSON writes it.
  static func line(_ entry: ReceiptEntry) -> String {
    "\(entry.position) \(entry.leaf?.hex ?? "-") \(JSONString.quoted(entry.path))\n"
  }

  /// All lines that are there, in order; of one that does not read, the leaf is nil. Where so many do not
  /// read that this is no list, the rest is left out.
  func read() -> [ReceiptEntry] {
    var entries: [ReceiptEntry] = []
    var strayCount = 0
    var rest = bytes(at: layout.receiptLog, limit: Self.maximumByteCount)[...]
    while !rest.isEmpty, strayCount < Self.greatestStrayCount {
      let line = rest.prefix { $0 != UInt8(ascii: "\n") }
      rest = rest[line.endIndex...].dropFirst()
      let entry = Self.entry(of: line, at: entries.count)
      if entry.leaf == nil { strayCount += 1 }
      entries.append(entry)
    }
    return entries
  }

  /// What a line says, if `line` would write it so; else an entry without a leaf, in this place.
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

  /// The signed head beside the database; nil where there is none.
  func head() -> String? {
    let bytes = bytes(at: layout.receiptHead, limit: Self.maximumHeadByteCount)
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// Whether both files say what the database says, as far as their lengths and the head tell.
  func isUpToDate(in database: inout Database) throws(StoreError) -> Bool {
    let standing = try ReceiptTable.log(in: &database)
    guard let head = try ReceiptTable.head(in: &database), standing.lines == head.size,
      (try? FileStamp(at: layout.receiptLog))?.byteCount == standing.byteCount
    else { return false }
    return self.head() == head.text
  }

  /// Brings both files to what the database says, inside a transaction.
  func follow(_ database: inout Database) throws(StoreError) {
    guard let head = try ReceiptTable.head(in: &database) else { return }
    var standing = try ReceiptTable.log(in: &database)
    let length = (try? FileStamp(at: layout.receiptLog))?.byteCount ?? 0
    if standing.lines != head.size || length != standing.byteCount {
      let isWhole =
        length == standing.byteCount && standing.lines > 0 && standing.lines < head.size
      let first = isWhole ? standing.lines : 0
      let text = try ReceiptTable.entries(from: first, in: &database).map(Self.line).joined()
      if isWhole {
        try append(text, at: length)
      } else {
        try records.write(text, to: layout.receiptLog)
      }
      standing = Standing(
        lines: head.size, byteCount: (isWhole ? length : 0) + Int64(text.utf8.count))
      try ReceiptTable.setLog(standing, in: &database)
    }
    if self.head() != head.text { try records.write(head.text, to: layout.receiptHead) }
  }

  private static func path(_ quoted: ArraySlice<UInt8>) -> String? {
    (try? JSONReader.strictValue(of: Array(quoted), depthLimit: 1))?.text
  }

  private func append(_ text: String, at length: Int64) throws(StoreError) {
    let bytes = Array(text.utf8)
    try doing(Self.action, layout.receiptLog) { () throws(SystemError) in
      let file = try files.open(layout.receiptLog, O_WRONLY | O_APPEND | O_NOFOLLOW)
      try unsafe bytes.span.bytes.withUnsafeBytes { (bytes) throws(SystemError) in
        try unsafe files.write(bytes, to: file)
      }
      try files.flush(file)
    }
  }

  private func bytes(at path: String, limit: Int64) -> [UInt8] {
    let bytes = try? { () throws(SystemError) -> [UInt8] in
      let file = try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      var bytes = [UInt8](
        repeating: 0, count: Int(min(try file.stamp.byteCount, limit)))
      let count = try files.read(into: &bytes, from: file, at: 0)
      return Array(bytes.prefix(count))
    }()
    return bytes ?? []
  }
}

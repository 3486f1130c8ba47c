import Glibc
internal import FoundationEssentials
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
  private static let maximumByteCount: Int64 = 1 << 30

  /// What the database says of the log.
  struct Standing {
    var lines: Int
    var byteCount: Int64
  }

  /// A line: its place, the leaf, and the path as JSON writes it.
  static func line(_ entry: ReceiptEntry) -> String {
    "\(entry.position) \(entry.leaf?.hex ?? "-") \(JSONString.quoted(entry.path))\n"
  }

  /// All lines that are there, in order; of one that does not read, the leaf is nil.
  func read() -> [ReceiptEntry] {
    bytes(at: layout.receiptLog).split(separator: UInt8(ascii: "\n")).enumerated().map {
      index, line in
      let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
      let path = parts.count == 3 ? Self.path(parts[2]) : nil
      let isHere = parts.count == 3 && parts[0].elementsEqual("\(index)".utf8)
      let leaf = isHere ? Digest(hex: String(decoding: parts[1], as: UTF8.self)) : nil
      return ReceiptEntry(position: index, leaf: path == nil ? nil : leaf, path: path ?? "")
    }
  }

  /// The signed head beside the database; nil where there is none.
  func head() -> String? {
    let bytes = bytes(at: layout.receiptHead)
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
    if standing.lines < head.size || length != standing.byteCount {
      let isWhole = length == standing.byteCount && standing.lines > 0
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

  /// Gives a database that was restored what the files know beyond it.
  func catchUp(_ database: inout Database) throws(StoreError) {
    let length = (try? FileStamp(at: layout.receiptLog))?.byteCount ?? 0
    guard length > 0, length > (try ReceiptTable.log(in: &database)).byteCount else { return }
    try database.transaction(to: Self.action) { (database) throws(StoreError) in
      // What the head does not cover was on its way when a process was killed: nobody signed it.
      guard let head = self.head().flatMap(Self.parsed) else { return }
      let lines = read().prefix(head.size)
      let known = try ReceiptTable.entries(from: 0, in: &database)
      // What contradicts it is no continuation, and is found when the store is checked.
      guard lines.count == head.size, lines.count > known.count,
        lines.allSatisfy({ $0.leaf != nil }), zip(known, lines).allSatisfy(==)
      else { return }
      for entry in lines[known.count...] { try ReceiptTable.insert(entry, into: &database) }
      try ReceiptTable.setHead(head, in: &database)
      try ReceiptTable.setLog(Standing(lines: 0, byteCount: 0), in: &database)
      try follow(&database)
    }
  }

  /// What a signed head says; whether it is signed is for others to look at.
  private static func parsed(_ text: String) -> ReceiptHead? {
    let json = try? JSONReader.strictValue(of: Array(text.utf8), depthLimit: 8)
    guard let payload = json?["payload"]?.text.flatMap({ Data(base64Encoded: $0) }),
      let head = try? JSONReader.strictValue(of: Array(payload), depthLimit: 8),
      let size = head["size"]?.integer, let root = head["root"]?.text.flatMap(Digest.init(hex:))
    else { return nil }
    return ReceiptHead(size: size, root: root, text: text)
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

  private func bytes(at path: String) -> [UInt8] {
    let bytes = try? { () throws(SystemError) -> [UInt8] in
      let file = try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      var bytes = [UInt8](
        repeating: 0, count: Int(min(try file.stamp.byteCount, Self.maximumByteCount)))
      let count = try files.read(into: &bytes, from: file, at: 0)
      return Array(bytes.prefix(count))
    }()
    return bytes ?? []
  }
}

import Glibc
internal import PipelineModel

/// A record that does not have its name yet, under the one of a draft.
final class RecordDraft {
  /// The path that it will have.
  let target: String
  private let file: OpenFile

  init(_ file: consuming OpenFile, for target: String) {
    self.file = file
    self.target = target
  }

  /// Where it lies until then.
  var path: String { file.path }

  /// Writes all of it, and lets the disk begin with it.
  func write(_ text: String, with files: FileOperations) throws(StoreError) {
    let bytes = Array(text.utf8)
    try doing("write the record", target) { () throws(SystemError) in
      try unsafe bytes.span.bytes.withUnsafeBytes { (bytes) throws(SystemError) in
        try unsafe files.write(bytes, to: file)
      }
    }
    files.startWriteback(of: file, from: 0, byteCount: bytes.count)
  }

  /// Flushes it.
  func flush(with files: FileOperations) throws(StoreError) {
    try doing("write the record", target) { () throws(SystemError) in try files.flush(file) }
  }

  /// Gives it its name, in place of an older record.
  func takeName(with files: FileOperations) throws(StoreError) {
    try doing("write the record", target) { () throws(SystemError) in
      try files.rename(path, to: target)
    }
  }
}

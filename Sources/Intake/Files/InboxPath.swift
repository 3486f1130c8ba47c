import PipelineModel
import Platform
import Store

/// A path beneath an inbox. It can neither lead upwards nor be absolute.
struct InboxPath: Hashable, Sendable {
  /// The names with slashes between them; empty for the inbox itself.
  let bytes: [UInt8]

  static let inbox = InboxPath(checked: [])

  private init(checked bytes: [UInt8]) { self.bytes = bytes }

  /// Names with slashes between them; nil if one of them is no valid name.
  init?(bytes: [UInt8]) {
    let names = bytes.split(separator: FileName.slash, omittingEmptySubsequences: false)
    guard bytes.isEmpty || names.allSatisfy({ FileName(bytes: Array($0)) != nil }) else {
      return nil
    }
    self.bytes = bytes
  }

  init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

  func appending(_ name: FileName) -> InboxPath {
    InboxPath(checked: bytes.isEmpty ? name.bytes : bytes + [FileName.slash] + name.bytes)
  }

  /// Nil for the inbox itself.
  var name: FileName? { FileName(bytes: Array(bytes[nameStart...])) }

  /// The inbox is its own folder.
  var folder: InboxPath {
    InboxPath(checked: Array(bytes[..<max(0, nameStart - 1)]))
  }

  /// The outermost first.
  var names: [FileName] {
    bytes.split(separator: FileName.slash).compactMap { FileName(bytes: Array($0)) }
  }

  /// Whether this is `folder` or lies beneath it.
  func isWithin(_ folder: InboxPath) -> Bool {
    folder.bytes.isEmpty || self == folder
      || bytes.starts(with: folder.bytes) && bytes[folder.bytes.count] == FileName.slash
  }

  private var nameStart: Int { bytes.lastIndex(of: FileName.slash).map { $0 + 1 } ?? 0 }

  /// The path for a system call, `.` for the inbox itself.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    let terminated = (bytes.isEmpty ? [UInt8(ascii: ".")] : bytes) + [0]
    return unsafe terminated.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("never empty") }
      return unsafe body(base.assumingMemoryBound(to: CChar.self))
    }
  }
}

extension InboxPath: CustomStringConvertible {
  /// One line, without bytes that steer a terminal.
  var description: String { bytes.isEmpty ? "." : PrintableText.of(bytes) }
}

extension InboxPath {
  /// The path as lossless text: control characters, percent signs and bytes that are no UTF-8 are
  /// written as `%0A`. O(n).
  var escaped: String { PrintableText.escaped(bytes) }

  /// Reads what `escaped` returned; nil if it is no path. O(n).
  init?(escaped text: String) {
    guard let bytes = RecordingFile.bytes(escaped: text) else { return nil }
    self.init(bytes: bytes)
  }
}

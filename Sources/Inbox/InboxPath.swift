public import Sidecars

/// Where something lies beneath an inbox: the names of folders and of the thing itself. It can
/// neither lead upwards nor begin at the root of the file system.
public struct InboxPath: Hashable, Sendable {
  /// The names with slashes between them; empty for the inbox itself.
  public let bytes: [UInt8]

  /// The inbox itself.
  public static let inbox = InboxPath(checked: [])

  private init(checked bytes: [UInt8]) { self.bytes = bytes }

  /// Wraps names with slashes between them; nil where one of them cannot be a name.
  public init?(bytes: [UInt8]) {
    let names = bytes.split(separator: FileName.slash, omittingEmptySubsequences: false)
    guard bytes.isEmpty || names.allSatisfy({ FileName(bytes: Array($0)) != nil }) else {
      return nil
    }
    self.bytes = bytes
  }

  /// Wraps the UTF-8 of names with slashes between them; nil where one of them cannot be a name.
  public init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

  /// What lies under a name in this folder.
  public func appending(_ name: FileName) -> InboxPath {
    InboxPath(checked: bytes.isEmpty ? name.bytes : bytes + [FileName.slash] + name.bytes)
  }

  /// The last name; nil for the inbox itself.
  public var name: FileName? { FileName(bytes: Array(bytes[nameStart...])) }

  /// The folder that it lies in; the inbox lies in itself.
  public var folder: InboxPath {
    InboxPath(checked: Array(bytes[..<max(0, nameStart - 1)]))
  }

  /// All names, the outermost first.
  public var names: [FileName] {
    bytes.split(separator: FileName.slash).compactMap { FileName(bytes: Array($0)) }
  }

  /// Whether this is `folder` or lies anywhere beneath it.
  public func isWithin(_ folder: InboxPath) -> Bool {
    folder.bytes.isEmpty || self == folder
      || bytes.starts(with: folder.bytes) && bytes[folder.bytes.count] == FileName.slash
  }

  private var nameStart: Int { bytes.lastIndex(of: FileName.slash).map { $0 + 1 } ?? 0 }

  /// Lends the path to a system call, as `.` for the inbox itself.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    let terminated = (bytes.isEmpty ? [UInt8(ascii: ".")] : bytes) + [0]
    return unsafe terminated.withUnsafeBytes { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("never empty") }
      return unsafe body(base.assumingMemoryBound(to: CChar.self))
    }
  }
}

extension InboxPath: CustomStringConvertible {
  /// A form to show to people, on one line and without bytes that steer a terminal.
  public var description: String { bytes.isEmpty ? "." : PrintableText.of(bytes) }
}

internal import Sidecars

extension Sidecar {
  /// Reads an open sidecar. Never fails for what it holds: that is among its problems.
  /// - Throws: an `InboxError` where the file cannot be read.
  init(reading file: borrowing ArrivedFile) throws(InboxError) {
    do {
      self.init(json: try file.bytes(atMost: Self.byteLimit))
    } catch {
      guard error.kind == .tooLarge else { throw error }
      self.init(tooLong: Int(file.stamp.byteCount))
    }
  }
}

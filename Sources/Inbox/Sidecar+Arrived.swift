internal import Sidecars

extension ArrivedFile {
  /// Whether it holds words and their times as JSON, and is no device's word. Recognisers write more
  /// than a sidecar may have: of that, only the beginning is looked at.
  func isTranscript() throws(InboxError) -> Bool {
    if stamp.byteCount <= Int64(Sidecar.byteLimit) {
      return try Sidecar(reading: self).isTranscript
    }
    return TranscriptSign.isTranscript(try head(count: TranscriptSign.byteLimit))
  }
}

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

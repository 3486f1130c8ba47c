import Glibc
package import Platform

/// A file to send, open. Its bytes do not change while it is sent.
package struct OutgoingFile: ~Copyable {
  let file: OpenFile
  package let byteCount: Int
  /// Of all its bytes, as it is known from before.
  package let digest: Digest
  /// `audio/mp4`
  package let contentType: String
  /// What the destination keeps beside the bytes, if it can: printable ASCII.
  package let metadata: [String: String]

  /// Opens the file at a path.
  package init(
    _ path: String, digest: Digest, contentType: String = "application/octet-stream",
    metadata: [String: String] = [:]
  ) throws(SpoolError) {
    let file = try Self.doing(path) { () throws(SystemError) in
      try OpenFile(path, O_RDONLY | O_NONBLOCK)
    }
    let stamp = try Self.doing(path) { () throws(SystemError) in try file.stamp }
    if let complaint = stamp.complaint {
      throw SpoolError("send", path, reason: complaint, cause: .input, kind: .wrongKind)
    }
    file.expectSequentialReading()
    self.file = file
    byteCount = Int(stamp.byteCount)
    self.digest = digest
    self.contentType = contentType
    self.metadata = metadata
  }

  /// A file that is gone has to be looked for by the user; what else is wrong may pass.
  private static func doing<Result: ~Copyable>(
    _ path: String, _ calls: () throws(SystemError) -> Result
  ) throws(SpoolError) -> Result {
    do throws(SystemError) {
      return try calls()
    } catch {
      throw SpoolError("send", path, error, cause: error.kind == .missing ? .input : .environment)
    }
  }

  /// Fills the beginning of a buffer from an offset.
  func fill(_ bytes: inout [UInt8], _ count: Int, at offset: Int) throws(SpoolError) {
    let wanted = min(count, bytes.count)
    var span = bytes.mutableSpan
    var raw = unsafe span.mutableBytes
    do throws(SystemError) {
      let got = try unsafe raw.withUnsafeMutableBytes { (bytes) throws(SystemError) in
        try unsafe file.fill(
          UnsafeMutableRawBufferPointer(rebasing: bytes[..<wanted]), at: offset)
      }
      if got == wanted { return }
    } catch {
      throw SpoolError("read", file.path, error)
    }
    throw SpoolError(
      "send", file.path, reason: "it has become shorter", cause: .input, kind: .changed)
  }

  /// The digest of the first bytes. O(their number).
  func digest(ofFirst count: Int) throws(SpoolError) -> Digest {
    do throws(SystemError) {
      return try FileOperations.uncounted.hash(of: file, upTo: Int64(count)).finalize()
    } catch {
      throw SpoolError("read", file.path, error)
    }
  }
}

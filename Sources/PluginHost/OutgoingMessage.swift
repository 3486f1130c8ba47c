import Glibc

/// A message on its way: its line and the bytes behind it go out without being put together first.
public struct OutgoingMessage {
  private let line: [UInt8]
  private let payload: [UInt8]
  private var sent = 0

  /// Nothing of it has gone yet.
  public init(_ message: PluginMessage) {
    line = message.line
    payload = message.payload
  }

  /// Whether all of it has gone.
  public var isSent: Bool { sent == line.count + payload.count }

  /// Writes as much as goes now.
  /// - Returns: how many bytes; negative with `errno` where none could be written.
  public mutating func write(to descriptor: Int32) -> Int {
    let (inLine, inPayload) = (min(sent, line.count), max(0, sent - line.count))
    let count = unsafe line.withUnsafeBytes { head -> Int in
      unsafe payload.withUnsafeBytes { tail -> Int in
        var parts: [iovec] = unsafe []
        if let base = head.baseAddress, inLine < head.count {
          unsafe parts.append(
            iovec(
              iov_base: UnsafeMutableRawPointer(mutating: base + inLine),
              iov_len: head.count - inLine))
        }
        if let base = tail.baseAddress, inPayload < tail.count {
          unsafe parts.append(
            iovec(
              iov_base: UnsafeMutableRawPointer(mutating: base + inPayload),
              iov_len: tail.count - inPayload))
        }
        return unsafe writev(descriptor, &parts, Int32(parts.count))
      }
    }
    sent += max(0, count)
    return count
  }
}

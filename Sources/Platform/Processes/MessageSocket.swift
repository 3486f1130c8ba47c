internal import CPosix
import Glibc

/// One end of a pair of sockets between processes, which keeps messages apart and passes open files.
package struct MessageSocket: ~Copyable, Sendable {
  private let end: OpenFile

  /// Takes an open socket.
  package init(descriptor: CInt) { end = OpenFile(descriptor: descriptor, path: "a socket") }

  /// Makes two connected ends.
  package static func pair() throws(SystemError) -> Pair {
    var ends: [CInt] = [-1, -1]
    try SystemError.check { unsafe posix_make_message_sockets(&ends) }
    return Pair(here: MessageSocket(descriptor: ends[0]), there: MessageSocket(descriptor: ends[1]))
  }

  /// The ends of a pair: one to keep, and one for another process.
  package struct Pair: ~Copyable {
    package let here: MessageSocket
    package let there: MessageSocket

    /// The end to keep; the other one is closed here.
    package consuming func keep() -> MessageSocket { here }
  }

  /// Its descriptor, to pass it on.
  package var descriptor: CInt { end.descriptor }

  /// Sends one message, with the descriptors of up to four open files; blocks while the other process
  /// has too many to read.
  package func send(_ bytes: [UInt8], files: [CInt] = []) throws(SystemError) {
    try SystemError.check {
      unsafe posix_send_message(end.descriptor, bytes, bytes.count, files, CInt(files.count))
    }
  }

  /// Limits how long `receive` waits, in seconds; its error is then EAGAIN.
  package func limitWaiting(to seconds: Int) throws(SystemError) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    try SystemError.check {
      unsafe setsockopt(
        end.descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }
  }

  /// Waits for one message of at most `limit` bytes.
  /// - Returns: the bytes, and the descriptors of up to `fileLimit` files, which the caller owns; no
  ///   bytes if the other end is closed.
  package func receive(
    _ limit: Int, fileLimit: Int = 0
  ) throws(SystemError) -> (bytes: [UInt8], files: [CInt]) {
    var bytes = [UInt8](repeating: 0, count: limit)
    var files = [CInt](repeating: -1, count: fileLimit)
    var fileCount = CInt(0)
    func receive() throws(SystemError) -> Int {
      try SystemError.check {
        fileCount = CInt(fileLimit)
        return unsafe posix_receive_message(end.descriptor, &bytes, limit, &files, &fileCount)
      }
    }
    let count: Int
    do { count = try receive() } catch {
      // The other end was closed before it had read everything, which the kernel reports once, and
      // before the messages that it sent.
      guard error.code == ECONNRESET else { throw error }
      count = try receive()
    }
    bytes.removeLast(limit - count)
    return (bytes, Array(files.prefix(Int(fileCount))))
  }
}

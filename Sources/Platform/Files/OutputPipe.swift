internal import CPosix
import Glibc

/// A pipe from a program that is started. Reading never waits longer than its limit.
package struct OutputPipe: ~Copyable {
  private let reader: OpenFile
  private var writer: OpenFile?
  /// The end for the program, until ``closeWriter()``.
  package let writingEnd: CInt

  package init() throws(SystemError) {
    var ends: [CInt] = [-1, -1]
    try SystemError.check { unsafe posix_make_pipe(&ends) }
    reader = OpenFile(descriptor: ends[0], path: "a pipe")
    writingEnd = ends[1]
    writer = OpenFile(descriptor: ends[1], path: "a pipe")
  }

  /// Leaves the writing end to the program, so that its end is the pipe's.
  package mutating func closeWriter() { writer = nil }

  /// Reads what there is.
  /// - Returns: the number of bytes; 0 at the end.
  package func read(into bytes: inout [UInt8]) throws(SystemError) -> Int {
    let (number, capacity) = (reader.descriptor, bytes.count)
    return try SystemError.check { unsafe Glibc.read(number, &bytes, capacity) }
  }

  /// Waits until one of two pipes can be read without waiting, or has ended.
  /// - Parameters:
  ///   - isAwaited: whether each is waited for.
  ///   - milliseconds: the longest wait.
  /// - Returns: which of them can be read.
  package static func wait(
    for first: borrowing OutputPipe, _ second: borrowing OutputPipe, isAwaited: (Bool, Bool),
    milliseconds: CInt
  ) -> (Bool, Bool) {
    var states = [
      pollfd(
        fd: isAwaited.0 ? first.reader.descriptor : -1, events: Int16(POLLIN), revents: 0),
      pollfd(
        fd: isAwaited.1 ? second.reader.descriptor : -1, events: Int16(POLLIN), revents: 0),
    ]
    guard unsafe poll(&states, 2, milliseconds) > 0 else { return (false, false) }
    return (states[0].revents != 0, states[1].revents != 0)
  }
}

import CPosix
import Glibc
import Synchronization

/// Standard output and standard error, and their capabilities.
final class Console: Sendable {
  /// Whether standard output is a terminal with control sequences.
  let isTerminal: Bool
  /// Whether standard error may be coloured.
  let isColored: Bool
  /// Columns.
  let width: Int
  private let lock = Mutex(())

  init() {
    let environment = Environment.variables
    let isDumb = environment["TERM"] == "dumb" || environment["TERM"] == nil
    isTerminal = isatty(STDOUT_FILENO) == 1 && !isDumb
    isColored =
      isatty(STDERR_FILENO) == 1 && !isDumb && (environment["NO_COLOR"] ?? "").isEmpty
    width = Console.columns() ?? environment["COLUMNS"].flatMap { Int($0) } ?? 80
    // A closed pipe must not end the program without an error message.
    signal(SIGPIPE, SIG_IGN)
  }

  /// Prints lines on standard output.
  func print(_ text: String) { write(line(text), to: STDOUT_FILENO) }

  /// Writes text to standard output unchanged.
  func draw(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// Prints lines on standard error.
  func report(_ text: String) {
    write(line(text), to: STDERR_FILENO)
  }

  /// Makes control sequences harmless and appends a line feed.
  private func line(_ text: String) -> String {
    Format.harmless(text.utf8.last == 0x0A ? text : text + "\n")
  }

  /// Prints to standard error without taking the lock, which another thread may hold for ever while
  /// its reader is gone. For the moment before the program exits.
  func lastWord(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }

  /// Waits for writers; output is not buffered.
  func flush() { lock.withLock { _ in } }

  /// The escape sequences of colours.
  static let colours = ["\u{1B}[0m", "\u{1B}[1m", "\u{1B}[1;31m", "\u{1B}[2m"]

  func bold(_ text: String) -> String { isColored ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
  func red(_ text: String) -> String { isColored ? "\u{1B}[1;31m\(text)\u{1B}[0m" : text }

  private func write(_ text: String, to descriptor: Int32) {
    lock.withLock { _ in
      var bytes = Array(text.utf8)[...]
      while !bytes.isEmpty {
        let count = unsafe bytes.withUnsafeBytes {
          unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
        }
        if count > 0 {
          bytes = bytes.dropFirst(count)
        } else if errno != EINTR {
          return
        }
      }
    }
  }

  private static func columns() -> Int? {
    var size = winsize()
    guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else {
      return nil
    }
    return Int(size.ws_col)
  }
}

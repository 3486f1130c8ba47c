import Glibc
import Synchronization

/// Standard output and standard error, and what is known about who reads them.
final class Console: Sendable {
  /// Whether standard output is a terminal that understands control sequences.
  let isTerminal: Bool
  /// Whether standard error may be coloured.
  let isColored: Bool
  /// Columns to write into.
  let width: Int
  private let lock = Mutex(())

  init() {
    let environment = Environment.variables
    let isDumb = environment["TERM"] == "dumb" || environment["TERM"] == nil
    isTerminal = isatty(STDOUT_FILENO) == 1 && !isDumb
    isColored =
      isatty(STDERR_FILENO) == 1 && !isDumb && (environment["NO_COLOR"] ?? "").isEmpty
    width = Console.columns() ?? environment["COLUMNS"].flatMap { Int($0) } ?? 80
    // A reader that goes away is no reason to die without a word about the recording.
    signal(SIGPIPE, SIG_IGN)
  }

  /// A line, or several, on standard output.
  func print(_ text: String) { write(line(text), to: STDOUT_FILENO) }

  /// Text on standard output as it is.
  func draw(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// A line for people on standard error.
  func report(_ text: String) {
    write(line(text), to: STDERR_FILENO)
  }

  /// Whatever is called whatever, nothing of it steers the terminal.
  private func line(_ text: String) -> String {
    Format.harmless(text.utf8.last == 0x0A ? text : text + "\n")
  }

  /// A line on standard error whatever other threads are writing: for the moment before the program
  /// ends, when one of them may wait for a reader that never comes back.
  func lastWord(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }

  /// Nothing is buffered; here for the end of the program.
  func flush() { lock.withLock { _ in } }

  /// What begins and ends colours.
  static let colours = ["\u{1B}[0m", "\u{1B}[1m", "\u{1B}[1;31m", "\u{1B}[2m"]

  /// Text in bold, where colours are wanted.
  func bold(_ text: String) -> String { isColored ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
  /// Text in red, where colours are wanted.
  func red(_ text: String) -> String { isColored ? "\u{1B}[1;31m\(text)\u{1B}[0m" : text }
  /// Text in grey, where colours are wanted.
  func faint(_ text: String) -> String { isColored ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

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

import CPosix
import Glibc
import Platform
import Synchronization

/// Standard output and standard error, and their capabilities.
final class Console: Sendable {
  /// Whether standard output is a terminal with control sequences.
  let isTerminal: Bool
  /// Whether standard error may be coloured.
  let isColored: Bool
  /// Whether standard output may be coloured.
  let isOutputColored: Bool
  /// Columns.
  let width: Int
  /// Why standard output took nothing at the first attempt that failed; nil if it took everything.
  private let outputFailure = Mutex<SystemError?>(nil)
  /// The stop that ends waiting for readers; nil before one can be requested.
  private let stop = Mutex<StopRequest?>(nil)
  /// The descriptors whose readers took nothing after a stop.
  private let abandoned = Mutex<Set<Int32>>([])
  private let store = Mutex(OfferedStore(nil))

  init() {
    Self.occupyStandardDescriptors()
    let environment = Environment.variables
    let isDumb = environment["TERM"] == "dumb" || environment["TERM"] == nil
    isTerminal = isatty(STDOUT_FILENO) == 1 && !isDumb
    let hasColours = !isDumb && (environment["NO_COLOR"] ?? "").isEmpty
    isColored = isatty(STDERR_FILENO) == 1 && hasColours
    isOutputColored = isatty(STDOUT_FILENO) == 1 && hasColours
    // What is piped into a pager is read in the terminal that the other descriptors have.
    width =
      Console.columns(of: STDOUT_FILENO)
      ?? environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 >= 20 ? $0 : nil }
      ?? Console.columns(of: STDERR_FILENO) ?? Console.columns(of: STDIN_FILENO) ?? 80
    // A closed pipe must not end the program without an error message.
    signal(SIGPIPE, SIG_IGN)
  }

  /// Prints lines on standard output.
  func print(_ text: String) { write(line(text), to: STDOUT_FILENO) }

  /// Prints a value as one line of JSON on standard output, in whose advice commands have the store.
  func print(json value: some Encodable) {
    print(store.withLock { $0 }.completing(json: JSONText.of(value)))
  }

  /// Writes text to standard output unchanged.
  func draw(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// Prints lines on standard error.
  func report(_ text: String) {
    write(line(store.withLock { $0 }.completing(text)), to: STDERR_FILENO)
  }

  /// Has a stop end all waiting for readers: until then, work waits for a reader that pauses.
  /// - Returns: the stop.
  func heed(_ request: StopRequest) -> StopRequest {
    stop.withLock { $0 = request }
    return request
  }

  /// Asks on standard error, in a line that the answer ends.
  func ask(_ question: String) { write(Format.harmless(question), to: STDERR_FILENO) }

  /// Puts `--store` as typed into every command that is offered from now on.
  func offersStore(_ option: String?) { store.withLock { $0 = OfferedStore(option) } }

  /// Text for standard output in which the commands have the store.
  func completed(_ text: String) -> String { store.withLock { $0 }.completing(text) }

  /// Offers commands on standard error, each in a line that begins with `next:`.
  func offer(_ commands: [NextCommand]) { commands.forEach { report($0.text) } }

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

  /// Why standard output takes nothing any more; nil if it does.
  var outputTrouble: String? { outputFailure.withLock { $0?.words } }

  /// Waits for writers; output is not buffered.
  /// - Throws: if standard output did not take all of it, as on a full disk or into a closed pipe.
  func flush() throws(SpoolError) {
    if abandoned.withLock({ $0.contains(STDOUT_FILENO) }) {
      report(
        "note: the last lines of standard output are missing: its reader took nothing for "
          + "\(Self.patience / 1000) s after the stop")
    }
    guard let error = outputFailure.withLock({ $0 }) else { return }
    throw SpoolError(
      "cannot write standard output", reason: error.words, advice: error.outputAdvice,
      cause: .environment)
  }

  /// The escape sequences of colours.
  static let colours = ["\u{1B}[0m", "\u{1B}[1m", "\u{1B}[1;31m", "\u{1B}[2m", "\u{1B}[36m"]

  func bold(_ text: String) -> String { isColored ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
  func red(_ text: String) -> String { isColored ? "\u{1B}[1;31m\(text)\u{1B}[0m" : text }

  /// How long a reader that pauses is waited for after a stop, in milliseconds: less than a run has
  /// for its clean point.
  private static let patience: Int32 = 1000
  /// Milliseconds between two looks whether a stop was requested.
  private static let glance: Int32 = 50
  /// What a pipe that is ready takes without blocking.
  private static let pipeByteCount = 4096

  private func write(_ text: String, to descriptor: Int32) {
    outputFailure.withLock { failure in
      var bytes = Array(text.utf8)[...]
      while !bytes.isEmpty, isReady(descriptor) {
        let count = unsafe bytes.prefix(Self.pipeByteCount).withUnsafeBytes {
          unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
        }
        if count > 0 {
          bytes = bytes.dropFirst(count)
        } else if errno != EINTR {
          if descriptor == STDOUT_FILENO, failure == nil { failure = .last }
          return
        }
      }
    }
  }

  /// Waits until a descriptor takes bytes.
  /// - Returns: false if a stop was requested and its reader pauses.
  private func isReady(_ descriptor: Int32) -> Bool {
    if abandoned.withLock({ $0.contains(descriptor) }) { return false }
    var waited: Int32 = 0
    while true {
      var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let count = unsafe poll(&state, 1, Self.glance)
      // An error is for the write to report.
      if count > 0 || (count < 0 && errno != EINTR) { return true }
      guard stop.withLock({ $0?.isRequested == true }) else { continue }
      waited += Self.glance
      if waited > Self.patience {
        abandoned.withLock { _ = $0.insert(descriptor) }
        return false
      }
    }
  }

  /// A standard descriptor that was closed must not be given to a file of the store, which would
  /// then take the output. What replaces standard output is only readable: a write to it fails.
  private static func occupyStandardDescriptors() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR)
    }
  }

  private static func columns(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else {
      return nil
    }
    return Int(size.ws_col)
  }
}

/// A command that is offered in a line `next:`, which can be pasted into a shell as it is.
///
/// Text for people has no place in it: words are quoted, and a line has to be one that Spool takes.
struct NextCommand: Sendable {
  /// As a shell reads it.
  let line: String

  /// The command of these words, the program first.
  init(_ words: [String]) { line = ShellWords.line(words) }

  /// A command of Spool as it was recorded; nil for any other text.
  init?(_ line: String) {
    guard var words = ShellWords.words(of: line), words.first == Spool.program.name else {
      return nil
    }
    words.removeFirst()
    guard case .run? = try? Spool.program.parse(words) else { return nil }
    self.line = line
  }

  /// The line that offers it.
  var text: String { "next:  \(Format.visible(line))" }
}

extension SystemError {
  /// What the user can do if standard output takes nothing; nil for the usual advice.
  fileprivate var outputAdvice: String? {
    switch code {
    case EPIPE: "its reader ended early; the command was not affected by that"
    case EBADF: "standard output is closed"
    case ENOSPC, EDQUOT:
      "free some space where the output goes; the command was not affected by that"
    default: nil
    }
  }
}

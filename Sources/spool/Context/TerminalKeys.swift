import Glibc
import Platform

/// Keys of the terminal at standard input, one by one and without echo. The main thread alone uses it.
///
/// The terminal has its usual mode again after `end`, while the program is stopped (Ctrl-Z), and when this
/// object is gone.
final class TerminalKeys {
  /// A key that was pressed.
  enum Key: Hashable {
    case character(Character)
    case left, right
  }

  private var usual = termios()
  private var isActive = false
  private var isOver = false
  private var parser = KeyParser()

  /// Nil if standard input is no terminal, or belongs to another job.
  init?() {
    guard isatty(STDIN_FILENO) == 1, unsafe tcgetattr(STDIN_FILENO, &usual) == 0,
      Self.isForeground
    else { return nil }
  }

  deinit { end() }

  /// Takes keys one by one from now on.
  func begin() {
    var signals = Self.watched
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    setMode()
  }

  /// Gives the terminal its usual mode. Keys are not read any more.
  func end() {
    guard !isOver else { return }
    isOver = true
    restoreMode()
    var signals = Self.watched
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  /// Waits for keys.
  /// - Parameters:
  ///   - patience: in milliseconds.
  ///   - whenStopped: called before the program is stopped by Ctrl-Z; what it gives is called when it
  ///     goes on.
  func read(atMost patience: Int32, whenStopped: () -> () -> Void) -> [Key] {
    handleSignals(whenStopped)
    guard isActive, !isOver else {
      usleep(UInt32(patience) * 1000)
      return []
    }
    var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&ready, 1, patience) > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = unsafe Glibc.read(STDIN_FILENO, &bytes, bytes.count)
    guard count > 0 else {
      // The terminal is gone.
      isActive = false
      return []
    }
    return parser.take(bytes[..<count])
  }

  private func handleSignals(_ whenStopped: () -> () -> Void) {
    var signals = Self.watched
    var none = timespec()
    while true {
      switch unsafe sigtimedwait(&signals, nil, &none) {
      case SIGTSTP:
        let goOn = whenStopped()
        restoreMode()
        kill(getpid(), SIGSTOP)
        setMode()
        goOn()
      case SIGCONT: setMode()
      default: return
      }
    }
  }

  private func setMode() {
    guard !isOver, Self.isForeground else { return isActive = false }
    var mode = usual
    mode.c_lflag &= ~tcflag_t(ECHO | ICANON)
    mode.c_cc.5 = 0  // VTIME
    mode.c_cc.6 = 1  // VMIN
    isActive = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0
  }

  private func restoreMode() {
    guard isActive else { return }
    isActive = false
    unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &usual)
  }

  /// A job in the background must neither read the terminal nor change it.
  private static var isForeground: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

  private static var watched: sigset_t { sigset_t(of: [SIGTSTP, SIGCONT]) }
}

/// The keys in what a terminal sends. A pure value.
struct KeyParser {
  // An escape sequence whose end has not come.
  private var begun: [UInt8] = []

  /// Adds bytes; gives the keys that are complete.
  mutating func take(_ bytes: some Sequence<UInt8>) -> [TerminalKeys.Key] {
    var keys: [TerminalKeys.Key] = []
    for byte in bytes {
      switch (begun.count, byte) {
      case (_, 0x1B): begun = [byte]
      case (0, _): if byte < 0x80 { keys.append(.character(Character(Unicode.Scalar(byte)))) }
      case (1, UInt8(ascii: "[")), (1, UInt8(ascii: "O")): begun.append(byte)
      case (1, _):
        begun = []
        keys += take([byte])
      // The last byte of a sequence.
      case (_, 0x40...0x7E):
        if begun.count == 2, byte == UInt8(ascii: "C") { keys.append(.right) }
        if begun.count == 2, byte == UInt8(ascii: "D") { keys.append(.left) }
        begun = []
      default: begun.append(byte)
      }
    }
    return keys
  }
}

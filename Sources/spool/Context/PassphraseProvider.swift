import Glibc
import Platform
import Proof
import Synchronization

/// Reads the passphrase from the named file, from systemd's credentials or from the terminal; never
/// from the environment or an argument, which other processes can read. Asks once and caches the
/// answer; a file that lies there is read anew, for a watch goes on when the right one is in it.
final class PassphraseProvider: PassphraseSource {
  private let file: PassphraseFile?
  private let mayAsk: Bool
  private let known = Mutex<[String: SecretBytes]>([:])

  /// - Parameters:
  ///   - option: the path of `--passphrase-file`.
  ///   - mayAsk: whether a person at the terminal may be asked.
  init(file option: String?, mayAsk: Bool = true) {
    self.mayAsk = mayAsk
    file =
      option.map { PassphraseFile($0) } ?? PassphraseFile.credential(Environment.variables)
  }

  func passphrase(of key: String) throws(SpoolError) -> SecretBytes {
    if let file, (try? FileStamp(following: file.path))?.isRegularFile == true {
      return try file.passphrase(of: key)
    }
    let answer = known.withLock { known in
      Result { () throws(SpoolError) in
        if let passphrase = known[key] { return passphrase }
        let passphrase = try ask(key)
        known[key] = passphrase
        return passphrase
      }
    }
    return try answer.get()
  }

  private func ask(_ key: String) throws(SpoolError) -> SecretBytes {
    if let file { return try file.passphrase(of: key) }
    if mayAsk, let typed = try TerminalPassphrase.read("passphrase of \(key): ") { return typed }
    throw SpoolError(
      "\(key) is protected by a passphrase",
      reason: mayAsk
        ? "there is no terminal to ask for it, and no file with it was named"
        : "no file with it was named",
      advice: "--passphrase-file FILE, with a file that only you can read", cause: .blocked)
  }
}

/// Reads a passphrase from the terminal without echo.
///
/// The terminal's mode is always restored: signals stay blocked until then, and no other thread may
/// receive them.
enum TerminalPassphrase {
  /// Milliseconds between checks for a pending signal.
  private static let patience: Int32 = 200

  /// The effect of a key stroke.
  private enum Outcome {
    case goOn, done, interrupted
  }

  /// The typed line; nil if the program has no terminal.
  static func read(_ prompt: String) throws(SpoolError) -> SecretBytes? {
    let terminal = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    var usual = termios()
    guard unsafe tcgetattr(terminal, &usual) == 0 else { return nil }
    var typed: Outcome = .interrupted
    var line: SecretBytes?
    do {
      var signals = sigset_t(of: endingSignals)
      var before = sigset_t()
      unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
      // A pending signal ends the program here, after the terminal is restored.
      defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
      var silent = usual
      silent.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
      silent.c_cc.5 = 0  // VTIME
      silent.c_cc.6 = 1  // VMIN
      guard unsafe tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return nil }
      defer {
        unsafe tcsetattr(terminal, TCSAFLUSH, &usual)
        say("\n", on: terminal)
      }
      say(prompt, on: terminal)
      line = unsafe SecretBytes(capacity: PassphraseFile.maximumByteCount) { room in
        var count = 0
        repeat { unsafe typed = type(into: room, &count, from: terminal) } while typed == .goOn
        return typed == .done ? count : 0
      }
    }
    if typed == .interrupted {
      _ = raise(SIGINT)
      // Reached if SIGINT is ignored, as in the background of a script.
      _exit(128 + SIGINT)
    }
    guard let line, line.count > 0 else {
      throw SpoolError(
        "no passphrase was given", advice: "type it, or name --passphrase-file", cause: .blocked)
    }
    return line
  }

  /// Handles a key stroke.
  private static func type(
    into room: UnsafeMutableRawBufferPointer, _ count: inout Int, from terminal: Int32
  ) -> Outcome {
    var ready = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    let answer = unsafe poll(&ready, 1, patience)
    if isSignalWaiting { return .interrupted }
    guard answer > 0 else { return answer == 0 || errno == EINTR ? .goOn : .interrupted }
    var byte: UInt8 = 0
    guard unsafe Glibc.read(terminal, &byte, 1) == 1 else { return .interrupted }
    switch byte {
    case 0x0A, 0x0D: return .done
    case 0x03, 0x1C: return .interrupted
    case 0x04: return count == 0 ? .interrupted : .done
    case 0x08, 0x7F: unsafe erase(room, &count)
    case 0x15: while count > 0 { unsafe erase(room, &count) }
    // Longer passphrases are truncated.
    case _ where count == room.count: return .goOn
    default:
      unsafe room[count] = byte
      count += 1
    }
    return .goOn
  }

  /// Erases the last UTF-8 character.
  private static func erase(_ room: UnsafeMutableRawBufferPointer, _ count: inout Int) {
    var isInside = true
    while count > 0, isInside {
      count -= 1
      isInside = unsafe room[count] & 0xC0 == 0x80
      unsafe room[count] = 0
    }
  }

  /// Pending signals that would otherwise end the program in this terminal mode.
  private static let endingSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  private static var isSignalWaiting: Bool {
    var pending = sigset_t()
    guard unsafe sigpending(&pending) == 0 else { return false }
    return endingSignals.contains { unsafe sigismember(&pending, $0) == 1 }
  }

  private static func say(_ text: String, on terminal: Int32) {
    let bytes = Array(text.utf8)
    _ = unsafe write(terminal, bytes, bytes.count)
  }
}

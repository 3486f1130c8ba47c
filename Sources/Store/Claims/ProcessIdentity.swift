import Glibc
internal import Platform

/// A process, told apart from later ones with the same number.
struct ProcessIdentity: Hashable, Sendable, CustomStringConvertible {
  /// Eight digits that identify the boot of the machine.
  let boot: String
  let number: pid_t
  /// Start time in kernel ticks since boot; 0 if unreadable.
  let start: UInt64

  static let current = ProcessIdentity(
    boot: currentBoot, number: getpid(), start: startTicks(of: getpid()) ?? 0)

  init(boot: String, number: pid_t, start: UInt64) {
    (self.boot, self.number, self.start) = (boot, number, start)
  }

  /// Reads what `description` gave; nil for anything else.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let number = pid_t(parts[1]), number > 0, let start = UInt64(parts[2])
    else { return nil }
    self.init(boot: String(parts[0]), number: number, start: start)
  }

  /// `1f9a03bc-2710-88123`.
  var description: String { "\(boot)-\(number)-\(start)" }

  /// Whether the process runs, as far as this one can see: PID namespaces hide processes, so a file
  /// counts as abandoned only if its lock is free as well.
  var isAlive: Bool {
    boot == Self.currentBoot && (Self.startTicks(of: number) ?? 0) == start
      && !Self.hasExited(number)
  }

  /// Whether it has ended, and only its parent has not asked how: a parent may never do so. A
  /// process whose first thread has ended looks the same, but for its other threads.
  private static func hasExited(_ number: pid_t) -> Bool {
    guard let fields = fields(of: number), fields.count > 17 else { return false }
    return ["Z", "X"].contains(fields[0]) && Int(fields[17]) ?? 0 <= 1
  }

  /// Whether the process is stopped by a signal or a debugger.
  var isStopped: Bool {
    guard isAlive, let state = Self.fields(of: number)?.first else { return false }
    return state == "T" || state == "t"
  }

  private static let currentBoot =
    SmallFile.text(at: "/proc/sys/kernel/random/boot_id").map { String($0.prefix(8)) } ?? "00000000"

  private static func startTicks(of number: pid_t) -> UInt64? {
    // The 22nd field of all (proc(5)).
    guard let fields = fields(of: number), fields.count > 19 else { return nil }
    return UInt64(fields[19])
  }

  /// The fields of proc(5) stat from the third on (the state): the name before it, in parentheses,
  /// may hold anything.
  private static func fields(of number: pid_t) -> [Substring]? {
    guard let text = SmallFile.text(at: "/proc/\(number)/stat"), let end = text.lastIndex(of: ")")
    else { return nil }
    return text[text.index(after: end)...].split(separator: " ")
  }
}

internal import CPosix
internal import Glibc
internal import Platform

/// Reports a service's state to systemd by sd_notify(3): each message is a datagram of lines to a
/// socket that systemd names. Outside systemd it does nothing.
package struct ServiceNotifier: Sendable {
  package enum News: Hashable, Sendable {
    case ready
    /// The service loads new settings; `ready` ends it.
    case reloading
    case stopping
    case alive
    /// A status line for `systemctl status`.
    case status(String)
  }

  /// The longest interval between two `alive` messages; nil if systemd expects none.
  package let watchdogPeriod: Duration?
  private let socketName: [UInt8]?

  /// Reads what systemd left in the environment: `NOTIFY_SOCKET`, a path or, after `@`, an abstract
  /// name, and `WATCHDOG_USEC`, which counts only for the process that `WATCHDOG_PID` names.
  package init(environment: [String: String]) {
    var name = environment["NOTIFY_SOCKET"].map { Array($0.utf8) } ?? []
    // An abstract name begins with a zero, which no variable can hold.
    if name.first == UInt8(ascii: "@") { name[0] = 0 }
    let isUsable = (2...Self.nameLimit).contains(name.count) && [0, 0x2f].contains(name[0])
    socketName = isUsable ? name : nil
    let isMeant = environment["WATCHDOG_PID"].map { pid_t($0) == getpid() } ?? true
    watchdogPeriod =
      isMeant
      ? environment["WATCHDOG_USEC"].flatMap { Int($0) }.flatMap {
        $0 > 0 ? .microseconds($0) : nil
      }
      : nil
  }

  /// Whether systemd listens.
  package var isHeard: Bool { socketName != nil }

  /// Sends messages. A failure to send is ignored: the service works without.
  package func tell(_ news: News...) {
    guard let socketName else { return }
    let text = news.map(Self.line).joined(separator: "\n")
    let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    _ = unsafe sockaddr_un(socketName).withPointer(count: socketName.count) {
      unsafe sendto(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL), $0, $1)
    }
  }

  /// The longest socket name in bytes, without its final zero.
  private static let nameLimit = 107

  private static func line(_ news: News) -> String {
    switch news {
    case .ready: return "READY=1"
    case .stopping: return "STOPPING=1"
    case .alive: return "WATCHDOG=1"
    case .status(let text):
      return "STATUS=" + text.split(whereSeparator: \.isNewline).joined(separator: " ")
    case .reloading:
      // systemd drops the message without the time, by which it matches reloads.
      return "RELOADING=1\nMONOTONIC_USEC=\(Clock.monotonic() / 1000)"
    }
  }
}

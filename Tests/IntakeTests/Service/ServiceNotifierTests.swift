@testable import Intake
import Testing

@Suite("What systemd left in the environment")
struct ServiceNotifierTests {
  @Test("only a path or an abstract name is a socket, and only one that fits")
  func sockets() {
    #expect(ServiceNotifier(environment: ["NOTIFY_SOCKET": "/run/x"]).isHeard)
    #expect(ServiceNotifier(environment: ["NOTIFY_SOCKET": "@x"]).isHeard)
    #expect(!ServiceNotifier(environment: [:]).isHeard)
    #expect(!ServiceNotifier(environment: ["NOTIFY_SOCKET": "relative"]).isHeard)
    let long = "/" + String(repeating: "x", count: 107)
    #expect(!ServiceNotifier(environment: ["NOTIFY_SOCKET": long]).isHeard)
  }

  @Test("a watchdog that waits for another process is not ours")
  func watchdogs() {
    func period(_ environment: [String: String]) -> Duration? {
      ServiceNotifier(environment: environment).watchdogPeriod
    }
    #expect(period(["WATCHDOG_USEC": "3000000"]) == .seconds(3))
    #expect(period(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"]) == nil)
    #expect(period(["WATCHDOG_USEC": "0"]) == nil)
    #expect(period(["WATCHDOG_USEC": "soon"]) == nil)
  }
}

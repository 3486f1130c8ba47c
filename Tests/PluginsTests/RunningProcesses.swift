import Foundation

/// The processes of this machine, as `/proc` shows them.
enum RunningProcesses {
  /// The numbers of those that are called so.
  static func named(_ name: String) -> [String] { with { $0.hasPrefix(name) } }

  /// The numbers of those whose name or arguments contain this.
  static func telling(_ text: String) -> [String] { with { $0.contains(text) } }

  private static func with(_ isMeant: (String) -> Bool) -> [String] {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return numbers.filter { number in
      guard number.first?.isNumber == true,
        let line = FileManager.default.contents(atPath: "/proc/\(number)/cmdline")
      else { return false }
      return isMeant(String(decoding: line, as: UTF8.self))
    }
  }

  /// Waits for a state of theirs that comes soon, at most half a minute.
  static func wait(until isThere: () -> Bool) -> Bool {
    for _ in 0..<1500 {
      if isThere() { return true }
      usleep(20_000)
    }
    return isThere()
  }
}

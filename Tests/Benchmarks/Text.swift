import Audio
import Foundation

/// Figures as the benchmarks print them.
enum Text {
  static func number(_ value: Double, _ decimals: Int = 2) -> String {
    String(format: "%.\(decimals)f", value)
  }

  /// Right-aligned columns of ten characters.
  static func row(_ cells: [String]) -> String {
    cells.map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }.joined()
  }

  static func seconds(_ time: Seconds) -> String { number(time.value) + " s" }

  static func megabytes(_ bytes: Int) -> String { number(Double(bytes) / 1e6, 1) + " MB" }
}

/// Prints a line at once, in a pipe too: the next may be minutes away.
func report(_ line: String) {
  print(line)
  fflush(nil)
}

/// The tick marks of a time axis.
package struct TimeAxis: Hashable, Sendable {
  package struct Mark: Hashable, Sendable {
    /// Seconds from the beginning.
    package let seconds: Double
    /// The label: `0.25 s`, `1:30`, `1:02:00`.
    package let label: String
  }

  /// The marks, in order.
  package let marks: [Mark]

  /// Readable intervals, in seconds.
  private static let steps: [Double] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600,
    900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
  ]

  /// Marks for `seconds` on `width` pixels, at least `distance` pixels apart.
  package init(seconds: Double, width: Double, distance: Double = 90) {
    guard seconds > 0, width > 0 else {
      marks = [Mark(seconds: 0, label: "0:00")]
      return
    }
    let least = seconds * distance / width
    let days = (least / 86_400).rounded(.up) * 86_400
    let step = Self.steps.first { $0 >= least } ?? days
    marks = (0...Int(seconds / step + 1e-9)).map { number in
      let time = Double(number) * step
      return Mark(seconds: time, label: Self.label(time, step: step))
    }
  }

  private static func label(_ seconds: Double, step: Double) -> String {
    guard step >= 1 else {
      let places = step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3
      var number = "\(Int((seconds * [1, 10, 100, 1000][places]).rounded()))"
      while number.count <= places { number = "0" + number }
      return number.dropLast(places) + "." + number.suffix(places) + " s"
    }
    let whole = Int(seconds.rounded())
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = "\(two(whole % 60))"
    return whole < 3600
      ? "\(whole / 60):\(clock)" : "\(whole / 3600):\(two(whole / 60 % 60)):\(clock)"
  }
}

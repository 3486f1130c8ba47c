/// A figure that was measured, beside what it should be.
struct Verdict {
  /// What was measured: `whole job: median ratio`.
  let subject: String
  /// The figure with its unit.
  let figure: String
  /// What it should be: `at most 0.45`.
  let target: String
  let isMet: Bool

  /// The verdict on a figure that should not be above `limit`.
  static func atMost(
    _ limit: Double, _ subject: String, _ figure: Double, unit: String = "", decimals: Int = 2
  ) -> Verdict {
    func text(_ value: Double) -> String { Text.number(value, decimals) + unit }
    return Verdict(
      subject: subject, figure: text(figure), target: "at most \(text(limit))",
      isMet: figure <= limit)
  }

  /// The verdict on a figure that should not be below `limit`.
  static func atLeast(
    _ limit: Double, _ subject: String, _ figure: Double, unit: String = "", decimals: Int = 2
  ) -> Verdict {
    func text(_ value: Double) -> String { Text.number(value, decimals) + unit }
    return Verdict(
      subject: subject, figure: text(figure), target: "at least \(text(limit))",
      isMet: figure >= limit)
  }

  /// One line: `met     whole job: median ratio: 0.43 (target: at most 0.45)`.
  var line: String {
    "\(isMet ? "met   " : "MISSED")  \(subject): \(figure) (target: \(target))"
  }
}

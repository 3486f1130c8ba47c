/// What is wrong with something that was checked: its name, and a line for each problem, with what
/// is at fault and why in columns.
enum BrokenText {
  /// - Parameter problems: what is at fault, ready to be shown, and the reason.
  static func lines(of path: String, _ problems: [(culprit: String, reason: String)]) -> [String] {
    let width = problems.map(\.culprit.count).max() ?? 0
    return ["BROKEN    \(Format.visible(path))"]
      + problems.map { culprit, reason in
        "  \(culprit)\(String(repeating: " ", count: width - culprit.count))  "
          + Format.visible(reason)
      }
  }
}

/// Numbers of things in words.
enum Count {
  /// `1 run`, `2 runs`.
  static func of(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
  }
}

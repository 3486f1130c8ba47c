/// Text like `30d` and `1.5 GB`, taken apart.
enum NumberWithUnit {
  /// The number, which is finite and not negative, and the unit, which may not be missing.
  static func parse(_ text: String) -> (number: Double, unit: String)? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }
    guard let number = Double(digits), number.isFinite, !unit.isEmpty else { return nil }
    return (number, String(unit))
  }
}

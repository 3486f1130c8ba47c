/// Numbers as ECMAScript writes them, which RFC 8785 3.2.2.3 asks for: the shortest digits that
/// read back the same, laid out by the rules of ECMA-262, `Number::toString`.
enum ECMAScriptNumber {
  /// The text of a finite number.
  static func text(of number: Double) -> String {
    precondition(number.isFinite, "JSON knows finite numbers only")
    if number == 0 { return "0" }
    let sign = number < 0 ? "-" : ""
    let (digits, point) = shortest(abs(number))
    let count = digits.count
    switch point {
    case count...21:
      return sign + digits + zeros(point - count)
    case 1...21:
      return sign + digits.prefix(point) + "." + digits.dropFirst(point)
    case -5...0:
      return sign + "0." + zeros(-point) + digits
    default:
      let exponent = point - 1
      let fraction = count == 1 ? "" : "." + digits.dropFirst()
      return sign + digits.prefix(1) + fraction + (exponent < 0 ? "e-" : "e+")
        + String(abs(exponent))
    }
  }

  /// The shortest digits of a positive number, and where the point stands behind the first of them.
  private static func shortest(_ number: Double) -> (digits: String, point: Int) {
    // Swift prints the shortest digits too, and only lays them out in another way.
    let parts = number.description.split(separator: "e")
    let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    let fraction = mantissa.count > 1 && mantissa[1] != "0" ? mantissa[1] : ""
    var point = mantissa[0].count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
    var digits = String(mantissa[0] + fraction)
    let leading = digits.prefix { $0 == "0" }.count
    digits.removeFirst(leading)
    point -= leading
    while digits.count > 1, digits.last == "0" { digits.removeLast() }
    return (digits, point)
  }

  private static func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
}

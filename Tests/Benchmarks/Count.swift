import Platform

/// A number of minutes or of pairs: at least one.
struct Count: ArgumentValue {
  let value: Int

  init(_ value: Int) { self.value = value }

  init?(argument: String) {
    guard let value = Int(argument), value > 0 else { return nil }
    self.value = value
  }

  static let expectation = "a whole number above zero"

  var argument: String { String(value) }
}

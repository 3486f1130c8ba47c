/// A range of numbers, as a parameter states it: `-16 LUFS ± 0.5`, `1 s .. 4 h`, `.. -1 dBTP`,
/// `< 30 %`, or `0` for one value alone. Its ends are in base units; an open end is nil.
package struct NumberRange: Hashable, Sendable, Codable {
  /// The least value.
  package let minimum: Double?
  /// The greatest value.
  package let maximum: Double?
  /// The value that all are greater than.
  package let exclusiveMinimum: Double?
  /// The value that all are less than.
  package let exclusiveMaximum: Double?

  package init(
    minimum: Double? = nil, maximum: Double? = nil, exclusiveMinimum: Double? = nil,
    exclusiveMaximum: Double? = nil
  ) {
    self.minimum = minimum
    self.maximum = maximum
    self.exclusiveMinimum = exclusiveMinimum
    self.exclusiveMaximum = exclusiveMaximum
  }

  /// A resolved value; nil for one of another type.
  init?(_ value: Value) {
    guard case .group(let members) = value else { return nil }
    func number(_ name: String) -> Double? {
      if case .number(let number)? = members[name] { number } else { nil }
    }
    self.init(
      minimum: number("minimum"), maximum: number("maximum"),
      exclusiveMinimum: number("exclusiveMinimum"), exclusiveMaximum: number("exclusiveMaximum"))
  }

  /// As a resolved value: equal ranges have equal text, however they are written.
  package var value: Value {
    let members: [(String, Double?)] = [
      ("minimum", minimum), ("maximum", maximum), ("exclusiveMinimum", exclusiveMinimum),
      ("exclusiveMaximum", exclusiveMaximum),
    ]
    return .group(
      Dictionary(
        uniqueKeysWithValues: members.compactMap { name, end in end.map { (name, .number($0)) } }))
  }

  package func contains(_ number: Double) -> Bool {
    if let minimum, !(number >= minimum) { return false }
    if let maximum, !(number <= maximum) { return false }
    if let exclusiveMinimum, !(number > exclusiveMinimum) { return false }
    if let exclusiveMaximum, !(number < exclusiveMaximum) { return false }
    return !number.isNaN
  }

  /// The only value; nil if there are more.
  package var exactValue: Double? { minimum == maximum ? minimum : nil }

  /// As a pipeline writes it, in the unit of the type of its ends.
  package func text(of element: ParameterType) -> String {
    func shown(_ number: Double) -> String { element.text(of: .number(number)) }
    if let exactValue { return shown(exactValue) }
    if let exclusiveMinimum { return "> " + shown(exclusiveMinimum) }
    if let exclusiveMaximum { return "< " + shown(exclusiveMaximum) }
    return [minimum.map(shown), "..", maximum.map(shown)].compactMap(\.self)
      .joined(separator: " ")
  }
}

/// A range as it is written, with its numbers unread.
enum RangeSpelling: Equatable {
  /// A number and its place, in scalars from the beginning of the text.
  struct Part: Equatable {
    let text: String
    let offset: Int
  }

  case single(Part)
  /// From one number to the other; one of them may be missing.
  case interval(Part?, Part?)
  case tolerance(Part, around: Part)
  case below(Part, isIncluded: Bool)
  case above(Part, isIncluded: Bool)

  private static let signs: [(sign: String, isBelow: Bool, isIncluded: Bool)] = [
    ("<=", true, true), ("≤", true, true), ("<", true, false),
    (">=", false, true), ("≥", false, true), (">", false, false),
  ]

  /// Nil for a text without any number. O(n).
  init?(_ text: String) {
    let scalars = Array(text.unicodeScalars)
    func part(_ range: Range<Int>) -> Part? {
      var range = range
      while let first = range.first, scalars[first] == " " { range.removeFirst() }
      while let last = range.last, scalars[last] == " " { range.removeLast() }
      guard !range.isEmpty else { return nil }
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars[range])
      return Part(text: String(text), offset: range.lowerBound)
    }
    func place(of sign: String, in range: Range<Int>) -> Range<Int>? {
      let sign = Array(sign.unicodeScalars)
      guard range.count >= sign.count else { return nil }
      return (range.lowerBound...range.upperBound - sign.count).lazy.map { $0..<$0 + sign.count }
        .first { scalars[$0].elementsEqual(sign) }
    }
    let whole = scalars.indices
    let start = whole.first { scalars[$0] != " " } ?? whole.upperBound
    for (sign, isBelow, isIncluded) in Self.signs {
      guard let place = place(of: sign, in: start..<whole.upperBound), place.lowerBound == start
      else { continue }
      guard let limit = part(place.upperBound..<whole.upperBound) else { return nil }
      self = isBelow ? .below(limit, isIncluded: isIncluded) : .above(limit, isIncluded: isIncluded)
      return
    }
    for sign in ["±", "+/-", "+-"] {
      guard let place = place(of: sign, in: whole) else { continue }
      guard let centre = part(0..<place.lowerBound),
        let distance = part(place.upperBound..<whole.upperBound)
      else { return nil }
      self = .tolerance(distance, around: centre)
      return
    }
    // An ellipsis means the same.
    for sign in ["...", "..", "…"] {
      guard let place = place(of: sign, in: whole) else { continue }
      let ends = (part(0..<place.lowerBound), part(place.upperBound..<whole.upperBound))
      if ends.0 == nil, ends.1 == nil { return nil }
      self = .interval(ends.0, ends.1)
      return
    }
    guard let only = part(whole) else { return nil }
    self = .single(only)
  }
}

/// Reads ranges: every problem at the number that it is about.
extension ParameterResolver {
  mutating func range(
    _ text: String, of element: ParameterType, _ name: String, _ node: DocumentNode,
    isQuoted: Bool
  ) -> Value {
    let allowed = ParameterType.range(of: element).allowed
    guard let spelling = RangeSpelling(text) else {
      report(node, "\(name) is a range, not \"\(text)\"", allowed: allowed)
      return .null
    }
    let count = problems.count
    let range: NumberRange
    switch spelling {
    case .single(let part):
      let number = end(part, element, name, node, isQuoted)
      range = NumberRange(minimum: number, maximum: number)
    case .below(let part, isIncluded: true):
      range = NumberRange(maximum: end(part, element, name, node, isQuoted))
    case .below(let part, isIncluded: false):
      range = NumberRange(exclusiveMaximum: end(part, element, name, node, isQuoted))
    case .above(let part, isIncluded: true):
      range = NumberRange(minimum: end(part, element, name, node, isQuoted))
    case .above(let part, isIncluded: false):
      range = NumberRange(exclusiveMinimum: end(part, element, name, node, isQuoted))
    case .interval(let lower, let upper):
      checkUnits(lower, upper, element, name, node, isQuoted)
      range = NumberRange(
        minimum: lower.flatMap { end($0, element, name, node, isQuoted) },
        maximum: upper.flatMap { end($0, element, name, node, isQuoted) })
    case .tolerance(let distance, let centre):
      let middle = end(centre, element, name, node, isQuoted)
      let difference = tolerance(distance, around: centre, element, name, node, isQuoted)
      guard let middle, let difference else { return .null }
      range = NumberRange(
        minimum: Self.rounded(middle - difference), maximum: Self.rounded(middle + difference))
    }
    guard problems.count == count else { return .null }
    if let minimum = range.minimum, let maximum = range.maximum, minimum > maximum {
      let turned = NumberRange(minimum: maximum, maximum: minimum)
      report(
        node, "\(name) has no value: \"\(text)\" ends below its beginning", allowed: allowed,
        suggestion: turned.text(of: element))
      return .null
    }
    if case .number(let unit, _) = element, range.exactValue != nil,
      [.level, .truePeak, .loudness].contains(unit.dimension)
    {
      let shown = range.text(of: element)
      report(
        node, "\(name) is never exactly \(shown)", allowed: "a tolerance: \(shown) ± 0.5")
      return .null
    }
    return range.value
  }

  /// One end in base units; nil if it is wrong, which is a problem.
  private mutating func end(
    _ part: RangeSpelling.Part, _ element: ParameterType, _ name: String, _ node: DocumentNode,
    _ isQuoted: Bool
  ) -> Double? {
    let place = Self.place(of: part, in: node, isQuoted)
    guard case .number(let number) = resolve(place, as: element, name: name) else { return nil }
    return Self.rounded(number)
  }

  /// A distance from the centre in base units, where a bare number has the centre's unit.
  private mutating func tolerance(
    _ part: RangeSpelling.Part, around centre: RangeSpelling.Part, _ element: ParameterType,
    _ name: String, _ node: DocumentNode, _ isQuoted: Bool
  ) -> Double? {
    let place = Self.place(of: part, in: node, isQuoted)
    let name = "the tolerance of \(name)"
    guard case .number(let unit, _) = element else {
      guard let number = Int(part.text), number >= 0 else {
        report(place, "\(name) is a whole number, not \"\(part.text)\"", allowed: "0, 1, 2 …")
        return nil
      }
      return Double(number)
    }
    let usual = (try? unit.read(centre.text))?.unit ?? unit
    var text = part.text
    if let difference = unit.differences.first(where: { text.hasSuffix($0) }) {
      text = String(text.dropLast(difference.count))
    }
    let units = unit.alternatives + unit.differences
    let example = usual.format(usual.factor / 2)
    do throws(Unit.ParseFailure) {
      let (number, written) = try unit.read(Self.trimmed(text))
      guard number >= 0 else {
        report(place, "\(name) is negative at \"\(part.text)\"", allowed: "± \(example)")
        return nil
      }
      return number * (written ?? usual).factor
    } catch {
      report(place, error, of: part.text, name, units, allowed: "± \(example)")
      return nil
    }
  }

  /// Reports `1 .. 4 h` for a time in seconds: readers take it for 1 h, and the rule for bare numbers
  /// for 1 s.
  private mutating func checkUnits(
    _ lower: RangeSpelling.Part?, _ upper: RangeSpelling.Part?, _ element: ParameterType,
    _ name: String, _ node: DocumentNode, _ isQuoted: Bool
  ) {
    guard case .number(let unit, _) = element, let lower, let upper,
      let first = try? unit.read(lower.text), let second = try? unit.read(upper.text)
    else { return }
    for (bare, part, other) in [(first, lower, second.unit), (second, upper, first.unit)] {
      guard bare.unit == nil, bare.number != 0, let other, other.factor != unit.factor else {
        continue
      }
      let number = String(part.text)
      report(
        Self.place(of: part, in: node, isQuoted), "\(name) does not say the unit of \(number)",
        allowed: "\(number) \(other.symbol), \(unit.format(bare.number * unit.factor))")
    }
  }

  /// The part as a node of its own, at its own place in the file.
  private static func place(
    of part: RangeSpelling.Part, in node: DocumentNode, _ isQuoted: Bool
  ) -> DocumentNode {
    var location = node.location
    // A value of the command line has no place in the file.
    if location.line > 0 {
      location = SourceLocation(
        line: location.line, column: location.column + part.offset + (isQuoted ? 1 : 0))
    }
    return DocumentNode(.scalar(part.text, isQuoted: isQuoted), at: location)
  }

  private static func trimmed(_ text: String) -> String {
    var text = Substring(text)
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  /// Without the error of binary fractions: `-16 ± 0.1` and `-16.1 .. -15.9` are one range.
  private static func rounded(_ number: Double) -> Double {
    abs(number) < 1e6 ? (number * 1e9).rounded() / 1e9 : number
  }
}

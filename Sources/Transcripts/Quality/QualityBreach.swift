package import Platform

/// A violated limit, with the measured figure.
package struct QualityBreach: Hashable, Sendable {
  /// The direction of a limit.
  package enum Bound: String, Hashable, Sendable {
    /// A minimum.
    case least = "at least"
    /// A maximum.
    case most = "at most"
  }

  package let name: String
  package let figure: Double?
  package let bound: Bound
  package let limit: Double

  /// Whether the figure is within the limit.
  var isKept: Bool {
    guard let figure else { return false }
    return bound == .least ? figure >= limit : figure <= limit
  }

  /// The breach as JSON.
  package var json: JSONValue {
    .object([
      "name": .text(name), "figure": figure.map(JSONValue.decimal) ?? .null,
      "bound": .text(bound.rawValue), "limit": .decimal(limit),
    ])
  }
}

extension QualityBreach: CustomStringConvertible {
  /// For messages: `longest-word is 298, at most 3 is allowed`.
  package var description: String {
    let shown = figure.map { number in
      // Rounded for people; the JSON value has all digits.
      ((number * 10_000).rounded() / 10_000).description
    }
    return "\(name) is \(shown ?? "not known"), \(bound.rawValue) \(limit) is allowed"
  }
}

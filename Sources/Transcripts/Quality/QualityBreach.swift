public import JSONText

/// A limit that a transcript does not keep to, with the figure and the limit.
public struct QualityBreach: Hashable, Sendable {
  /// On which side of its limit a figure has to be.
  public enum Bound: String, Hashable, Sendable {
    /// Not under it.
    case least = "at least"
    /// Not over it.
    case most = "at most"
  }

  /// The name of the figure: `longest-word`.
  public let name: String
  /// The figure, a share of 0 to 1, seconds or a number; nil where it is not known.
  public let figure: Double?
  /// On which side of the limit it should be.
  public let bound: Bound
  /// The limit.
  public let limit: Double

  /// Whether the figure keeps to the limit after all.
  var isKept: Bool {
    guard let figure else { return false }
    return bound == .least ? figure >= limit : figure <= limit
  }

  /// The breach as JSON.
  public var json: JSONValue {
    .object([
      "name": .text(name), "figure": figure.map(JSONValue.decimal) ?? .null,
      "bound": .text(bound.rawValue), "limit": .decimal(limit),
    ])
  }
}

extension QualityBreach: CustomStringConvertible {
  /// For messages: `longest-word is 298, at most 3 is allowed`.
  public var description: String {
    let shown = figure.map { number in
      // Figures are read by people; the value has all digits.
      ((number * 10_000).rounded() / 10_000).description
    }
    return "\(name) is \(shown ?? "not known"), \(bound.rawValue) \(limit) is allowed"
  }
}

import PipelineModel

/// What a control of a plugin can be set to, in the plugin's own unit.
public struct EffectControl: Hashable, Sendable, Codable {
  /// Where it stands if nobody sets it.
  public let standard: Double
  /// The least value; nil where the plugin does not say.
  public let minimum: Double?
  /// The greatest value; nil where the plugin does not say.
  public let maximum: Double?
  /// Its unit as the plugin writes it; empty where there is none.
  public let unit: String
  /// Whether only whole numbers mean something.
  public var isWhole = false
  /// Whether it is on or off.
  public var isToggle = false
  /// Whether only its points mean something.
  public var isChoice = false
  /// Whether its limits are parts of the sample rate.
  public var isScaledByRate = false
  /// Whether the standard value is a part of the sample rate, too.
  public var isStandardScaled = false
  /// Values that have a name.
  public var points: [Point] = []

  /// A value that has a name.
  public struct Point: Hashable, Sendable, Codable {
    /// The name.
    public let label: String
    /// The value.
    public let value: Double

    /// Names a value.
    public init(label: String, value: Double) {
      self.label = label
      self.value = value
    }
  }

  /// Describes a control.
  public init(standard: Double, minimum: Double?, maximum: Double?, unit: String = "") {
    self.standard = standard
    self.minimum = minimum
    self.maximum = maximum
    self.unit = unit
  }

  /// Why a text is no value of a control.
  public struct Mistake: Error, Hashable, Sendable {
    /// What is wrong: `is out of range at 3 dB`.
    public let what: String
  }

  /// Reads `-20`, `-20 dB`, `true` for a switch, or the name of a point.
  /// - Returns: the value in the plugin's unit.
  public func value(of text: String) throws(Mistake) -> Double {
    let word = text.lowercased()
    if let point = points.first(where: { $0.label.lowercased() == word }) { return point.value }
    if isToggle, ["true", "on", "false", "off"].contains(word) {
      return word == "true" || word == "on" ? maximum ?? 1 : minimum ?? 0
    }
    let value = try number(text)
    if isWhole || isToggle || isChoice && points.isEmpty, value != value.rounded() {
      throw Mistake(what: "is a whole number, not \(text)")
    }
    if isChoice, !points.isEmpty, !points.contains(where: { $0.value == value }) {
      throw Mistake(what: "cannot be \(text)")
    }
    if !isScaledByRate, !holds(value) {
      throw Mistake(what: "is out of range at \(text)")
    }
    return value
  }

  /// Whether a value is within the limits, which may be parts of a rate.
  /// - Parameter rate: frames a second.
  public func holds(_ value: Double, at rate: Double = 1) -> Bool {
    let scale = isScaledByRate ? rate : 1
    // Plugins say 0.1 in 32 bits.
    let slack = 1e-6 * max(1, abs(value))
    return value >= (minimum ?? -.infinity) * scale - slack
      && value <= (maximum ?? .infinity) * scale + slack
  }

  private func number(_ text: String) throws(Mistake) -> Double {
    let known = Unit(named: unit) ?? .number
    var numeral = text
    if known == .number, !unit.isEmpty, numeral.lowercased().hasSuffix(unit.lowercased()) {
      numeral = String(numeral.dropLast(unit.count))
      while numeral.last == " " { numeral.removeLast() }
    }
    do {
      return try known.parse(numeral) / known.factor
    } catch {
      switch error {
      case .notANumber: throw Mistake(what: "is a number, not \"\(text)\"")
      case .wrongUnit(let symbol):
        throw Mistake(
          what: unit.isEmpty ? "has no unit, not \"\(symbol)\"" : "is in \(unit), not \"\(symbol)\""
        )
      }
    }
  }

  /// For people: `-60 dB … 0 dB`, `off, soft, hard`.
  public var allowed: String {
    if isChoice, !points.isEmpty {
      return points.map { "\($0.label) (\(Self.text($0.value)))" }.joined(separator: ", ")
    }
    if isToggle { return "true, false" }
    let known = isScaledByRate ? " × sample rate" : unit.isEmpty ? "" : " \(unit)"
    let limits = [minimum, maximum].map { $0.map { "\(Self.text($0))\(known)" } ?? "any" }
    return (isWhole ? "whole, " : "") + limits.joined(separator: " … ")
  }

  /// The standard value, for people.
  public var standardText: String {
    if let point = points.first(where: { $0.value == standard }) {
      return "\(point.label) (\(Self.text(standard)))"
    }
    if isToggle { return standard > 0 ? "true" : "false" }
    let known = isStandardScaled ? " × sample rate" : unit.isEmpty ? "" : " \(unit)"
    return Self.text(standard) + known
  }

  /// A number that went through 32 bits, as short as it was meant.
  public static func text(_ value: Double) -> String {
    if value == value.rounded(), abs(value) < 1e9 { return String(Int(value)) }
    return "\(Float(value))"
  }
}

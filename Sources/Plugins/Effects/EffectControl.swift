import PipelineModel
package import Platform

/// The values that a control of a plugin accepts, in the plugin's own unit.
package struct EffectControl: Hashable, Sendable, Codable {
  /// The default value.
  package let standard: Double
  /// Nil if the plugin declares none.
  package let minimum: Double?
  /// Nil if the plugin declares none.
  package let maximum: Double?
  /// The unit as the plugin writes it; empty if none.
  package var unit = ""
  /// Whether only integers are valid.
  package var isWhole = false
  /// Whether it is an on/off switch.
  package var isToggle = false
  /// Whether only `points` are valid.
  package var isChoice = false
  /// Whether the limits are multiples of the sample rate.
  package var isScaledByRate = false
  /// Whether the default is a multiple of the sample rate, too.
  package var isStandardScaled = false
  /// Named values.
  package var points: [Point] = []

  package struct Point: Hashable, Sendable, Codable {
    package let label: String
    package let value: Double
  }

  /// Parses `-20`, `-20 dB`, `true` for a switch, or a point's label.
  /// - Returns: the value in the plugin's unit.
  /// - Throws: why it is not valid: `is out of range at 3 dB`.
  package func value(of text: String) throws(SpoolError) -> Double {
    let word = text.lowercased()
    if let point = points.first(where: { $0.label.lowercased() == word }) { return point.value }
    if isToggle, ["true", "on", "false", "off"].contains(word) {
      return word == "true" || word == "on" ? maximum ?? 1 : minimum ?? 0
    }
    let value = try number(text)
    if isWhole || isToggle || isChoice && points.isEmpty, value != value.rounded() {
      throw SpoolError("is a whole number, not \(text)")
    }
    if isChoice, !points.isEmpty, !points.contains(where: { $0.value == value }) {
      throw SpoolError("cannot be \(text)")
    }
    if !isScaledByRate, !holds(value) { throw SpoolError("is out of range at \(text)") }
    return value
  }

  /// Whether a value is within the limits.
  /// - Parameter rate: frames a second, for limits that scale with the sample rate.
  package func holds(_ value: Double, at rate: Double = 1) -> Bool {
    let scale = isScaledByRate ? rate : 1
    // Plugins store values such as 0.1 in 32 bits.
    let slack = 1e-6 * max(1, abs(value))
    return value >= (minimum ?? -.infinity) * scale - slack
      && value <= (maximum ?? .infinity) * scale + slack
  }

  private func number(_ text: String) throws(SpoolError) -> Double {
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
      case .notANumber: throw SpoolError("is a number, not \"\(text)\"")
      case .wrongUnit(let symbol):
        throw SpoolError(
          unit.isEmpty ? "has no unit, not \"\(symbol)\"" : "is in \(unit), not \"\(symbol)\""
        )
      }
    }
  }

  /// The valid values as text: `-60 dB … 0 dB`, `off, soft, hard`.
  package var allowed: String {
    if isChoice, !points.isEmpty {
      return points.map { "\($0.label) (\(Self.text($0.value)))" }.joined(separator: ", ")
    }
    if isToggle { return "true, false" }
    let known = isScaledByRate ? " × sample rate" : unit.isEmpty ? "" : " \(unit)"
    let limits = [minimum, maximum].map { $0.map { "\(Self.text($0))\(known)" } ?? "any" }
    return (isWhole ? "whole, " : "") + limits.joined(separator: " … ")
  }

  /// The default value as text.
  package var standardText: String {
    if let point = points.first(where: { $0.value == standard }) {
      return "\(point.label) (\(Self.text(standard)))"
    }
    if isToggle { return standard > 0 ? "true" : "false" }
    let known = isStandardScaled ? " × sample rate" : unit.isEmpty ? "" : " \(unit)"
    return Self.text(standard) + known
  }

  /// The shortest text for a number that was stored in 32 bits.
  package static func text(_ value: Double) -> String {
    if value == value.rounded(), abs(value) < 1e9 { return String(Int(value)) }
    return "\(Float(value))"
  }
}

/// A user's settings for a plugin, validated against its controls.
package struct EffectSettings: Sendable {
  /// Values in the plugin's units, by symbol.
  package private(set) var values: [String: Double] = [:]
  /// The URI of the chosen preset.
  package private(set) var preset: String?
  /// The invalid settings, with the control's name as the user wrote it; nil for the preset.
  package private(set) var mistakes: [(control: String?, text: String)] = []

  /// Validates settings. O(controls).
  /// - Parameters:
  ///   - controls: values as text, by the user's name for the control.
  ///   - preset: a preset's URI or label.
  package init(
    _ controls: [String: String], preset name: String?, for effect: EffectDescription
  ) {
    for (name, text) in controls.sorted(by: { $0.key < $1.key }) {
      guard let port = effect.control(name), let control = port.control else {
        blame(name, "it has no control \"\(name)\"" + Self.hint(name, effect.controls))
        continue
      }
      do throws(SpoolError) {
        let value = try control.value(of: text)
        if values.updateValue(value, forKey: port.symbol) != nil {
          blame(name, "\(port.symbol) is set twice")
        }
      } catch {
        blame(name, "\(port.symbol) \(error.message) (allowed: \(control.allowed))")
      }
    }
    guard let name else { return }
    preset = effect.preset(name)?.uri
    if preset == nil {
      let labels = effect.presets.map(\.label)
      let near = Problem.nearest(to: name, in: labels).map { "; did you mean \"\($0)\"?" }
      blame(
        nil,
        labels.isEmpty ? "it has no presets" : "it has no preset \"\(name)\"" + (near ?? ""))
    }
  }

  private mutating func blame(_ control: String?, _ text: String) {
    mistakes.append((control, text))
  }

  private static func hint(_ name: String, _ controls: [EffectPort]) -> String {
    let symbols = controls.map(\.symbol)
    if let near = Problem.nearest(to: name, in: symbols) { return "; did you mean \"\(near)\"?" }
    if symbols.isEmpty { return "; it has none" }
    let most = 12
    return " (there are: \(symbols.prefix(most).joined(separator: ", "))"
      + (symbols.count > most ? ", …)" : ")")
  }
}

import PipelineModel

/// What a user wants a plugin to be set to, held against what it can be set to.
public struct EffectSettings: Hashable, Sendable {
  /// Values in the plugin's units, by symbol.
  public private(set) var values: [String: Double] = [:]
  /// The URI of the preset, where one is wanted.
  public private(set) var preset: String?
  /// Everything that is wrong.
  public private(set) var mistakes: [Mistake] = []

  /// One value that the plugin cannot be set to.
  public struct Mistake: Hashable, Sendable {
    /// The control, as the user calls it; nil for the preset.
    public let control: String?
    /// What is wrong, for people.
    public let text: String
  }

  /// Reads what was written. O(controls).
  /// - Parameters:
  ///   - controls: texts by what the user calls the controls.
  ///   - preset: a preset's URI or label.
  public init(
    _ controls: [String: String], preset name: String?, for effect: EffectDescription
  ) {
    for (name, text) in controls.sorted(by: { $0.key < $1.key }) {
      guard let port = effect.control(name), let control = port.control else {
        blame(name, "it has no control \"\(name)\"" + Self.hint(name, effect.controls))
        continue
      }
      do throws(EffectControl.Mistake) {
        let value = try control.value(of: text)
        if values.updateValue(value, forKey: port.symbol) != nil {
          blame(name, "\(port.symbol) is set twice")
        }
      } catch {
        blame(name, "\(port.symbol) \(error.what) (allowed: \(control.allowed))")
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
    mistakes.append(Mistake(control: control, text: text))
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

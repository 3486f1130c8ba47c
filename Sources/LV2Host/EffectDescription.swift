/// All that is known about an installed plugin without running it.
public struct EffectDescription: Hashable, Sendable, Codable {
  /// What it is.
  public let format: EffectFormat
  /// Its URI, or its library and label with a colon between them.
  public let identity: String
  /// For people.
  public let name: String
  /// What it is for: `Compressor`; empty where it does not say.
  public let category: String
  /// Who made it; empty where it does not say.
  public let author: String
  /// Its version; empty where it does not say.
  public let version: String
  /// The library that it lies in.
  public let binary: String
  /// Files besides that decide what it does.
  public let files: [String]
  /// Its ports, in order.
  public let ports: [EffectPort]
  /// Its presets.
  public let presets: [Preset]
  /// Features that it needs and Spool has not.
  public let missingFeatures: [String]

  /// A named setting.
  public struct Preset: Hashable, Sendable, Codable {
    /// Its URI.
    public let uri: String
    /// For people.
    public let label: String
    /// The file that it is in; nil where that is not known.
    public let file: String?
  }

  /// Main sound inputs.
  public var inputs: [EffectPort] {
    ports.filter { $0.kind == .audio && $0.isInput && $0.role == .main }
  }
  /// Sound outputs.
  public var outputs: [EffectPort] { ports.filter { $0.kind == .audio && !$0.isInput } }
  /// Sound inputs that are only listened to.
  public var sideChains: [EffectPort] { ports.filter { $0.role == .sideChain } }
  /// What users can set.
  public var controls: [EffectPort] {
    ports.filter { $0.kind == .control && $0.isInput && $0.role != .freeWheel }
  }

  /// What tells something of the sound in numbers.
  public var meters: [EffectPort] {
    ports.filter { $0.kind == .control && !$0.isInput && $0.role == .main }
  }
  /// What tells something of the sound in events: where a drum was hit.
  public var events: [EffectPort] { ports.filter { $0.kind == .events && !$0.isInput } }
  /// Whether it only listens: the sound goes by as it is.
  public var isMeter: Bool { !inputs.isEmpty && outputs.isEmpty }

  /// Why it cannot treat sound here; nil where it can.
  public var refusal: String? {
    if inputs.isEmpty {
      return outputs.isEmpty ? "it has no sound ports" : "it makes sound and takes none"
    }
    if outputs.isEmpty, meters.isEmpty, events.isEmpty {
      return "it takes sound and tells nothing of it"
    }
    if !missingFeatures.isEmpty {
      return "it needs what Spool has not: \(missingFeatures.joined(separator: ", "))"
    }
    if let port = ports.first(where: { $0.kind == .unknown && !$0.isOptional }) {
      return "its port \(port.symbol) is of a kind that Spool does not know"
    }
    return nil
  }

  /// The preset that a user names, by its URI or its label.
  public func preset(_ name: String) -> Preset? {
    presets.first { $0.uri == name } ?? presets.first { $0.label.lowercased() == name.lowercased() }
  }

  /// The control that a user names: by its symbol, its name, or, of LADSPA, its number from 1.
  public func control(_ name: String) -> EffectPort? {
    let word = name.lowercased()
    let controls = controls
    if let found = controls.first(where: { $0.symbol == name })
      ?? controls.first(where: { $0.symbol.lowercased() == word || $0.name.lowercased() == word })
    {
      return found
    }
    guard format == .ladspa, let number = Int(name), controls.indices.contains(number - 1) else {
      return nil
    }
    return controls[number - 1]
  }
}

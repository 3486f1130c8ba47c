/// What is known about an installed plugin without running it.
package struct EffectDescription: Hashable, Sendable, Codable {
  package let format: EffectFormat
  /// Its URI, or `library:label`.
  package let identity: String
  package let name: String
  /// Its class, such as `Compressor`; empty if unknown.
  package let category: String
  /// Empty if unknown.
  package let author: String
  /// Empty if unknown.
  package let version: String
  /// The path of its library.
  package let binary: String
  /// Further files that determine its output.
  package let files: [String]
  /// Its ports, by index.
  package let ports: [EffectPort]
  package let presets: [Preset]
  /// Required host features that Spool lacks.
  package let missingFeatures: [String]

  package struct Preset: Hashable, Sendable, Codable {
    package let uri: String
    package let label: String
    /// The file that defines it; nil if unknown.
    package let file: String?
  }

  /// The name of its library and its label there, for LADSPA.
  package var parts: (library: String, label: String) {
    let library = LADSPALibrary.name(of: binary)
    return (library, String(identity.dropFirst(library.count + 1)))
  }

  /// Main audio inputs.
  package var inputs: [EffectPort] {
    ports.filter { $0.kind == .audio && $0.isInput && $0.role == .main }
  }
  /// Audio outputs.
  package var outputs: [EffectPort] { ports.filter { $0.kind == .audio && !$0.isInput } }
  /// Side-chain inputs.
  package var sideChains: [EffectPort] { ports.filter { $0.role == .sideChain } }
  /// Controls that users can set.
  package var controls: [EffectPort] {
    ports.filter { $0.kind == .control && $0.isInput && $0.role != .freeWheel }
  }

  /// Output controls: measured values.
  package var meters: [EffectPort] {
    ports.filter { $0.kind == .control && !$0.isInput && $0.role == .main }
  }
  /// Event outputs, such as onsets.
  package var events: [EffectPort] { ports.filter { $0.kind == .events && !$0.isInput } }
  /// Whether it only listens: the sound goes by as it is.
  package var isMeter: Bool { !inputs.isEmpty && outputs.isEmpty }

  /// Why Spool cannot run it; nil if it can.
  package var refusal: String? {
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

  /// Finds a preset by URI or label.
  package func preset(_ name: String) -> Preset? {
    presets.first { $0.uri == name } ?? presets.first { $0.label.lowercased() == name.lowercased() }
  }

  /// Finds a control by symbol, by name, or, for LADSPA, by number from 1.
  package func control(_ name: String) -> EffectPort? {
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

package struct EffectPort: Hashable, Sendable, Codable {
  package enum Kind: String, Hashable, Sendable, Codable {
    case audio
    /// One number a block.
    case control
    /// A control voltage: one number a frame.
    case cv
    /// Events such as notes and messages.
    case events
    /// A type that Spool does not know.
    case unknown
  }

  /// What Spool uses it for.
  package enum Role: String, Hashable, Sendable, Codable {
    /// No special use.
    case main
    /// Side-chain input.
    case sideChain
    /// Reports the latency in frames.
    case latency
    /// Declares offline processing.
    case freeWheel
    /// Enables the plugin.
    case enabled
  }

  /// From 0.
  package let index: Int
  /// Its identifier.
  package let symbol: String
  package let name: String
  package let kind: Kind
  package let isInput: Bool
  package var isOptional = false
  package var role = Role.main
  /// Minimum buffer size for events, in bytes.
  package var minimumSize = 0
  /// The valid values of a control or a control voltage.
  package var control: EffectControl?
}

/// The installed plugins of one format, in short.
package struct EffectCatalog: Hashable, Sendable, Codable {
  package struct Entry: Hashable, Sendable, Codable {
    /// The name that pipelines use.
    package let identity: String
    package let name: String
    /// Its class; empty if unknown.
    package let category: String
    /// Why Spool cannot run it; nil if it can.
    package let refusal: String?
  }

  /// Sorted by name.
  package let entries: [Entry]
  /// Libraries that could not be opened, with reasons.
  package private(set) var flaws: [String]

  package func adding(flaws more: [String]) -> EffectCatalog {
    var catalog = self
    catalog.flaws += more
    return catalog
  }

  init(_ descriptions: [EffectDescription], flaws: [String] = []) {
    entries = descriptions.map {
      Entry(identity: $0.identity, name: $0.name, category: $0.category, refusal: $0.refusal)
    }.sorted { ($0.name.lowercased(), $0.identity) < ($1.name.lowercased(), $1.identity) }
    self.flaws = flaws
  }
}

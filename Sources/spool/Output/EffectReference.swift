import LV2Host
import PipelineModel

/// The reference page of an installed LV2 or LADSPA plugin.
struct EffectReference {
  private let effect: EffectDescription

  init(_ effect: EffectDescription) { self.effect = effect }

  /// The page for a terminal.
  var text: String {
    let title = [effect.category, effect.author.isEmpty ? "" : "by \(effect.author)"]
      .filter { !$0.isEmpty }.joined(separator: ", ")
    var lines = [
      "\(effect.format.rawValue):\(effect.identity)",
      effect.name + (title.isEmpty ? "" : " (\(title))"), "",
      "  version  \(effect.version.isEmpty ? "none" : effect.version)",
      "  library  \(effect.binary)",
      "  sound    \(channels)",
    ]
    if let reason = effect.refusal { lines.append("  use      none: \(reason)") }
    let controls = effect.controls
    if !controls.isEmpty {
      lines += ["", "Controls"]
      let width = max(16, (controls.map(\.symbol.count).max() ?? 0) + 2)
      for (index, port) in controls.enumerated() {
        lines += rows(port, number: index + 1, width: width)
      }
    }
    let meters = effect.ports.filter { $0.kind == .control && !$0.isInput && $0.role == .main }
    if !meters.isEmpty {
      lines += ["", "Meters"]
      lines.append("  " + meters.map(\.symbol).joined(separator: ", "))
    }
    if !effect.presets.isEmpty {
      lines += ["", "Presets"]
      lines += effect.presets.map { "  \($0.label)" }
    }
    if effect.refusal == nil { lines += ["", "In a pipeline", "  \(example)"] }
    return Format.visible(lines: lines)
  }

  private var channels: String {
    let sides = effect.sideChains.count
    return "\(effect.inputs.count) in, \(effect.outputs.count) out"
      + (sides > 0 ? ", \(sides) only listened to" : "")
      + (effect.ports.contains { $0.role == .latency } ? "; it tells its latency" : "")
  }

  private func rows(_ port: EffectPort, number: Int, width: Int) -> [String] {
    guard let control = port.control else { return [] }
    let name = effect.format == .ladspa ? "\(number): \(port.name)" : port.name
    let detail = String(repeating: " ", count: width + 2)
    return [
      "  \(Format.pad(port.symbol, width))\(name)",
      "\(detail)allowed: \(control.allowed)",
      "\(detail)default: \(control.standardText)",
    ]
  }

  private var example: String {
    var members: [String]
    switch effect.format {
    case .lv2: members = ["uri: \"\(effect.identity)\""]
    case .ladspa:
      let parts = effect.identity.split(separator: ":")
      members = ["library: \(parts.first ?? "")", "label: \(parts.last ?? "")"]
    }
    if let port = effect.controls.first, let control = port.control {
      members.append("controls: { \(port.symbol): \(EffectControl.text(control.standard)) }")
    }
    return "- \(effect.format.rawValue): { \(members.joined(separator: ", ")) }"
  }

  // MARK: JSON

  /// The page for scripts.
  var value: Value {
    .group([
      "kind": .text(effect.format.rawValue), "identity": .text(effect.identity),
      "name": .text(effect.name), "category": .text(effect.category),
      "author": .text(effect.author), "version": .text(effect.version),
      "library": .text(effect.binary), "refusal": Self.text(effect.refusal),
      "soundInputs": .number(Double(effect.inputs.count)),
      "soundOutputs": .number(Double(effect.outputs.count)),
      "sideChains": .number(Double(effect.sideChains.count)),
      "tellsLatency": .flag(effect.ports.contains { $0.role == .latency }),
      "controls": .list(effect.controls.map { value($0) }),
      "presets": .list(
        effect.presets.map { .group(["label": .text($0.label), "uri": .text($0.uri)]) }),
    ])
  }

  private func value(_ port: EffectPort) -> Value {
    guard let control = port.control else { return .null }
    return .group([
      "symbol": .text(port.symbol), "name": .text(port.name), "unit": .text(control.unit),
      "default": .number(control.standard),
      "minimum": control.minimum.map { .number($0) } ?? .null,
      "maximum": control.maximum.map { .number($0) } ?? .null,
      "whole": .flag(control.isWhole), "switch": .flag(control.isToggle),
      "choice": .flag(control.isChoice), "limitsTimesSampleRate": .flag(control.isScaledByRate),
      "points": .list(
        control.points.map { .group(["label": .text($0.label), "value": .number($0.value)]) }),
    ])
  }

  private static func text(_ text: String?) -> Value { text.map { .text($0) } ?? .null }
}

import PipelineModel
import Platform
import Plugins
import Stages

extension Command {
  /// `spool stages`: what a pipeline can be made of.
  static let stages = Command(
    name: "stages", group: "Pipelines",
    summary: "List the stage kinds, or show one with its ports and parameters.",
    positionals: [Options.kind], options: [Options.plugins, Options.json],
    examples: [
      Example("What the gate can do", "spool stages gate"),
      Example("Which LV2 plugins are installed", "spool stages lv2:"),
    ],
    perform: CommandContext.showStages)
}

extension Options {
  fileprivate static let kind = Positional<String?>.optional(
    "KIND",
    help: "Show one stage kind in full; lv2:URI or ladspa:LIBRARY:LABEL an installed plugin, "
      + "lv2: and ladspa: all of them.",
    completion: NameKind.stages.hint())
}

extension CommandContext {
  fileprivate func showStages() throws(SpoolError) -> ExitCode {
    let catalog = try checkedCatalog()
    guard let kind = arguments[Options.kind] else {
      answer(list: catalog.descriptors.map { StageReference($0).value }, list(catalog))
      return .done
    }
    if let format = EffectFormat.allCases.first(where: { kind.hasPrefix("\($0.rawValue):") }) {
      return try show(String(kind.dropFirst(format.rawValue.count + 1)), format)
    }
    guard let descriptor = catalog[kind]?.descriptor else {
      console.report("\(console.red("error:")) there is no stage kind \"\(Format.visible(kind))\"")
      console.report(Format.visible("allowed: \(catalog.offer)"))
      if let near = Problem.nearest(to: kind, in: catalog.kinds) {
        console.report("did you mean \"\(near)\"?")
      }
      return .usage
    }
    let page = StageReference(descriptor)
    answer(page.value, page.text(width: console.width))
    guard let format = EffectFormat(rawValue: kind), !isJSON else { return .done }
    console.print("\nInstalled")
    return try show("", format)
  }

  /// Shows an installed plugin of a foreign standard, or all of them where `identity` is empty.
  private func show(_ identity: String, _ format: EffectFormat) throws(SpoolError) -> ExitCode {
    let registry = EffectRegistry()
    do throws(SpoolError) {
      if identity.isEmpty {
        let catalog = try registry.catalog(format)
        answer(
          list: catalog.values(format), catalog.text(format, folders: registry.folders(format)))
        for flaw in catalog.flaws { console.report("warning: left out \(Format.visible(flaw))") }
      } else {
        let page = try registry.description(format, identity)
        answer(page.value, page.text)
      }
      return .done
    } catch { throw error.asUsage }
  }

  private func list(_ catalog: StageCatalog) -> String {
    let width = (catalog.kinds.map(\.count).max() ?? 0) + 2
    let lines = catalog.descriptors.map { "\(Format.pad($0.kind, width))\($0.summary)" }
    return Format.visible(lines: lines + ["", "spool stages KIND shows one in full."])
  }
}

/// What is installed of a format, as a list.
extension EffectCatalog {
  /// The list for a terminal: what treats sound, and how many do not.
  /// - Parameter folders: where plugins were looked for.
  fileprivate func text(_ format: EffectFormat, folders: [String]) -> String {
    let usable = entries.filter { $0.refusal == nil }
    let width = (usable.map(\.name.count).max() ?? 0) + 2
    var lines = usable.map {
      Format.pad($0.name, width) + ShellWords.line(["\(format.rawValue):\($0.identity)"])
    }
    let others = entries.count - usable.count
    if lines.isEmpty { lines.append("No \(format.title) plugin that treats sound is installed.") }
    lines.append("")
    if others > 0 {
      lines.append(
        Count.of(others, "other plugin") + " cannot treat sound: instruments, meters, MIDI.")
    }
    lines.append("Looked in \(folders.joined(separator: ", ")).")
    lines.append("spool stages \(format.rawValue):NAME shows one in full.")
    return Format.visible(lines: lines)
  }

  /// The list for scripts: all of them.
  fileprivate func values(_ format: EffectFormat) -> [Value] {
    entries.map {
      .group([
        "kind": .text(format.rawValue), "identity": .text($0.identity), "name": .text($0.name),
        "category": .text($0.category), "refusal": $0.refusal.map { .text($0) } ?? .null,
      ])
    }
  }
}

/// The reference page of an installed LV2 or LADSPA plugin.
extension EffectDescription {
  /// The page for a terminal.
  fileprivate var text: String {
    let title = [category, author.isEmpty ? "" : "by \(author)"]
      .filter { !$0.isEmpty }.joined(separator: ", ")
    var lines = [
      "\(format.rawValue):\(identity)",
      name + (title.isEmpty ? "" : " (\(title))"), "",
      "  version  \(version.isEmpty ? "none" : version)",
      "  library  \(binary)",
      "  sound    \(channelText)",
    ]
    if let reason = refusal { lines.append("  use      none: \(reason)") }
    let controls = controls
    if !controls.isEmpty {
      lines += ["", "Controls"]
      let width = max(16, (controls.map(\.symbol.count).max() ?? 0) + 2)
      for (index, port) in controls.enumerated() {
        lines += rows(port, number: index + 1, width: width)
      }
    }
    let meters = ports.filter { $0.kind == .control && !$0.isInput && $0.role == .main }
    if !meters.isEmpty {
      lines += ["", "Meters"]
      lines.append("  " + meters.map(\.symbol).joined(separator: ", "))
    }
    if !presets.isEmpty {
      lines += ["", "Presets"]
      lines += presets.map { "  \($0.label)" }
    }
    if refusal == nil { lines += ["", "In a pipeline", "  \(example)"] }
    return Format.visible(lines: lines)
  }

  private var channelText: String {
    let sides = sideChains.count
    return "\(inputs.count) in, \(outputs.count) out"
      + (sides > 0 ? ", \(sides) only listened to" : "")
      + (ports.contains { $0.role == .latency } ? "; it tells its latency" : "")
  }

  private func rows(_ port: EffectPort, number: Int, width: Int) -> [String] {
    guard let control = port.control else { return [] }
    let name = format == .ladspa ? "\(number): \(port.name)" : port.name
    let detail = String(repeating: " ", count: width + 2)
    return [
      "  \(Format.pad(port.symbol, width))\(name)",
      "\(detail)allowed: \(control.allowed)",
      "\(detail)default: \(control.standardText)",
    ]
  }

  private var example: String {
    var members: [String]
    switch format {
    case .lv2: members = ["uri: \"\(identity)\""]
    case .ladspa:
      members = ["library: \(Self.quoted(parts.library))", "label: \(Self.quoted(parts.label))"]
    }
    if let port = controls.first, let control = port.control {
      members.append("controls: { \(port.symbol): \(EffectControl.text(control.standard)) }")
    }
    return "- \(format.rawValue): { \(members.joined(separator: ", ")) }"
  }

  /// A word of YAML, in quotation marks unless it is plain.
  private static func quoted(_ word: String) -> String {
    let isPlain =
      word.first?.isLetter == true
      && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    return isPlain ? word : Value.text(word).canonicalJSON
  }

  /// The page for scripts.
  fileprivate var value: Value {
    .group([
      "kind": .text(format.rawValue), "identity": .text(identity),
      "name": .text(name), "category": .text(category),
      "author": .text(author), "version": .text(version),
      "library": .text(binary), "refusal": Self.text(refusal),
      "soundInputs": .number(Double(inputs.count)),
      "soundOutputs": .number(Double(outputs.count)),
      "sideChains": .number(Double(sideChains.count)),
      "tellsLatency": .flag(ports.contains { $0.role == .latency }),
      "controls": .list(controls.map { value($0) }),
      "presets": .list(
        presets.map { .group(["label": .text($0.label), "uri": .text($0.uri)]) }),
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

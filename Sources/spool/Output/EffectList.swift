import LV2Host
import PipelineModel

/// What is installed of a format, as a list.
struct EffectList {
  private let format: EffectFormat
  private let catalog: EffectCatalog

  init(_ format: EffectFormat, _ catalog: EffectCatalog) {
    self.format = format
    self.catalog = catalog
  }

  /// The list for a terminal: what treats sound, and how many do not.
  /// - Parameter folders: where plugins were looked for.
  func text(folders: [String]) -> String {
    let usable = catalog.entries.filter { $0.refusal == nil }
    let width = (usable.map(\.name.count).max() ?? 0) + 2
    var lines = usable.map { "\(Format.pad($0.name, width))\(format.rawValue):\($0.identity)" }
    let others = catalog.entries.count - usable.count
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

  /// What people should know beside the list.
  var warnings: [String] { catalog.flaws.map { "left out \($0)" } }

  /// The list for scripts: all of them.
  var value: Value {
    .list(
      catalog.entries.map {
        .group([
          "kind": .text(format.rawValue), "identity": .text($0.identity), "name": .text($0.name),
          "category": .text($0.category), "refusal": $0.refusal.map { .text($0) } ?? .null,
        ])
      })
  }
}

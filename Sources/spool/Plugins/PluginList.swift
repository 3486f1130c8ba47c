import PipelineModel
import PluginHost

/// `spool plugin list`: every plugin that is found here, and how it stands.
struct PluginList {
  let desk: PluginDesk

  func run() -> ExitCode {
    let shelf = desk.shelf
    let standings = shelf.standings
    for (folder, reason) in shelf.distrusted.sorted(by: { $0.key < $1.key }) {
      desk.console.report(Format.visible("note: \(desk.shown(folder)) is left out: \(reason)"))
    }
    if desk.isJSON {
      for standing in standings { desk.console.print(json(standing).canonicalJSON) }
    } else if standings.isEmpty {
      desk.console.print("no plugins here; spool plugin new NAME makes one")
    } else {
      desk.console.print(table(standings))
    }
    return .done
  }

  private func table(_ standings: [PluginStanding]) -> String {
    let rows =
      [["NAME", "VERSION", "KINDS", "STATE", "FOLDER"]]
      + standings.map { standing in
        [
          standing.name, standing.plugin?.manifest.version ?? "–",
          standing.plugin.map { $0.manifest.kinds.map(\.kind).joined(separator: ", ") } ?? "–",
          standing.words, desk.shown(standing.folder),
        ].map(Format.visible)
      }
    let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
    var lines = rows.map { row in
      zip(row, widths).map { Format.pad($0, $1 + 2) }.joined() + row[4]
    }
    let wrong = standings.filter { $0.state != .ready }
    if !wrong.isEmpty {
      lines += ["", "spool plugin check says what is wrong, and where."]
    }
    return lines.joined(separator: "\n")
  }

  private func json(_ standing: PluginStanding) -> Value {
    .group([
      "name": .text(standing.name), "folder": .text(standing.folder),
      "version": standing.plugin.map { .text($0.manifest.version) } ?? .null,
      "kinds": .list((standing.plugin?.manifest.kinds ?? []).map { .text($0.kind) }),
      "state": .text(standing.words), "ready": .flag(standing.state == .ready),
    ])
  }
}

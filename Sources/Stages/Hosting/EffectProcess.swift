import AudioModel
import LV2Host
import PipelineModel
import PluginHost

/// A plugin of LV2 or LADSPA as a program of its own: Spool's own program, behind the confinement of
/// process plugins, which loads it and speaks their protocol.
struct EffectProcess {
  /// What it is to do.
  let order: HostOrder
  /// For people: the plugin, where it is known.
  let name: String
  /// Its version; empty where it has none.
  let version: String
  /// The library that it lies in; nil where that is not known yet.
  let binary: String?
  /// The program that confines plugins and then becomes them: Spool's own.
  let launcher: String

  /// The kind, as the protocol calls it.
  var kind: PluginManifest.Kind {
    PluginManifest.Kind(kind: order.format.rawValue, work: .sound, summary: name)
  }

  /// What the session starts.
  var plugin: Plugin {
    let page = "\(order.format.rawValue):\(order.identity)"
    let own = binary.map { [Self.folder(of: $0)] } ?? []
    return Plugin(
      folder: own.first ?? order.folders.first ?? "/usr/lib",
      manifest: PluginManifest(
        name: name, version: version, summary: name,
        run: [launcher, HostOrder.word, order.text],
        limits: PluginManifest.Limits(
          time: order.wish == .run ? 60 : Self.patience,
          reads: order.folders + own),
        kinds: [kind]),
      advice: order.identity.isEmpty
        ? "remove the plugin whose files are broken"
        : "spool stages \(ShellWords.line([page])) shows its controls; set others, or take another "
          + "plugin")
  }

  /// Seconds that each library or bundle may take to say what is in it.
  private static let patience = 10.0

  /// A library's own folder, which may lie outside of the usual ones.
  private static func folder(of path: String) -> String {
    path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
  }
}

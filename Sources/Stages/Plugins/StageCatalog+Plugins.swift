import Hashing
import LV2Host
public import PipelineModel
public import PluginHost
import Synchronization

extension StageCatalog {
  /// The kinds that need a program to be confined in, which only a catalogue with plugins has: those of
  /// foreign standards, and of foreign programs.
  public static let hostedKinds = EffectFormat.allCases.map(\.rawValue) + ["command"]

  /// The catalogue with those kinds and the kinds of plugins behind its own. Kinds that several plugins offer are
  /// left out.
  /// - Parameter launcher: the program that confines plugins: Spool's own.
  public func adding(
    _ shelf: PluginShelf, launcher: String = "/proc/self/exe"
  ) -> StageCatalog {
    let effects = EffectShelf(launcher: launcher)
    let hosted: [StageRegistration] = [
      .command(launcher: launcher), .lv2(effects, launcher: launcher),
      .ladspa(effects, launcher: launcher),
    ]
    return StageCatalog(
      kinds.compactMap { self[$0] } + hosted
        + shelf.plugins.flatMap { plugin in
          plugin.manifest.kinds.filter {
            shelf.canUse($0, of: plugin) && self[$0.kind] == nil
              && !Self.hostedKinds.contains($0.kind)
          }
          .map { StageRegistration($0, of: plugin, launcher: launcher) }
        })
  }
}

extension StageRegistration {
  /// Registers a plugin's kind.
  init(_ kind: PluginManifest.Kind, of plugin: Plugin, launcher: String) {
    let identity = PluginIdentity(plugin)
    let equipment = PluginEquipment(plugin, launcher: launcher)
    self.init(
      kind.descriptor(of: plugin.title),
      libraries: {
        ["plugin \(plugin.manifest.name)": identity.text]
      },
      make: { (parameters) throws(StageError) -> any Stage in
        switch kind.work {
        case .sound:
          PluginSoundStage(
            plugin, kind: kind, parameters: parameters, equipment: equipment, launcher: launcher)
        case .file:
          PluginFileStage(
            plugin, kind: kind, parameters: parameters, equipment: equipment, launcher: launcher)
        }
      })
  }
}

/// What stands for a plugin in keys. Its files are read for it, and again where they changed: a watch
/// outlives many versions of its plugins.
private final class PluginIdentity: Sendable {
  private let plugin: Plugin
  private let known = Mutex<(stamp: String, text: String)?>(nil)

  init(_ plugin: Plugin) { self.plugin = plugin }

  var text: String {
    // Looked at before the files are read, so that a later change is one from this.
    let stamp = plugin.stamp
    return known.withLock { known in
      if let known, known.stamp == stamp { return known.text }
      let text = "\(plugin.manifest.version) \(plugin.digest().short)"
      known = (stamp, text)
      return text
    }
  }
}

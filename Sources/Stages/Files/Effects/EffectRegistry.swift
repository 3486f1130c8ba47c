import Audio
import FoundationEssentials
import PipelineModel
package import Platform
package import Plugins
import Synchronization

/// The LV2 and LADSPA plugins that are installed. What is asked of it is answered by a process of its
/// own, since looking at a plugin may run its code; answers are kept while the plugin's library stays as it
/// is.
package final class EffectRegistry: Sendable {
  private let launcher: String
  private let environment: [String: String]
  private let known = Mutex<[String: Known]>([:])
  private struct Known {
    let effect: EffectDescription
    let stamp: FileStamp?
    /// Bundles that ended a process which looked for it, by path.
    let bad: [String]
    var digests: [String: Digest] = [:]
  }

  /// The plugins where `LV2_PATH` and `LADSPA_PATH` say, or where they usually are.
  /// - Parameters:
  ///   - launcher: the program that confines plugins and then becomes them: Spool's own.
  ///   - environment: the variables; nil takes this process's own.
  package init(
    launcher: String = "/proc/self/exe",
    environment: [String: String]? = nil
  ) {
    self.launcher = launcher
    self.environment = environment ?? ProcessInfo.processInfo.environment
  }

  /// Where a format's plugins are looked for.
  package func folders(_ format: EffectFormat) -> [String] { format.folders(environment) }

  /// All that is installed. Takes a second where hundreds are. A library that ends the process which
  /// looks at it, or keeps it, is left out and named among the flaws.
  package func catalog(_ format: EffectFormat) throws(SpoolError) -> EffectCatalog {
    let (found, bad): (EffectCatalog, [Bad]) = try leavingOut { (bad, hear) throws(SpoolError) in
      try ask(
        HostOrder(.list, format, in: folders(format), excluding: bad),
        "the list of installed \(format.title) plugins", hear: hear)
    }
    return found.adding(flaws: bad.map { "\($0.path): \($0.reason)" })
  }

  /// A library or bundle that ends the process which looks at it, or keeps it.
  private struct Bad {
    let path: String
    let reason: String
  }

  /// Asks until nothing that is looked at ends the process which looks.
  /// - Parameter question: is given what is left out, and what hears the place that is looked at.
  private func leavingOut<Answer>(
    _ question: ([String], @escaping (String) -> Void) throws(SpoolError) -> Answer
  ) throws(SpoolError) -> (Answer, [Bad]) {
    var bad: [Bad] = []
    while true {
      var place = ""
      do throws(SpoolError) {
        return (try question(bad.map(\.path)) { place = $0 }, bad)
      } catch {
        let isNew = !place.isEmpty && !bad.contains { $0.path == place }
        guard isNew, bad.count < Self.mostBad else { throw error }
        bad.append(Bad(path: place, reason: error.reason ?? error.message))
      }
    }
  }

  /// With more bad libraries than this, something else is wrong.
  private static let mostBad = 20

  /// One plugin.
  package func description(
    _ format: EffectFormat, _ identity: String
  ) throws(SpoolError) -> EffectDescription {
    let key = "\(format.rawValue):\(identity)"
    if let found = known.withLock({ $0[key] }),
      found.stamp == (try? FileStamp(following: found.effect.binary))
    {
      return found.effect
    }
    var folders = folders(format)
    if identity.hasPrefix("/") {
      folders.append(FilePath.folder(of: EffectHost.library(of: identity, in: folders)))
    }
    let places = folders
    let (effect, bad): (EffectDescription, [Bad]) = try leavingOut {
      (bad, hear) throws(SpoolError) in
      try ask(
        HostOrder(.describe, format, identity, in: places, excluding: bad),
        "the \(format.title) plugin \(identity)", hear: hear)
    }
    known.withLock {
      $0[key] = Known(
        effect: effect, stamp: try? FileStamp(following: effect.binary), bad: bad.map(\.path))
    }
    return effect
  }

  /// A plugin that runs with these settings.
  func process(_ effect: EffectDescription, _ settings: EffectSettings) -> EffectProcess {
    let key = "\(effect.format.rawValue):\(effect.identity)"
    return EffectProcess(
      order: HostOrder(
        .run, effect.format, effect.format == .lv2 ? effect.identity : Self.place(of: effect),
        in: folders(effect.format), values: settings.values, preset: settings.preset,
        excluding: known.withLock { $0[key]?.bad } ?? []),
      name: "the \(effect.format.title) plugin \(effect.identity)",
      version: effect.format == .lv2 ? effect.version : "",
      binary: effect.binary, launcher: launcher)
  }

  /// What stands for a plugin in keys: its version, its library and the files that describe it and
  /// its preset, as they are now. O(bytes), once for each plugin.
  func text(of effect: EffectDescription, preset: String?) -> String {
    let key = "\(effect.format.rawValue):\(effect.identity)"
    let name = preset ?? ""
    let digest: Digest
    if let kept = known.withLock({ $0[key]?.digests[name] }) {
      digest = kept
    } else {
      var hash = SHA256()
      let presetFile = effect.presets.first { $0.uri == preset }?.file
      for path in [effect.binary] + effect.files + (presetFile.map { [$0] } ?? []) {
        let bytes = FileManager.default.contents(atPath: path) ?? Data()
        hash.update(Array("\(path)\u{0}\(bytes.count)\u{0}".utf8))
        hash.update(Array(bytes))
      }
      digest = hash.finalize()
      known.withLock { $0[key]?.digests[name] = digest }
    }
    return effect.version.isEmpty ? digest.short : "\(effect.version) \(digest.short)"
  }

  /// A LADSPA plugin by its library's path, so that what runs is what was described.
  private static func place(of effect: EffectDescription) -> String {
    "\(effect.binary):\(effect.parts.label)"
  }

  private func ask<Answer: Decodable>(
    _ order: HostOrder, _ what: String, hear: @escaping (String) -> Void = { _ in }
  ) throws(SpoolError) -> Answer {
    let process = EffectProcess(
      order: order, name: what, version: "", binary: nil, launcher: launcher)
    let session = try PluginSession(
      process.plugin, kind: order.format.rawValue, parameters: .object([:]), work: [:],
      setting: PluginSession.Setting(
        launcher: launcher, hear: { hear($0.members["text"]?.text ?? "") }))
    if let trouble = session.ready.members["trouble"] {
      throw SpoolError(
        trouble["message"]?.text ?? "cannot look at \(what)", reason: trouble["reason"]?.text,
        advice: trouble["advice"]?.text, cause: .environment)
    }
    let text = session.ready.members["found"]?.text ?? ""
    do {
      return try Answer(jsonText: text)
    } catch {
      throw session.failure("what it told cannot be read: \(error)")
    }
  }
}

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
    // It may lie outside of the usual folders.
    let own = binary.map { [FilePath.folder(of: $0)] } ?? []
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
        : "\(command: .stages) \(ShellWords.line([page])) shows its controls; set others, or "
          + "take another "
          + "plugin")
  }

  /// Seconds that each library or bundle may take to say what is in it.
  private static let patience = 10.0
}

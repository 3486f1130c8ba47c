import PipelineEngine
import PipelineModel
import Platform
import Store

/// The user's settings, and the collection that runs by itself.
extension CommandContext {
  /// `$XDG_CONFIG_HOME/spool/config.yaml`, else `~/.config/spool/config.yaml`; nil without a home.
  static func settingsPath(_ environment: [String: String]) -> String? {
    // The specification requires relative paths to be ignored.
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
      return folder + "/spool/config.yaml"
    }
    return environment["HOME"].flatMap { $0.isEmpty ? nil : $0 + "/.config/spool/config.yaml" }
  }

  /// What the settings file says, or the defaults without one.
  func settings() throws(SpoolError) -> SettingsDefinition {
    guard let path = Self.settingsPath(Environment.variables), FilePath.exists(path) else {
      return SettingsDefinition()
    }
    let text = try TextFile.read("the settings", path)
    let parsed = ParsedSettings(text)
    guard parsed.problems.isEmpty else { throw refusal(parsed.problems, in: text, at: path) }
    return parsed.definition
  }

  /// Frees what the settings allow, at most once a day for each store; quietly. For the end of a
  /// command, after its result was shown.
  func collectIfDue(in store: DiskStore) {
    do throws(SpoolError) {
      let settings = try settings()
      guard settings.isAutomatic,
        let report = try store.collectIfDue(CollectionPolicy(settings)), report.freedBytes > 0
      else { return }
      if isJSON {
        console.print(
          JSONText.of(
            JSONLine(
              "collected", ["freedBytes": report.freedBytes, "keptBytes": report.keptBytes])))
      }
    } catch {
      // The command itself succeeded.
      console.report("note: nothing was freed in the store: \(Format.visible(error.account))")
    }
  }
}

extension CollectionPolicy {
  /// As the settings say.
  init(_ settings: SettingsDefinition) {
    self.init()
    age = settings.soundAge
    limit = settings.size
  }
}

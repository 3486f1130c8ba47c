import PipelineModel
import PluginHost
import Synchronization

/// Whether this machine has what a plugin needs: looked for once, however many steps it works in.
final class PluginEquipment: Sendable {
  private let plugin: Plugin
  private let launcher: String
  private let known = Mutex<Result<Void, StageError>?>(nil)

  init(_ plugin: Plugin, launcher: String) {
    self.plugin = plugin
    self.launcher = launcher
  }

  /// Throws what is missing.
  func check() throws(StageError) {
    let answer = known.withLock { known in
      if let known { return known }
      let answer: Result<Void, StageError>
      do throws(StageError) {
        try plugin.checkEquipment(launcher: launcher)
        answer = .success(())
      } catch { answer = .failure(error) }
      known = answer
      return answer
    }
    try answer.get()
  }
}

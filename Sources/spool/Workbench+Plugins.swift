import Glibc
import PipelineModel
import PluginHost
import Stages
import Store

/// The plugins of a command, and the stage kinds that there are with them.
extension Workbench {
  /// The folder of `--plugins`, an absolute path; nil where there is none.
  var pluginFolder: String? { plugins.map { ResolvedPath.of(absolute($0)) } }

  /// The plugins that a pipeline may use.
  /// - Parameter path: the pipeline's file; nil where there is none.
  func shelf(beside path: String?) -> PluginShelf {
    PluginShelf(
      in: PluginShelf.folders(
        pipeline: path.map(folder), current: currentFolder, environment: Environment.variables),
      named: plugins.map(absolute), beside: path.map(folder),
      taken: StageCatalog.builtIn.kinds + StageCatalog.hostedKinds)
  }

  /// The plugins of earlier runs, newest first; none where no store says so.
  func earlierPlugins() -> [PluginUse] {
    guard let storeOfRuns, DiskStore.isThere(at: storeOfRuns),
      let runs = try? DiskStore(reading: storeOfRuns).runs(limit: 1000)
    else { return [] }
    return runs.flatMap { $0.plugins ?? [] }
  }

  private var currentFolder: String { String(absolute("").dropLast()) }

  /// Refuses a folder of `--plugins` that is none: whoever names one means what is in it.
  func checkPluginFolder() throws(Refusal) {
    guard let plugins, !isRemembered else { return }
    var status = stat()
    let isThere = unsafe stat(absolute(plugins), &status) == 0
    if isThere, status.st_mode & S_IFMT == S_IFDIR { return }
    let error = StageError(
      "there are no plugins in \(plugins)",
      reason: isThere ? "it is no folder" : "there is no such folder",
      advice: "--plugins DIR, or SPOOL_PLUGINS, names a folder in which plugins have theirs")
    throw Refusal(text: ErrorText(error).render(console), code: .usage)
  }

  /// The stage kinds that a pipeline may use: Spool's own, and those of plugins.
  func catalog(beside path: String?) -> StageCatalog {
    StageCatalog.builtIn.adding(shelf(beside: path))
  }

  /// Gives `body` the stage kinds that a pipeline in the current folder may use. Where the folder of
  /// plugins is none, that is told, and the exit code says so.
  func withStages(_ body: (StageCatalog) -> ExitCode) -> ExitCode {
    do throws(Refusal) { try checkPluginFolder() } catch {
      console.report(error.text)
      return error.code
    }
    return body(catalog(beside: nil))
  }
}

import PipelineModel
import Store

/// Finding runs that were named on the command line.
extension Workbench {
  /// The run of this name, or whose name begins with it; `last` is the newest.
  func run(named name: String, in store: DiskStore) throws(Refusal) -> RunRecord {
    let found: RunRecord?
    do throws(StoreError) {
      found = name == "last" ? try store.runs(limit: 1).first : try store.run(named: name)
    } catch {
      throw Refusal(text: ErrorText(StageError(error)).render(console), code: .usage)
    }
    if found == nil, try runs(limit: 1, in: store).isEmpty {
      throw Refusal(
        text: "\(console.red("error:")) \(noRuns(in: store))\n"
          + "next:  spool run PIPELINE INPUT makes the first; --store names another store",
        code: .usage)
    }
    guard let run = found else {
      throw Refusal(
        text: "\(console.red("error:")) there is no run \"\(name)\"\nnext:  spool runs lists them",
        code: .usage)
    }
    return run
  }

  /// What is said of a store where nothing was run.
  func noRuns(in store: DiskStore) -> String { "no run yet in \(Format.visible(store.path))" }

  /// The newest runs, newest first.
  func runs(limit: Int, in store: DiskStore) throws(Refusal) -> [RunRecord] {
    do throws(StoreError) { return try store.runs(limit: limit) } catch {
      throw Refusal(text: ErrorText(StageError(error)).render(console), code: .failed)
    }
  }
}

internal import PipelineModel
import Platform
internal import Synchronization

/// Temporary files in users' folders are recorded first, so that they are found and removed if
/// their process dies.
extension DiskStore {
  /// Records that this process is about to write at `path`.
  func noteUnfinished(_ path: String) throws(SpoolError) {
    _ = try database.run(
      "INSERT OR REPLACE INTO unfinished (path, owner) VALUES (?, ?)",
      [.text(path), .text(ProcessIdentity.current.description)], to: "record a new file in")
  }

  /// Records that `path` is empty. A failure only costs a later check.
  func forgetUnfinished(_ path: String) {
    try? withDatabase { (database) throws(SpoolError) in
      try KnownFileTables.forgetUnfinished(path, in: &database)
    }
  }

  /// Removes temporary files of dead processes from users' folders.
  func sweepUnfinished() throws(SpoolError) {
    let rows = try database.run("SELECT path, owner FROM unfinished", to: "read")
    for row in rows {
      guard let path = row[0].text, let owner = row[1].text.flatMap({ ProcessIdentity($0) })
      else { continue }
      if AbandonedFiles.remove(path, of: owner, files: files) { forgetUnfinished(path) }
    }
  }

  /// Removes temporary files of dead processes from one folder, of any store. Once per folder.
  func sweepDrafts(in folder: String) {
    guard sweptFolders.withLock({ $0.insert(folder).inserted }) else { return }
    for name in FilePath.names(in: folder) where name.hasPrefix(Publication.prefix) {
      let rest = String(name.dropFirst(Publication.prefix.count))
      guard let owner = AbandonedFiles.owner(inName: rest) else { continue }
      AbandonedFiles.remove("\(folder)/\(name)", of: owner, files: files)
    }
  }
}

/// The runs that can be resumed: what they need stays until they are done or dropped.
struct UnfinishedRuns {
  let names: Set<String>
  /// Start of the first of them, in seconds since 1970; nil if there is none.
  let firstStart: Double?
  /// The times of the runs that were given up, and of those that failed, in seconds since 1970: their
  /// work is theirs by its time.
  private let givenUp: [ClosedRange<Double>]
  private let failed: [ClosedRange<Double>]

  /// Selects them from all runs, newest first. O(runs · unfinished ones).
  init(_ runs: [RunRecord]) {
    let open = RunRecord.unsettled(in: runs).filter { run in
      // Nothing offers to resume what a later run has done, with whatever settings.
      run.isUnfinished && !runs.prefix { $0.id != run.id }.contains { $0.resolves(run) }
    }
    names = Set(open.map(\.id.name))
    firstStart = open.map(\.startedAt).min()
    func times(_ state: RunRecord.State) -> [ClosedRange<Double>] {
      runs.filter { $0.state == state }.map {
        $0.startedAt...max($0.startedAt, $0.finishedAt ?? .infinity)
      }
    }
    (givenUp, failed) = (times(.dropped), times(.failed))
  }

  /// Whether work that was last touched at this time, in seconds since 1970, is that of a run that was
  /// given up, and of no other. O(runs given up).
  func wasGivenUp(at time: Double) -> Bool {
    givenUp.contains { $0.contains(time) } && !failed.contains { $0.contains(time) }
  }

  /// Whether one of them may have made a file of this time, in seconds since 1970, without
  /// recording it.
  func mayHaveMade(at time: Double) -> Bool { firstStart.map { time >= $0 } ?? false }
}

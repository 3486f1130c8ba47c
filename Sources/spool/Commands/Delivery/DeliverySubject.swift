import Delivery
import PipelineModel
import Platform
import Store

/// What names mean of which files are delivered.
extension CommandContext {
  /// What a name means of which files are delivered. It is one that is printed: a run's, a recording's
  /// ID, its device's noteId, or a file's name or path.
  /// - Returns: a run, or a recording of an inbox with the last run that was done of it, if there is one.
  func deliveredSubject(
    named name: String, in store: DiskStore
  ) throws(SpoolError) -> (run: RunRecord?, recording: Recording?) {
    if let run = try knownRun(named: name, in: store) {
      return (run, try store.inboxRecording(of: run))
    }
    if let recording = try knownRecording(named: name, in: store) {
      return (try store.lastDoneRun(of: recording), recording)
    }
    let run = try lastDoneRun(ofFile: name, in: store)
    return (run, try store.inboxRecording(of: run))
  }

  /// What waits for the files of a name, and what has them.
  func deliveryOwners(named name: String, in store: DiskStore) throws(SpoolError) -> [DeliveryOwner]
  {
    let (run, recording) = try deliveredSubject(named: name, in: store)
    return [run.map { .run($0.id) }, recording.map { .recording($0.key) }].compactMap(\.self)
  }

  /// The last run that was done of a file: by its bytes, else by its path or its name in the runs.
  /// - Throws: if there is none: a name that is no run's and no recording's is that of a file.
  private func lastDoneRun(ofFile name: String, in store: DiskStore) throws(SpoolError) -> RunRecord
  {
    var found: [(run: RunRecord, path: String)] = []
    if FilePath.exists(name) {
      let digest = try store.digest(ofFile: absolute(name))
      let runs = try store.runs.mentioning([digest]).filter { $0.state == .done }
      // Of several files with these bytes, each has its own exports.
      let path = absolute(name)
      if let run = runs.first(where: { $0.inputPaths.contains(path) }) ?? runs.first { return run }
    } else if let run = try store.runs.taking(absolute(name)).first {
      return run
    } else if !name.contains("/") {
      var known: Set<String> = []
      for run in try store.runs.taking(fileNamed: name) {
        for (input, path) in run.orderedInputs where path.pathNames.last == name {
          let isNew = known.insert(path).inserted
          // A copy, or an earlier version, of one that was named.
          let isOther = run.recordings?[input].map { known.insert($0.hex).inserted } ?? true
          if isNew && isOther { found.append((run, store.shownName(of: path))) }
        }
      }
    }
    guard let last = found.first else {
      throw .usage(
        "there is no run and no recording \"\(name)\"",
        advice: "spool runs and spool inbox list them")
    }
    guard found.count == 1 else {
      throw .usage(
        "several recordings are called \(name)",
        reason: found.prefix(5).map { "\($0.path) (run \($0.run.id))" }.joined(separator: ", ")
          + (found.count > 5 ? ", …" : ""),
        advice: "name one by its path or its run")
    }
    return last.run
  }

  /// The recording that came back from a destination, and whose files no run here has made, or not here;
  /// nil for another one.
  func restored(
    _ subject: (run: RunRecord?, recording: Recording?), in store: DiskStore
  ) throws(SpoolError) -> Recording? {
    var candidate = subject.recording
    if let run = subject.run {
      if run.hasItsFiles { return nil }
      for digest in (run.recordings ?? [:]).values.sorted() where candidate == nil {
        candidate = try store.recordings.recording(of: digest, pipeline: run.pipeline)
      }
    }
    guard let candidate, candidate.state == .uploaded, candidate.original == nil,
      try store.deliveries.confirmedOriginals()[candidate.content.digest] != nil
        || subject.run == nil
    else { return nil }
    return candidate
  }
}

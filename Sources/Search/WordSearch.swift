package import PipelineModel
package import Platform

/// Finds where something is said, in the words that the runs of a store have given times.
///
/// Its index follows from runs and artifacts: it is in no backup, takes in the last runs before each
/// search, and is made again if it is lost, damaged or of another version.
package struct WordSearch {
  private let store: any ArtifactStore
  private let runs: any RunLog
  private let holds: (Digest) -> Bool
  private let path: String
  private let isWritable: Bool
  private let note: (String) -> Void

  /// - Parameters:
  ///   - holds: whether the store has an artifact's file; a cheap check that uses nothing.
  ///   - folder: the store's folder, where the index lies.
  ///   - isWritable: whether the index can be written; if not, it is searched as it is.
  ///   - note: takes messages for the user.
  package init(
    of store: any ArtifactStore, runs: any RunLog, holds: @escaping (Digest) -> Bool,
    in folder: String, isWritable: Bool, note: @escaping (String) -> Void
  ) {
    self.store = store
    self.runs = runs
    self.holds = holds
    path = folder + "/search.sqlite"
    self.isWritable = isWritable
    self.note = note
  }

  /// Finds what a query asks for. Throws an error of the cause `input` if its syntax is wrong.
  package func answer(
    _ query: SearchQuery, _ limits: SearchLimits = SearchLimits()
  ) throws(SpoolError) -> SearchAnswer {
    guard isWritable else {
      guard isThere else {
        throw SpoolError(
          "search", path, reason: "no words were indexed yet, and nothing may be written here",
          advice: "search where the store may be written, or in a copy of it")
      }
      var index = try SearchIndex(at: path, for: .frozen)
      return try index.answer(query, limits)
    }
    return try withIndex { (index) throws(SpoolError) in
      try update(&index)
      return try index.answer(query, limits)
    }
  }

  /// Adds the words of runs that have ended. What fails is added by the next search.
  package func update(after run: RunRecord) {
    guard run.state == .done, isWritable,
      run.steps.contains(where: { $0.outputs.values.contains { $0.kind == .transcript } })
    else { return }
    do throws(SpoolError) {
      try withIndex { (index) throws(SpoolError) in try update(&index) }
    } catch {
      note("the words of run \(run.id) are not indexed yet: \(error.why)")
    }
  }

  /// Checks the whole index, and makes it again if it is damaged.
  /// - Returns: what was done, and the index's file; nil if it was sound.
  package func repair() throws(SpoolError) -> (what: String, path: String)? {
    var fault: String?
    do throws(SpoolError) {
      if isThere {
        var index = try SearchIndex(at: path)
        fault = try index.fault()
      }
    } catch {
      if error.isFullDisk { throw error }
      fault = error.reason
    }
    if fault != nil { try removeIndex() }
    try withIndex { (index) throws(SpoolError) in
      try update(&index)
      try index.prune(unless: holds)
    }
    return fault.map { ("make the index of words again: \($0)", path) }
  }

  /// Takes in the last runs, and says which of their words cannot be read.
  private func update(_ index: inout SearchIndex) throws(SpoolError) {
    for (name, fault) in try index.update(from: runs, in: store, holds: holds) {
      note(
        "the words of \(name) are not searched: \(fault.message): \(fault.why); "
          + (fault.advice ?? "\(command: .repair) sets aside what is damaged"))
    }
  }

  private var isThere: Bool { (try? FileStamp(following: path)) != nil }

  /// Opens the index; makes it again, once, if it is damaged.
  private func withIndex<Result>(
    _ body: (inout SearchIndex) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    do throws(SpoolError) {
      var index = try SearchIndex(at: path)
      return try body(&index)
    } catch {
      // What stops any database would stop a new one too.
      guard error.path == path, !error.isFullDisk, !error.why.contains("locked"),
        FilePath.isWritable(path)
      else { throw error }
      note(
        error.reason == SearchIndex.otherVersion
          ? "the index of words is of another version, and is made again"
          : "the index of words was damaged, and is made again")
      try removeIndex()
      var index = try SearchIndex(at: path)
      try update(&index)
      return try body(&index)
    }
  }

  /// Removes the database and the files that SQLite keeps beside it.
  private func removeIndex() throws(SpoolError) {
    for path in [path + "-wal", path + "-shm", path] {
      try doing("remove", path) { () throws(SystemError) in
        try FileOperations.system.unlinkIfThere(path)
      }
    }
  }
}

/// Which sound a hit was heard in.
package struct SearchSound: Sendable {
  /// The recording's digest; nil if it is unknown.
  package let digest: Digest?
  /// The kinds of the steps between the recording and the words; if these are not in the store any
  /// more, of all steps of the run that may have made sound.
  package let kinds: Set<String>
  /// Whether the steps between are known.
  package let isTraced: Bool
  /// The very sound in which the words were heard; nil if it is not kept.
  package let kept: Artifact?
}

extension WordSearch {
  /// The sound of a hit; nil if its run is not in the store any more.
  package func sound(of hit: SearchHit) throws(SpoolError) -> SearchSound? {
    guard let run = try runs.run(named: hit.run), run.id.name == hit.run,
      let step = run.steps.first(where: { $0.id.name == hit.step })
    else { return nil }
    let digest = Digest(hex: hit.recording)
    var checkpoints: [StepID: Checkpoint] = [:]
    for step in run.steps {
      if let key = step.key { checkpoints[step.id] = try store.checkpoint(for: key) }
    }
    let heard = checkpoints[step.id]?.components.inputs[.sound]
    var kinds: Set<String> = []
    var isTraced = heard != nil
    var waiting = [heard].compactMap(\.self)
    var seen: Set<Digest> = []
    while let next = waiting.popLast() {
      guard next != digest, seen.insert(next).inserted else { continue }
      let makers = run.steps.filter { $0.outputs.values.contains { $0.identity == next } }
      if makers.isEmpty { isTraced = false }
      for maker in makers {
        kinds.insert(maker.kind)
        if let checkpoint = checkpoints[maker.id] {
          waiting += checkpoint.components.inputs.values
        } else {
          isTraced = false
        }
      }
    }
    if !isTraced {
      kinds = Set(
        run.steps.filter { step in
          step.outputs.isEmpty || step.outputs.values.contains { $0.kind == .sound }
        }.map(\.kind))
    }
    let kept = checkpoints.values.flatMap(\.outputs.values).first {
      heard != nil && $0.identity == heard && $0.kind == .sound && $0.artifact != nil
    }?.artifact
    return SearchSound(digest: digest, kinds: kinds, isTraced: isTraced, kept: kept)
  }
}

/// The provenance of words in a run.
extension RunRecord {
  /// The run's transcripts that no other step of it has used, with the steps that made them and the
  /// inputs whose words they have.
  func transcripts(
    in store: any ArtifactStore
  ) throws(SpoolError) -> [(artifact: Artifact, step: StepID, input: String?)] {
    let giving = steps.filter { step in
      step.outputs.values.contains { $0.kind == .transcript && $0.artifact != nil }
    }
    if giving.isEmpty { return [] }
    var inputs: [StepID: [PortName: Digest]] = [:]
    for step in steps {
      if let key = step.key { inputs[step.id] = try store.checkpoint(for: key)?.components.inputs }
    }
    let used = Set(giving.flatMap { inputs[$0.id].map { Array($0.values) } ?? [] })
    return giving.flatMap { step in
      step.outputs.values.compactMap { output in
        guard let artifact = output.artifact, output.kind == .transcript,
          !used.contains(output.identity)
        else { return nil }
        return (artifact, step.id, recording(of: inputs[step.id] ?? [:], inputs))
      }
    }
  }

  /// The input that a step's sound was made of, directly or through other steps. If the checkpoints are
  /// gone, the first that is no text.
  private func recording(
    of own: [PortName: Digest], _ inputs: [StepID: [PortName: Digest]]
  ) -> String? {
    var waiting = own[.sound].map { [$0] } ?? Array(own.values)
    var seen: Set<Digest> = []
    while let next = waiting.popLast() {
      guard seen.insert(next).inserted else { continue }
      if let name = recordings?.filter({ $0.value == next }).keys.min() { return name }
      for maker in steps where maker.outputs.values.contains(where: { $0.identity == next }) {
        waiting += (inputs[maker.id] ?? [:]).values.sorted { $0.hex < $1.hex }
      }
    }
    let texts = Set(own.values)
    let names = self.inputs.keys.sorted()
    return names.first { name in recordings?[name].map { !texts.contains($0) } ?? false }
      ?? names.first
  }
}

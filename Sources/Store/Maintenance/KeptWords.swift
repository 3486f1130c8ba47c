internal import Glibc
package import PipelineModel
package import Platform

/// What a store keeps of what is said in a recording: transcripts, files made of them, and corrections.
package struct KeptWords: Sendable {
  /// The digests of the files of its sound, or of the wholes of its sounds: corrections are kept under
  /// these.
  package let recordings: [Digest]
  /// Transcripts, and what was made of them, each once.
  package fileprivate(set) var artifacts: Set<Artifact> = []
  /// The bytes of those of them that are in the store.
  package fileprivate(set) var byteCount = 0
  package fileprivate(set) var corrections = 0
  /// The runs whose records name any of it.
  package fileprivate(set) var runs: [RunRecord] = []
  /// The outputs with words, by identity.
  fileprivate var identities: Set<Digest> = []
  fileprivate var checkpoints: Set<Checkpoint.Key> = []
  /// The transcripts with corrections that steps were given: no step's output, they are in its key.
  fileprivate var corrected: Set<Digest> = []

  package var isEmpty: Bool { artifacts.isEmpty && corrections == 0 }
  package var transcripts: Int { artifacts.count { $0.kind == .transcript } }
}

extension DiskStore {
  private static let forgetting = "forget words in"

  /// What the store keeps of the words of a recording, or of a whole of several. Reads no artifact.
  /// O(checkpoints).
  /// - Parameters:
  ///   - parts: the digests of the files of its sound, for each of its recordings.
  ///   - recordings: what its corrections are kept under.
  package func keptWords(
    of parts: [[Digest]], correctedUnder recordings: [Digest]
  ) throws(SpoolError) -> KeptWords {
    let runs = try runs.mentioning(parts.flatMap(\.self))
    let steps = runs.flatMap { run in
      run.steps.map { Derivation(key: nil, inputs: $0.inputs ?? [:], outputs: $0.outputs) }
    }
    return try withDatabase { (database) throws(SpoolError) in
      let made = try CheckpointTable.derivations(in: &database)
      var kept = KeptWords(recordings: recordings)
      for derivation in Derivation.ofWords(of: parts, among: made + steps) {
        if let key = derivation.key { kept.checkpoints.insert(key) }
        if let corrected = derivation.corrected { kept.corrected.insert(corrected) }
        for output in derivation.outputs.values where output.kind.mayHoldWords {
          kept.identities.insert(output.identity)
          if let artifact = output.artifact { kept.artifacts.insert(artifact) }
        }
      }
      kept.runs = runs.filter { $0.names(kept) }
      kept.corrections = try CorrectionTable.count(of: recordings, in: &database)
      kept.byteCount = kept.artifacts.reduce(0) { sum, artifact in
        sum + (layout.holds(artifact) ? artifact.byteCount : 0)
      }
      return kept
    }
  }

  /// Removes words for good: first what only rows name, then rows, then files, and at last the names in
  /// the records of runs, by which an interrupted removal is found and ends when it is asked for again.
  /// The change log begins anew, so that none of its records has them either. What another recording
  /// has too stays.
  package func forget(_ words: KeptWords) throws(SpoolError) {
    let action = Self.forgetting
    for digest in words.corrected.sorted() { try removeUnlessNamed(digest) }
    try withDatabase { (database) throws(SpoolError) in
      try database.transaction(to: action) { (database) throws(SpoolError) in
        for key in words.checkpoints {
          try CheckpointTable.remove(key.digest.hex, from: &database)
        }
        try CorrectionTable.removeAll(of: words.recordings, in: &database)
      }
    }
    for digest in words.corrected.union(words.artifacts.map(\.digest)).sorted() {
      try removeUnlessNamed(digest)
    }
    try withDatabase { (database) throws(SpoolError) in
      try dropHistory(in: &database) { (database: inout Database) throws(SpoolError) in
        for run in words.runs {
          guard let recorded = try RunTable.run(run.id.name, in: &database) else { continue }
          try RunTable.write(
            RecordedRun(recorded.run.forgetting(words), number: recorded.number), to: &database)
          try BatchLog.removeFindings(
            of: run.stepsWith(words), fromReportsOf: run.id, in: &database)
        }
      }
    }
  }

  /// Has the change log begin anew, without what it keeps of rows that were removed. O(rows).
  package func dropHistory() throws(SpoolError) {
    try withDatabase { (database) throws(SpoolError) in
      try dropHistory(in: &database) { (_: inout Database) throws(SpoolError) in }
    }
  }

  /// - Parameter change: what is removed at last, in the same transaction.
  private func dropHistory(
    in database: inout Database, behind change: (inout Database) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    try changeLog.renew(in: &database, behind: change)
    // The write-ahead log still has the pages from before.
    try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: Self.forgetting)
  }

  private func removeUnlessNamed(_ digest: Digest) throws(SpoolError) {
    let isNamed = try withDatabase { (database) throws(SpoolError) in
      if try CheckpointTable.names(digest, in: &database) { return true }
      if try RecordingTable.hasOriginal(digest, in: &database) { return true }
      try VerifiedTable.remove(digest, from: &database)
      return false
    }
    if isNamed { return }
    for path in [layout.artifact(digest), "\(layout.damaged)/\(digest.hex)"] {
      try doing("delete", path) { () throws(SystemError) in try files.unlinkIfThere(path) }
    }
  }
}

extension ArtifactKind {
  /// Whether an artifact of this kind, made of words, may hold any. A receipt has digests only.
  fileprivate var mayHoldWords: Bool { self != .sound && self != .receipt }
}

extension RunRecord {
  fileprivate func names(_ words: KeptWords) -> Bool {
    steps.contains { step in
      step.outputs.values.contains {
        $0.artifact != nil && words.identities.contains($0.identity)
      }
    }
  }

  /// The names of the steps that made any of the words, or of what was made of them.
  fileprivate func stepsWith(_ words: KeptWords) -> [String] {
    steps.filter { step in
      step.outputs.values.contains { words.identities.contains($0.identity) }
    }.map(\.id.name)
  }

  /// The record without words: it names no artifact with any, and has no findings that quote them.
  fileprivate func forgetting(_ words: KeptWords) -> RunRecord {
    var run = self
    for index in run.steps.indices {
      for (port, output) in run.steps[index].outputs
      where words.identities.contains(output.identity) {
        run.steps[index].outputs[port]?.artifact = nil
        run.steps[index].findings = nil
      }
    }
    return run
  }
}

/// What was made of what, as a checkpoint or the record of a step has it. A pure value.
struct Derivation: Sendable {
  /// Nil for that of a run's record.
  let key: Checkpoint.Key?
  let inputs: [PortName: Digest]
  let outputs: [PortName: StepOutput]
  /// The transcript with corrections that was used in place of an input; nil if none was.
  var corrected: Digest?

  private func isMade(of identities: Set<Digest>) -> Bool {
    inputs.values.contains(where: identities.contains)
  }

  private func isMadeOnly(of identities: Set<Digest>) -> Bool {
    !inputs.isEmpty && inputs.values.allSatisfy(identities.contains)
  }

  /// Those of which an output has words of a recording, or of a whole of several: transcripts that were
  /// made of its sound, what was made of these, and what was made of nothing but the text that was given
  /// for it alone. The words of a part are not those of the whole. O(their number × the longest chain).
  /// - Parameter parts: the files of its sound, for each of its recordings.
  static func ofWords(of parts: [[Digest]], among all: [Derivation]) -> [Derivation] {
    let heard = parts.dropFirst().reduce(identities(madeOf: parts.first ?? [], all)) {
      $0.intersection(identities(madeOf: $1, all))
    }
    let made = Set(all.flatMap { $0.outputs.values.map(\.identity) })
    // Where its sound went in time says nothing of words that others were given.
    let moved = Set(
      all.flatMap { $0.outputs.values.filter { $0.kind == .measurement }.map(\.identity) })
    let sounding = heard.subtracting(moved)
    func hears(_ derivation: Derivation) -> Bool {
      let text = derivation.inputs[PortName("transcript")]
      return !derivation.spoken.isEmpty
        && derivation.isMade(of: text.map(made.contains) == true ? sounding : heard)
    }
    let hearing = all.filter(hears)
    var spoken = Set(hearing.flatMap(\.spoken))
    for text in Set(hearing.compactMap { $0.inputs[PortName("transcript")] }).subtracting(made) {
      let isShared = all.contains {
        $0.isMade(of: [text]) && !$0.isMade(of: heard) && !$0.isMadeOnly(of: [text])
      }
      if !isShared { spoken.insert(text) }
    }
    func hasWords(_ derivation: Derivation) -> Bool {
      derivation.isMadeOnly(of: spoken)
        || hears(derivation) || derivation.isMade(of: heard) && derivation.isMade(of: spoken)
    }
    while true {
      let found = all.filter(hasWords)
      let next = spoken.union(
        found.flatMap { derivation in
          derivation.outputs.values.filter { $0.kind == .file }.map(\.identity)
            + derivation.spoken
        })
      if next == spoken { return found }
      spoken = next
    }
  }

  /// The identities of its transcripts.
  private var spoken: [Digest] {
    outputs.values.filter { $0.kind == .transcript }.map(\.identity)
  }

  /// Recordings, and all that was made of any of them.
  private static func identities(
    madeOf recordings: [Digest], _ all: [Derivation]
  ) -> Set<Digest> {
    var consumers: [Digest: [Derivation]] = [:]
    for derivation in all {
      for input in derivation.inputs.values { consumers[input, default: []].append(derivation) }
    }
    var found = Set(recordings)
    var waiting = recordings
    while let identity = waiting.popLast() {
      for output in consumers[identity, default: []].flatMap(\.outputs.values)
      where found.insert(output.identity).inserted {
        waiting.append(output.identity)
      }
    }
    return found
  }
}

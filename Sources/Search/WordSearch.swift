package import PipelineModel
package import Platform
package import Transcripts

/// Finds where something is said, in the words that the runs of a store have given times.
///
/// Its index follows from runs and artifacts: it is in no backup, takes in the last runs before each
/// search, and is made again if it is lost, damaged or of another version.
package struct WordSearch {
  let store: any ArtifactStore
  let runs: any RunLog
  private let holds: (Digest) -> Bool
  private let corrections: RecordedCorrections
  private let path: String
  private let isWritable: Bool
  private let note: (String) -> Void

  /// - Parameters:
  ///   - holds: whether the store has an artifact's file; a cheap check that uses nothing.
  ///   - corrections: what people have corrected in the words of recordings.
  ///   - folder: the store's folder, where the index lies.
  ///   - isWritable: whether the index can be written; if not, it is searched as it is.
  ///   - note: takes messages for the user.
  package init(
    of store: any ArtifactStore, runs: any RunLog, holds: @escaping (Digest) -> Bool,
    corrections: RecordedCorrections = .none, in folder: String, isWritable: Bool,
    note: @escaping (String) -> Void
  ) {
    self.store = store
    self.runs = runs
    self.holds = holds
    self.corrections = corrections
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

  /// Removes the words of recordings, and those of artifacts, for good.
  package func forget(recordings: [Digest], artifacts: [Digest]) throws(SpoolError) {
    guard isThere else { return }
    try withIndex { (index) throws(SpoolError) in
      try index.forget(recordings: recordings.map(\.hex), artifacts: artifacts.map(\.hex))
    }
  }

  /// The recordings whose words are lost.
  package func lost() throws(SpoolError) -> [LostWords] {
    try withIndex { (index) throws(SpoolError) in try index.lost() }
  }

  /// Takes in the last runs, and says which of their words cannot be read.
  private func update(_ index: inout SearchIndex) throws(SpoolError) {
    var unread = try index.update(from: runs, in: store, holds: holds)
    let (recordings, transcripts) = try corrections.versions()
    unread += try index.correct(recordings, transcripts: transcripts) {
      (source, recordings) throws(SpoolError) in
      try page(of: source, corrected: recordings)
    }
    for (name, fault) in unread {
      note(
        "the words of \(name) are not searched: \(fault.message): \(fault.why); "
          + (fault.advice ?? "\(command: .repair) sets aside what is damaged"))
    }
  }

  /// Words with the corrections of recordings; nil if they are gone.
  private func page(
    of source: SearchIndex.CorrectedSource, corrected recordings: [String]
  ) throws(SpoolError) -> SearchIndex.Page? {
    guard let bytes = try SearchIndex.bytes(of: source.artifact, in: store, holds: holds) else {
      return nil
    }
    let corrections = try corrections.all(
      recordings, source.isOfWhole ? source.artifact.digest : nil)
    let heard = try Transcript(ofStage: bytes)
    if corrections.isEmpty { return SearchIndex.Page(heard) }
    let run = try runs.run(named: source.run)
    let sound = try run?.sound(
      ofWords: source.step, recording: Digest(hex: source.recording), in: store)
    let corrected = CorrectedTranscript(
      heard, with: corrections, isWritten: source.isAligned,
      origin: { sound?.origin(of: $0...$0)?.lowerBound ?? $0 })
    return SearchIndex.Page(corrected.transcript)
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

/// What people have corrected in the words of recordings, which are named by their digests.
package struct RecordedCorrections {
  /// Texts by digest that change with corrections.
  package typealias Versions = [String: String]

  /// Of each corrected recording, and of each corrected transcript, a text that changes with its
  /// corrections.
  let versions: () throws(SpoolError) -> (recordings: Versions, transcripts: Versions)
  /// The corrections of a recording, which may have been made over several of its files, and those of a
  /// transcript if there is one, oldest first.
  let all: (_ recordings: [String], _ transcript: Digest?) throws(SpoolError) -> [Correction]

  package init(
    versions: @escaping () throws(SpoolError) -> (recordings: Versions, transcripts: Versions),
    all:
      @escaping (_ recordings: [String], _ transcript: Digest?)
      throws(SpoolError) -> [Correction]
  ) {
    (self.versions, self.all) = (versions, all)
  }

  /// No corrections.
  package static var none: RecordedCorrections {
    RecordedCorrections(
      versions: { () throws(SpoolError) in ([:], [:]) }, all: { _, _ throws(SpoolError) in [] })
  }
}

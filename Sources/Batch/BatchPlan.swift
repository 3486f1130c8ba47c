import Hashing
import PipelineModel

/// What a batch will do with each file, before anything is done. A pure value.
struct BatchPlan: Sendable {
  /// A file that is to be worked on.
  struct Job: Sendable {
    let file: FoundFile
    /// What its exports are called below the output folder, without extension.
    let name: String
    /// What they would be called if no other file's exports had that name; nil where they are.
    let wantedName: String?
    /// The digest of its sidecar and its transcript; nil where there is neither.
    let sidecar: Digest?
    /// The path of its transcript below the batch's folder; nil where there is none.
    let transcript: String?
  }

  /// The files to work on, in the order of their paths.
  var jobs: [Job] = []
  /// Files of which nothing is to be done: done before, left out, or impossible.
  var settled: [BatchFileResult] = []
  /// Folders with the exports of other batches.
  var exportFolders: [String] = []
  /// What is no recording.
  var skipped = SkippedFiles()

  /// Seconds of sound in the files that were done before.
  var reusedSeconds: Double {
    settled.filter { $0.outcome == .reused }.compactMap(\.mediaSeconds).reduce(0, +)
  }

  /// Files whose exports are called otherwise than wanted, for other files' exports have their names.
  var renamedCount: Int {
    jobs.count { $0.wantedName != nil } + settled.count { $0.isRenamed }
  }

  func count(_ outcome: BatchFileResult.Outcome) -> Int {
    settled.count { $0.outcome == outcome }
  }
}

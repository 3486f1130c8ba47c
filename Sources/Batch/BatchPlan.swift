import Hashing
import PipelineModel

/// What a batch will do with each file, before anything is done. A pure value.
struct BatchPlan: Sendable {
  /// A file that is to be worked on.
  struct Job: Sendable {
    let file: FoundFile
    /// What its exports are called below the output folder, without extension.
    let name: String
    /// The digest of its sidecar; nil where there is none.
    let sidecar: Digest?
  }

  /// The files to work on, in the order of their paths.
  var jobs: [Job] = []
  /// Files of which nothing is to be done: done before, left out, or impossible.
  var settled: [BatchFileResult] = []
  /// Folders with the exports of other batches.
  var exportFolders: [String] = []

  /// Seconds of sound in the files that were done before.
  var reusedSeconds: Double {
    settled.filter { $0.outcome == .reused }.compactMap(\.mediaSeconds).reduce(0, +)
  }

  func count(_ outcome: BatchFileResult.Outcome) -> Int {
    settled.count { $0.outcome == outcome }
  }
}

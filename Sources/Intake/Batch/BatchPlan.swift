package import PipelineEngine
import PipelineModel
package import Platform
package import Store

/// What a batch will do with each file. A pure value.
struct BatchPlan: Sendable {
  struct Job: Sendable {
    let file: FoundFile
    /// The name of its exports below the output folder, without extension.
    let name: String
    /// The name that it would have if no other file's exports had it; nil if it has it.
    let wantedName: String?
    /// The digest of its sidecar, its transcript and the corrections of its words; nil without any.
    let sidecar: Digest?
    /// The path of its transcript below the batch's folder; nil if there is none.
    let transcript: String?
  }

  /// By path.
  var jobs: [Job] = []
  /// Files without work: done before, left out, or impossible.
  var settled: [BatchFileResult] = []
  /// The folders of other batches' exports.
  var exportFolders: [String] = []
  var skipped = SkippedFiles()
  /// Paths below the output folder: exports under earlier names of the jobs' files, which stay. By the
  /// files' paths.
  var earlierExports: [String: [String]] = [:]
  /// The recordings that have been done before, by the paths of their exports.
  var owners: [ExactText: String] = [:]

  /// Seconds of sound in the files that were done before.
  var reusedSeconds: Double {
    settled.filter { $0.outcome == .reused }.compactMap(\.mediaSeconds).reduce(0, +)
  }

  /// The files whose exports have another name than wanted, by path.
  var renamed: [RenamedFile] {
    let new = jobs.filter { $0.wantedName != nil }.map {
      RenamedFile(path: $0.file.path, name: BatchOrder.exportName($0.name))
    }
    return (new + settled.compactMap(\.renamed)).sorted { PathText.isBefore($0.path, $1.path) }
  }

  /// The exports under earlier names of the files that have exports under another one now: those of a
  /// file that failed may be its only ones.
  func earlierExports(after results: [BatchFileResult]) -> [String] {
    results.filter { $0.outcome == .done || $0.outcome == .reused }
      .flatMap { earlierExports[$0.path] ?? [] }
  }

  mutating func add(_ trouble: TreeWalk.Trouble) {
    let failure = BatchFileResult.Failure(
      SpoolError("cannot take \(trouble.path)", reason: trouble.reason, advice: trouble.advice))
    settled.append(
      BatchFileResult(
        path: trouble.path, outcome: .failed, failure: failure,
        report: FileReport.json(path: trouble.path, exactPath: trouble.exactPath, failure: failure))
    )
  }

  /// Notes the exports of a recording that was done before.
  /// - Parameters:
  ///   - report: of its run, as the store has it.
  ///   - output: the output folder.
  mutating func own(_ report: String, of path: String, in output: String) {
    for export in (try? BatchFileResult.Facts(jsonText: report))?.exports ?? [] {
      let place = ExactText(PathText.join(output, export.path))
      owners[place] = owners[place] ?? path
    }
  }

  func count(_ outcome: BatchFileResult.Outcome) -> Int {
    settled.count { $0.outcome == outcome }
  }
}

/// A file whose exports have another name than wanted, because other exports have that.
package struct RenamedFile: Hashable, Sendable, Encodable {
  /// Below the batch's folder.
  package let path: String
  /// The name of its exports below the output folder, without extension.
  package let name: String
}

/// What a batch works with.
package struct BatchEnvironment: Sendable {
  package let store: DiskStore
  /// What runs the passes; shared by all files, so that the last ones have every core.
  package let executors: [any PassExecutor]
  /// The tags of the recording at a path, names in lower case; nil if it is unreadable.
  package let tags: @Sendable (_ path: String) -> [String: String]?
  /// The length of the recording at a path in seconds, as its header declares; nil if it does not.
  package let length: @Sendable (_ path: String) -> Double?
  package let stop: StopRequest
  package let clock: any RunClock
  package let recorder: any BatchRecorder
  /// Writes receipts; nil if none are written.
  package let receiptWriter: (any ReceiptWriter)?
  /// Queues what runs have delivered; nil if nothing is.
  package let delivery: (any RunDelivery)?
  /// What people have corrected in the words of recordings; nil if nothing is.
  package let corrections: WordOverlay?

  package init(
    store: DiskStore,
    executors: [any PassExecutor], tags: @escaping @Sendable (_ path: String) -> [String: String]?,
    length: @escaping @Sendable (_ path: String) -> Double?,
    stop: StopRequest, clock: any RunClock, recorder: any BatchRecorder,
    receiptWriter: (any ReceiptWriter)? = nil, delivery: (any RunDelivery)? = nil,
    corrections: WordOverlay? = nil
  ) {
    self.receiptWriter = receiptWriter
    self.delivery = delivery
    self.corrections = corrections
    self.store = store
    self.executors = executors
    self.tags = tags
    self.length = length
    self.stop = stop
    self.clock = clock
    self.recorder = recorder
  }

  /// Runs plans, whose records go to the store unless another log is given.
  func runner(
    _ recorder: any RunRecorder = SilentRecorder(), log: (any RunLog)? = nil,
    receipts: (any ReceiptWriter)? = nil
  ) -> Runner {
    Runner(
      store: store, log: log ?? store.runs, executors: executors, recorder: recorder, stop: stop,
      clock: clock, receiptWriter: receipts, delivery: delivery, corrections: corrections)
  }
}

/// Ignores the events of forecasts and analyses, but for how much of a file is read, and keeps no
/// record of their runs.
struct SilentRecorder: RunRecorder, RunLog {
  /// Takes how much of a file is read, in bytes; nil to ignore that too.
  var hashing: (@Sendable (_ done: Int, _ total: Int) -> Void)?

  func record(_ event: RunEvent) {
    if case .hashing(_, let done, let total) = event { hashing?(done, total) }
  }
  func save(_ run: RunRecord) {}
  func newest(limit: Int) -> [RunRecord] { [] }
  func run(named prefix: String) -> RunRecord? { nil }
}

/// How many files a batch works on at once.
package struct BatchBudget: Hashable, Sendable {
  /// Memory per file, in bytes.
  static let jobByteCount = 100_000_000

  /// The number of files at once that the user asked for; nil for a computed one.
  package let wanted: Int?
  package let coreCount: Int
  package let memoryByteCount: Int

  /// Without a figure for memory, half of what is free.
  package init(jobs wanted: Int?, coreCount: Int, memoryByteCount: Int? = nil) {
    self.wanted = wanted
    self.coreCount = max(1, coreCount)
    self.memoryByteCount = memoryByteCount ?? BatchBudget.availableByteCount() / 2
  }

  /// The number of files to process at once, of so many in all.
  ///
  /// Twice the number of cores: while one file waits for the disk, another one computes.
  func workerCount(for fileCount: Int) -> Int {
    let fitting = max(1, memoryByteCount / Self.jobByteCount)
    return max(1, min(wanted ?? min(2 * coreCount, fitting), fileCount))
  }

  /// Memory in bytes that is available without swapping.
  private static func availableByteCount() -> Int {
    for line in SmallFile.text(at: "/proc/meminfo")?.split(separator: "\n") ?? [] {
      let words = line.split(separator: " ")
      if words.first == "MemAvailable:", words.count > 1, let kilobytes = Int(words[1]) {
        return kilobytes * 1024
      }
    }
    return 1 << 30
  }
}

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

/// The names taken in the output folder. The second file that wants a name gets it with `-2`, the
/// third with `-3`; no export replaces another.
struct ReservedNames {
  /// The paths below the output folder of the exports under a name.
  private let exports: (String) -> [String]
  private var taken: Set<ExactText> = []
  /// The number to try next, by the name before it.
  private var next: [ExactText: Int] = [:]

  init(exports: @escaping (String) -> [String]) { self.exports = exports }

  /// Reserves a path below the output folder.
  mutating func reserve(_ path: String) { taken.insert(ExactText(path)) }

  /// Whether an export or a recording has a path below the output folder.
  func isTaken(_ path: String) -> Bool { taken.contains(ExactText(path)) }

  /// - Returns: whether it was free.
  mutating func take(_ name: String) -> Bool {
    let paths = exports(name).map(ExactText.init)
    guard taken.isDisjoint(with: paths) else { return false }
    taken.formUnion(paths)
    return true
  }

  /// Takes the wanted name or else the next free one. O(1) amortised.
  ///
  /// The names of exports are cut to what file systems take. Where that cuts the number off, the name
  /// before it gets shorter. Exports that no number tells apart, as of a fixed name, keep the wanted
  /// name: that they are in each other's way is found when they are written.
  mutating func assign(_ wanted: String) -> String {
    if take(wanted) { return wanted }
    var candidate = Optional(wanted)
    while let base = candidate {
      let first = next[ExactText(base)] ?? 2
      // Of so many names, one is free, unless some of them are the same.
      for number in first...first + taken.count {
        let name = "\(base)-\(number)"
        if exports(name) == exports("\(base)-\(number + 1)") { break }
        guard take(name) else { continue }
        next[ExactText(base)] = number + 1
        return name
      }
      candidate = Self.shortened(base)
    }
    return wanted
  }

  /// The name without its last character; nil if the file's name would be empty.
  private static func shortened(_ name: String) -> String? {
    let shorter = name.dropLast()
    return shorter.isEmpty || shorter.last == "/" ? nil : String(shorter)
  }

  /// Whether `name` is a possible result of `assign` for `wanted`.
  static func isNumbered(_ name: String, of wanted: String) -> Bool {
    if ExactText(name) == ExactText(wanted) { return true }
    guard let dash = name.lastIndex(of: "-") else { return false }
    let digits = name[name.index(after: dash)...].utf8
    guard !digits.isEmpty, digits.first != 48, digits.allSatisfy({ (48...57).contains($0) }) else {
      return false
    }
    let base = String(name[..<dash])
    return ExactText(base) == ExactText(wanted)
      || base.utf8.count > 100 && Array(wanted.utf8).starts(with: Array(base.utf8))
  }
}

/// A recording in a batch's folder.
struct FoundFile: Hashable, Sendable {
  /// Below the folder.
  let path: String
  let byteCount: Int
  /// Last write, in seconds since 1970.
  var modifiedAt = 0.0
  /// Its sidecar's path below the folder; nil if there is none.
  var sidecar: String?
  /// The paths of its possible transcripts below the folder, the likeliest first.
  var transcripts: [String] = []

  /// The path of its folder below the batch's; empty for the batch's own.
  var folder: String { PathText.folder(of: path) }
  var stem: String { PathText.stem(of: PathText.name(of: path)) }
}

/// The entries of a batch's folder that are no recordings: all are counted, many are named.
package struct SkippedFiles: Hashable, Sendable {
  package enum Reason: String, Hashable, Sendable, Codable, CaseIterable {
    /// A file whose ending is none of sound.
    case noRecording = "no-recording"
    /// A link to a folder, out of the batch's folder, or to nothing.
    case link
    /// A pipe, a socket or a device.
    case special
    case hidden
    /// Excluded by `--exclude`.
    case excluded
    /// The folder of a store: what is in it is Spool's own.
    case store
    /// An export of an earlier run of a recording in the same folder.
    case export
  }

  package struct Entry: Hashable, Sendable, Encodable {
    /// Its path below the folder, with invalid bytes replaced.
    package let path: String
    /// A lossless form of the path; nil if `path` is lossless.
    package let exactPath: String?
    package let reason: Reason
  }

  /// How many of each kind are named: a folder may hold a hundred thousand pictures.
  static let nameLimit = 1000

  package private(set) var counts: [Reason: Int] = [:]
  /// The first of each kind.
  package private(set) var entries: [Entry] = []

  mutating func add(_ path: String, _ bytes: [UInt8], _ reason: Reason) {
    let count = counts[reason, default: 0] + 1
    counts[reason] = count
    guard count <= Self.nameLimit else { return }
    let exact = PrintableText.escaped(bytes)
    entries.append(Entry(path: path, exactPath: exact == path ? nil : exact, reason: reason))
  }

  /// Sorts the entries by path.
  mutating func sort() { entries.sort { PathText.isBefore($0.path, $1.path) } }

  /// The counts by the reasons' names, for reports.
  package var namedCounts: [String: Int] {
    Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
  }
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
  /// What people have corrected in the words of recordings; nil if nothing is.
  package let corrections: WordOverlay?

  package init(
    store: DiskStore,
    executors: [any PassExecutor], tags: @escaping @Sendable (_ path: String) -> [String: String]?,
    length: @escaping @Sendable (_ path: String) -> Double?,
    stop: StopRequest, clock: any RunClock, recorder: any BatchRecorder,
    receiptWriter: (any ReceiptWriter)? = nil, corrections: WordOverlay? = nil
  ) {
    self.receiptWriter = receiptWriter
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
      clock: clock, receiptWriter: receipts, corrections: corrections)
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

import Glibc
package import PipelineModel
package import Platform

/// `batch.json` in the output folder: every file with its state, exports, levels and error.
struct BatchReport {
  static let fileName = "batch.json"
  private static let format = "spool-batch-1"

  private struct Head: Encodable {
    let format: String
    let pipeline: String
    let pipelinePath: String
    let folder: String
    let output: String
    let startedAt: DateTime
    let finishedAt: DateTime
    let done: Int
    let reused: Int
    let failed: Int
    let interrupted: Int
    let leftOut: Int
    let damaged: Int
    let renamed: Int
    /// The exports that stay under earlier names, by path below the output folder.
    let earlierExports: [String]
    /// The number of other files, by the reason for leaving them out.
    let skipped: [String: Int]
    /// Their names, up to 1000 for each reason.
    let skippedFiles: [SkippedFiles.Entry]
    /// Why the batch paused before its end.
    let pause: BatchFileResult.Failure?
  }

  let order: BatchOrder
  /// Every file, by path.
  let results: [BatchFileResult]
  /// The other files in the folder.
  let skipped: SkippedFiles
  /// The exports that stay under earlier names.
  let earlierExports: [String]
  /// Why the batch paused before its end; nil if it did not.
  var pause: SpoolError?
  /// In seconds since 1970.
  let startedAt: Double
  /// In seconds since 1970.
  let finishedAt: Double

  /// The file's text: a head, a line for each file, and a line for each other report.
  /// - Parameter others: the last reports of other pipelines' batches into this folder.
  func text(besides others: [JSONValue]) -> String {
    func count(_ outcome: BatchFileResult.Outcome) -> Int {
      results.count { $0.outcome == outcome }
    }
    let head = JSONText.of(
      Head(
        format: Self.format, pipeline: order.definition.name, pipelinePath: order.pipelinePath,
        folder: order.folder, output: order.output,
        startedAt: DateTime(secondsSince1970: startedAt),
        finishedAt: DateTime(secondsSince1970: finishedAt), done: count(.done),
        reused: count(.reused), failed: count(.failed),
        interrupted: count(.interrupted), leftOut: count(.leftOut),
        damaged: results.count { !$0.damage.isEmpty },
        renamed: results.count { $0.renamed != nil }, earlierExports: earlierExports,
        skipped: skipped.namedCounts,
        skippedFiles: skipped.entries, pause: pause.map { BatchFileResult.Failure($0) }))
    let files = results.map(Self.line)
    let end =
      others.isEmpty
      ? "]}\n" : "],\"others\":[\n" + others.map(\.compact).joined(separator: ",\n") + "\n]}\n"
    return head.dropLast() + ",\"files\":[\n" + files.joined(separator: ",\n") + "\n" + end
  }

  /// The reports of other pipelines in the file that this report replaces, the last first. Empty if it
  /// cannot be read.
  private func others(at path: String) -> [JSONValue] {
    guard let bytes = try? FileOperations.system.bytes(of: path),
      case .object(var last)? = try? JSONReader.value(of: bytes, depthLimit: 64).value
    else { return [] }
    let others = last.removeValue(forKey: "others")?.list ?? []
    return ([.object(last)] + others).filter {
      $0["format"]?.text == Self.format && $0["pipeline"]?.text != order.definition.name
    }
  }

  /// A file's report is JSON already: its state is inserted at the front.
  private static func line(_ result: BatchFileResult) -> String {
    "{\"outcome\":\"\(result.outcome.rawValue)\"," + result.report.dropFirst()
  }

  /// Writes the file under a temporary name and renames it.
  /// - Returns: its path.
  func write(with processor: any ExportFolder) throws(SpoolError) -> String {
    let path = PathText.join(order.output, Self.fileName)
    let text = text(besides: others(at: path))
    let content = SHA256.digest(of: text)
    let isReplacing = isOurs(path)
    do throws(SpoolError) {
      try publish(text, content, at: path, with: processor, isReplacing: isReplacing)
    } catch {
      // Another batch may have written its own meanwhile: the last one stays.
      if !isReplacing, isOurs(path) {
        try publish(text, content, at: path, with: processor, isReplacing: true)
        return path
      }
      // The store's disk may be the full one. A report of an earlier batch would be wrong, and the next
      // batch takes this one for its own.
      guard error.isFullDisk, isReplacing || !FilePath.exists(path) else { throw error }
      try doing("write", path) { () throws(SystemError) in
        try FileOperations.system.replace(
          path, with: Array(text.utf8), draft: PathText.join(order.output, ".\(Self.fileName)"),
          mode: 0o666)
      }
    }
    return path
  }

  private func publish(
    _ text: String, _ content: Digest, at path: String, with processor: any ExportFolder,
    isReplacing: Bool
  ) throws(SpoolError) {
    _ = try processor.publish(content, at: path, of: ExportSource(), isReplacing: isReplacing) {
      (temporary) throws(SpoolError) in
      let files = FileOperations.system
      try doing("write", path) { () throws(SystemError) in
        try files.write(
          Array(text.utf8), to: try files.open(temporary, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o666)
        )
      }
    }
  }

  /// Whether an existing file is a batch report: of another store, or written again by a program that
  /// lays it out differently. The store knows those that are as it wrote them.
  private func isOurs(_ path: String) -> Bool {
    let files = FileOperations.system
    guard let head = try? files.bytes(of: path, limit: 4096) else { return false }
    if String(decoding: head, as: UTF8.self).contains("\"format\":\"\(Self.format)\"") {
      return true
    }
    guard let bytes = try? files.bytes(of: path) else { return false }
    return (try? JSONReader.value(of: bytes, depthLimit: 64).value)?["format"]?.text == Self.format
  }
}

/// The result of a batch.
package struct BatchSummary: Hashable, Sendable {
  package internal(set) var doneCount = 0
  package internal(set) var reusedCount = 0
  /// The runs in which files were done before.
  package internal(set) var reusedRuns: [RunID] = []
  /// Files that were not finished when the batch was stopped.
  package internal(set) var interruptedCount = 0
  /// Why the batch paused before its end: a disk is full; nil if it did not.
  package internal(set) var pause: SpoolError?
  package internal(set) var failed: [BatchFileResult] = []
  /// Files that were done before, with warnings, which are not said again.
  package internal(set) var warnedBeforeCount = 0
  /// Files that were done although their recordings are damaged.
  package internal(set) var damaged: [BatchFileResult] = []
  /// Seconds of sound in the files of this batch.
  package internal(set) var mediaSeconds = 0.0
  package internal(set) var seconds = 0.0
  /// The path of `batch.json`; nil if it could not be written.
  package internal(set) var reportPath: String?
  /// Why `batch.json` could not be written, and what can be done.
  package internal(set) var reportTrouble: String?

  /// The other files in the folder.
  package internal(set) var skipped = SkippedFiles()
  /// The files whose exports have another name than wanted.
  package internal(set) var renamed: [RenamedFile] = []
  /// The exports that stay under earlier names, by path below the output folder.
  package internal(set) var earlierExports: [String] = []

  package init(_ results: [BatchFileResult], seconds: Double) {
    self.seconds = seconds
    pause = results.lazy.compactMap(\.pause).first
    damaged = results.filter { !$0.damage.isEmpty && $0.outcome != .failed }
    warnedBeforeCount = results.count { $0.outcome == .reused && $0.hasWarnings }
    for result in results {
      switch result.outcome {
      case .done:
        doneCount += 1
        mediaSeconds += result.mediaSeconds ?? 0
      case .reused:
        reusedCount += 1
        reusedRuns += result.facts.run.map { [RunID($0)] } ?? []
      case .failed: failed.append(result)
      case .interrupted: interruptedCount += 1
      case .leftOut: break
      }
    }
  }
}

/// An event of a batch.
package enum BatchEvent: Sendable {
  /// Before the work, all recordings are analysed for a step that treats them as one album; so many
  /// are done in this round, counted from 1.
  case listening(step: StepID, round: Int, done: Int, of: Int)
  /// A file is read to identify it: so many of its bytes are done. Only of files that take a while.
  case hashing(path: String, done: Int, total: Int)
  /// The result of that step: parameters as a pipeline writes them, `3.118 dB`; none if each
  /// recording is independent.
  case settled(step: StepID, [String: String])
  /// The survey is done, and the work begins.
  case planned(BatchForecast)
  /// A file begins, with its expected share of the whole batch, from 0 to 1.
  case started(path: String, share: Double)
  /// A file's progress, from 0 to 1.
  case progress(path: String, fraction: Double)
  /// Something that does not end a file's work.
  case warning(path: String, step: StepID, text: String)
  /// A file is done, or has failed.
  case finished(BatchFileResult)
  /// The batch is over.
  case ended(BatchSummary)
}

/// Records events. Called from several threads.
package protocol BatchRecorder: Sendable {
  func record(_ event: BatchEvent)
}
